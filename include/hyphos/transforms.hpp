#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/transform.hpp"

namespace hyphos {

namespace detail {
/// The wait of which hyphos/future.hpp makes a std::future.
template <typename T>
struct WaitNeedsFutureHpp;
}  // namespace detail

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
