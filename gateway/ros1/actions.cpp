#include "gateway/ros1/actions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "gateway/ros1/action_proxy.hpp"
#include "gateway/ros1/left_out.hpp"

namespace hyphos::gateway::ros1 {
namespace {

constexpr std::string_view kGoalType = "ActionGoal";

/// "count_msgs/action/Count" → "count_msgs/Count".
std::string ros1_type(std::string type) {
  constexpr std::string_view kMiddle = "/action/";
  const std::size_t middle = type.find(kMiddle);
  return middle == std::string::npos ? type : type.replace(middle, kMiddle.size(), "/");
}

/// A node of the table other than `self`. Empty: there is none.
std::string other_node(const GraphState::Table& table, const std::string& name,
                       const std::string& self) {
  const auto found = table.find(name);
  if (found == table.end()) return {};
  for (const std::string& node : found->second) {
    if (node != self) return node;
  }
  return {};
}

bool connects(const std::vector<ConnectionInfo>& all, const std::string& topic,
              const std::string& peer) {
  return std::ranges::any_of(all, [&](const ConnectionInfo& one) {
    return one.connected && one.topic == topic && (peer.empty() || one.peer == peer);
  });
}

}  // namespace

ActionsIn::ActionsIn(const Context& context, const TcprosServer& server, Patterns which)
    : context_(context), server_(server), which_(std::move(which)) {}

std::map<std::string, ActionsIn::Offered> ActionsIn::offered(const GraphState& state) const {
  constexpr std::string_view kResult = "/result";
  constexpr std::string_view kResultType = "ActionResult";
  std::map<std::string, Offered> found;
  // The topics of the server alone. Another gateway subscribes to goals only if there is a client.
  for (const auto& [topic, type] : state.types) {
    if (!topic.ends_with(kResult) || !type.ends_with(kResultType)) continue;
    std::string action = topic.substr(0, topic.size() - kResult.size());
    std::string server = other_node(state.publishers, action + "/status", context_.node);
    const bool complete = !server.empty() && GraphState::has(state.publishers, topic, server) &&
                          GraphState::has(state.publishers, action + "/feedback", server);
    if (!complete || !which_.match(action)) continue;
    found.emplace(std::move(action),
                  Offered{type.substr(0, type.size() - kResultType.size()), std::move(server)});
  }
  return found;
}

bool ActionsIn::is_joined(const std::string& action, const Offered& offered,
                          const std::vector<ConnectionInfo>& from_us,
                          const std::vector<ConnectionInfo>& to_us) {
  return connects(from_us, action + "/goal", offered.node) &&
         connects(from_us, action + "/cancel", offered.node) &&
         connects(to_us, action + "/result", "") && connects(to_us, action + "/feedback", "") &&
         connects(to_us, action + "/status", "");
}

void ActionsIn::look(const GraphState& state, const TopicsIn& topics) {
  const auto now = offered(state);
  std::vector<std::string> gone;
  for (const auto& [action, offer] : offers_) {
    const auto still = now.find(action);
    if (still == now.end() || still->second != offer) gone.push_back(action);
  }
  for (const std::string& action : gone) end(action);
  for (const auto& [action, offer] : now) {
    if (proxies_.contains(action)) continue;
    auto known = type_of(context_.facade.types(), offer.type + std::string(kGoalType));
    if (!known) {
      left_out(action, known.error());
      continue;
    }
    auto proxy = std::make_shared<ActionProxy>(context_.facade, action, offer.type,
                                               Client{offer.node, context_.group}, context_.node);
    if (const auto opened = proxy->open(); !opened) {
      proxy->end();
      left_out(action, opened.error());
      continue;
    }
    offers_[action] = offer;
    proxies_[action] = std::move(proxy);
  }
  if (proxies_.empty()) return;
  const auto from_us = server_.connections();
  const auto to_us = topics.connections();
  for (const auto& [action, proxy] : proxies_) {
    const auto looked = proxy->look(is_joined(action, offers_[action], from_us, to_us));
    if (!looked && looked.error().code != Code::disconnected) left_out(action, looked.error());
  }
}

void ActionsIn::left_out(const std::string& action, const Error& why) {
  report_left_out(context_, logged_, "action", action, why);
}

void ActionsIn::end(const std::string& action) {
  proxies_[action]->end();
  proxies_.erase(action);
  offers_.erase(action);
}

void ActionsIn::stop() {
  while (!proxies_.empty()) end(std::string(proxies_.begin()->first));
}

ActionsOut::ActionsOut(const Context& context, net::Loop& calls, Patterns which)
    : context_(context), calls_(calls), which_(std::move(which)) {}

std::map<std::string, std::string> ActionsOut::wanted(const GraphState& state,
                                                      const ActionsIn& in) {
  std::map<std::string, std::string> wanted;  // type by action
  for (const ActionInfo& info : context_.facade.actions().list()) {
    if (!which_.match(info.name) || in.has(info.name)) continue;
    if (info.type.empty() || !is_global_name(info.name)) {
      report_left_out(context_, logged_, "action", {info.name, info.type, info.carries});
      continue;
    }
    // An action that a ROS node already serves stays.
    if (GraphState::has_other(state.publishers, info.name + "/status", context_.node)) continue;
    const std::string type = ros1_type(info.type);
    const auto known = type_of(context_.facade.types(), type + std::string(kGoalType));
    if (known) {
      wanted[info.name] = type;
    } else {
      report_left_out(context_, logged_, "action", info.name, known.error());
    }
  }
  return wanted;
}

void ActionsOut::look(const GraphState& state, const ActionsIn& in) {
  const auto now = wanted(state, in);
  std::erase_if(desks_, [&](const auto& entry) {
    const auto still = now.find(entry.first);
    const bool gone = still == now.end() || still->second != entry.second->type();
    if (gone) entry.second->end();
    return gone;
  });
  for (const auto& [action, type] : now) {
    if (desks_.contains(action)) continue;
    auto desk =
        std::make_shared<GoalDesk>(context_.facade, action, type, context_.options.limits.calls,
                                   [this] { calls_.post([this] { tick(); }); });
    if (const auto opened = desk->open(); opened) {
      desks_.emplace(action, std::move(desk));
    } else {
      desk->end();
      if (opened.error().code == Code::disconnected) return;  // the gateway's node shuts down
      if (logged_.first(action + " " + opened.error().message)) {
        context_.facade.clients().note({.name = "ros1 " + action}, to_string(opened.error().code),
                                       "the action is left out: " + opened.error().to_string());
      }
    }
  }
  if (desks_.empty()) return;
  std::map<std::string, std::vector<std::string>> clients;  // by topic
  for (TopicInfo& info : context_.facade.topics().list()) {
    clients[info.topic] = std::move(info.publishers);
  }
  for (const auto& [action, desk] : desks_) desk->look(clients[action + "/goal"]);
}

void ActionsOut::tick() {
  if (stopped_) return;
  std::optional<Duration> next;
  for (const auto& [action, desk] : desks_) {
    const auto due = desk->tick();
    if (due && (!next || *due < *next)) next = due;
  }
  timer_ = next ? calls_.after(*next, [this] { tick(); }) : net::Timer();
}

void ActionsOut::stop() {
  stopped_ = true;
  timer_ = {};
  for (const auto& [action, desk] : desks_) desk->end();
  desks_.clear();
}

}  // namespace hyphos::gateway::ros1
