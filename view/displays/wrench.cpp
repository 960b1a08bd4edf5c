#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "hyphos/msgs/geometry.pb.h"
#include "view/displays/kinds.hpp"
#include "view/displays/message.hpp"

namespace hyphos::view {
namespace {

constexpr int kArcSteps = 48;

/// Forces as arrows, torques as arcs about their axis.
class Wrench final : public MessageDisplay<msgs::WrenchStamped> {
 public:
  Wrench() {
    properties_.add("force_scale", &force_scale_, "length of 1 N", "m", 1e-6, 1'000);
    properties_.add("torque_scale", &torque_scale_, "radius of 1 N m", "m", 1e-6, 1'000);
    properties_.add("width", &width_, "diameter of the arrows", "m", 0.0001, 10);
    properties_.add("force_color", &force_color_, "colour of forces");
    properties_.add("torque_color", &torque_color_, "colour of torques");
  }

  void paint(Painter& painter) override {
    if (!pose_) return;
    const Vec3 at = pose_->translation();
    const Vec3 force = pose_->linear() * force_ * force_scale_;
    painter.arrow(at, at + force, width_, 2.5 * width_, force_color_);
    const double radius = torque_.norm() * torque_scale_;
    if (radius < 1e-9) return;
    Pose about = Pose::Identity();
    about.translation() = at;
    about.linear() =
        Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), pose_->linear() * torque_).matrix();
    std::vector<Vertex> pairs;
    const auto arc = [&](int step) {
      const double angle = 1.5 * std::numbers::pi * step / kArcSteps;
      return Vec3(radius * std::cos(angle), radius * std::sin(angle), 0);
    };
    for (int i = 0; i < kArcSteps; ++i) {
      for (const Vec3& p : {arc(i), arc(i + 1)}) {
        pairs.push_back({static_cast<float>(p.x()), static_cast<float>(p.y()), 0, torque_color_});
      }
    }
    painter.lines(about, pairs, 3);
    painter.arrow(about * arc(kArcSteps - 5), about * arc(kArcSteps), width_ * 0.2, 2.5 * width_,
                  torque_color_);
    painter.arrow(at, at + about.linear().col(2) * radius, width_, 2.5 * width_, torque_color_);
  }
  [[nodiscard]] Bounds bounds() const override {
    Bounds all;
    if (pose_) all.add(pose_->translation());
    return all;
  }

 private:
  std::string check(msgs::WrenchStamped& message) override {
    force_ = to_eigen(message.wrench().force());
    torque_ = to_eigen(message.wrench().torque());
    return force_.allFinite() && torque_.allFinite()
               ? ""
               : "the force or torque has a number that is not finite";
  }
  void placed(const msgs::WrenchStamped&, const Pose&) override {
    char text[64];
    std::snprintf(text, sizeof(text), "%.3g N, %.3g N m", force_.norm(), torque_.norm());
    report(Health::good, text);
  }

  double force_scale_ = 0.1;
  double torque_scale_ = 0.1;
  double width_ = 0.04;
  Color force_color_{235, 90, 80, 255};
  Color torque_color_{240, 200, 70, 255};
  Vec3 force_ = Vec3::Zero();
  Vec3 torque_ = Vec3::Zero();
};

}  // namespace

std::unique_ptr<Display> make_wrench() { return std::make_unique<Wrench>(); }

}  // namespace hyphos::view
