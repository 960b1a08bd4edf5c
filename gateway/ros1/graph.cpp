#include "gateway/ros1/graph.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/log.hpp"
#include "gateway/ros1/connect.hpp"

namespace hyphos::gateway::ros1 {
namespace {

using Params = Methods::Params;

/// Maximum duration of the lookup of a host name. The caller waits meanwhile.
constexpr Duration kLookup = Duration::from_seconds(5);

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
      udpros_(context),
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

void Graph::answer(const RpcCall& call, const net::Address& from, RpcReply reply) {
  const std::string name = UdprosServer::name_to_look_up(call, server_);
  if (name.empty()) return reply(methods_.call(call, {from}));
  resolve_later(
      calls_, name, kLookup,
      [this, call, from, reply = std::move(reply)](const Result<std::vector<net::Address>>& found) {
        Origin origin{from};
        if (found) origin.named = *found;
        reply(methods_.call(call, origin));
      });
}

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
    udpros_.look(*state, server_);
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
    udpros_.stop();
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
  methods_.add("requestTopic", "caller_id topic protocols*",
               [this](const Params& p, const Origin& origin) { return request_topic(p, origin); });
}

Value Graph::request_topic(const Params& params, const Origin& origin) {
  const std::string& topic = params[1].text();
  const auto offered = server_.topic(topic);
  if (stopped_ || !offered) {
    return outcome(0, context_.node + " does not publish " + topic, Value::Array());
  }
  const auto uri = Uri::parse(member_.uri);
  const std::string host = uri ? uri->host : std::string();
  std::string why = "the gateway supports TCPROS and UDPROS";
  const auto* protocols = params[2].get_if<Value::Array>();
  // The subscriber lists them in the order of its preference.
  for (const Value& one : protocols == nullptr ? Value::Array() : *protocols) {
    const auto* words = one.get_if<Value::Array>();
    if (words == nullptr || words->empty()) continue;
    if (words->front().text() == "TCPROS") {
      return outcome(1, "ready",
                     Value::Array{"TCPROS", host, static_cast<std::int32_t>(server_.port())});
    }
    if (words->front().text() != "UDPROS") continue;
    auto reply = udpros_.add({caller_of(params), origin}, topic, *offered, *words, host);
    if (reply) return outcome(1, "ready", std::move(*reply));
    why = reply.error().to_string();
    context_.facade.clients().count({caller_of(params), context_.group},
                                    to_string(reply.error().code), why);
  }
  return outcome(0, why, Value::Array());
}

std::vector<ConnectionInfo> Graph::outbound() const {
  std::vector<ConnectionInfo> all = server_.connections();
  for (ConnectionInfo& info : udpros_.connections()) all.push_back(std::move(info));
  return all;
}

Value Graph::bus_info() const {
  std::vector<ConnectionInfo> all = topics_in_.connections();
  for (ConnectionInfo& info : outbound()) all.push_back(std::move(info));
  Value::Array rows;
  for (const ConnectionInfo& info : all) {
    rows.emplace_back(Value::Array{info.id, info.peer, info.inbound ? "i" : "o", info.protocol,
                                   info.topic, info.connected,
                                   info.protocol + " connection with " + info.address});
  }
  return rows;
}

Value Graph::bus_stats() const {
  Value::Array published;
  for (const ConnectionInfo& info : outbound()) {
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
