#include "gateway/ros2/actions_out.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/mutex.hpp"
#include "gateway/ros2/goal_desk.hpp"
#include "gateway/ros2/names.hpp"

namespace hyphos::gateway::ros2 {
namespace {

constexpr Qos kFeedback{.reliable = true, .transient_local = false, .depth = 100};
constexpr Qos kStatus{.reliable = true, .transient_local = true, .depth = 1};
constexpr std::string_view kStatusType = "action_msgs/msg/GoalStatusArray";
/// Time that a client gets to show its reader of the feedback. DDS announces readers and writers in
/// two streams, so a goal may arrive first, and its feedback would be lost.
constexpr Duration kGoalIntroduction = Duration::from_seconds(1.5);

}  // namespace

/// One action of the robot that ROS programs use: three services and two topics.
class ActionsOut::Desk {
 public:
  Desk(const Context& context, ServicesOut& services, std::string action, std::string type)
      : context_(context),
        services_(services),
        action_(std::move(action)),
        type_(std::move(type)),
        feedback_(context.participant, {.matched = context.wake}),
        status_(context.participant, {}),
        goals_(std::make_shared<GoalDesk>(
            context, action_, type_,
            GoalDesk::Outputs{[this](const GoalId& id, const Buffer& feedback) {
                                write(feedback_, put_goal_id(id, feedback.bytes()));
                              },
                              [this](const std::vector<GoalRecord>& goals) {
                                write(status_, write_states(goals));
                              }})) {}
  ~Desk() {
    for (const char* const name : {"send_goal", "get_result", "cancel_goal"}) {
      services_.withdraw(service(name));
    }
    goals_->end();
  }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  Result<void> open() {
    const auto endpoints = own_endpoints();
    const std::array<Writer*, 2> writers{&feedback_, &status_};
    const std::array<std::string, 2> types{type_ + "_FeedbackMessage", std::string(kStatusType)};
    for (std::size_t i = 0; i < writers.size(); ++i) {
      auto opened = writers[i]->open({endpoints[i].topic, endpoints[i].type, endpoints[i].qos,
                                      user_data_of_type(context_.facade.types(), types[i])});
      if (!opened) return opened;
    }
    write(status_, write_states({}));
    auto opened =
        services_.serve(service("get_result"), type_ + "_GetResult",
                        [goals = goals_](std::span<const std::byte> request, const Answer& answer) {
                          goals->get_result(request, answer);
                        });
    if (opened) {
      opened = services_.serve(
          service("cancel_goal"), "action_msgs/srv/CancelGoal",
          [goals = goals_](std::span<const std::byte> request, const Answer& answer) {
            goals->cancel_goal(request, answer);
          });
    }
    if (opened) {
      opened = services_.serve(
          service("send_goal"), type_ + "_SendGoal",
          [this](const ServicesOut::Caller& caller, std::span<const std::byte> request,
                 const Answer& answer) { send_goal(caller, request, answer); });
    }
    return opened;
  }

  /// Executes goals that waited for their clients.
  void look() HYPHOS_EXCLUDES(mutex_) {
    std::vector<Early> ready;
    {
      const MutexLock lock(mutex_);
      const Time now = monotonic_now();
      std::erase_if(early_, [&](Early& one) {
        if (!has_feedback_reader(one.caller) && now < one.until) return false;
        ready.push_back(std::move(one));
        return true;
      });
    }
    for (const Early& one : ready) goals_->send_goal(one.caller, one.request, one.answer);
  }

  [[nodiscard]] const std::string& type() const { return type_; }
  [[nodiscard]] GoalDesk& goals() { return *goals_; }
  [[nodiscard]] std::array<OwnEndpoint, 2> own_endpoints() const {
    return {OwnEndpoint{dds_topic(action_ + "/_action/feedback"),
                        dds_type(type_ + "_FeedbackMessage"), kFeedback},
            OwnEndpoint{dds_topic(action_ + "/_action/status"), dds_type(kStatusType), kStatus}};
  }
  [[nodiscard]] std::array<GUID_t, 2> writers() const { return {feedback_.guid(), status_.guid()}; }

 private:
  /// A goal whose client may not receive feedback yet.
  struct Early {
    ServicesOut::Caller caller;
    std::vector<std::byte> request;
    Answer answer;
    Time until;
  };

  void send_goal(const ServicesOut::Caller& caller, std::span<const std::byte> request,
                 const Answer& answer) HYPHOS_EXCLUDES(mutex_) {
    if (!has_feedback_reader(caller)) {
      const MutexLock lock(mutex_);
      if (early_.size() < context_.settings.limits.calls) {
        early_.push_back({caller,
                          {request.begin(), request.end()},
                          answer,
                          monotonic_now() + kGoalIntroduction});
        return;
      }
    }
    goals_->send_goal(caller, request, answer);
  }
  [[nodiscard]] bool has_feedback_reader(const ServicesOut::Caller& caller) const {
    return std::ranges::any_of(feedback_.readers(), [&](const GUID_t& reader) {
      return reader.guidPrefix == caller.guid.guidPrefix;
    });
  }
  [[nodiscard]] std::string service(const std::string& name) const {
    return action_ + "/_action/" + name;
  }
  void write(Writer& writer, const std::vector<std::byte>& message) {
    const auto sent = writer.write(message);
    if (sent || sent.error().code == Code::disconnected) return;
    context_.facade.clients().count(
        client_of(action_),
        sent.error().code == Code::overloaded ? "too_large" : to_string(sent.error().code),
        sent.error().message);
  }

  const Context& context_;
  ServicesOut& services_;
  const std::string action_;
  const std::string type_;
  Writer feedback_;
  Writer status_;
  const std::shared_ptr<GoalDesk> goals_;
  Mutex mutex_;
  std::vector<Early> early_ HYPHOS_GUARDED_BY(mutex_);
};

ActionsOut::ActionsOut(const Context& context, ServicesOut& services)
    : context_(context), services_(services) {}
ActionsOut::~ActionsOut() = default;

void ActionsOut::look(const std::vector<ActionInfo>& actions, const ActionsIn& in,
                      const DomainState& state) {
  std::map<std::string, std::string> wanted;  // type by action
  for (const ActionInfo& info : actions) {
    if (info.type.empty() || in.has(info.name) || is_client(info.node) || !is_name(info.name) ||
        !context_.settings.goals.match(info.name)) {
      continue;
    }
    wanted.emplace(info.name, ros2_type(info.type, "action"));
  }
  std::erase_if(desks_, [&](const auto& entry) {
    const auto now = wanted.find(entry.first);
    return now == wanted.end() || now->second != entry.second->type();
  });
  for (const auto& [action, type] : wanted) {
    if (desks_.contains(action) || !refused_.may_try(action)) continue;
    auto desk = std::make_shared<Desk>(context_, services_, action, type);
    if (const auto opened = desk->open(); opened) {
      refused_.forget(action);
      desks_.emplace(action, std::move(desk));
    } else if (refused_.failed(action)) {
      context_.facade.clients().note(client_of(action), to_string(opened.error().code),
                                     "the action is left out: " + opened.error().to_string());
    }
  }
  std::set<GuidPrefix_t> there;
  for (const Remotes* remotes : {&state.writers, &state.readers}) {
    for (const auto& [guid, remote] : *remotes) there.insert(guid.guidPrefix);
  }
  for (const auto& [action, desk] : desks_) {
    desk->look();
    desk->goals().look([&](const GUID_t& guid) { return there.contains(guid.guidPrefix); });
  }
}

bool ActionsOut::drain() {
  bool waits = false;
  for (const auto& [action, desk] : desks_) waits = desk->goals().drain() || waits;
  return waits;
}

std::vector<GUID_t> ActionsOut::writers() const {
  std::vector<GUID_t> writers;
  for (const auto& [action, desk] : desks_) {
    for (const GUID_t& guid : desk->writers()) writers.push_back(guid);
  }
  return writers;
}

void ActionsOut::add_endpoints(OwnEndpoints& endpoints) const {
  for (const auto& [action, desk] : desks_) {
    for (const OwnEndpoint& one : desk->own_endpoints()) endpoints.writers.push_back(one);
  }
}

}  // namespace hyphos::gateway::ros2
