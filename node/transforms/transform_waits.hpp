#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "node/transforms/transform_store.hpp"

namespace hyphos {

/// Look-ups that wait for their result, each until a deadline.
///
/// A thread that changes the tree calls check() afterwards. A look-up is retried only if the sample
/// that it lacked has changed, so a wait for a sample that does not arrive costs the writers
/// nanoseconds. A separate thread, created by the first look-up, sleeps until the next deadline.
/// Timeouts must not depend on the pool, whose threads may all be waiting for one. Invariant: a
/// look-up leaves `waiting_` exactly once. The thread that removes it also calls its callback,
/// without the lock.
class TransformWaits {
 public:
  /// Must not block: the thread that changes the tree calls it.
  using Answer = std::function<void(Result<Transform>)>;

  explicit TransformWaits(std::size_t most) : most_(most) {}
  TransformWaits(const TransformWaits&) = delete;
  TransformWaits& operator=(const TransformWaits&) = delete;
  ~TransformWaits() { stop(); }

  /// May call `answer` before it returns.
  void add(detail::TransformPath path, Time time, Duration timeout, Answer answer)
      HYPHOS_EXCLUDES(mutex_);
  void check() HYPHOS_EXCLUDES(mutex_);
  /// Ends all look-ups, also later ones, with `disconnected`. Idempotent.
  void stop() HYPHOS_EXCLUDES(mutex_);

 private:
  struct Question {
    detail::TransformPath path;
    Time time;
    Duration timeout;
    std::int64_t deadline_ns = 0;  // CLOCK_MONOTONIC
    Answer answer;
    Error lacking;  // why it has no result yet
  };
  using Questions = std::list<Question>;
  struct Answered {
    Answer answer;
    Result<Transform> result;
  };

  /// True if there is a result, or will never be one. Otherwise sets `lacking`.
  [[nodiscard]] static bool ask(Question& question, Result<Transform>& result);
  void loop();

  const std::size_t most_;
  Mutex mutex_;
  Condition sooner_;
  Questions waiting_ HYPHOS_GUARDED_BY(mutex_);
  std::thread thread_ HYPHOS_GUARDED_BY(mutex_);
  bool stopped_ HYPHOS_GUARDED_BY(mutex_) = false;
};

}  // namespace hyphos
