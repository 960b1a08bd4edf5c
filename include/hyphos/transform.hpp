#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos {

struct Vector3 {
  double x = 0;
  double y = 0;
  double z = 0;

  bool operator==(const Vector3&) const = default;
};

/// A rotation as a unit quaternion x i + y j + z k + w. Default: none.
struct Quaternion {
  double x = 0;
  double y = 0;
  double z = 0;
  double w = 1;

  bool operator==(const Quaternion&) const = default;
};

/// Turns about x, then about the fixed y, then about the fixed z, rad (REP 103: roll, pitch, yaw).
struct RollPitchYaw {
  double roll = 0;
  double pitch = 0;
  double yaw = 0;
};
[[nodiscard]] HYPHOS_EXPORT Quaternion to_quaternion(const RollPitchYaw& angles);
/// Roll in (-pi, pi], pitch in [-pi/2, pi/2], yaw in (-pi, pi]; at pitch +-pi/2 roll is 0.
[[nodiscard]] HYPHOS_EXPORT RollPitchYaw to_roll_pitch_yaw(const Quaternion& rotation);

/// `count` points of x, y, z, the first at `xyz`, each `stride_bytes` after the one before (a
/// multiple of alignof(T)). What lies between them is left alone.
template <typename T>
struct Points {
  T* xyz = nullptr;
  std::size_t count = 0;
  std::size_t stride_bytes = 3 * sizeof(T);
};

/// A rotation followed by a translation: p' = rotation p + translation, m. The quaternion has unit
/// length; what is made here keeps it. Pure values: nothing allocates, nothing fails.
struct Isometry {
  Vector3 translation;
  Quaternion rotation;

  /// First `inner`, then this.
  [[nodiscard]] HYPHOS_EXPORT Isometry operator*(const Isometry& inner) const;
  [[nodiscard]] HYPHOS_EXPORT Vector3 operator*(const Vector3& point) const;
  /// For free vectors (velocities, axes), which are not translated.
  [[nodiscard]] HYPHOS_EXPORT Vector3 rotate(const Vector3& vector) const;
  [[nodiscard]] HYPHOS_EXPORT Isometry inverse() const;
  /// Homogeneous 4x4, row by row. For Eigen: Map<const Matrix<double, 4, 4, RowMajor>>(m.data()).
  [[nodiscard]] HYPHOS_EXPORT std::array<double, 16> matrix() const;
  /// From a homogeneous 4x4, row by row. invalid_config if it is no rigid motion (to 1e-6).
  static HYPHOS_EXPORT Result<Isometry> from_matrix(std::span<const double, 16> rows);

  /// All points at once, through a 3x3 matrix in double precision. `out` may be `in`; they may not
  /// overlap otherwise. min(in.count, out.count) points are written.
  HYPHOS_EXPORT void transform(Points<const float> in, Points<float> out) const;
  HYPHOS_EXPORT void transform(Points<const double> in, Points<double> out) const;

  bool operator==(const Isometry&) const = default;
};

/// From `a` (fraction 0) to `b` (1): straight for the translation, along the shorter great circle
/// for the rotation (slerp).
[[nodiscard]] HYPHOS_EXPORT Isometry interpolate(const Isometry& a, const Isometry& b,
                                                 double fraction);

/// In questions: the newest time at which the whole chain is known.
inline constexpr Time latest{0};

/// Where frame `child` lies in frame `parent` at a time: takes coordinates in the child frame to
/// coordinates in the parent frame, p_parent = rotation p_child + translation.
struct Transform {
  std::string parent = {};
  std::string child = {};
  Time stamp = {};  ///< of the Clock that all of a tree share (Unix time unless simulated)
  Vector3 translation = {};
  Quaternion rotation = {};

  [[nodiscard]] Isometry isometry() const { return {translation, rotation}; }
};

/// What a look-up through a handle gives.
struct StampedIsometry : Isometry {
  Time stamp;  ///< the time asked for; for `latest` the one found, 0 if nothing on the way moves
};

struct TransformTreeOptions {
  /// Kept of every moving frame, counted back from its newest stamp.
  Duration history = Duration::from_ms(10'000);
  /// Most samples of one frame, 64 bytes each, rounded up to a power of two. A rate above
  /// max_samples / history shortens the history (counted as `shortened`).
  std::size_t max_samples = 16'384;
  std::size_t max_frames = 4'096;
  /// A sender whose stamps for one frame step back by more than this has had its clock set back (a
  /// replay began anew): the history of all moving frames is cleared. 0: never.
  Duration clock_jump = Duration{0};
  /// Told of what is unusual: a frame with a new parent, a clock that was set back. Called by
  /// whoever sets, without a lock.
  std::function<void(const std::string&)> notice = {};
};

/// One frame and how it hangs on its parent.
struct TransformEdge {
  std::string parent;
  std::string child;
  bool is_static = false;   ///< holds at all times
  std::size_t samples = 0;  ///< kept now
  Time oldest;              ///< of what is kept; 0 if nothing is
  Time newest;
  std::uint64_t accepted = 0;  ///< transforms taken since the start
  std::uint64_t sender = 0;    ///< of the newest; 0: set in this process
};

/// The way between two frames: from the source up to the common ancestor and down to the target.
struct TransformChain {
  std::vector<std::string> frames;  ///< source first, target last
  std::size_t ancestor = 0;         ///< index of the common ancestor in `frames`
};

/// What became of the transforms that were offered; accepted + duplicates + stale + refused is
/// their number.
struct TransformCounters {
  std::uint64_t accepted = 0;
  std::uint64_t duplicates = 0;   ///< same stamp and values as one that is kept: nothing to do
  std::uint64_t stale = 0;        ///< older than the history, or of a parent left since: not taken
  std::uint64_t refused = 0;      ///< not finite, no unit quaternion, a circle, too many frames
  std::uint64_t replaced = 0;     ///< of the accepted: same stamp, other values; the later wins
  std::uint64_t reparented = 0;   ///< of the accepted: the frame got another parent
  std::uint64_t shortened = 0;    ///< samples given up before their time for lack of room
  std::uint64_t clock_jumps = 0;  ///< times that the history was cleared since a clock went back

  bool operator==(const TransformCounters&) const = default;
};

namespace detail {
class TransformStore;
class RecentPaths;
class TransformPath;
}  // namespace detail

/// A question asked again and again: the way between two frames, kept ready.
///
/// Made by TransformTree::lookup() or Transforms::lookup(); the frames need not exist yet. Not
/// thread-safe: every thread has a copy of its own. get() hashes no string, takes no lock and
/// allocates nothing, unless frames have come or moved to another parent since its last call, or it
/// fails. Keeps the tree's memory alive.
class HYPHOS_EXPORT TransformLookup {
 public:
  TransformLookup(const TransformLookup& other);
  TransformLookup(TransformLookup&& other) noexcept;
  TransformLookup& operator=(TransformLookup other) noexcept;
  ~TransformLookup();

  /// As TransformTree::get(), without the names.
  [[nodiscard]] Result<StampedIsometry> get(Time time = latest);
  [[nodiscard]] const std::string& target() const;
  [[nodiscard]] const std::string& source() const;

  explicit TransformLookup(std::unique_ptr<detail::TransformPath> path);

 private:
  std::unique_ptr<detail::TransformPath> path_;
};

/// Coordinate frames and how they lie to each other over time: in memory, without channels. A robot
/// program uses hyphos::Transforms, which shares one of these between processes.
///
/// Every frame has at most one parent, so that frames form trees; a look-up goes from both frames
/// up to their nearest common ancestor (HyperGraph ROS, section III-B, figure 3) and composes the
/// two ways. Between two samples it interpolates (straight, and slerp); it never extrapolates.
///
/// Thread-safe. Writers exclude each other; readers never wait for them on a TransformLookup's fast
/// path (each frame's samples are guarded by a sequence counter: whoever reads while they change
/// reads again), and get() by names, which remembers what it was asked last, holds a lock for the
/// time it takes to find two names the first time. Memory is bounded by the options: samples x 64
/// bytes x frames, at most twice that while a frame's room grows. Frames are never forgotten.
///
/// Names: 1 to 255 bytes without control characters; a leading '/', as ROS 1 has it, is left out.
/// Errors of set: invalid_config (names, a value that is not finite, a rotation whose length is not
/// 1 to 1e-3, stamp not positive, a circle), out_of_range (stamp older than the history),
/// exhausted (more than max_frames). Errors of get: not_found (no such frame; with the nearest
/// name), disconnected (two trees; with both roots), out_of_range (not known at that time; with the
/// edge, by how much, and what is known).
class HYPHOS_EXPORT TransformTree {
 public:
  explicit TransformTree(TransformTreeOptions options = {});
  TransformTree(const TransformTree&) = delete;
  TransformTree& operator=(const TransformTree&) = delete;
  ~TransformTree();

  /// Where a moving frame was at a time. Stamps may come in any order: late ones are put in their
  /// place, the same stamp again replaces. A new parent (with a newer stamp) drops the history
  /// under the old one. `sender` tells apart who said so; see TransformTreeOptions::clock_jump.
  /// ~100 ns; allocates only for new frames and while a frame's history grows.
  Result<void> set(const Transform& transform, std::uint64_t sender = 0);
  /// Where a frame lies at all times, whatever the stamp. The later of set_static() and set()
  /// holds.
  Result<void> set_static(const Transform& transform, std::uint64_t sender = 0);

  /// What takes coordinates in `source` to coordinates in `target` at `time`.
  [[nodiscard]] Result<Transform> get(std::string_view target, std::string_view source,
                                      Time time = latest) const;
  /// The same between two times: `source` as it was at `source_time` is carried to `target_time` in
  /// `fixed_frame`, e.g. the world, which does not move between the two.
  [[nodiscard]] Result<Transform> get(std::string_view target, Time target_time,
                                      std::string_view source, Time source_time,
                                      std::string_view fixed_frame) const;
  [[nodiscard]] TransformLookup lookup(std::string_view target, std::string_view source) const;
  [[nodiscard]] Result<TransformChain> chain(std::string_view target,
                                             std::string_view source) const;

  /// Every frame with a parent, in the order in which they came.
  [[nodiscard]] std::vector<TransformEdge> edges() const;
  [[nodiscard]] TransformCounters counters() const;
  [[nodiscard]] const TransformTreeOptions& options() const;
  /// Forgets the samples of all moving frames; frames, parents and static frames stay.
  void clear();

  [[nodiscard]] const std::shared_ptr<detail::TransformStore>& store() const { return store_; }

 private:
  std::shared_ptr<detail::TransformStore> store_;
  std::unique_ptr<detail::RecentPaths> recent_;
};

}  // namespace hyphos
