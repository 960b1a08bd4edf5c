#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/transform.hpp"

namespace hyphos {

struct TransformsOptions {
  /// Before the channels' names, for one robot of several: "robot1" means `robot1/tf` and
  /// `robot1/tf_static`. Empty: `tf` and `tf_static`.
  std::string prefix = {};
  TransformTreeOptions tree = {.clock_jump = Duration::from_ms(1'000)};
  /// Most wait() calls that may be unanswered; further ones fail with `overloaded`.
  std::size_t max_waiting = 1'024;
};

/// The robot's coordinate frames, shared by all its processes: what one sets, all can ask.
///
/// From Node::transforms(). There is one tree per process and prefix, whichever node asks for it;
/// the options of the first hold. A process sends what it sets on the channel `tf`, and all of its
/// static transforms together, as the latched value of `tf_static`, whenever one changes, so that
/// late processes get them. What others send is taken in the thread that delivers it, in
/// microseconds: no busy callback delays it, and a callback may wait for a transform. What cannot
/// be taken from others is counted (counters()) and logged, once a second at most.
///
/// Cheap to copy, thread-safe, usable from callbacks. Once the process shuts down set() fails with
/// `disconnected`, and so do all waits.
class HYPHOS_EXPORT Transforms {
 public:
  using Callback = std::function<void(Result<Transform>)>;

  /// See TransformTree::set() for what is refused. Several in one call travel as one message; if
  /// some are refused the others are set and sent all the same, and the error tells of the first.
  /// Does not block. ~1 us; allocates for the names where they are long.
  Result<void> set(const Transform& transform) const;
  Result<void> set(std::span<const Transform> transforms) const;
  /// For what does not move. Set once; kept for late processes as long as this process lives.
  Result<void> set_static(const Transform& transform) const;
  Result<void> set_static(std::span<const Transform> transforms) const;

  /// What takes coordinates in `source` to coordinates in `target`, as known now. See TransformTree
  /// for the errors.
  [[nodiscard]] Result<Transform> get(std::string_view target, std::string_view source,
                                      Time time = latest) const;
  /// The same between two times, through a frame that does not move meanwhile.
  [[nodiscard]] Result<Transform> get(std::string_view target, Time target_time,
                                      std::string_view source, Time source_time,
                                      std::string_view fixed_frame) const;
  /// Blocks until it is known, at most `timeout` of real time. Then `timeout`, with the reason.
  [[nodiscard]] Result<Transform> get(std::string_view target, std::string_view source, Time time,
                                      Duration timeout) const;
  /// The same without blocking. The future is set in the thread that brings what was lacking; it is
  /// set in any case, also when time is up, and with out_of_range at once if `time` is older than
  /// the history.
  [[nodiscard]] std::future<Result<Transform>> wait(std::string_view target,
                                                    std::string_view source, Time time,
                                                    Duration timeout) const;
  /// Calls `done` once, on the thread pool.
  void wait(std::string_view target, std::string_view source, Time time, Duration timeout,
            Callback done) const;
  /// For questions that are asked often; see TransformLookup.
  [[nodiscard]] TransformLookup lookup(std::string_view target, std::string_view source) const;

  [[nodiscard]] Result<TransformChain> chain(std::string_view target,
                                             std::string_view source) const;
  [[nodiscard]] std::vector<TransformEdge> edges() const;
  [[nodiscard]] TransformCounters counters() const;
  /// Forgets the history of what moves, as when a clock is set back.
  void clear() const;
  /// "tf", or with the prefix.
  [[nodiscard]] const std::string& channel() const;

  class Impl;
  explicit Transforms(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace hyphos
