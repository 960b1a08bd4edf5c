#include "node/calls/action_server.hpp"

#include <chrono>
#include <exception>

#include "base/log.hpp"
#include "hyphos/time.hpp"

namespace hyphos::calls {
namespace {

using detail::CallKind;

thread_local const ActionCore* executing_here = nullptr;

Error ended_already(const std::string& name) {
  return {Code::already_exists, "the goal has already ended", name};
}

}  // namespace

// --- Goals arrive and start ---------------------------------------------------------------------

Result<void> ActionCore::ask_user(const detail::ExchangeRef& exchange) {
  if (!callbacks_.accept) return success();
  try {
    return callbacks_.accept(exchange);
  } catch (const std::exception& error) {
    return Error{Code::io, std::string("the server's accept callback threw: ") + error.what(),
                 name_};
  }
}

void ActionCore::arrived(const detail::ExchangeRef& exchange) {
  if (auto good = ask_user(exchange); !good) {
    (void)exchange->fail(good.error());
    return;
  }
  auto goal = std::make_shared<GoalCore>(shared_from_this(), exchange);
  std::optional<Error> rejected;
  std::vector<GoalPtr> to_cancel;
  std::deque<GoalPtr> passed_over;
  bool starts = false;
  {
    const MutexLock lock(mutex_);
    const bool busy = !active_.empty();
    if (closed_) {
      rejected = Error{Code::disconnected, "action '" + name_ + "' was closed", name_};
    } else if (options_.policy == GoalPolicy::reject && busy) {
      rejected = Error{Code::overloaded,
                       "action '" + name_ + "' is executing another goal (policy reject)", name_};
    } else if (active_.size() + queue_.size() >= options_.depth &&
               options_.policy != GoalPolicy::preempt) {
      rejected = Error{
          Code::overloaded,
          "action '" + name_ + "' already has " + std::to_string(options_.depth) + " goals (depth)",
          name_};
    } else {
      if (options_.policy == GoalPolicy::preempt) {
        passed_over.swap(queue_);
        for (const auto& [key, weak] : active_) to_cancel.push_back(weak.lock());
      }
      starts = !busy || options_.policy == GoalPolicy::parallel;
      if (starts) {
        active_.emplace(goal.get(), goal);
      } else {
        queue_.push_back(goal);
      }
    }
  }
  if (rejected) {
    (void)goal->fail(*rejected);
    return;
  }
  goal->tell(CallKind::accepted);
  // Set after the goal can be found, or an early cancel would be lost.
  exchange->on_cancel([weak = std::weak_ptr(goal), action = shared_from_this()] {
    if (const auto wanted = weak.lock()) action->cancel(wanted, wanted->exchange().client_gone());
  });
  for (const GoalPtr& old : passed_over) {
    (void)old->fail({Code::canceled, "a newer goal replaced it before it began", name_});
  }
  for (const GoalPtr& old : to_cancel) {
    if (old != nullptr) old->request_cancel(true);
  }
  if (starts) begin(std::move(goal));
}

void ActionCore::begin(GoalPtr goal) {
  goal->set_executing();
  goal->tell(CallKind::started);
  executor_.enqueue(Priority::normal,
                    [self = shared_from_this(), goal = std::move(goal)]() mutable {
                      self->execute(goal);
                      goal.reset();  // now, not later when the pool destroys the task
                    });
}

void ActionCore::execute(const GoalPtr& goal) {
  {
    const MutexLock lock(mutex_);
    ++running_;
  }
  const ActionCore* const outer = std::exchange(executing_here, this);
  std::optional<graph::Failure> failure;
  try {
    callbacks_.execute(goal);
  } catch (...) {
    failure = graph::Failure::current();
  }
  executing_here = outer;
  if (failure) {
    if (!executor_.is_normal_end(*failure)) {
      failure->log("callback of action '" + name_ + "'", errors_);
    }
    (void)goal->fail({Code::io, "the server's callback threw: " + failure->summary, name_});
  }
  const MutexLock lock(mutex_);
  --running_;
  idle_.notify_all();
}

// --- Goals end ---------------------------------------------------------------------------------

void ActionCore::ended(GoalCore& goal) {
  GoalPtr next;
  {
    const MutexLock lock(mutex_);
    active_.erase(&goal);
    if (!active_.empty() || queue_.empty() || closed_) return;
    next = std::move(queue_.front());
    queue_.pop_front();
    active_.emplace(next.get(), next);
  }
  begin(std::move(next));
}

void ActionCore::cancel(const GoalPtr& goal, bool client_gone) {
  if (client_gone && !options_.cancel_if_unwatched) return;
  bool waits = false;
  {
    const MutexLock lock(mutex_);
    waits = std::erase(queue_, goal) > 0;
  }
  if (waits) {
    (void)goal->fail({Code::canceled, "the goal was canceled before it began", name_});
  } else {
    goal->request_cancel(false);
  }
}

void ActionCore::close() {
  std::deque<GoalPtr> queue;
  std::vector<GoalPtr> active;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    queue.swap(queue_);
    for (const auto& [key, weak] : active_) active.push_back(weak.lock());
  }
  for (const GoalPtr& goal : queue) {
    (void)goal->fail({Code::disconnected, "action '" + name_ + "' was closed", name_});
  }
  for (const GoalPtr& goal : active) {
    if (goal != nullptr) goal->request_cancel(false);
  }
  queue.clear();
  active.clear();
  if (executing_here == this) return;
  UniqueLock lock(mutex_);
  idle_.wait(lock, [this]() HYPHOS_REQUIRES(mutex_) { return running_ == 0; });
}

std::size_t ActionCore::pending() const {
  const MutexLock lock(mutex_);
  return active_.size() + queue_.size();
}

// --- One goal ----------------------------------------------------------------------------------

GoalCore::~GoalCore() {
  if (is_final(state_)) return;
  // No handle is left that could end the goal.
  (void)fail({Code::io, "the server dropped the goal without a result", action_->name()});
}

bool GoalCore::claim_end(GoalState state) {
  const MutexLock lock(mutex_);
  if (is_final(state_)) return false;
  state_ = state;
  hook_ = nullptr;
  changed_.notify_all();
  return true;
}

Result<void> GoalCore::finish(GoalState state, detail::BlockRef result) {
  if (!claim_end(state)) return ended_already(action_->name());
  CallKind kind = CallKind::reply;
  if (state == GoalState::canceled) kind = CallKind::canceled;
  if (state == GoalState::aborted) kind = CallKind::aborted;
  auto sent = exchange_->send(kind, std::move(result));
  action_->ended(*this);
  return sent;
}

Result<void> GoalCore::fail(const Error& error) {
  if (!claim_end(error.code == Code::canceled ? GoalState::canceled : GoalState::aborted)) {
    return ended_already(action_->name());
  }
  auto sent = exchange_->fail(error);
  action_->ended(*this);
  return sent;
}

GoalState GoalCore::state() const {
  const MutexLock lock(mutex_);
  return state_ == GoalState::executing && cancel_ ? GoalState::canceling : state_;
}

bool GoalCore::preempted() const {
  const MutexLock lock(mutex_);
  return preempted_;
}

void GoalCore::set_executing() {
  const MutexLock lock(mutex_);
  if (state_ == GoalState::accepted) state_ = GoalState::executing;
}

void GoalCore::tell(CallKind kind) {
  detail::BlockRef block = exchange_->sender().block();
  block->set_encoded(Buffer(), {});
  (void)exchange_->send(kind, std::move(block));  // a lost client is notified by other means
}

void GoalCore::on_cancel(std::function<void()> hook) {
  {
    const MutexLock lock(mutex_);
    if (is_final(state_)) return;
    if (!cancel_) {
      hook_ = std::move(hook);
      return;
    }
  }
  exchange_->post(std::move(hook));
}

void GoalCore::request_cancel(bool preempt) {
  std::function<void()> hook;
  {
    const MutexLock lock(mutex_);
    if (is_final(state_)) return;
    preempted_ = preempted_ || preempt;
    cancel_ = true;
    hook = std::exchange(hook_, nullptr);
    changed_.notify_all();
  }
  if (hook) exchange_->post(std::move(hook));
}

bool GoalCore::wait_for(Duration time) {
  UniqueLock lock(mutex_);
  const std::int64_t deadline = (monotonic_now() + time).ns;
  const auto ready = [this]() HYPHOS_REQUIRES(mutex_) { return cancel_ || is_final(state_); };
  const auto waited = wait_by(*exchange_, lock, changed_, deadline, ready);
  if (!waited && waited.error().code == Code::overloaded) {
    // Too many callbacks wait for the pool to lend another thread, so this one waits without it.
    changed_.wait_until(
        lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline)), ready);
  }
  return cancel_;
}

}  // namespace hyphos::calls
