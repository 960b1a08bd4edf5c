#include "gateway/ros1/graph.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/log.hpp"

namespace hyphos::gateway::ros1 {
namespace {

using Params = Methods::Params;

// Integers of XML-RPC have 32 bits.
Value count_of(std::uint64_t count) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::min(count, kMost));
}

Value rows_of(const std::map<std::string, std::string>& types) {
  Value::Array rows;
  for (const auto& [topic, type] : types) rows.emplace_back(Value::Array{topic, type});
  return rows;
}

}  // namespace

Graph::Graph(const Context& context, net::Loop& calls, const Member& member, TcprosServer& server,
             const Settings& settings)
    : context_(context),
      calls_(calls),
      member_(member),
      server_(server),
      topics_in_(context, calls, member, settings.topics),
      topics_out_(context, member, server, settings.channels),
      services_in_(context, calls, member, settings.services),
      services_out_(context, member, server, settings.calls),
      actions_in_(context, server, settings.actions),
      actions_out_(context, calls, settings.goals),
      params_(context, calls, member, settings.params, settings.rosparams) {
  add_questions();
  add_requests();
}

void Graph::start() { look(); }

void Graph::look() {
  if (stopped_) return;
  member_.ask("getSystemState", {}, [this](Result<Value> state) {
    if (!state) return looked(state.error());
    member_.ask("getTopicTypes", {}, [this, state = std::move(*state)](const Result<Value>& types) {
      looked(types ? GraphState::parse(state, *types) : types.error());
    });
  });
}

void Graph::looked(Result<GraphState> state) {
  if (stopped_) return;
  if (state) {
    if (std::exchange(alone_, false))
      log::info("ros1", "the master replies again at " + member_.master);
    share_time();
    topics_in_.look(*state);
    actions_in_.look(*state, topics_in_);
    actions_out_.look(*state, actions_in_);
    topics_out_.look(*state, topics_in_);
    services_in_.look(*state);
    services_out_.look(*state, services_in_);
    params_.look();
  } else if (!std::exchange(alone_, true)) {
    log::warn("ros1", "waiting for the ROS 1 master: " + state.error().to_string());
  }
  if (alone_) {
    params_.lost();
    has_shared_time_ = false;
  }
  timer_ = calls_.after(kPeriod, [this] { look(); });
}

/// Nodes of ROS read the parameter when they start. A master that has restarted has lost it.
void Graph::share_time() {
  if (!context_.facade.has_simulated_time() || std::exchange(has_shared_time_, true)) return;
  member_.ask("setParam", {"/use_sim_time", true}, nullptr);
}

void Graph::stop(std::function<void()> done) {
  if (!std::exchange(stopped_, true)) {
    timer_ = {};
    params_.stop();
    actions_in_.stop();
    actions_out_.stop();
    services_in_.stop();
    services_out_.stop();
    topics_out_.stop();
    topics_in_.stop();
  }
  // Queued behind the unregistrations: calls to one address keep their order.
  member_.ask("getPid", {}, [done = std::move(done)](const Result<Value>&) { done(); });
}

void Graph::add_questions() {
  methods_.add("getBusStats", "caller_id",
               [this](const Params&) { return outcome(1, "", bus_stats()); });
  methods_.add("getBusInfo", "caller_id",
               [this](const Params&) { return outcome(1, "", bus_info()); });
  methods_.add("getMasterUri", "caller_id",
               [this](const Params&) { return outcome(1, "", member_.master); });
  methods_.add("getPid", "caller_id",
               [](const Params&) { return outcome(1, "", static_cast<std::int32_t>(::getpid())); });
  methods_.add("getSubscriptions", "caller_id",
               [this](const Params&) { return outcome(1, "", rows_of(topics_in_.types())); });
  methods_.add("getPublications", "caller_id",
               [this](const Params&) { return outcome(1, "", rows_of(topics_out_.types())); });
}

void Graph::add_requests() {
  methods_.add("shutdown", "caller_id msg*", [this](const Params& p) {
    if (!stopped_) {
      log::error("ros1", p[0].text() + " asked " + context_.node +
                             " to shut down: " + (p.size() > 1 ? p[1].text() : std::string()) +
                             ". The gateway has left the ROS 1 graph. Start it again. If two nodes "
                             "have the same name, rename one with node=");
      stop([] {});
    }
    return outcome(1, "", 0);
  });
  methods_.add("paramUpdate", "caller_id key value*", [this](const Params& p) {
    // The ROS master sends names such as "/a/b/".
    params_.update(resolve_name(p[1].text(), "/"), p[2]);
    return outcome(1, "", 0);
  });
  methods_.add("publisherUpdate", "caller_id topic publishers*", [this](const Params& p) {
    if (!stopped_) topics_in_.publishers(p[1].text(), p[2]);
    return outcome(1, "", 0);
  });
  methods_.add("requestTopic", "caller_id topic protocols*", [this](const Params& p) {
    const std::string& topic = p[1].text();
    if (stopped_ || !server_.offers_topic(topic)) {
      return outcome(0, context_.node + " does not publish " + topic, Value::Array());
    }
    const auto* protocols = p[2].get_if<Value::Array>();
    const bool speaks =
        protocols != nullptr &&
        std::any_of(protocols->begin(), protocols->end(), [](const auto& one) {
          const auto* words = one.template get_if<Value::Array>();
          return words != nullptr && !words->empty() && words->front().text() == "TCPROS";
        });
    if (!speaks) return outcome(0, "the gateway supports only TCPROS", Value::Array());
    const auto uri = Uri::parse(member_.uri);
    return outcome(1, "ready",
                   Value::Array{"TCPROS", uri ? uri->host : std::string(),
                                static_cast<std::int32_t>(server_.port())});
  });
}

Value Graph::bus_info() const {
  std::vector<ConnectionInfo> all = topics_in_.connections();
  for (ConnectionInfo& info : server_.connections()) all.push_back(std::move(info));
  Value::Array rows;
  for (const ConnectionInfo& info : all) {
    rows.emplace_back(Value::Array{info.id, info.peer, info.inbound ? "i" : "o", "TCPROS",
                                   info.topic, info.connected,
                                   "TCPROS connection with " + info.address});
  }
  return rows;
}

Value Graph::bus_stats() const {
  Value::Array published;
  for (const ConnectionInfo& info : server_.connections()) {
    published.emplace_back(
        Value::Array{info.topic, count_of(info.bytes),
                     list_of(list_of(info.id, count_of(info.bytes), count_of(info.messages),
                                     count_of(info.dropped)))});
  }
  Value::Array subscribed;
  for (const ConnectionInfo& info : topics_in_.connections()) {
    subscribed.emplace_back(Value::Array{
        info.topic,
        list_of(list_of(info.id, count_of(info.bytes), count_of(info.dropped), info.connected))});
  }
  return Value::Array{std::move(published), std::move(subscribed), Value::Array{0, 0, 0}};
}

}  // namespace hyphos::gateway::ros1
