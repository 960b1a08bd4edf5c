#include "view/scene/camera.hpp"

#include <algorithm>
#include <numbers>

namespace hyphos::view {
namespace {

constexpr double kHalfTurn = std::numbers::pi;
constexpr double kMostPitch = kHalfTurn / 2 - 1e-4;
constexpr double kNearest = 0.01;        // m, from the eye to the target
constexpr double kFarthest = 1e6;        // m
constexpr double kTurnPerPixel = 0.006;  // rad
constexpr double kZoomPerNotch = 0.15;
constexpr double kOrthographicDepth = 5'000;  // m, above and below the target
constexpr double kMinute = 60;                // seconds that one key may count for

// Angles stay within one turn, so that a long session keeps its precision.
double wrap(double angle) { return std::remainder(angle, 2 * kHalfTurn); }

bool finite(const CameraState& s) {
  return s.target.allFinite() && std::isfinite(s.distance) && std::isfinite(s.yaw) &&
         std::isfinite(s.pitch) && std::isfinite(s.roll) && std::isfinite(s.field_of_view);
}

}  // namespace

std::string_view to_string(CameraMode mode) {
  switch (mode) {
    case CameraMode::orbit:
      return "orbit";
    case CameraMode::first_person:
      return "first_person";
    case CameraMode::top_down:
      return "top_down";
    case CameraMode::anchor:
      return "anchor";
  }
  return "orbit";
}

std::optional<CameraMode> parse_camera_mode(std::string_view text) {
  for (const CameraMode mode :
       {CameraMode::orbit, CameraMode::first_person, CameraMode::top_down, CameraMode::anchor}) {
    if (text == to_string(mode)) return mode;
  }
  return std::nullopt;
}

std::optional<Vec3> Ray::at_height(double z) const {
  if (std::abs(direction.z()) < 1e-9) return std::nullopt;
  const double along = (z - from.z()) / direction.z();
  if (along <= 0) return std::nullopt;
  return from + direction * along;
}

void Camera::set_state(const CameraState& state) {
  if (state == state_ || !finite(state)) return;
  state_ = state;
  normalize();
  anchor_.reset();
  ++revision_;
}

void Camera::normalize() {
  state_.distance = std::clamp(state_.distance, kNearest, kFarthest);
  state_.yaw = wrap(state_.yaw);
  state_.roll = wrap(state_.roll);
  // Only keys about an anchor may turn the view over its head.
  state_.pitch = state_.mode == CameraMode::anchor
                     ? wrap(state_.pitch)
                     : std::clamp(state_.pitch, -kMostPitch, kMostPitch);
  state_.field_of_view = std::clamp(state_.field_of_view, 0.05, 2.8);
}

void Camera::set_mode(CameraMode mode) {
  if (mode == state_.mode) return;
  // The visible height of a perspective at its target, and of a view from above.
  const double height = 2 * std::tan(state_.field_of_view / 2);
  if (mode == CameraMode::top_down) state_.distance *= height;
  if (state_.mode == CameraMode::top_down) state_.distance /= height;
  state_.mode = mode;
  if (mode != CameraMode::anchor) state_.roll = 0;
  normalize();
  anchor_.reset();
  ++revision_;
}

void Camera::look_at(const Bounds& bounds) {
  if (bounds.empty() || !bounds.min.allFinite() || !bounds.max.allFinite()) return;
  constexpr double kLeast = 0.1;  // m, half of the smallest thing
  constexpr double kMargin = 1.06;
  const Vec3 center = bounds.center();
  const Vec3 half = ((bounds.max - bounds.min) / 2).cwiseMax(Vec3(kLeast, kLeast, 0));
  const double aspect = static_cast<double>(width_) / height_;
  const double tangent = std::tan(state_.field_of_view / 2);
  const Mat3 axes = rotation();
  double distance = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3 sign((corner & 1) != 0 ? 1 : -1, (corner & 2) != 0 ? 1 : -1,
                    (corner & 4) != 0 ? 1 : -1);
    const Vec3 seen = axes.transpose() * half.cwiseProduct(sign);
    const double height = std::max(std::abs(seen.y()), std::abs(seen.x()) / aspect);
    distance = std::max(distance, orthographic() ? 2 * height : height / tangent + seen.z());
  }
  state_.target = to_local(center);
  state_.distance = kMargin * distance;
  normalize();
  anchor_.reset();
  ++revision_;
}

void Camera::set_size(int width, int height) {
  width = std::max(width, 1);
  height = std::max(height, 1);
  if (width == width_ && height == height_) return;
  width_ = width;
  height_ = height;
  ++revision_;
}

void Camera::set_follow_pose(const Pose& pose) {
  if (follow_.isApprox(pose, 1e-9)) return;
  follow_ = pose;
  if (!state_.follow.empty()) ++revision_;
}

double Camera::heading() const {
  if (state_.follow.empty() || !state_.follow_heading) return 0;
  const Vec3 forward = follow_.linear().col(0);
  return std::atan2(forward.y(), forward.x());
}

Vec3 Camera::to_local(const Vec3& point) const {
  if (state_.follow.empty()) return point;
  return Eigen::AngleAxisd(-heading(), Vec3::UnitZ()) * (point - follow_.translation());
}

Vec3 Camera::to_world(const Vec3& point) const {
  if (state_.follow.empty()) return point;
  return Eigen::AngleAxisd(heading(), Vec3::UnitZ()) * point + follow_.translation();
}

Vec3 Camera::target() const { return to_world(state_.target); }

Mat3 Camera::rotation() const {
  const double yaw = state_.yaw + heading();
  Vec3 back = Vec3::UnitZ();
  if (state_.mode != CameraMode::top_down) {
    back = Vec3(std::cos(state_.pitch) * std::cos(yaw), std::cos(state_.pitch) * std::sin(yaw),
                std::sin(state_.pitch));
  }
  const Vec3 level(-std::sin(yaw), std::cos(yaw), 0);
  const Vec3 rise = back.cross(level);
  const double c = std::cos(state_.roll);
  const double s = std::sin(state_.roll);
  Mat3 axes;
  axes.col(0) = c * level + s * rise;
  axes.col(1) = c * rise - s * level;
  axes.col(2) = back;
  return axes;
}

Vec3 Camera::eye() const {
  const double away = orthographic() ? kOrthographicDepth : state_.distance;
  return target() + rotation().col(2) * away;
}

std::optional<Vec3> Camera::anchor() const {
  if (state_.mode != CameraMode::anchor || !anchor_) return std::nullopt;
  return to_world(*anchor_);
}

void Camera::turn_about(const Vec3& anchor, double yaw, double pitch, double roll) {
  const Mat3 before = rotation();
  const Vec3 arm = target() - anchor;
  state_.yaw += yaw;
  state_.pitch += pitch;
  state_.roll += roll;
  normalize();
  state_.target = to_local(anchor + rotation() * before.transpose() * arm);
  ++revision_;
}

void Camera::pan(double dx, double dy, double depth) {
  const double pixel = orthographic() ? state_.distance / height_
                                      : 2 * std::tan(state_.field_of_view / 2) * depth / height_;
  const Mat3 axes = rotation();
  state_.target = to_local(target() + (axes.col(1) * dy - axes.col(0) * dx) * pixel);
  ++revision_;
}

void Camera::zoom(double factor, const Vec3& towards) {
  const double wanted = std::clamp(state_.distance * factor, kNearest, kFarthest);
  factor = wanted / state_.distance;
  state_.distance = wanted;
  state_.target = to_local(towards + (target() - towards) * factor);
  ++revision_;
}

void Camera::press(MouseButton button, double x, double y, const std::optional<Vec3>& hit,
                   KeyModifiers modifiers) {
  double depth = state_.distance;
  if (hit && !orthographic()) depth = std::max((eye() - *hit).dot(rotation().col(2)), kNearest);
  pressed_ = Pressed{button, modifiers, x, y, depth};
  if (state_.mode == CameraMode::anchor && button == MouseButton::left) {
    anchor_ = to_local(hit ? *hit : unproject_at(x, y, state_.distance));
    ++revision_;
  }
}

void Camera::drag(double x, double y) {
  if (!pressed_) return;
  const double dx = x - pressed_->x;
  const double dy = y - pressed_->y;
  if (dx == 0 && dy == 0) return;
  pressed_->x = x;
  pressed_->y = y;
  const bool left = pressed_->button == MouseButton::left;
  const bool shifted = pressed_->modifiers.shift;
  const bool pans = !left || (orthographic() ? !shifted : shifted);
  if (pans) return pan(dx, dy, pressed_->depth_m);
  const double yaw = -dx * kTurnPerPixel;
  const double pitch = orthographic() ? 0 : dy * kTurnPerPixel;
  switch (state_.mode) {
    case CameraMode::orbit:
    case CameraMode::top_down:
      return turn_about(target(), yaw, pitch, 0);
    case CameraMode::first_person:
      return turn_about(eye(), yaw, pitch, 0);
    case CameraMode::anchor:
      return turn_about(anchor().value_or(target()), yaw, pitch, 0);
  }
}

void Camera::release(MouseButton button) {
  if (pressed_ && pressed_->button == button) pressed_.reset();
}

void Camera::wheel(double notches, double x, double y, const std::optional<Vec3>& hit) {
  if (!std::isfinite(notches) || notches == 0) return;
  const double factor = std::exp(-std::clamp(notches, -20.0, 20.0) * kZoomPerNotch);
  if (state_.mode == CameraMode::anchor) {
    if (!anchor_ && hit) anchor_ = to_local(*hit);
    return zoom(factor, anchor().value_or(target()));
  }
  if (state_.mode == CameraMode::first_person) {
    const double step = std::log(1 / factor) * state_.distance;
    state_.target = to_local(target() - rotation().col(2) * step);
    ++revision_;
    return;
  }
  // The point under the pointer stays there.
  zoom(factor, hit && !orthographic() ? *hit : unproject_at(x, y, state_.distance));
}

void Camera::key(CameraKey key, double seconds) {
  if (key == CameraKey::home) {
    CameraState start;
    start.mode = state_.mode;
    return set_state(start);
  }
  const double time = std::clamp(seconds, 0.0, kMinute);
  const double turn = 1.2 * time;
  const double step = 0.8 * state_.distance * time;
  if (key == CameraKey::zoom_in || key == CameraKey::zoom_out) {
    const double notches = (key == CameraKey::zoom_in ? 8 : -8) * time;
    return wheel(notches, width_ / 2.0, height_ / 2.0, std::nullopt);
  }
  const auto move = [&](const Vec3& by) {
    state_.target = to_local(target() + by);
    ++revision_;
  };
  const bool walks = state_.mode == CameraMode::first_person;
  const bool turns = state_.mode == CameraMode::anchor;
  const Vec3 about = anchor().value_or(target());
  const Mat3 axes = rotation();
  // W walks along the ground, or towards the top of the view from above.
  Vec3 ahead = orthographic() ? Vec3(axes.col(1)) : Vec3(-axes.col(2));
  ahead.z() = walks ? ahead.z() : 0;
  if (ahead.norm() > 1e-6) ahead.normalize();
  switch (key) {
    case CameraKey::a:
      return turns ? turn_about(about, -turn, 0, 0) : move(-axes.col(0) * step);
    case CameraKey::d:
      return turns ? turn_about(about, turn, 0, 0) : move(axes.col(0) * step);
    case CameraKey::w:
      return turns ? turn_about(about, 0, turn, 0) : move(ahead * step);
    case CameraKey::s:
      return turns ? turn_about(about, 0, -turn, 0) : move(-ahead * step);
    case CameraKey::q:
      return turns ? turn_about(about, 0, 0, -turn) : move(-Vec3::UnitZ() * step);
    case CameraKey::e:
      return turns ? turn_about(about, 0, 0, turn) : move(Vec3::UnitZ() * step);
    case CameraKey::left:
      return turn_about(walks ? eye() : about, walks ? turn : -turn, 0, 0);
    case CameraKey::right:
      return turn_about(walks ? eye() : about, walks ? -turn : turn, 0, 0);
    case CameraKey::up:
      return turn_about(walks ? eye() : about, 0, walks ? -turn : turn, 0);
    case CameraKey::down:
      return turn_about(walks ? eye() : about, 0, walks ? turn : -turn, 0);
    default:
      return;
  }
}

Mat4 Camera::view() const {
  Mat4 matrix = Mat4::Identity();
  const Mat3 axes = rotation();
  matrix.topLeftCorner<3, 3>() = axes.transpose();
  matrix.topRightCorner<3, 1>() = -axes.transpose() * eye();
  return matrix;
}

Mat4 Camera::projection() const {
  const double aspect = static_cast<double>(width_) / height_;
  Mat4 matrix = Mat4::Zero();
  if (orthographic()) {
    const double half = state_.distance / 2;
    matrix(0, 0) = 1 / (half * aspect);
    matrix(1, 1) = 1 / half;
    matrix(2, 2) = -1 / kOrthographicDepth;
    matrix(2, 3) = -1;
    matrix(3, 3) = 1;
    return matrix;
  }
  // 24 bits of depth resolve 1 mm at the target, and 1 % of the distance far away.
  const double near = std::clamp(state_.distance / 200, 0.005, 50.0);
  const double far = near * 1e5;
  const double focal = 1 / std::tan(state_.field_of_view / 2);
  matrix(0, 0) = focal / aspect;
  matrix(1, 1) = focal;
  matrix(2, 2) = -(far + near) / (far - near);
  matrix(2, 3) = -2 * far * near / (far - near);
  matrix(3, 2) = -1;
  return matrix;
}

Vec3 Camera::unproject_at(double x, double y, double distance) const {
  const Ray line = ray(x, y);
  if (orthographic()) return line.from + line.direction * kOrthographicDepth;
  const double along = -line.direction.dot(rotation().col(2));
  return line.from + line.direction * (distance / along);
}

Ray Camera::ray(double x, double y) const {
  const double u = 2 * x / width_ - 1;
  const double v = 1 - 2 * y / height_;
  const Mat3 axes = rotation();
  const double aspect = static_cast<double>(width_) / height_;
  if (orthographic()) {
    const double half = state_.distance / 2;
    return {eye() + axes.col(0) * (u * half * aspect) + axes.col(1) * (v * half), -axes.col(2)};
  }
  const double slope = std::tan(state_.field_of_view / 2);
  const Vec3 direction =
      axes.col(0) * (u * slope * aspect) + axes.col(1) * (v * slope) - axes.col(2);
  return {eye(), direction.normalized()};
}

std::optional<Vec3> Camera::project(const Vec3& point) const {
  const Eigen::Vector4d clip = projection() * view() * point.homogeneous();
  if (clip.w() <= 0) return std::nullopt;
  const Vec3 at = clip.head<3>() / clip.w();
  return Vec3((at.x() + 1) / 2 * width_, (1 - at.y()) / 2 * height_, (at.z() + 1) / 2);
}

Vec3 Camera::unproject(double x, double y, double depth) const {
  const Eigen::Vector4d clip(2 * x / width_ - 1, 1 - 2 * y / height_, 2 * depth - 1, 1);
  // In eye coordinates first, as the positions of the fixed frame may be large.
  const Eigen::Vector4d seen = projection().inverse() * clip;
  return eye() + rotation() * (seen.head<3>() / seen.w());
}

double Camera::pixel_size(const Vec3& at) const {
  if (orthographic()) return state_.distance / height_;
  const double depth = std::max((eye() - at).dot(rotation().col(2)), kNearest);
  return 2 * std::tan(state_.field_of_view / 2) * depth / height_;
}

}  // namespace hyphos::view
