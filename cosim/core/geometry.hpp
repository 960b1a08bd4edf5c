#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

/// The geometry that physics and radio share. Units: metres, seconds, decibels.
namespace hyphos::cosim {

struct Vec3 {
  double x = 0;
  double y = 0;
  double z = 0;

  bool operator==(const Vec3&) const = default;
};

constexpr Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
constexpr Vec3 operator*(const Vec3& a, double k) { return {a.x * k, a.y * k, a.z * k}; }
constexpr double dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
constexpr Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double length(const Vec3& a) { return std::sqrt(dot(a, a)); }
inline bool is_finite(const Vec3& a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}

/// A rotation as a unit quaternion.
struct Quaternion {
  double x = 0;
  double y = 0;
  double z = 0;
  double w = 1;

  bool operator==(const Quaternion&) const = default;
};

inline double norm(const Quaternion& q) {
  return std::hypot(std::hypot(q.x, q.y), std::hypot(q.z, q.w));
}
/// True if the length is 1 up to rounding. False if a component is not a number.
inline bool is_rotation(const Quaternion& q) { return std::abs(norm(q) - 1) < 1e-3; }
[[nodiscard]] Quaternion about_z(double angle);
/// First `inner`, then `outer`.
[[nodiscard]] Quaternion operator*(const Quaternion& outer, const Quaternion& inner);
/// Rotates a vector of the rotated frame into the outer frame, and back.
[[nodiscard]] Vec3 turned(const Quaternion& by, const Vec3& v);
[[nodiscard]] Vec3 turned_back(const Quaternion& by, const Vec3& v);
/// The yaw in rad about z: the direction of the rotated x axis, seen from above. 0 points along x.
[[nodiscard]] double yaw_of(const Quaternion& turned);
/// The rotation vector that leads from `from` to `to`: rad about the axes of the rotated frame.
[[nodiscard]] Vec3 turn_between(const Quaternion& from, const Quaternion& to);

struct Pose {
  Vec3 position;             ///< m, in the world frame
  Vec3 velocity;             ///< m/s, in the world frame
  Quaternion orientation{};  ///< of the robot frame in the world, identity if unknown
  Vec3 turn{};               ///< rad/s about the axes of the robot frame
};

/// The command of a robot until the next command: x forward, y left, z up, independent of tilt.
struct Motion {
  Vec3 velocity{};  ///< m/s
  double turn = 0;  ///< rad/s about z
};

/// An axis-aligned solid box: a wall, a house, a hill. It attenuates every signal whose straight
/// path enters it by `loss_db`.
struct Box {
  Vec3 low;
  Vec3 high;
  double loss_db = 0;
};

/// A colour in pictures. Each part is from 0 to 1.
struct Color {
  double red = 0;
  double green = 0;
  double blue = 0;
};

class Terrain;

/// The obstacles of a world. Immutable while a simulation runs, and therefore thread-safe.
class Scene {
 public:
  Scene() = default;
  explicit Scene(std::vector<Box> boxes, std::shared_ptr<const Terrain> terrain = nullptr)
      : boxes_(std::move(boxes)), terrain_(std::move(terrain)) {}

  [[nodiscard]] const std::vector<Box>& boxes() const { return boxes_; }
  /// Null: flat ground at z = 0, which attenuates nothing.
  [[nodiscard]] const Terrain* terrain() const { return terrain_.get(); }
  [[nodiscard]] bool empty() const { return boxes_.empty() && terrain_ == nullptr; }
  /// The attenuation by boxes and ground between two points: 0 with a line of sight. Symmetric.
  [[nodiscard]] double loss_db(const Vec3& a, const Vec3& b) const;

  /// Seconds for which no obstacle can start or stop blocking the path between two points, if each
  /// moves at `speed` or slower. The result is never too long, and 0 if the path just touches a
  /// box. It shrinks to 0 only towards a change. Cost: about a microsecond for each nearby box.
  [[nodiscard]] double los_holds_for(const Vec3& a, const Vec3& b, double speed) const;
  /// The largest change of loss_db() while no point between a and b moves farther than `reach`.
  [[nodiscard]] double uncertain_db(const Vec3& a, const Vec3& b, double reach) const;

 private:
  std::vector<Box> boxes_;
  std::shared_ptr<const Terrain> terrain_;
};

}  // namespace hyphos::cosim
