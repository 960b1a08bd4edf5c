#include "gateway/ros2/actions_in.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "base/mutex.hpp"
#include "gateway/facade/actions.hpp"
#include "gateway/ros2/action_messages.hpp"
#include "gateway/ros2/names.hpp"
#include "gateway/ros2/node_graph.hpp"

namespace hyphos::gateway::ros2 {
namespace {

constexpr std::string_view kSendGoal = "/_action/send_goal";
constexpr std::string_view kGetResult = "/_action/get_result";
constexpr std::string_view kCancelGoal = "/_action/cancel_goal";
constexpr std::string_view kTypeEnd = "_SendGoal";
constexpr Qos kFeedbackIn{.reliable = true, .transient_local = false, .depth = 100};
/// A goal may take any time. Its end is noticed by the reply, or by the end of the server.
constexpr Duration kAnyTime = Duration::from_seconds(365.0 * 86'400);

GoalId new_goal_id() {
  thread_local std::random_device source;
  GoalId id{};
  for (std::uint8_t& byte : id) byte = static_cast<std::uint8_t>(source());
  id[6] = static_cast<std::uint8_t>((id[6] & 0x0fU) | 0x40U);  // RFC 4122, 4.4: random
  id[8] = static_cast<std::uint8_t>((id[8] & 0x3fU) | 0x80U);
  return id;
}

std::optional<GoalEnd> end_of(GoalStatus status) {
  switch (status) {
    case GoalStatus::succeeded:
      return GoalEnd::succeeded;
    case GoalStatus::canceled:
      return GoalEnd::canceled;
    case GoalStatus::aborted:
      return GoalEnd::aborted;
    default:
      return std::nullopt;
  }
}

}  // namespace

/// One action: represents the server in ROS. After its end it uses no object of the gateway.
class ActionsIn::Proxy : public std::enable_shared_from_this<Proxy> {
 public:
  Proxy(const Context& context, std::string action, OfferedAction offered)
      : context_(context),
        action_(std::move(action)),
        offered_(std::move(offered)),
        send_goal_(context, action_ + std::string(kSendGoal), offered_.send_goal),
        get_result_(context, action_ + std::string(kGetResult), offered_.get_result),
        cancel_goal_(context, action_ + std::string(kCancelGoal), offered_.cancel_goal),
        feedback_(context.participant, [this](const Received& message) { on_feedback(message); },
                  {.matched = context.wake}) {}

  /// The reader of the feedback is announced first, because a server that knows the clients may get
  /// a goal, and its feedback would be lost.
  Result<void> open() {
    const OwnEndpoint feedback = feedback_endpoint();
    auto opened = feedback_.open(
        {feedback.topic, feedback.type, kFeedbackIn,
         user_data_of_type(context_.facade.types(), offered_.type + "_FeedbackMessage")});
    for (ServiceClient* const one : clients()) {
      if (opened) opened = one->open();
    }
    return opened;
  }

  [[nodiscard]] bool is_of(const OfferedAction& offered) const {
    return send_goal_.is_of(offered.send_goal) && get_result_.is_of(offered.get_result) &&
           cancel_goal_.is_of(offered.cancel_goal);
  }
  void add_endpoints(OwnEndpoints& endpoints) const {
    for (const ServiceClient* const one : clients()) one->add_endpoints(endpoints);
    endpoints.readers.push_back(feedback_endpoint());
  }
  void add_guids(std::vector<GUID_t>* readers, std::vector<GUID_t>* writers) const {
    for (const ServiceClient* const one : clients()) {
      if (readers != nullptr) readers->push_back(one->reader());
      if (writers != nullptr) writers->push_back(one->writer());
    }
    if (readers != nullptr) readers->push_back(feedback_.guid());
  }

  /// Becomes an action of the robot once the server is reachable. Ends calls that took too long.
  Result<void> look() {
    for (ServiceClient* const one : clients()) one->expire();
    if (server_) return success();
    for (const ServiceClient* const one : clients()) {
      if (!one->is_ready()) return success();
    }
    const auto weak = weak_from_this();
    ActionCallbacks callbacks;
    callbacks.execute = [weak](const Buffer& goal, const ServedGoalRef& handle) {
      if (const auto proxy = weak.lock()) return proxy->execute(goal, handle);
      handle->fail({Code::disconnected, "the gateway is shut down", {}});
    };
    callbacks.cancel = [weak](const ServedGoalRef& handle) {
      if (const auto proxy = weak.lock()) proxy->cancel(handle);
    };
    auto server = context_.facade.actions().open_server(
        client_of(context_.nodes->node_of(offered_.send_goal.server)), action_, offered_.type,
        Form::cdr, std::move(callbacks));
    if (!server) return server.error();
    server_ = std::move(*server);
    return success();
  }

  void end() HYPHOS_EXCLUDES(mutex_) {
    std::map<GoalId, ServedGoalRef> goals;
    {
      const MutexLock lock(mutex_);
      goals.swap(goals_);
    }
    for (const auto& [id, handle] : goals) {
      handle->fail({Code::disconnected, "the server in ROS is no longer available", action_});
    }
    goals.clear();
    server_.reset();
    feedback_.close();
    for (ServiceClient* const one : clients()) one->end();
  }

 private:
  [[nodiscard]] std::array<ServiceClient*, 3> clients() {
    return {&send_goal_, &get_result_, &cancel_goal_};
  }
  [[nodiscard]] std::array<const ServiceClient*, 3> clients() const {
    return {&send_goal_, &get_result_, &cancel_goal_};
  }
  [[nodiscard]] OwnEndpoint feedback_endpoint() const {
    return {dds_topic(action_ + "/_action/feedback"), dds_type(offered_.type + "_FeedbackMessage"),
            kFeedbackIn};
  }

  void execute(const Buffer& goal, const ServedGoalRef& handle) HYPHOS_EXCLUDES(mutex_) {
    const GoalId id = new_goal_id();
    {
      // Feedback may arrive before the reply to the goal.
      const MutexLock lock(mutex_);
      goals_.emplace(id, handle);
    }
    send_goal_.call(put_goal_id(id, goal.bytes()), context_.settings.call_timeout,
                    [weak = weak_from_this(), id](const Result<Buffer>& reply) {
                      if (const auto proxy = weak.lock()) proxy->on_accepted(id, reply);
                    });
  }

  void on_accepted(const GoalId& id, const Result<Buffer>& reply) {
    if (!reply) return fail(id, reply.error());
    const auto accepted = read_acceptance(reply->bytes());
    if (!accepted) {
      return fail(id, {Code::corrupt, "the reply of the server in ROS is not CDR", action_});
    }
    if (!*accepted) {
      return fail(id, {Code::unsupported, "the server in ROS rejected the goal", action_});
    }
    bool canceled = false;
    {
      const MutexLock lock(mutex_);
      accepted_.insert(id);
      canceled = canceled_.contains(id);
    }
    get_result_.call(write_goal_id(id), kAnyTime,
                     [weak = weak_from_this(), id](const Result<Buffer>& result) {
                       if (const auto proxy = weak.lock()) proxy->on_result(id, result);
                     });
    if (canceled) ask_to_cancel(id);
  }

  void on_result(const GoalId& id, const Result<Buffer>& reply) {
    if (!reply) return fail(id, reply.error());
    const auto status = status_of_result(reply->bytes());
    const auto end = status ? end_of(*status) : std::nullopt;
    if (!end) {
      return fail(id, {Code::corrupt, "the server in ROS sent a result without an end", action_});
    }
    const ServedGoalRef handle = take(id);
    if (!handle) return;
    if (const auto done = handle->finish(*end, reply->bytes()); !done) {
      if (done.error().code == Code::corrupt) handle->fail(done.error());
    }
  }

  void fail(const GoalId& id, const Error& error) {
    if (const ServedGoalRef handle = take(id)) handle->fail(error);
  }

  ServedGoalRef take(const GoalId& id) HYPHOS_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    accepted_.erase(id);
    canceled_.erase(id);
    const auto found = goals_.find(id);
    if (found == goals_.end()) return nullptr;
    ServedGoalRef handle = std::move(found->second);
    goals_.erase(found);
    return handle;
  }

  void cancel(const ServedGoalRef& handle) HYPHOS_EXCLUDES(mutex_) {
    GoalId id{};
    {
      const MutexLock lock(mutex_);
      const auto found =
          std::ranges::find_if(goals_, [&](const auto& entry) { return entry.second == handle; });
      if (found == goals_.end()) return;
      id = found->first;
      // A server does not know a goal that it has not accepted yet.
      canceled_.insert(id);
      if (!accepted_.contains(id)) return;
    }
    ask_to_cancel(id);
  }

  void ask_to_cancel(const GoalId& id) {
    cancel_goal_.call(write_cancel({id, {}}), context_.settings.call_timeout,
                      [weak = weak_from_this()](const Result<Buffer>& reply) {
                        if (const auto proxy = weak.lock()) proxy->on_canceling(reply);
                      });
  }

  /// The result reports the end. A server may also refuse to cancel.
  void on_canceling(const Result<Buffer>& reply) {
    const auto code = reply ? read_cancel_code(reply->bytes()) : std::nullopt;
    if (code == CancelCode::none || code == CancelCode::terminated) return;
    context_.facade.clients().count(
        client_of(action_), "not_canceled",
        reply ? "the server in ROS refused to cancel a goal" : reply.error().to_string());
  }

  void on_feedback(const Received& message) HYPHOS_EXCLUDES(mutex_) {
    if (message.too_large > 0) {
      return context_.facade.clients().count(
          client_of(action_), "too_large",
          "the feedback has " + std::to_string(message.too_large) + " bytes. Raise --max-message");
    }
    const auto feedback = take_goal_id(message.bytes);
    ServedGoalRef handle;
    if (feedback) {
      const MutexLock lock(mutex_);
      const auto found = goals_.find(feedback->id);
      if (found == goals_.end()) return;  // the goal of another client
      handle = found->second;
    }
    const auto sent = feedback ? handle->feedback(feedback->message)
                               : Result<void>(Error{Code::corrupt, "the feedback is not CDR", {}});
    if (!sent && sent.error().code != Code::already_exists) {
      context_.facade.clients().count(client_of(action_), to_string(sent.error().code),
                                      "feedback: " + sent.error().to_string());
    }
  }

  const Context& context_;
  const std::string action_;
  const OfferedAction offered_;
  std::unique_ptr<ActionServer> server_;
  Mutex mutex_;
  std::map<GoalId, ServedGoalRef> goals_ HYPHOS_GUARDED_BY(mutex_);
  std::set<GoalId> accepted_ HYPHOS_GUARDED_BY(mutex_);
  std::set<GoalId> canceled_ HYPHOS_GUARDED_BY(mutex_);
  ServiceClient send_goal_;
  ServiceClient get_result_;
  ServiceClient cancel_goal_;
  Reader feedback_;  ///< declared last, because it uses all members above
};

std::map<std::string, OfferedAction> offered_actions(const DomainState& state) {
  const auto services = offered_services(state);
  std::map<std::string, OfferedAction> offered;
  for (const auto& [name, send] : services) {
    if (!name.ends_with(kSendGoal) || !send.type.ends_with(kTypeEnd)) continue;
    std::string action = name.substr(0, name.size() - kSendGoal.size());
    const auto result = services.find(action + std::string(kGetResult));
    const auto cancel = services.find(action + std::string(kCancelGoal));
    if (result == services.end() || cancel == services.end() || !is_name(action)) continue;
    offered.emplace(std::move(action),
                    OfferedAction{send.type.substr(0, send.type.size() - kTypeEnd.size()), send,
                                  result->second, cancel->second});
  }
  return offered;
}

ActionsIn::ActionsIn(const Context& context) : context_(context) {}
ActionsIn::~ActionsIn() {
  while (!proxies_.empty()) end(std::string(proxies_.begin()->first));
}

void ActionsIn::end(const std::string& action) {
  proxies_[action]->end();
  proxies_.erase(action);
}

void ActionsIn::look(const DomainState& state) {
  const auto offered = offered_actions(state);
  std::vector<std::string> gone;
  for (const auto& [action, proxy] : proxies_) {
    const auto now = offered.find(action);
    if (now == offered.end() || !proxy->is_of(now->second)) gone.push_back(action);
  }
  for (const std::string& action : gone) end(action);
  for (const auto& [action, offer] : offered) {
    if (proxies_.contains(action) || !context_.settings.actions.match(action) ||
        !refused_.may_try(action)) {
      continue;
    }
    auto& proxy = proxies_[action] = std::make_shared<Proxy>(context_, action, offer);
    const auto known = context_.facade.types().action(offer.type);
    const auto opened = known ? proxy->open() : Result<void>(known.error());
    if (opened) continue;
    if (refused_.failed(action)) {
      context_.facade.clients().note(client_of(action), to_string(opened.error().code),
                                     "the action is left out: " + opened.error().to_string());
    }
    end(action);
  }
  for (auto& [action, proxy] : proxies_) {
    const auto looked = proxy->look();
    if (looked) continue;
    if (looked.error().code == Code::disconnected) return;  // the gateway's node is shutting down
    if (refused_.failed(action + " server")) {
      context_.facade.clients().note(client_of(action), to_string(looked.error().code),
                                     "the action is left out: " + looked.error().to_string());
    }
  }
}

std::vector<GUID_t> ActionsIn::readers() const {
  std::vector<GUID_t> readers;
  for (const auto& [action, proxy] : proxies_) proxy->add_guids(&readers, nullptr);
  return readers;
}

std::vector<GUID_t> ActionsIn::writers() const {
  std::vector<GUID_t> writers;
  for (const auto& [action, proxy] : proxies_) proxy->add_guids(nullptr, &writers);
  return writers;
}

void ActionsIn::add_endpoints(OwnEndpoints& endpoints) const {
  for (const auto& [action, proxy] : proxies_) proxy->add_endpoints(endpoints);
}

}  // namespace hyphos::gateway::ros2
