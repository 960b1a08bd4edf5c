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

namespace detail {
/// The wait of which hyphos/future.hpp makes a std::future.
template <typename T>
struct WaitNeedsFutureHpp;
}  // namespace detail

/// A vector of three coordinates. A position or a translation is in m.
struct Vector3 {
  double x = 0;
  double y = 0;
  double z = 0;

  bool operator==(const Vector3&) const = default;
};

/// A rotation as a unit quaternion x i + y j + z k + w. Default: no rotation.
struct Quaternion {
  double x = 0;
  double y = 0;
  double z = 0;
  double w = 1;

  bool operator==(const Quaternion&) const = default;
};

/// Rotations in rad about x, then about the fixed y, then about the fixed z (REP 103: roll, pitch,
/// yaw).
struct RollPitchYaw {
  double roll = 0;
  double pitch = 0;
  double yaw = 0;
};
[[nodiscard]] HYPHOS_EXPORT Quaternion to_quaternion(const RollPitchYaw& angles);
/// Roll in (-pi, pi], pitch in [-pi/2, pi/2], yaw in (-pi, pi]. At pitch +-pi/2, roll is 0.
[[nodiscard]] HYPHOS_EXPORT RollPitchYaw to_roll_pitch_yaw(const Quaternion& rotation);

/// `count` points of x, y, z. The first is at `xyz`, and each one is `stride_bytes` after the
/// previous one (a multiple of alignof(T)). Bytes between the points are ignored and left
/// unchanged.
template <typename T>
struct Points {
  T* xyz = nullptr;
  std::size_t count = 0;
  std::size_t stride_bytes = 3 * sizeof(T);
};

/// A rotation followed by a translation in m: p' = rotation p + translation. The quaternion has
/// unit length, and all results here keep it. A pure value: nothing allocates, and nothing fails.
struct Isometry {
  Vector3 translation;
  Quaternion rotation;

  /// Composition: first `inner`, then this.
  [[nodiscard]] HYPHOS_EXPORT Isometry operator*(const Isometry& inner) const;
  [[nodiscard]] HYPHOS_EXPORT Vector3 operator*(const Vector3& point) const;
  /// Rotates free vectors (velocities, axes) without translating them.
  [[nodiscard]] HYPHOS_EXPORT Vector3 rotate(const Vector3& vector) const;
  [[nodiscard]] HYPHOS_EXPORT Isometry inverse() const;
  /// The homogeneous 4x4 matrix, row by row. For Eigen: Map<const Matrix<double, 4, 4,
  /// RowMajor>>(m.data()).
  [[nodiscard]] HYPHOS_EXPORT std::array<double, 16> matrix() const;
  /// From a homogeneous 4x4 matrix, row by row. invalid_config unless it is a rigid motion (to
  /// 1e-6).
  static HYPHOS_EXPORT Result<Isometry> from_matrix(std::span<const double, 16> rows);

  /// Transforms all points through a 3x3 matrix in double precision. `out` may be `in`. Otherwise
  /// they must not overlap. Writes min(in.count, out.count) points.
  HYPHOS_EXPORT void transform(Points<const float> in, Points<float> out) const;
  HYPHOS_EXPORT void transform(Points<const double> in, Points<double> out) const;

  bool operator==(const Isometry&) const = default;
};

/// From `a` (fraction 0) to `b` (1): linear for the translation, along the shorter great circle for
/// the rotation (slerp).
[[nodiscard]] HYPHOS_EXPORT Isometry interpolate(const Isometry& a, const Isometry& b,
                                                 double fraction);

/// As an argument of get(): the newest time at which the whole chain is known.
inline constexpr Time latest{0};

/// The pose of frame `child` in frame `parent` at a time. It maps coordinates in the child frame to
/// coordinates in the parent frame: p_parent = rotation p_child + translation.
struct Transform {
  std::string parent = {};
  std::string child = {};
  Time stamp = {};  ///< of the Clock shared by the whole tree (Unix time unless simulated)
  Vector3 translation = {};
  Quaternion rotation = {};

  [[nodiscard]] Isometry isometry() const { return {translation, rotation}; }
};

/// The result of a TransformLookup.
struct StampedIsometry : Isometry {
  Time stamp;  ///< the requested time, for `latest` the time found, 0 if the chain is static
};

struct TransformTreeOptions {
  /// Time span kept of every moving frame, counted back from its newest stamp.
  Duration history = Duration::from_ms(10'000);
  /// Maximum number of samples per frame, rounded up to a power of two. A sample has 64 bytes. A
  /// rate above max_samples / history shortens the history (counted as `shortened`).
  std::size_t max_samples = 16'384;
  std::size_t max_frames = 4'096;
  /// If the stamps of a sender for one frame step back by more than this, its clock was set back (a
  /// replay restarted). The history of all moving frames is then cleared. 0: never.
  Duration clock_jump = Duration{0};
  /// Called for unusual events: a frame has a new parent, or a clock was set back. Runs in the
  /// thread that sets, without a lock.
  std::function<void(const std::string&)> notice = {};
};

/// One frame and its relation to its parent.
struct TransformEdge {
  std::string parent;
  std::string child;
  bool is_static = false;   ///< valid at all times
  std::size_t samples = 0;  ///< number of samples in memory
  Time oldest;              ///< the oldest stamp in memory, 0 if there is none
  Time newest;
  std::uint64_t accepted = 0;  ///< transforms accepted since the start
  std::uint64_t sender = 0;    ///< sender of the newest, 0 if set in this process
};

/// The path between two frames: from the source up to the common ancestor and down to the target.
struct TransformChain {
  std::vector<std::string> frames;  ///< source first, target last
  std::size_t ancestor = 0;         ///< index of the common ancestor in `frames`
};

/// Counters of the submitted transforms. accepted + duplicates + stale + refused is their number.
struct TransformCounters {
  std::uint64_t accepted = 0;
  std::uint64_t duplicates = 0;   ///< same stamp and values as a stored one, ignored
  std::uint64_t stale = 0;        ///< older than the history, or of a former parent, dropped
  std::uint64_t refused = 0;      ///< not finite, not a unit quaternion, a cycle, too many frames
  std::uint64_t replaced = 0;     ///< of the accepted: same stamp with other values. The later wins
  std::uint64_t reparented = 0;   ///< of the accepted: the frame got another parent
  std::uint64_t shortened = 0;    ///< samples dropped before their time for lack of room
  std::uint64_t clock_jumps = 0;  ///< history cleared because a clock was set back

  bool operator==(const TransformCounters&) const = default;
};

namespace detail {
class TransformStore;
class RecentPaths;
class TransformPath;
}  // namespace detail

/// A repeated look-up: the path between two frames, kept ready.
///
/// Made by TransformTree::lookup() or Transforms::lookup(). The frames need not exist yet. Not
/// thread-safe: each thread needs its own copy. Keeps the tree's memory alive. Normally get()
/// hashes no string, takes no lock and allocates nothing. The exceptions are a failure, and the
/// first call after frames were added or moved to another parent.
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

/// Coordinate frames and their relative poses over time: in memory, without channels. A robot
/// program uses hyphos::Transforms, which shares one TransformTree between processes.
///
/// Every frame has at most one parent, so frames form trees. A look-up goes from both frames up to
/// their nearest common ancestor (HyperGraph ROS, section III-B, figure 3) and composes the two
/// paths. It interpolates between two samples (linear, and slerp) and never extrapolates.
///
/// Thread-safe. Writers exclude each other. Readers never wait for writers on a TransformLookup's
/// fast path: a sequence counter guards each frame's samples, and a reader that meets a change
/// reads again. get() by names caches its recent look-ups and holds a lock only to find two names
/// the first time. The options bound the memory: samples x 64 bytes x frames, and at most twice
/// that while a frame's buffer grows. Frames are never removed.
///
/// Names: 1 to 255 bytes without control characters. A leading '/', as in ROS 1, is removed. Errors
/// of set:
/// - invalid_config: names, a value that is not finite, a rotation whose length is not 1 to 1e-3,
///   stamp not positive, a cycle
/// - out_of_range: stamp older than the history
/// - exhausted: more than max_frames
///
/// Errors of get:
/// - not_found: no such frame, with the nearest name
/// - disconnected: two trees, with both roots
/// - out_of_range: not known at that time, with the edge, the distance and the known span
class HYPHOS_EXPORT TransformTree {
 public:
  explicit TransformTree(TransformTreeOptions options = {});
  TransformTree(const TransformTree&) = delete;
  TransformTree& operator=(const TransformTree&) = delete;
  ~TransformTree();

  /// Sets the pose of a moving frame at a time. Stamps may come in any order: late ones are
  /// inserted, and an equal stamp replaces. A new parent (with a newer stamp) drops the history
  /// under the old one. `sender` identifies the source, see TransformTreeOptions::clock_jump. Cost:
  /// ~100 ns. Allocates only for new frames and while a frame's history grows.
  Result<void> set(const Transform& transform, std::uint64_t sender = 0);
  /// Sets the pose of a frame for all times. The stamp is ignored. The later of set_static() and
  /// set() is valid.
  Result<void> set_static(const Transform& transform, std::uint64_t sender = 0);

  /// The transform from coordinates in `source` to coordinates in `target` at `time`.
  [[nodiscard]] Result<Transform> get(std::string_view target, std::string_view source,
                                      Time time = latest) const;
  /// The same between two times: `source` at `source_time` is carried to `target_time` in
  /// `fixed_frame`. That is a frame that does not move in between, e.g. the world.
  [[nodiscard]] Result<Transform> get(std::string_view target, Time target_time,
                                      std::string_view source, Time source_time,
                                      std::string_view fixed_frame) const;
  [[nodiscard]] TransformLookup lookup(std::string_view target, std::string_view source) const;
  [[nodiscard]] Result<TransformChain> chain(std::string_view target,
                                             std::string_view source) const;

  /// Every frame with a parent, in the order of insertion.
  [[nodiscard]] std::vector<TransformEdge> edges() const;
  [[nodiscard]] TransformCounters counters() const;
  [[nodiscard]] const TransformTreeOptions& options() const;
  /// Removes the samples of all moving frames. Frames, parents and static frames remain.
  void clear();

  [[nodiscard]] const std::shared_ptr<detail::TransformStore>& store() const { return store_; }

 private:
  std::shared_ptr<detail::TransformStore> store_;
  std::unique_ptr<detail::RecentPaths> recent_;
};

/// Options of Node::transforms().
struct TransformsOptions {
  /// Prefix of the channels' names, for one robot of several: "robot1" gives `robot1/tf` and
  /// `robot1/tf_static`. Empty: `tf` and `tf_static`.
  std::string prefix = {};
  TransformTreeOptions tree = {.clock_jump = Duration::from_ms(1'000)};
  /// Maximum number of pending wait() calls. Further ones fail with `overloaded`.
  std::size_t max_waiting = 1'024;
};

/// The robot's coordinate frames, shared by all its processes: every process can read transforms
/// that any process sets.
///
/// Made by Node::transforms(). There is one tree per process and prefix for all its nodes, with the
/// options of the first call. A process publishes its transforms on the channel `tf`. It publishes
/// all of its static transforms together, as the latched value of `tf_static`, whenever one
/// changes, so that late processes get them. Transforms of other processes are inserted in the
/// delivering thread, within microseconds. So no busy callback delays them, and a callback may wait
/// for a transform. Rejected transforms of other processes are counted (counters()) and logged, at
/// most once per second.
///
/// Cheap to copy, thread-safe, usable from callbacks. Once the process shuts down, set() and all
/// waits fail with `disconnected`.
class HYPHOS_EXPORT Transforms {
 public:
  using Callback = std::function<void(Result<Transform>)>;

  /// Sets and publishes transforms. TransformTree::set() lists the reasons for a refusal. Several
  /// in one call are sent as one message. If some are refused, the others are still set and sent,
  /// and the error is that of the first refused one. Does not block. Cost: ~1 us. Allocates for
  /// long names.
  Result<void> set(const Transform& transform) const;
  Result<void> set(std::span<const Transform> transforms) const;
  /// For frames that do not move. Set once. Kept for late processes as long as this process lives.
  Result<void> set_static(const Transform& transform) const;
  Result<void> set_static(std::span<const Transform> transforms) const;

  /// The transform from coordinates in `source` to coordinates in `target`, as known now. Errors:
  /// see TransformTree.
  [[nodiscard]] Result<Transform> get(std::string_view target, std::string_view source,
                                      Time time = latest) const;
  /// The same between two times, through a frame that does not move in between.
  [[nodiscard]] Result<Transform> get(std::string_view target, Time target_time,
                                      std::string_view source, Time source_time,
                                      std::string_view fixed_frame) const;
  /// Blocks until the transform is known, at most `timeout` of real time. Then `timeout`, with the
  /// reason.
  [[nodiscard]] Result<Transform> get(std::string_view target, std::string_view source, Time time,
                                      Duration timeout) const;
  /// The same without blocking. Returns a std::future and needs `#include <hyphos/future.hpp>`. The
  /// future is set in the thread that receives the missing transform. It is also set when the
  /// timeout expires, and immediately with out_of_range if `time` is older than the history.
  template <typename T = Transform>
  [[nodiscard]] auto wait(std::string_view target, std::string_view source, Time time,
                          Duration timeout) const {
    return detail::WaitNeedsFutureHpp<T>::start(*this, target, source, time, timeout);
  }
  /// Calls `done` once, on the thread pool.
  void wait(std::string_view target, std::string_view source, Time time, Duration timeout,
            Callback done) const;
  /// For frequent look-ups, see TransformLookup.
  [[nodiscard]] TransformLookup lookup(std::string_view target, std::string_view source) const;

  [[nodiscard]] Result<TransformChain> chain(std::string_view target,
                                             std::string_view source) const;
  [[nodiscard]] std::vector<TransformEdge> edges() const;
  [[nodiscard]] TransformCounters counters() const;
  /// Removes the history of moving frames, as after setting back a clock.
  void clear() const;
  /// "tf", or with the prefix.
  [[nodiscard]] const std::string& channel() const;

  class Impl;
  explicit Transforms(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  friend struct detail::WaitNeedsFutureHpp<Transform>;
  /// As wait(), but calls `done` in the thread that receives the transform. It must not block.
  void wait_inline(std::string_view target, std::string_view source, Time time, Duration timeout,
                   Callback done) const;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hyphos
