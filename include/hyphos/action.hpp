#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "hyphos/service.hpp"

namespace hyphos {

/// The states of a goal, with the names of ROS 2 (action_msgs/GoalStatus).
enum class GoalState : std::uint8_t {
  sent,       ///< sent, but not accepted yet
  accepted,   ///< will be executed, may wait for others if the policy is `queue`
  executing,  ///< the callback runs
  canceling,  ///< the callback runs and has been asked to end
  succeeded,
  canceled,
  aborted,  ///< it failed, was rejected, or its server is gone
};
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(GoalState state);
[[nodiscard]] constexpr bool is_final(GoalState state) { return state >= GoalState::succeeded; }

namespace detail {

/// A goal at its server, independent of its types. Implemented in node/.
class HYPHOS_EXPORT ServerGoal {
 public:
  virtual ~ServerGoal() = default;
  [[nodiscard]] virtual Exchange& exchange() = 0;
  /// Ends the goal and starts the next one. Errors as Exchange::send.
  virtual Result<void> finish(GoalState state, BlockRef result) = 0;
  virtual Result<void> fail(const Error& error) = 0;
  [[nodiscard]] virtual GoalState state() const = 0;
  [[nodiscard]] virtual bool preempted() const = 0;
  virtual void on_cancel(std::function<void()> hook) = 0;
  virtual bool wait_for(Duration time) = 0;
};
using ServerGoalRef = std::shared_ptr<ServerGoal>;

struct ActionCallbacks {
  std::function<Result<void>(const ExchangeRef&)> accept;  ///< may be empty
  std::function<void(const ServerGoalRef&)> execute;
};

/// A goal at its client, independent of its types.
class HYPHOS_EXPORT ClientGoal {
 public:
  using Feedback = std::function<void(const Delivery&)>;
  virtual ~ClientGoal() = default;
  [[nodiscard]] virtual GoalState state() const = 0;
  virtual Result<void> wait_accepted(std::int64_t deadline_ns) = 0;
  /// The last message of the goal. Its kind gives the state. Code::timeout: the goal continues.
  virtual Result<Delivery> wait_end(std::int64_t deadline_ns) = 0;
  virtual void on_end(std::function<void(const Result<Delivery>&)> hook) = 0;
  virtual void cancel() = 0;
  [[nodiscard]] virtual std::uint64_t feedback_dropped() const = 0;
};

[[nodiscard]] HYPHOS_EXPORT std::shared_ptr<ClientGoal> send_goal(
    const std::shared_ptr<CallClient>& client, BlockRef goal, Duration accept_timeout,
    ClientGoal::Feedback feedback);

/// The state that the last message of a goal reports.
[[nodiscard]] inline GoalState end_state(const Delivery& last) {
  const CallKind kind = kind_of(last);
  if (kind == CallKind::canceled) return GoalState::canceled;
  return kind == CallKind::aborted ? GoalState::aborted : GoalState::succeeded;
}

}  // namespace detail

/// One goal at the server's callback. Cheap to copy and thread-safe. Keep a copy to end the goal
/// later, from a timer or another thread. If the last copy is destroyed before the goal has ended,
/// the goal is aborted.
template <typename Goal, typename Feedback, typename Res>
class GoalHandle {
 public:
  GoalHandle() = default;
  GoalHandle(detail::ServerGoalRef core, Message<Goal> goal)
      : core_(std::move(core)), goal_(std::move(goal)) {}

  const Goal& operator*() const { return *goal_; }
  const Goal* operator->() const { return goal_.get(); }
  [[nodiscard]] const Message<Goal>& message() const { return goal_; }

  /// Errors: disconnected (there is no receiver), overloaded (the client's queue is full, and the
  /// feedback is counted as dropped), already_exists (the goal has ended).
  Result<void> feedback(Feedback value) const {
    return exchange().send(detail::CallKind::feedback, block(std::move(value)));
  }
  /// Ends the goal with a result. Errors as feedback().
  Result<void> succeed(Res result) const {
    return core_->finish(GoalState::succeeded, block(std::move(result)));
  }
  Result<void> abort(Res result) const {
    return core_->finish(GoalState::aborted, block(std::move(result)));
  }
  /// Aborts without a result: the client's result() returns this error.
  Result<void> abort(const Error& error) const { return core_->fail(error); }
  /// Ends a goal after a request to cancel it.
  Result<void> canceled(Res result) const {
    return core_->finish(GoalState::canceled, block(std::move(result)));
  }

  /// True once the goal should end: its client canceled it or is gone, or another goal preempts it.
  [[nodiscard]] bool cancel_requested() const { return core_->state() == GoalState::canceling; }
  [[nodiscard]] bool preempted() const { return core_->preempted(); }
  [[nodiscard]] GoalState state() const { return core_->state(); }
  /// Waits without occupying a thread of the pool. Returns true as soon as the goal should end.
  [[nodiscard]] bool wait_for(Duration time) const { return core_->wait_for(time); }
  /// Calls `hook` once on the pool when the goal should end.
  void on_cancel(std::function<void()> hook) const { core_->on_cancel(std::move(hook)); }

 private:
  detail::Exchange& exchange() const { return core_->exchange(); }
  template <typename T>
  detail::BlockRef block(T value) const {
    return detail::make_block(exchange().sender(), exchange().travels(), std::move(value));
  }
  detail::ServerGoalRef core_;
  Message<Goal> goal_;
};

/// A goal at its server whose types are known only by name. As GoalHandle, with bytes.
class RawGoalHandle {
 public:
  RawGoalHandle() = default;
  explicit RawGoalHandle(detail::ServerGoalRef core) : core_(std::move(core)) {}

  explicit operator bool() const { return core_ != nullptr; }
  /// The goal.
  [[nodiscard]] MessageRef message() const { return MessageRef(exchange().request()); }
  /// The memory for the next feedback, or for the result.
  [[nodiscard]] CallMemory memory() const { return {exchange().sender(), exchange().travels()}; }
  /// Errors as GoalHandle::feedback(). Does not copy the bytes.
  Result<void> feedback(RawMessage feedback) const {
    return exchange().send(detail::CallKind::feedback, block(feedback));
  }
  /// Ends the goal with a result. `state`: succeeded, canceled or aborted. Errors: disconnected,
  /// overloaded, already_exists.
  Result<void> finish(GoalState state, RawMessage result) const {
    return core_->finish(state, block(result));
  }
  /// Aborts without a result: the client's result() returns this error.
  Result<void> abort(const Error& error) const { return core_->fail(error); }

  [[nodiscard]] bool cancel_requested() const { return core_->state() == GoalState::canceling; }
  [[nodiscard]] bool preempted() const { return core_->preempted(); }
  [[nodiscard]] GoalState state() const { return core_->state(); }
  /// As GoalHandle::wait_for().
  [[nodiscard]] bool wait_for(Duration time) const { return core_->wait_for(time); }
  /// Calls `hook` once on the pool when the goal should end.
  void on_cancel(std::function<void()> hook) const { core_->on_cancel(std::move(hook)); }

 private:
  [[nodiscard]] detail::Exchange& exchange() const { return core_->exchange(); }
  [[nodiscard]] detail::BlockRef block(RawMessage& message) const {
    return detail::make_raw_block(exchange().sender(), message);
  }
  detail::ServerGoalRef core_;
};

/// The final state of a goal and its result.
template <typename Res>
struct GoalResult {
  GoalState state = GoalState::succeeded;  ///< succeeded, canceled or aborted
  Res value;

  [[nodiscard]] bool succeeded() const { return state == GoalState::succeeded; }
};

/// A goal that was sent. Cheap to copy and thread-safe. The goal continues when the object is
/// destroyed.
template <typename Res>
class SentGoal {
 public:
  SentGoal() = default;
  SentGoal(std::shared_ptr<detail::ClientGoal> core, std::string name)
      : core_(std::move(core)), name_(std::move(name)) {}

  /// Waits until the server has accepted the goal. The error is the rejection, or the reason for
  /// its absence: not_found, timeout, disconnected, ...
  [[nodiscard]] Result<void> accepted(Duration timeout = kCallTimeout) const {
    return core_->wait_accepted((monotonic_now() + timeout).ns);
  }
  /// Waits until the goal has ended. After Code::timeout the goal continues, and result() may be
  /// called again. The death of the server is detected immediately, as `disconnected`.
  [[nodiscard]] Result<GoalResult<Res>> result(Duration timeout) const {
    return read(core_->wait_end((monotonic_now() + timeout).ns), name_);
  }
  /// Calls `hook(Result<GoalResult<Res>>)` once on the pool when the goal has ended.
  template <typename F>
  void on_result(F hook) const {
    core_->on_end([hook = std::make_shared<F>(std::move(hook)), name = name_](
                      const Result<detail::Delivery>& end) { (*hook)(read(end, name)); });
  }
  /// Asks the server to cancel. result() returns the final state of the goal.
  void cancel() const { core_->cancel(); }
  [[nodiscard]] GoalState state() const { return core_->state(); }
  /// Number of feedback messages dropped because the callback was too slow.
  [[nodiscard]] std::uint64_t feedback_dropped() const { return core_->feedback_dropped(); }

 private:
  static Result<GoalResult<Res>> read(const Result<detail::Delivery>& end,
                                      const std::string& name) {
    if (!end) return end.error();
    auto message = detail::read_block<Res>(*end, name);
    if (!message) return message.error();
    return GoalResult<Res>{detail::end_state(*end), Res(**message)};
  }
  std::shared_ptr<detail::ClientGoal> core_;
  std::string name_;
};

/// The client of an action: a goal takes time, sends feedback and can be canceled. Cheap to copy
/// and thread-safe. Up to ClientOptions::max_pending goals may be in flight at once.
template <typename Goal, typename Feedback, typename Res>
class ActionClient {
 public:
  ActionClient() = default;
  explicit ActionClient(std::shared_ptr<detail::CallClient> core) : core_(std::move(core)) {}

  /// Sends a goal and returns immediately. `feedback(Message<Feedback>)` runs on the pool, one call
  /// at a time and in order. Up to 64 feedback messages wait. Beyond that the oldest is dropped and
  /// counted. If the server has not accepted the goal within `accept_timeout`, the goal ends with
  /// an error.
  template <typename F>
    requires std::invocable<F&, Message<Feedback>>
  SentGoal<Res> send(Goal goal, F feedback, Duration accept_timeout = kCallTimeout) const {
    auto hear = [name = core_->name(), feedback = std::make_shared<F>(std::move(feedback))](
                    const detail::Delivery& delivery) {
      if (auto message = detail::read_block<Feedback>(delivery, name)) (*feedback)(*message);
    };
    return send_with(std::move(goal), std::move(hear), accept_timeout);
  }
  SentGoal<Res> send(Goal goal, Duration accept_timeout = kCallTimeout) const {
    return send_with(std::move(goal), {}, accept_timeout);
  }
  [[nodiscard]] bool ready() const { return core_->ready(); }
  [[nodiscard]] Result<void> wait_for_server(Duration timeout = kCallTimeout) const {
    return core_->wait_for_server(timeout);
  }
  [[nodiscard]] const std::string& name() const { return core_->name(); }

 private:
  SentGoal<Res> send_with(Goal goal, detail::ClientGoal::Feedback feedback,
                          Duration accept_timeout) const {
    return {detail::send_goal(
                core_, detail::make_block(core_->sender(), core_->travels(), std::move(goal)),
                accept_timeout, std::move(feedback)),
            core_->name()};
  }
  std::shared_ptr<detail::CallClient> core_;
};

/// A goal that RawActionClient sent. As SentGoal, with bytes.
class RawSentGoal {
 public:
  RawSentGoal() = default;
  explicit RawSentGoal(std::shared_ptr<detail::ClientGoal> core) : core_(std::move(core)) {}

  explicit operator bool() const { return core_ != nullptr; }
  /// Errors as SentGoal::accepted().
  [[nodiscard]] Result<void> accepted(Duration timeout = kCallTimeout) const {
    return core_->wait_accepted((monotonic_now() + timeout).ns);
  }
  /// Errors as SentGoal::result(). Does not copy the result.
  [[nodiscard]] Result<GoalResult<MessageRef>> result(Duration timeout) const {
    return read(core_->wait_end((monotonic_now() + timeout).ns));
  }
  /// Calls `hook(Result<GoalResult<MessageRef>>)` once on the pool when the goal has ended.
  template <typename F>
    requires std::invocable<F&, Result<GoalResult<MessageRef>>>
  void on_result(F hook) const {
    core_->on_end(
        [hook = std::move(hook)](const Result<detail::Delivery>& end) mutable { hook(read(end)); });
  }
  /// Asks the server to cancel. result() returns the final state of the goal.
  void cancel() const { core_->cancel(); }
  [[nodiscard]] GoalState state() const { return core_->state(); }
  /// Number of feedback messages dropped because the callback was too slow.
  [[nodiscard]] std::uint64_t feedback_dropped() const { return core_->feedback_dropped(); }

 private:
  static Result<GoalResult<MessageRef>> read(const Result<detail::Delivery>& end) {
    if (!end) return end.error();
    return GoalResult<MessageRef>{detail::end_state(*end), MessageRef(*end)};
  }
  std::shared_ptr<detail::ClientGoal> core_;
};

/// The client of an action whose types are known only by name. As ActionClient, with bytes.
class RawActionClient : public RawClient {
 public:
  RawActionClient() = default;
  /// `client` must have the CallType of an action.
  explicit RawActionClient(RawClient client) : RawClient(std::move(client)) {}

  /// Sends a goal, as ActionClient::send(). `feedback(MessageRef)` runs on the pool, one call at a
  /// time and in order.
  template <typename F>
    requires std::invocable<F&, MessageRef>
  RawSentGoal send(RawMessage goal, F feedback, Duration accept_timeout = kCallTimeout) const {
    return send_with(
        std::move(goal),
        [feedback = std::move(feedback)](const detail::Delivery& delivery) mutable {
          feedback(MessageRef(delivery));
        },
        accept_timeout);
  }
  /// The same without feedback.
  RawSentGoal send(RawMessage goal, Duration accept_timeout = kCallTimeout) const {
    return send_with(std::move(goal), {}, accept_timeout);
  }

 private:
  [[nodiscard]] RawSentGoal send_with(RawMessage goal, detail::ClientGoal::Feedback feedback,
                                      Duration accept_timeout) const {
    return RawSentGoal(detail::send_goal(core_, detail::make_raw_block(core_->sender(), goal),
                                         accept_timeout, std::move(feedback)));
  }
};

/// A handle to an action of this process. The node owns the action.
class Action {
 public:
  Action() = default;
  explicit Action(std::shared_ptr<detail::CallServer> core) : core_(std::move(core)) {}
  /// Ends the action and aborts its goals. Asks running callbacks to cancel and waits for them.
  void close() const {
    if (core_) core_->close();
  }
  /// Number of accepted goals that have not ended.
  [[nodiscard]] std::size_t pending() const { return core_->pending(); }
  [[nodiscard]] const std::string& name() const { return core_->name(); }

 private:
  std::shared_ptr<detail::CallServer> core_;
};

namespace detail {

/// Adapts `execute(GoalHandle)`. It returns nothing, or a Res or Result<Res> that ends the goal.
template <typename Goal, typename Feedback, typename Res, typename F>
std::function<void(const ServerGoalRef&)> action_callback(F execute, std::string name) {
  using Handle = GoalHandle<Goal, Feedback, Res>;
  return [execute = std::move(execute), name = std::move(name)](const ServerGoalRef& core) mutable {
    auto goal = read_block<Goal>(core->exchange().request(), name);
    if (!goal) {
      (void)core->fail(goal.error());
      return;
    }
    const Handle handle(core, std::move(*goal));
    if constexpr (std::is_void_v<std::invoke_result_t<F&, Handle>>) {
      execute(handle);
    } else {
      auto result = execute(handle);
      if constexpr (IsResult<decltype(result)>::value) {
        (void)(result ? handle.succeed(std::move(*result)) : handle.abort(result.error()));
      } else {
        (void)handle.succeed(std::move(result));
      }
    }
  };
}

}  // namespace detail

template <typename Goal, typename Feedback, typename Res, typename F>
Action Node::action(const std::string& name, ActionOptions options, F execute,
                    std::function<Result<void>(const Goal&)> accept) const {
  detail::ActionCallbacks callbacks;
  callbacks.execute = detail::action_callback<Goal, Feedback, Res>(std::move(execute), name);
  if (accept) {
    callbacks.accept = [accept = std::move(accept),
                        name](const detail::ExchangeRef& exchange) -> Result<void> {
      auto goal = detail::read_block<Goal>(exchange->request(), name);
      if (!goal) return goal.error();
      return accept(**goal);
    };
  }
  return Action(open_action(name,
                            detail::action_types(type_support<Goal>(), type_support<Feedback>(),
                                                 type_support<Res>()),
                            options, std::move(callbacks))
                    .or_throw());
}

template <typename Goal, typename Feedback, typename Res>
ActionClient<Goal, Feedback, Res> Node::action_client(const std::string& name,
                                                      ClientOptions options) const {
  return ActionClient<Goal, Feedback, Res>(
      open_client(
          name,
          detail::action_types(type_support<Goal>(), type_support<Feedback>(), type_support<Res>()),
          options)
          .or_throw());
}

}  // namespace hyphos
