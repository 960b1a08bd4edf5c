#include "gateway/ros1/topics.hpp"

#include <algorithm>
#include <utility>

#include "gateway/ros1/left_out.hpp"
#include "gateway/ros1/rosout.hpp"

namespace hyphos::gateway::ros1 {
namespace {

/// Maximum time for which the graph may still show a publisher that has ended.
constexpr Duration kLag = Duration::from_seconds(3);

}  // namespace

Result<TypeInfo> type_of(const TypeLookup& types, const std::string& name) {
  const std::size_t middle = name.find("/msg/");
  if (middle != std::string::npos) {
    auto known = types.message(std::string(name).erase(middle, 4));
    if (known && !known->md5.empty()) return known;
  }
  auto known = types.message(name);
  if (!known || !known->md5.empty()) return known;
  return Error{Code::unsupported, name + " has no md5sum: it is not a type of ROS 1", name};
}

TopicsIn::TopicsIn(const Context& context, net::Loop& calls, const Member& member, Patterns which)
    : context_(context), calls_(calls), member_(member), which_(std::move(which)) {}

void TopicsIn::look(const GraphState& state) {
  const Time now = monotonic_now();
  for (auto& [topic, names] : ended_) {
    std::erase_if(names, [&](const auto& ended) { return ended.second + kLag < now; });
  }
  std::erase_if(ended_, [](const auto& topic) { return topic.second.empty(); });
  for (auto entry = subscriptions_.begin(); entry != subscriptions_.end();) {
    auto& [topic, subscription] = *entry;
    const auto type = state.types.find(topic);
    const bool same =
        type == state.types.end() || type->second == "*" || type->second == subscription.type.name;
    if (same && GraphState::has_other(state.publishers, topic, context_.node)) {
      const bool known = GraphState::has(state.subscribers, topic, context_.node);
      if (!subscription.registering && !(subscription.registered && known)) enroll(topic);
      ++entry;
      continue;
    }
    end(topic, subscription);
    entry = subscriptions_.erase(entry);
  }
  for (const auto& [topic, nodes] : state.publishers) {
    if (subscriptions_.contains(topic) || !which_.match(topic)) continue;
    if (!GraphState::has_other(state.publishers, topic, context_.node)) continue;
    const auto type = state.types.find(topic);
    if (type != state.types.end() && type->second != "*") begin(topic, type->second);
  }
}

void TopicsIn::begin(const std::string& topic, const std::string& type) {
  auto known = type_of(context_.facade.types(), type);
  if (!known) {
    return report_left_out(context_, logged_, "topic", topic, known.error());
  }
  subscriptions_[topic].type = std::move(*known);
  enroll(topic);
}

void TopicsIn::enroll(const std::string& topic) {
  Subscription& subscription = subscriptions_[topic];
  subscription.registering = true;
  member_.ask("registerSubscriber", {topic, subscription.type.name, member_.uri},
              [this, topic](const Result<Value>& uris) {
                const auto mine = subscriptions_.find(topic);
                if (mine == subscriptions_.end()) return;
                mine->second.registering = false;
                mine->second.registered = uris.ok();
                if (uris) publishers(topic, *uris);
              });
}

void TopicsIn::publishers(const std::string& topic, const Value& uris) {
  const auto mine = subscriptions_.find(topic);
  const auto* list = uris.get_if<Value::Array>();
  if (mine == subscriptions_.end() || list == nullptr) return;
  auto& inbound_topics = mine->second.inbound_topics;
  std::set<std::string> now;
  for (const Value& uri : *list) {
    if (!uri.text().empty() && uri.text() != member_.uri) now.insert(uri.text());
  }
  std::erase_if(inbound_topics, [&](const auto& inbound_topic) {
    const bool gone = !now.contains(inbound_topic.first);
    if (gone) end(topic, *inbound_topic.second);
    return gone;
  });
  for (const std::string& uri : now) {
    auto& inbound_topic = inbound_topics[uri];
    if (inbound_topic) continue;
    inbound_topic = std::make_shared<InboundTopic>(context_, calls_, member_.client, topic,
                                                   mine->second.type, uri);
    inbound_topic->start();
  }
}

void TopicsIn::end(const std::string& topic, Subscription& subscription) {
  for (const auto& [uri, inbound_topic] : subscription.inbound_topics) end(topic, *inbound_topic);
  subscription.inbound_topics.clear();
  member_.ask("unregisterSubscriber", {topic, member_.uri}, nullptr);
}

void TopicsIn::end(const std::string& topic, InboundTopic& inbound_topic) {
  ended_[topic][inbound_topic.publisher()] = monotonic_now();
  inbound_topic.stop();
}

void TopicsIn::stop() {
  for (auto& [topic, subscription] : subscriptions_) end(topic, subscription);
  subscriptions_.clear();
}

std::set<std::string> TopicsIn::clients(std::string_view topic) const {
  std::set<std::string> names;
  if (const auto ended = ended_.find(topic); ended != ended_.end()) {
    for (const auto& [name, when] : ended->second) names.insert(name);
  }
  const auto mine = subscriptions_.find(topic);
  if (mine == subscriptions_.end()) return names;
  for (const auto& [uri, inbound_topic] : mine->second.inbound_topics)
    names.insert(inbound_topic->publisher());
  return names;
}

std::map<std::string, std::string> TopicsIn::types() const {
  std::map<std::string, std::string> types;
  for (const auto& [topic, subscription] : subscriptions_) types[topic] = subscription.type.name;
  return types;
}

std::vector<ConnectionInfo> TopicsIn::connections() const {
  std::vector<ConnectionInfo> list;
  for (const auto& [topic, subscription] : subscriptions_) {
    for (const auto& [uri, inbound_topic] : subscription.inbound_topics)
      list.push_back(inbound_topic->info());
  }
  return list;
}

TopicsOut::TopicsOut(const Context& context, const Member& member, TcprosServer& server,
                     Patterns which)
    : context_(context), member_(member), server_(server), which_(std::move(which)) {}

void TopicsOut::look(const GraphState& state, const TopicsIn& in) {
  std::map<std::string, Offer> wanted;
  for (const TopicInfo& info : context_.facade.topics().list()) {
    if (!which_.match(info.topic)) continue;
    const bool log = info.topic == kLogTopic && info.carries == kLogCarries;
    const std::set<std::string> ours = in.clients(log ? kRosout : std::string_view(info.topic));
    const bool others = std::any_of(info.publishers.begin(), info.publishers.end(),
                                    [&](const std::string& name) { return !ours.contains(name); });
    if (!others) continue;
    if (log) {
      wanted[std::string(kRosout)] = {std::string(kRosoutType), false};
    } else if (info.type.empty() || !is_global_name(info.topic)) {
      report_left_out(context_, logged_, "channel", {info.topic, info.type, info.carries});
    } else {
      wanted[info.topic] = {info.type, info.latched};
    }
  }
  std::vector<std::string> gone;
  for (const auto& [topic, now] : offered_) {
    const auto still = wanted.find(topic);
    if (still == wanted.end() || still->second.type != now.type) gone.push_back(topic);
  }
  for (const std::string& topic : gone) end(topic);
  for (const auto& [topic, want] : wanted) {
    if (!offer(topic, want)) continue;
    const bool known = GraphState::has(state.publishers, topic, context_.node);
    if (!(registered_.contains(topic) && known) && !registering_.contains(topic)) enroll(topic);
  }
}

bool TopicsOut::offer(const std::string& topic, const Offer& wanted) {
  const auto now = offered_.find(topic);
  if (now != offered_.end() && now->second.latched == wanted.latched) return true;
  const auto known = type_of(context_.facade.types(), wanted.type);
  if (!known) {
    report_left_out(context_, logged_, "channel", topic, known.error());
    return false;
  }
  server_.offer_topic(topic, *known, wanted.latched);
  offered_[topic] = wanted;
  names_[topic] = known->name;
  return true;
}

void TopicsOut::enroll(const std::string& topic) {
  registering_.insert(topic);
  member_.ask("registerPublisher", {topic, names_[topic], member_.uri},
              [this, topic](const Result<Value>& subscribers) {
                registering_.erase(topic);
                if (subscribers && offered_.contains(topic)) registered_.insert(topic);
              });
}

void TopicsOut::end(const std::string& topic) {
  offered_.erase(topic);
  names_.erase(topic);
  registered_.erase(topic);
  server_.withdraw_topic(topic);
  member_.ask("unregisterPublisher", {topic, member_.uri}, nullptr);
}

void TopicsOut::stop() {
  while (!offered_.empty()) end(std::string(offered_.begin()->first));
}

}  // namespace hyphos::gateway::ros1
