#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "node/transforms/transform_store.hpp"

namespace hyphos {

/// Questions to a tree that wait for their answer, each until a deadline.
///
/// Whoever changes the tree calls check() afterwards; a question is asked again only if what it
/// lacked has changed, so that waiting for something that does not come costs the writers
/// nanoseconds. A thread of its own, which exists from the first question on, sleeps until the next
/// deadline: answers must not depend on the pool, whose threads may all be waiting for one.
/// Invariant: a question leaves `waiting_` exactly once, and who takes it out answers it, without
/// the lock.
class TransformWaits {
 public:
  /// Must not block: called by whoever changes the tree.
  using Answer = std::function<void(Result<Transform>)>;

  explicit TransformWaits(std::size_t most) : most_(most) {}
  TransformWaits(const TransformWaits&) = delete;
  TransformWaits& operator=(const TransformWaits&) = delete;
  ~TransformWaits() { stop(); }

  /// May answer before it returns.
  void add(detail::TransformPath path, Time time, Duration timeout, Answer answer);
  void check();
  /// Answers all with `disconnected`, and all that come later. Idempotent.
  void stop();

 private:
  struct Question {
    detail::TransformPath path;
    Time time;
    Duration timeout;
    std::int64_t deadline_ns = 0;  // CLOCK_MONOTONIC
    Answer answer;
    Error lacking;  // why it is not answered yet
  };
  using Questions = std::list<Question>;
  struct Answered {
    Answer answer;
    Result<Transform> result;
  };

  /// The answer if there is one, or there will be none; else what is lacking.
  [[nodiscard]] static bool ask(Question& question, Result<Transform>& result);
  void loop();

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable sooner_;
  Questions waiting_;
  std::thread thread_;
  bool stopped_ = false;
};

}  // namespace hyphos
