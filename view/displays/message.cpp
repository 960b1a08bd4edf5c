#include "view/displays/message.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "view/core/words.hpp"

namespace hyphos::view {

std::string not_a(std::string_view type, const Sample& sample) {
  return "the message is not a " + std::string(type) + " (" + grouped(sample.payload.size()) +
         " bytes)";
}

std::string frame_of(const msgs::Header& header) {
  const std::string& name = header.frame_id();
  return name.starts_with('/') ? name.substr(1) : name;
}

Color to_color(const msgs::ColorRGBA& color) {
  const auto byte = [](float value) {
    return static_cast<std::uint8_t>(
        std::lround(std::isfinite(value) ? std::clamp(value, 0.0F, 1.0F) * 255 : 0));
  };
  return {byte(color.r()), byte(color.g()), byte(color.b()), byte(color.a())};
}

std::optional<Pose> to_pose(const msgs::Pose& pose) {
  const msgs::Quaternion& q = pose.orientation();
  const Vec3 at = to_eigen(pose.position());
  const Eigen::Vector4d all(q.x(), q.y(), q.z(), q.w());
  const double length = all.norm();
  if (!at.allFinite() || !std::isfinite(length)) return std::nullopt;
  if (at.cwiseAbs().maxCoeff() > kFarthest) return std::nullopt;
  Pose made = Pose::Identity();
  made.translation() = at;
  if (length > 1e-9) {
    const Eigen::Vector4d unit = all / length;
    made.linear() = Eigen::Quaterniond(unit.w(), unit.x(), unit.y(), unit.z()).toRotationMatrix();
  }
  return made;
}

std::optional<Mat3> covariance_axes(const Mat3& covariance, double sigmas) {
  if (!covariance.allFinite()) return std::nullopt;
  const double scale = std::max(covariance.cwiseAbs().maxCoeff(), 1e-300);
  if ((covariance - covariance.transpose()).cwiseAbs().maxCoeff() > 1e-6 * scale) {
    return std::nullopt;
  }
  const Eigen::SelfAdjointEigenSolver<Mat3> solver((covariance + covariance.transpose()) / 2);
  if (solver.info() != Eigen::Success || solver.eigenvalues().minCoeff() < -1e-6 * scale) {
    return std::nullopt;
  }
  Mat3 axes = solver.eigenvectors();
  for (int i = 0; i < 3; ++i) {
    axes.col(i) *= sigmas * std::sqrt(std::max(solver.eigenvalues()[i], 0.0));
  }
  return axes;
}

}  // namespace hyphos::view
