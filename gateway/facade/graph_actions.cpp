#include "gateway/facade/graph_actions.hpp"

#include <utility>

#include "gateway/facade/announce.hpp"
#include "gateway/facade/call_bytes.hpp"
#include "gateway/facade/channel_names.hpp"
#include "hyphos/action.hpp"

namespace hyphos::gateway {

namespace {

/// Maximum time until a server has accepted a goal.
constexpr Duration kAccepted = Duration::from_seconds(10);

CallType call_type_of(const ActionCodec& codec) {
  return action_type(codec.goal->id, codec.feedback->id, codec.result->id);
}

GoalState state_of(GoalEnd end) {
  switch (end) {
    case GoalEnd::succeeded:
      return GoalState::succeeded;
    case GoalEnd::canceled:
      return GoalState::canceled;
    default:
      return GoalState::aborted;
  }
}

GoalEnd end_of(GoalState state) {
  if (state == GoalState::canceled) return GoalEnd::canceled;
  return state == GoalState::aborted ? GoalEnd::aborted : GoalEnd::succeeded;
}

Form result_form(Form form) { return form == Form::cdr ? Form::cdr_after_status : form; }

/// A goal that a client sent. No callback runs after it is dropped.
class GraphSentGoal final : public SentGoal {
 public:
  /// Callbacks run under this mutex, so that the destructor waits for them. It is recursive,
  /// because a callback may drop the goal.
  struct Ears {
    std::recursive_mutex mutex;
    GoalCallbacks callbacks;
    std::shared_ptr<void> until;  ///< of its call client, released at the end of the goal
  };

  GraphSentGoal(RawSentGoal core, std::shared_ptr<Ears> ears)
      : core_(std::move(core)), ears_(std::move(ears)) {}
  ~GraphSentGoal() override {
    {
      const std::lock_guard lock(ears_->mutex);
      ears_->callbacks = {};
    }
    core_.cancel();
  }
  GraphSentGoal(const GraphSentGoal&) = delete;
  GraphSentGoal& operator=(const GraphSentGoal&) = delete;
  void cancel() override { core_.cancel(); }
  [[nodiscard]] bool accepted() const override {
    const GoalState state = core_.state();
    return is_final(state) ? core_.accepted(Duration()).ok() : state != GoalState::sent;
  }

 private:
  const RawSentGoal core_;
  const std::shared_ptr<Ears> ears_;
};

class GraphServedGoal final : public ServedGoal {
 public:
  /// `form`: of feedback and results from the client
  GraphServedGoal(RawGoalHandle core, const ActionCodec& codec, Form form, Clock clock)
      : core_(std::move(core)), codec_(codec), form_(form), clock_(std::move(clock)) {}

  Result<void> feedback(std::span<const std::byte> message) override {
    auto made = convert(message, codec_.feedback->converter, form_);
    if (!made) return made.error();
    return core_.feedback(std::move(*made));
  }
  Result<void> finish(GoalEnd end, std::span<const std::byte> result) override {
    auto made = convert(result, codec_.result->converter, result_form(form_));
    if (!made) return made.error();
    return core_.finish(state_of(end), std::move(*made));
  }
  void fail(const Error& error) override { (void)core_.abort(error); }

 private:
  Result<RawMessage> convert(std::span<const std::byte> message, const Converter& converter,
                             Form form) {
    return raw_message_of(core_.memory(), converter, form, message, clock_.now().ns);
  }

  const RawGoalHandle core_;
  const ActionCodec codec_;
  const Form form_;
  const Clock clock_;
};

class GraphActionServer final : public ActionServer {
 public:
  GraphActionServer(Action core, std::shared_ptr<void> place)
      : place_(std::move(place)), core_(std::move(core)) {}
  ~GraphActionServer() override { core_.close(); }
  GraphActionServer(const GraphActionServer&) = delete;
  GraphActionServer& operator=(const GraphActionServer&) = delete;

 private:
  const std::shared_ptr<void> place_;
  const Action core_;
};

}  // namespace

GraphActions::GraphActions(Node node, std::shared_ptr<Types> types, const GraphView& view,
                           GraphClients& clients, GraphCalls& calls)
    : node_(std::move(node)),
      types_(std::move(types)),
      view_(view),
      clients_(clients),
      calls_(calls) {}

Result<std::unique_ptr<SentGoal>> GraphActions::send_goal(const Client& client,
                                                          const std::string& action,
                                                          const std::string& type, Forms forms,
                                                          std::span<const std::byte> goal,
                                                          GoalCallbacks callbacks) {
  const std::string name = channel_of(action);
  if (!clients_.lets(client, Use::call, action)) return denied(client, "send a goal to", action);
  const GraphView::CallInfo known = view_.call(kActions, name);
  const std::string& call_type = known.type;
  const std::string type_name = type.empty() ? types_->ros_action_name(call_type) : type;
  if (type_name.empty()) {
    return Error{Code::not_found,
                 call_type.empty() ? "the graph has no action '" + action + "'"
                                   : "no known ROS type has the messages " + call_type,
                 action};
  }
  const auto codec = types_->action_codec(type_name, call_type);
  if (!codec) return codec.error();
  const auto asked =
      calls_.use(client, kActions, name, codec->goal->id, call_type_of(*codec), known.served);
  if (!asked) return asked.error();
  const RawActionClient core(asked->core);
  auto made =
      raw_message_of(core.memory(), codec->goal->converter, forms.in, goal, node_.clock().now().ns);
  if (!made) return made.error();
  auto ears = std::make_shared<GraphSentGoal::Ears>();
  ears->callbacks = std::move(callbacks);
  ears->until = asked->until;
  const auto sent = core.send(
      std::move(*made),
      [ears, gate = calls_.gate(), codec = *codec, form = forms.out](const MessageRef& message) {
        const CallGate::Entry entry(*gate);
        if (!entry) return;
        const auto converted = message_of(message, codec.feedback->converter, form);
        const std::lock_guard lock(ears->mutex);
        if (converted && ears->callbacks.feedback) ears->callbacks.feedback(*converted);
      },
      kAccepted);
  sent.on_result([ears, gate = calls_.gate(), codec = *codec, form = result_form(forms.out)](
                     const Result<hyphos::GoalResult<MessageRef>>& last) {
    const CallGate::Entry entry(*gate);
    if (!entry) return;
    Result<GoalResult> end = GoalResult{};
    if (!last) {
      end = last.error();
    } else if (auto converted = message_of(last->value, codec.result->converter, form)) {
      end = GoalResult{end_of(last->state), std::move(*converted)};
    } else {
      end = converted.error();
    }
    std::shared_ptr<void> until;  // released after the lock
    const std::lock_guard lock(ears->mutex);
    until.swap(ears->until);
    if (const auto told = std::exchange(ears->callbacks, {}).end) told(std::move(end));
  });
  return std::unique_ptr<SentGoal>(std::make_unique<GraphSentGoal>(sent, std::move(ears)));
}

Result<Buffer> GraphActions::blank_result(const std::string& type, Form form) const {
  const auto codec = types_->action_codec(type, "");
  if (!codec) return codec.error();
  // A protobuf message of zero bytes has the default value in each field.
  const auto written = codec->result->converter.write(result_form(form), RawMessage());
  if (!written) return written.error();
  return written->joined();
}

std::vector<ActionInfo> GraphActions::list() const {
  std::vector<ActionInfo> found = view_.services(kActions);
  for (ActionInfo& one : found) one.type = types_->ros_action_name(one.carries);
  return found;
}

Result<std::unique_ptr<ActionServer>> GraphActions::open_server(const Client& client,
                                                                const std::string& action,
                                                                const std::string& type,
                                                                Forms forms,
                                                                ActionCallbacks callbacks) {
  const std::string name = channel_of(action);
  if (!clients_.lets(client, Use::serve, action)) return denied(client, "serve", action);
  const auto codec = types_->action_codec(type, view_.call(kActions, name).type);
  if (!codec) return codec.error();
  auto place = clients_.reserve(client, {"ask action " + name, "answer action " + name});
  if (!place) return place.error();
  ActionOptions options;
  options.policy = GoalPolicy::parallel;  // the client decides how to handle several goals
  options.depth = calls_.server_depth();
  auto execute = [codec = *codec, forms, callbacks = std::move(callbacks),
                  clock = node_.clock()](const RawGoalHandle& core) {
    auto goal = message_of(core.message(), codec.goal->converter, forms.out);
    if (!goal) {
      (void)core.abort(goal.error());
      return;
    }
    const auto handle = std::make_shared<GraphServedGoal>(core, codec, forms.in, clock);
    core.on_cancel([weak = std::weak_ptr<ServedGoal>(handle), cancel = callbacks.cancel] {
      if (const auto alive = weak.lock()) cancel(alive);
    });
    callbacks.execute(*goal, handle);
  };
  announce(node_, *types_, {&codec->goal->id, &codec->feedback->id, &codec->result->id});
  auto opened = node_.raw_action(name, call_type_of(*codec), options, std::move(execute));
  if (!opened) return opened.error();
  return std::unique_ptr<ActionServer>(
      std::make_unique<GraphActionServer>(*opened, std::move(*place)));
}

}  // namespace hyphos::gateway
