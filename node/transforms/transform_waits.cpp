#include "node/transforms/transform_waits.hpp"

#include <algorithm>
#include <chrono>

#include "node/transforms/transform_text.hpp"

namespace hyphos {
namespace {

Error shut_down() {
  return {Code::disconnected, "the process is shutting down. No transform will arrive", {}};
}

Error timed_out(const Error& lacking, Duration timeout) {
  return {Code::timeout, "timed out after " + detail::duration(timeout.ns) + ": " + lacking.message,
          lacking.where};
}

}  // namespace

bool TransformWaits::ask(Question& question, Result<Transform>& result) {
  auto found = question.path.get(question.time.ns);
  if (found) {
    result = Transform{question.path.target(), question.path.source(), found->stamp,
                       found->translation, found->rotation};
    return true;
  }
  question.lacking = found.error();
  result = found.error();
  return question.path.hopeless();
}

void TransformWaits::add(detail::TransformPath path, Time time, Duration timeout, Answer answer) {
  const std::int64_t limit = std::max<std::int64_t>(timeout.ns, 0);
  const std::int64_t now = monotonic_now().ns;
  const std::int64_t deadline = limit > std::numeric_limits<std::int64_t>::max() - now
                                    ? std::numeric_limits<std::int64_t>::max()
                                    : now + limit;
  Question question{std::move(path), time, timeout, deadline, std::move(answer), {}};
  Result<Transform> result = shut_down();
  {
    // Under the lock: a check() for any later sample finds the look-up in the list.
    const MutexLock lock(mutex_);
    bool answered = stopped_ || ask(question, result);
    if (!answered && limit == 0) {
      result = timed_out(question.lacking, timeout);
      answered = true;
    }
    if (!answered && waiting_.size() >= most_) {
      result = Error{Code::overloaded,
                     std::to_string(most_) + " look-ups already wait, which is the limit",
                     {}};
      answered = true;
    }
    if (!answered) {
      waiting_.push_back(std::move(question));
      if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
      sooner_.notify_one();
      return;
    }
  }
  question.answer(std::move(result));
}

void TransformWaits::check() {
  std::vector<Answered> answered;
  {
    const MutexLock lock(mutex_);
    for (auto q = waiting_.begin(); q != waiting_.end();) {
      Result<Transform> result = Error{};
      if (q->path.may_have_changed() && ask(*q, result)) {
        answered.push_back({std::move(q->answer), std::move(result)});
        q = waiting_.erase(q);
      } else {
        ++q;
      }
    }
  }
  for (Answered& one : answered) one.answer(std::move(one.result));
}

void TransformWaits::loop() {
  UniqueLock lock(mutex_);
  while (!stopped_) {
    const auto earliest = std::min_element(
        waiting_.begin(), waiting_.end(),
        [](const Question& a, const Question& b) { return a.deadline_ns < b.deadline_ns; });
    const std::int64_t now = monotonic_now().ns;
    if (earliest == waiting_.end()) {
      sooner_.wait(lock);
    } else if (earliest->deadline_ns > now) {
      // At most one hour at a time: distant deadlines would overflow the clock's arithmetic.
      const std::int64_t left =
          std::min<std::int64_t>(earliest->deadline_ns - now, 3'600'000'000'000);
      sooner_.wait_for(lock, std::chrono::nanoseconds(left));
    } else {
      const Answer answer = std::move(earliest->answer);
      Result<Transform> result = timed_out(earliest->lacking, earliest->timeout);
      waiting_.erase(earliest);
      lock.unlock();
      answer(std::move(result));
      lock.lock();
    }
  }
}

void TransformWaits::stop() {
  Questions left;
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    left.swap(waiting_);
    thread.swap(thread_);
    sooner_.notify_one();
  }
  if (thread.joinable()) thread.join();
  for (const Question& question : left) question.answer(shut_down());
}

}  // namespace hyphos
