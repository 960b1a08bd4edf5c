#include <deque>
#include <functional>
#include <limits>
#include <memory>

#include "handles.hpp"

using namespace hyphos;
using namespace hyphos::c;

struct hyphos_action {
  WeakNode node;
  Action core;
};
struct hyphos_goal {
  WeakNode node;
  RawGoalHandle core;
};
struct hyphos_action_client {
  WeakNode node;
  RawActionClient core;
};

namespace {

static_assert(static_cast<int>(GoalState::sent) == HYPHOS_GOAL_SENT &&
              static_cast<int>(GoalState::succeeded) == HYPHOS_GOAL_SUCCEEDED &&
              static_cast<int>(GoalState::aborted) == HYPHOS_GOAL_ABORTED);
static_assert(static_cast<int>(GoalPolicy::queue) == HYPHOS_GOALS_QUEUE &&
              static_cast<int>(GoalPolicy::preempt) == HYPHOS_GOALS_PREEMPT &&
              static_cast<int>(GoalPolicy::reject) == HYPHOS_GOALS_REJECT &&
              static_cast<int>(GoalPolicy::parallel) == HYPHOS_GOALS_PARALLEL);

/// Feedback of one goal that may wait for hyphos_poll().
constexpr std::size_t kFeedbackDepth = 64;

Result<CallType> read_types(const hyphos_action_types* types) {
  if (types == nullptr) return is_null("types");
  const auto goal = read_type(&types->goal);
  if (!goal) return goal.error();
  const auto feedback = read_type(&types->feedback);
  if (!feedback) return feedback.error();
  const auto result = read_type(&types->result);
  if (!result) return result.error();
  return action_type(goal.value(), feedback.value(), result.value());
}

Error wrong_option(const char* what, std::int64_t value, const char* right) {
  return {Code::invalid_config,
          std::string(what) + " is " + std::to_string(value) + ". It must be " + right, ""};
}

Result<ActionOptions> read_options(const hyphos_action_options& from) {
  if (from.mode != HYPHOS_POLLED && from.mode != HYPHOS_CONCURRENT) {
    return wrong_option("options.mode", from.mode, "HYPHOS_POLLED or HYPHOS_CONCURRENT");
  }
  if (from.policy < HYPHOS_GOALS_QUEUE || from.policy > HYPHOS_GOALS_PARALLEL) {
    return wrong_option("options.policy", from.policy,
                        "one of HYPHOS_GOALS_QUEUE to HYPHOS_GOALS_PARALLEL");
  }
  ActionOptions how;
  how.policy = static_cast<GoalPolicy>(from.policy);
  how.scope = from.local != 0 ? Scope::local : Scope::network;
  if (from.depth > 0) how.depth = from.depth;
  return how;
}

/// The callbacks of a goal that this node sent. The threads that deliver only fill its queue.
class GoalListener final : public Source, public std::enable_shared_from_this<GoalListener> {
 public:
  GoalListener(std::shared_ptr<Pump> pump, const hyphos_goal_callbacks& callbacks)
      : pump_(std::move(pump)), callbacks_(callbacks) {}

  void feedback(const MessageRef& message) HYPHOS_EXCLUDES(mutex_) {
    if (callbacks_.feedback == nullptr) return;
    {
      const MutexLock lock(mutex_);
      if (waiting_.size() >= kFeedbackDepth) {
        waiting_.pop_front();
        ++dropped_;
      }
      waiting_.push_back(message);
    }
    pump_->ready(shared_from_this());
  }
  void end(Result<GoalResult<MessageRef>> last) {
    if (callbacks_.result == nullptr) return;
    pump_->post(
        [self = shared_from_this(), last = std::move(last)] {
          (void)self->run(std::numeric_limits<std::uint32_t>::max());
          self->report_end(last);
        },
        Pump::Fate::certain);
  }
  std::uint32_t run(std::uint32_t most) override HYPHOS_EXCLUDES(mutex_) {
    std::uint32_t ran = 0;
    while (ran < most) {
      MessageRef next;
      {
        const MutexLock lock(mutex_);
        if (waiting_.empty()) return ran;
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      if (const auto message = view(next)) callbacks_.feedback(callbacks_.user, &message.value());
      ++ran;
    }
    pump_->ready(shared_from_this());
    return ran;
  }
  [[nodiscard]] std::uint64_t dropped() HYPHOS_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return dropped_;
  }

 private:
  void report_end(const Result<GoalResult<MessageRef>>& last) const {
    const auto message = last ? view(last->value) : Result<hyphos_message>(last.error());
    if (message) {
      return callbacks_.result(callbacks_.user, static_cast<hyphos_goal_state>(last->state),
                               &message.value(), nullptr);
    }
    hyphos_error error;
    (void)report(&error, message.error());
    const bool canceled = !last && last.error().code == Code::canceled;
    callbacks_.result(callbacks_.user, canceled ? HYPHOS_GOAL_CANCELED : HYPHOS_GOAL_ABORTED,
                      nullptr, &error);
  }

  const std::shared_ptr<Pump> pump_;
  const hyphos_goal_callbacks callbacks_;
  Mutex mutex_;
  std::deque<MessageRef> waiting_ HYPHOS_GUARDED_BY(mutex_);
  std::uint64_t dropped_ HYPHOS_GUARDED_BY(mutex_) = 0;
};

}  // namespace

struct hyphos_sent_goal {
  WeakNode node;
  RawSentGoal core;
  std::shared_ptr<GoalListener> listener;
};

extern "C" {

hyphos_code hyphos_action_serve(hyphos_node* node, const char* name,
                                const hyphos_action_types* types,
                                const hyphos_action_options* options, hyphos_goal_callback callback,
                                void* user, hyphos_action** action, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (name == nullptr) return is_null("name");
    if (callback == nullptr) return is_null("callback");
    if (action == nullptr) return is_null("action");
    const auto type = read_types(types);
    if (!type) return type.error();
    const auto given = read_struct(options, "hyphos_action_options");
    if (!given) return given.error();
    const auto how = read_options(given.value());
    if (!how) return how.error();
    const auto execute = [weak = WeakNode(node->state), callback, user](const RawGoalHandle& goal) {
      const auto message = view(goal.message());
      if (!message) return (void)goal.abort(message.error());
      callback(user, new hyphos_goal{weak, goal}, &message.value());
    };
    std::function<void(const RawGoalHandle&)> begin = execute;
    if (given.value().mode == HYPHOS_POLLED) {
      begin = [execute, pump = node->state->pump](const RawGoalHandle& goal) {
        pump->post([execute, goal] { execute(goal); }, Pump::Fate::droppable);
      };
    }
    auto core = node->state->node.raw_action(name, type.value(), how.value(), std::move(begin));
    if (!core) return core.error();
    *action = new hyphos_action{node->state, std::move(*core)};
    return success();
  });
}

void hyphos_action_close(hyphos_action* action) {
  if (action == nullptr) return;
  quietly([&] {
    const std::unique_ptr<hyphos_action> ended(action);
    if (const auto node = alive(ended->node); node) ended->core.close();
  });
}

hyphos_code hyphos_goal_feedback(hyphos_goal* goal, const void* payload, size_t size,
                                 const hyphos_bytes* buffers, size_t buffer_count,
                                 hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (goal == nullptr) return is_null("goal");
    const auto node = alive(goal->node);
    if (!node) return node.error();
    auto parts = copy_parts(payload, size, buffers, buffer_count, goal->core.memory());
    if (!parts) return parts.error();
    return goal->core.feedback(std::move(*parts));
  });
}

hyphos_code hyphos_goal_finish(hyphos_goal* goal, hyphos_goal_state state, const void* payload,
                               size_t size, const hyphos_bytes* buffers, size_t buffer_count,
                               hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    const std::unique_ptr<hyphos_goal> ended(goal);
    if (goal == nullptr) return is_null("goal");
    if (state < HYPHOS_GOAL_SUCCEEDED || state > HYPHOS_GOAL_ABORTED) {
      return wrong_option("state", state,
                          "HYPHOS_GOAL_SUCCEEDED, HYPHOS_GOAL_CANCELED or HYPHOS_GOAL_ABORTED");
    }
    const auto node = alive(goal->node);
    if (!node) return node.error();
    auto parts = copy_parts(payload, size, buffers, buffer_count, goal->core.memory());
    if (!parts) return parts.error();
    return goal->core.finish(static_cast<GoalState>(state), std::move(*parts));
  });
}

hyphos_code hyphos_goal_fail(hyphos_goal* goal, hyphos_code code, const char* message,
                             hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    const std::unique_ptr<hyphos_goal> ended(goal);
    if (goal == nullptr) return is_null("goal");
    Code why{};
    if (!from_c(code, why)) {
      return wrong_option("code", code, "one of HYPHOS_INVALID_CONFIG to HYPHOS_TOO_LARGE");
    }
    const auto node = alive(goal->node);
    if (!node) return node.error();
    return goal->core.abort(Error{why, text_or(message, ""), ""});
  });
}

void hyphos_goal_drop(hyphos_goal* goal) {
  if (goal == nullptr) return;
  quietly([&] {
    const std::unique_ptr<hyphos_goal> ended(goal);
    const auto node = alive(ended->node);
    ended->core = {};
  });
}

int32_t hyphos_goal_cancel_requested(const hyphos_goal* goal) {
  return goal != nullptr && goal->core.cancel_requested() ? 1 : 0;
}

int32_t hyphos_goal_wait(const hyphos_goal* goal, int64_t timeout_ns) {
  if (goal == nullptr) return 0;
  bool ends = false;
  quietly([&] {
    const auto node = alive(goal->node);
    ends = !node || goal->core.wait_for(Duration{timeout_ns});
  });
  return ends ? 1 : 0;
}

hyphos_code hyphos_action_client_open(hyphos_node* node, const char* name,
                                      const hyphos_action_types* types,
                                      const hyphos_client_options* options,
                                      hyphos_action_client** client, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (name == nullptr) return is_null("name");
    if (client == nullptr) return is_null("client");
    const auto type = read_types(types);
    if (!type) return type.error();
    const auto given = read_struct(options, "hyphos_client_options");
    if (!given) return given.error();
    ClientOptions how;
    how.scope = given.value().local != 0 ? Scope::local : Scope::network;
    if (given.value().max_pending > 0) how.max_pending = given.value().max_pending;
    auto core = node->state->node.raw_client(name, type.value(), how);
    if (!core) return core.error();
    *client = new hyphos_action_client{node->state, RawActionClient(std::move(*core))};
    return success();
  });
}

void hyphos_action_client_close(hyphos_action_client* client) {
  if (client == nullptr) return;
  quietly([&] {
    const std::unique_ptr<hyphos_action_client> ended(client);
    const auto node = alive(ended->node);
    ended->core = {};
  });
}

hyphos_code hyphos_action_client_wait(hyphos_action_client* client, int64_t timeout_ns,
                                      hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (client == nullptr) return is_null("client");
    const auto node = alive(client->node);
    if (!node) return node.error();
    return client->core.wait_for_server(timeout_of(timeout_ns));
  });
}

hyphos_code hyphos_goal_send(hyphos_action_client* client, const void* payload, size_t size,
                             const hyphos_bytes* buffers, size_t buffer_count,
                             int64_t accept_timeout_ns, const hyphos_goal_callbacks* callbacks,
                             hyphos_sent_goal** goal, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (client == nullptr) return is_null("client");
    const auto given = read_struct(callbacks, "hyphos_goal_callbacks");
    if (!given) return given.error();
    const auto node = alive(client->node);
    if (!node) return node.error();
    auto parts = copy_parts(payload, size, buffers, buffer_count, client->core.memory());
    if (!parts) return parts.error();
    const auto listener = std::make_shared<GoalListener>(node.value()->pump, given.value());
    const auto sent = client->core.send(
        std::move(*parts), [listener](const MessageRef& message) { listener->feedback(message); },
        timeout_of(accept_timeout_ns));
    sent.on_result(
        [listener](Result<GoalResult<MessageRef>> last) { listener->end(std::move(last)); });
    if (goal != nullptr) *goal = new hyphos_sent_goal{client->node, sent, listener};
    return success();
  });
}

hyphos_code hyphos_sent_goal_cancel(hyphos_sent_goal* goal, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (goal == nullptr) return is_null("goal");
    const auto node = alive(goal->node);
    if (!node) return node.error();
    goal->core.cancel();
    return success();
  });
}

hyphos_goal_state hyphos_sent_goal_state(const hyphos_sent_goal* goal) {
  return goal == nullptr ? static_cast<hyphos_goal_state>(HYPHOS_GOAL_ABORTED)
                         : static_cast<hyphos_goal_state>(goal->core.state());
}

uint64_t hyphos_sent_goal_feedback_dropped(const hyphos_sent_goal* goal) {
  return goal == nullptr ? 0 : goal->listener->dropped() + goal->core.feedback_dropped();
}

hyphos_code hyphos_sent_goal_result(hyphos_sent_goal* goal, int64_t timeout_ns,
                                    hyphos_goal_state* state, hyphos_message* result,
                                    hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (goal == nullptr) return is_null("goal");
    if (state == nullptr) return is_null("state");
    if (result == nullptr) return is_null("result");
    const auto node = alive(goal->node);
    if (!node) return node.error();
    const auto last = goal->core.result(timeout_of(timeout_ns));
    if (!last) return last.error();
    const auto message = view(last->value);
    if (!message) return message.error();
    *state = static_cast<hyphos_goal_state>(last->state);
    hold(message.value(), *result);
    return success();
  });
}

void hyphos_sent_goal_release(hyphos_sent_goal* goal) {
  if (goal == nullptr) return;
  quietly([&] {
    const std::unique_ptr<hyphos_sent_goal> ended(goal);
    const auto node = alive(ended->node);
    ended->core = {};
  });
}

}  // extern "C"
