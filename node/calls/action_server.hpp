#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "hyphos/action.hpp"
#include "node/calls/call_server.hpp"

namespace hyphos::calls {

class GoalCore;

/// The goals of one action in this process.
///
/// Invariants, under `mutex_`: (1) a goal is in `active_` or in `queue_` from its acceptance to its
/// end, never in both. (2) unless the policy is `parallel`, `active_` has at most one goal, and if
/// it has none then `queue_` is empty. No other object is called under the lock.
class ActionCore final : public std::enable_shared_from_this<ActionCore> {
 public:
  ActionCore(graph::Executor& executor, std::string name, ActionOptions options,
             detail::ActionCallbacks callbacks)
      : executor_(executor),
        name_(std::move(name)),
        options_(options),
        callbacks_(std::move(callbacks)) {}

  /// Processes an arrived goal. Runs on the pool, one at a time.
  void arrived(const detail::ExchangeRef& exchange);
  /// Requests that the active goals cancel, and waits for their callbacks unless called from one of
  /// them.
  void close();
  [[nodiscard]] std::size_t pending() const;

  // For goals.
  void ended(GoalCore& goal);
  void cancel(const std::shared_ptr<GoalCore>& goal, bool client_gone);
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  using GoalPtr = std::shared_ptr<GoalCore>;
  [[nodiscard]] Result<void> ask_user(const detail::ExchangeRef& exchange);
  void begin(GoalPtr goal);
  void execute(const GoalPtr& goal);

  graph::Executor& executor_;
  const std::string name_;
  const ActionOptions options_;
  const detail::ActionCallbacks callbacks_;
  log::OncePerSecond errors_;
  mutable Mutex mutex_;
  Condition idle_;
  std::map<GoalCore*, std::weak_ptr<GoalCore>> active_ HYPHOS_GUARDED_BY(mutex_);
  std::deque<GoalPtr> queue_ HYPHOS_GUARDED_BY(mutex_);
  int running_ HYPHOS_GUARDED_BY(mutex_) = 0;  // callbacks
  bool closed_ HYPHOS_GUARDED_BY(mutex_) = false;
};

/// One accepted goal.
class GoalCore final : public detail::ServerGoal, public std::enable_shared_from_this<GoalCore> {
 public:
  GoalCore(std::shared_ptr<ActionCore> action, detail::ExchangeRef exchange)
      : action_(std::move(action)), exchange_(std::move(exchange)) {}
  ~GoalCore() override;
  GoalCore(const GoalCore&) = delete;
  GoalCore& operator=(const GoalCore&) = delete;

  [[nodiscard]] detail::Exchange& exchange() override { return *exchange_; }
  Result<void> finish(GoalState state, detail::BlockRef result) override;
  Result<void> fail(const Error& error) override;
  [[nodiscard]] GoalState state() const override;
  [[nodiscard]] bool preempted() const override;
  void on_cancel(std::function<void()> hook) override;
  bool wait_for(Duration time) override;

  void set_executing();
  void request_cancel(bool preempt);
  void tell(detail::CallKind kind);

 private:
  [[nodiscard]] bool claim_end(GoalState state);

  const std::shared_ptr<ActionCore> action_;
  const detail::ExchangeRef exchange_;
  mutable Mutex mutex_;
  Condition changed_;
  GoalState state_ HYPHOS_GUARDED_BY(mutex_) = GoalState::accepted;
  bool cancel_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool preempted_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::function<void()> hook_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::calls
