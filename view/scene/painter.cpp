#include "view/scene/painter.hpp"

#include <array>

namespace hyphos::view {
namespace {

Vertex corner(const Vec3& at, Color color) {
  return {static_cast<float>(at.x()), static_cast<float>(at.y()), static_cast<float>(at.z()),
          color};
}

}  // namespace

void Painter::axes(const Pose& pose, double length, double width, double alpha) {
  const std::array colors = {kAxisX, kAxisY, kAxisZ};
  std::array<Vertex, 6> pairs;
  for (int i = 0; i < 3; ++i) {
    const Color color = colors[static_cast<std::size_t>(i)].with_alpha(alpha);
    const std::size_t at = static_cast<std::size_t>(i) * 2;
    pairs[at] = corner(Vec3::Zero(), color);
    pairs[at + 1] = corner(Vec3::Unit(i) * length, color);
  }
  lines(pose, pairs, width);
}

void Painter::line(const Vec3& from, const Vec3& to, Color color, double width) {
  Pose at = Pose::Identity();
  at.translation() = from;
  const std::array pairs = {corner(Vec3::Zero(), color), corner(to - from, color)};
  lines(at, pairs, width);
}

void Painter::arrow(const Vec3& from, const Vec3& to, double shaft, double head, Color color) {
  const Vec3 along = to - from;
  const double length = along.norm();
  if (!(length > 1e-9) || !std::isfinite(length)) return;
  Pose pose = Pose::Identity();
  pose.linear() = Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), along).toRotationMatrix();
  const double head_length = std::min(1.6 * head, 0.6 * length);
  pose.translation() = from + along * ((length - head_length) / 2 / length);
  shape(Shape::cylinder, pose, {shaft, shaft, length - head_length}, color);
  pose.translation() = to - along * (head_length / 2 / length);
  shape(Shape::cone, pose, {head, head, head_length}, color);
}

void Painter::capsule(const Pose& pose, double radius, double length, Color color) {
  const double diameter = 2 * radius;
  shape(Shape::cylinder, pose, {diameter, diameter, length}, color);
  for (const double end : {-length / 2, length / 2}) {
    Pose cap = pose;
    cap.translation() += pose.linear() * Vec3(0, 0, end);
    shape(Shape::sphere, cap, Vec3::Constant(diameter), color);
  }
}

}  // namespace hyphos::view
