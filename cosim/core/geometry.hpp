#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

/// The world that physics and radio share. Metres, seconds, decibels.
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

/// A rotation: of length 1.
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
/// Of length 1 but for rounding; not if it has what is no number.
inline bool is_rotation(const Quaternion& q) { return std::abs(norm(q) - 1) < 1e-3; }
[[nodiscard]] Quaternion about_z(double angle);
/// A vector of the rotated frame in the other one, and back.
[[nodiscard]] Vec3 turned(const Quaternion& by, const Vec3& v);
[[nodiscard]] Vec3 turned_back(const Quaternion& by, const Vec3& v);
/// rad about z, 0 along x: where the rotated x axis points, seen from above.
[[nodiscard]] double yaw_of(const Quaternion& turned);
/// The one turn that leads from `from` to `to`: rad about the axes of the rotated frame.
[[nodiscard]] Vec3 turn_between(const Quaternion& from, const Quaternion& to);

struct Pose {
  Vec3 position;             ///< m, in the frame of the world
  Vec3 velocity;             ///< m/s, likewise
  Quaternion orientation{};  ///< of the robot's own frame in the world; none if nobody says
  Vec3 turn{};               ///< rad/s about the axes of the robot's own frame
};

/// What a robot is told to do until it is told something else: x ahead, y to the left, z up,
/// however it tilts.
struct Motion {
  Vec3 velocity{};  ///< m/s
  double turn = 0;  ///< rad/s about z
};

/// A solid with faces along the axes: a wall, a house, a hill. It takes `loss_db` from every signal
/// whose straight path enters it.
struct Box {
  Vec3 low;
  Vec3 high;
  double loss_db = 0;
};

/// The obstacles of a world. Immutable while a simulation runs; thread-safe.
class Scene {
 public:
  Scene() = default;
  explicit Scene(std::vector<Box> boxes) : boxes_(std::move(boxes)) {}

  [[nodiscard]] const std::vector<Box>& boxes() const { return boxes_; }
  /// What the boxes between two points take from a signal; 0 with a line of sight. Symmetric.
  [[nodiscard]] double loss_db(const Vec3& a, const Vec3& b) const;

  /// Seconds for which no box can begin or cease to lie between two points that move with no more
  /// than `speed` each: never too long; 0 if one is just being touched. Exact enough that it
  /// shrinks to 0 only towards a change. Cost: about a microsecond for each box nearby.
  [[nodiscard]] double los_holds_for(const Vec3& a, const Vec3& b, double speed) const;
  /// Most by which loss_db() can change while no point between a and b moves farther than `reach`.
  [[nodiscard]] double uncertain_db(const Vec3& a, const Vec3& b, double reach) const;

 private:
  std::vector<Box> boxes_;
};

}  // namespace hyphos::cosim
