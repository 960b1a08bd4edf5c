#include <deque>
#include <exception>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "hyphos/action.hpp"
#include "hyphos/time.hpp"
#include "node/calls/calls.hpp"

namespace hyphos {
namespace {

using detail::CallClient;
using detail::CallKind;
using detail::Delivery;

constexpr std::size_t kFeedbackDepth = 64;

/// Receives the server's messages about one goal. One task at a time runs the feedback callback.
/// The end is reported after the feedback that came before it.
class GoalListener final : public detail::CallListener,
                           public std::enable_shared_from_this<GoalListener> {
 public:
  GoalListener(std::shared_ptr<CallClient> client, detail::ClientGoal::Feedback feedback)
      : client_(std::move(client)), feedback_(std::move(feedback)) {}

  void start(detail::BlockRef goal, Duration accept_timeout) {
    const std::uint64_t id =
        client_->start(std::move(goal), (monotonic_now() + accept_timeout).ns, shared_from_this());
    const MutexLock lock(mutex_);
    id_ = id;
  }

  void heard(CallKind kind, const Delivery& message) override {
    UniqueLock lock(mutex_);
    switch (kind) {
      case CallKind::accepted:
        accepted_ = true;
        if (state_ == GoalState::sent) state_ = GoalState::accepted;
        break;
      case CallKind::started:
        accepted_ = true;
        if (state_ == GoalState::sent || state_ == GoalState::accepted) {
          state_ = GoalState::executing;
        }
        break;
      case CallKind::feedback:
        if (!feedback_) return;
        if (waiting_.size() >= kFeedbackDepth) {
          waiting_.pop_front();
          ++dropped_;
        }
        waiting_.push_back(message);
        return run_feedback(lock);
      case CallKind::reply:
        return end(lock, GoalState::succeeded, message);
      case CallKind::canceled:
        return end(lock, GoalState::canceled, message);
      case CallKind::aborted:
        return end(lock, GoalState::aborted, message);
      default:
        return;
    }
    changed_.notify_all();
  }
  void failed(const Error& error) override {
    UniqueLock lock(mutex_);
    end(lock, error.code == Code::canceled ? GoalState::canceled : GoalState::aborted, error);
  }

  [[nodiscard]] GoalState state() const {
    const MutexLock lock(mutex_);
    return state_;
  }
  [[nodiscard]] std::uint64_t dropped() const {
    const MutexLock lock(mutex_);
    return dropped_;
  }
  Result<void> wait_accepted(std::int64_t deadline_ns) {
    UniqueLock lock(mutex_);
    auto waited =
        calls::wait_by(*client_, lock, changed_, deadline_ns,
                       [this]() HYPHOS_REQUIRES(mutex_) { return state_ != GoalState::sent; });
    if (!waited) return waited;
    // An error after the acceptance is not a rejection.
    if (end_ && !*end_ && !accepted_) return end_->error();
    return success();
  }
  Result<Delivery> wait_end(std::int64_t deadline_ns) {
    UniqueLock lock(mutex_);
    auto waited = calls::wait_by(*client_, lock, changed_, deadline_ns,
                                 [this]() HYPHOS_REQUIRES(mutex_) { return end_.has_value(); });
    if (waited) return *end_;
    if (waited.error().code != Code::timeout) return waited.error();
    return Error{Code::timeout,
                 "the goal has not ended yet. Its state is " + std::string(to_string(state_)),
                 client_->name()};
  }
  void on_end(std::function<void(const Result<Delivery>&)> hook) {
    UniqueLock lock(mutex_);
    hooks_.push_back(std::move(hook));
    if (end_) run_feedback(lock);
  }
  void cancel() {
    std::uint64_t id = 0;
    {
      const MutexLock lock(mutex_);
      if (is_final(state_)) return;
      if (state_ == GoalState::executing) state_ = GoalState::canceling;
      id = id_;
    }
    if (id != 0) client_->cancel(id);
  }

 private:
  void end(UniqueLock<Mutex>& lock, GoalState state, Result<Delivery> how) HYPHOS_REQUIRES(mutex_)
      HYPHOS_RELEASE(lock) {
    state_ = state;
    end_ = std::move(how);
    changed_.notify_all();
    run_feedback(lock);
  }
  // One task at a time. The task holds the client, whose handles may all be gone. The arguments of
  // a callback are destroyed before the lock is taken again, because the destructor of a Python
  // object waits for the interpreter, whose thread may wait for this lock.
  void run_feedback(UniqueLock<Mutex>& lock) HYPHOS_REQUIRES(mutex_) HYPHOS_RELEASE(lock) {
    if (std::exchange(running_, true)) return lock.unlock();
    lock.unlock();
    client_->post([self = shared_from_this()] { self->run(); });
  }
  void run() {
    UniqueLock lock(mutex_);
    for (;;) {
      if (!waiting_.empty()) {
        Delivery next = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        guarded([&] { feedback_(next); });
        next = {};
        lock.lock();
      } else if (end_ && !hooks_.empty()) {
        auto hooks = std::exchange(hooks_, {});
        const Result<Delivery>& how = *end_;  // final from here on
        lock.unlock();
        for (const auto& hook : hooks) guarded([&] { hook(how); });
        hooks.clear();
        lock.lock();
      } else {
        break;
      }
    }
    running_ = false;
  }

  // A callback that throws does not prevent the others from running.
  template <typename F>
  void guarded(const F& work) const {
    try {
      work();
    } catch (const std::exception& error) {
      log::error("graph", "a callback of action '" + client_->name() + "' threw: " + error.what());
    }
  }

  const std::shared_ptr<CallClient> client_;
  const detail::ClientGoal::Feedback feedback_;
  mutable Mutex mutex_;
  Condition changed_;
  std::uint64_t id_ HYPHOS_GUARDED_BY(mutex_) = 0;
  GoalState state_ HYPHOS_GUARDED_BY(mutex_) = GoalState::sent;
  bool accepted_ HYPHOS_GUARDED_BY(mutex_) = false;  ///< stays true after the end
  std::optional<Result<Delivery>> end_ HYPHOS_GUARDED_BY(mutex_);
  std::deque<Delivery> waiting_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::function<void(const Result<Delivery>&)>> hooks_ HYPHOS_GUARDED_BY(mutex_);
  std::uint64_t dropped_ HYPHOS_GUARDED_BY(mutex_) = 0;
  bool running_ HYPHOS_GUARDED_BY(mutex_) = false;
};

class ClientGoalImpl final : public detail::ClientGoal {
 public:
  explicit ClientGoalImpl(std::shared_ptr<GoalListener> listener)
      : listener_(std::move(listener)) {}
  [[nodiscard]] GoalState state() const override { return listener_->state(); }
  Result<void> wait_accepted(std::int64_t deadline_ns) override {
    return listener_->wait_accepted(deadline_ns);
  }
  Result<Delivery> wait_end(std::int64_t deadline_ns) override {
    return listener_->wait_end(deadline_ns);
  }
  void on_end(std::function<void(const Result<Delivery>&)> hook) override {
    listener_->on_end(std::move(hook));
  }
  void cancel() override { listener_->cancel(); }
  [[nodiscard]] std::uint64_t feedback_dropped() const override { return listener_->dropped(); }

 private:
  const std::shared_ptr<GoalListener> listener_;
};

}  // namespace

std::string_view to_string(GoalState state) {
  switch (state) {
    case GoalState::sent:
      return "sent";
    case GoalState::accepted:
      return "accepted";
    case GoalState::executing:
      return "executing";
    case GoalState::canceling:
      return "canceling";
    case GoalState::succeeded:
      return "succeeded";
    case GoalState::canceled:
      return "canceled";
    case GoalState::aborted:
      return "aborted";
  }
  return "unknown";
}

std::string_view to_string(GoalPolicy policy) {
  switch (policy) {
    case GoalPolicy::queue:
      return "queue";
    case GoalPolicy::preempt:
      return "preempt";
    case GoalPolicy::reject:
      return "reject";
    case GoalPolicy::parallel:
      return "parallel";
  }
  return "unknown";
}

std::shared_ptr<detail::ClientGoal> detail::send_goal(const std::shared_ptr<CallClient>& client,
                                                      BlockRef goal, Duration accept_timeout,
                                                      ClientGoal::Feedback feedback) {
  auto listener = std::make_shared<GoalListener>(client, std::move(feedback));
  listener->start(std::move(goal), accept_timeout);
  return std::make_shared<ClientGoalImpl>(std::move(listener));
}

}  // namespace hyphos
