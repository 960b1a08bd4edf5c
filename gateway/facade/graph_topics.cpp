#include "gateway/facade/graph_topics.hpp"

#include <algorithm>
#include <utility>

#include "gateway/facade/announce.hpp"
#include "gateway/facade/call_bytes.hpp"
#include "gateway/facade/channel_names.hpp"
#include "gateway/facade/graph_publisher.hpp"

namespace hyphos::gateway {

namespace {

bool is_ros2(Form form) { return form == Form::cdr; }

class GraphSubscription final : public ClientSubscription {
 public:
  GraphSubscription(std::shared_ptr<ClientRegistry> registry, Client client, std::string channel,
                    std::shared_ptr<SharedSubscription> shared, Hear on_message,
                    std::shared_ptr<void> place)
      : place_(std::move(place)),
        registry_(std::move(registry)),
        client_(std::move(client)),
        channel_(std::move(channel)),
        shared_(std::move(shared)),
        listener_(
            std::make_shared<SharedSubscription::Listener>(client_.group, std::move(on_message))) {
    registry_->add_subscriber(channel_, client_);
    shared_->add(listener_);
  }
  ~GraphSubscription() override {
    shared_->remove(listener_);
    registry_->remove_subscriber(channel_, client_);
  }
  GraphSubscription(const GraphSubscription&) = delete;
  GraphSubscription& operator=(const GraphSubscription&) = delete;
  [[nodiscard]] const TypeInfo& type() const override { return shared_->type(); }

 private:
  const std::shared_ptr<void> place_;  // released after the subscription
  const std::shared_ptr<ClientRegistry> registry_;
  const Client client_;
  const std::string channel_;
  const std::shared_ptr<SharedSubscription> shared_;
  const std::shared_ptr<SharedSubscription::Listener> listener_;
};

/// Adds a publisher with this policy. Before the first one, `topic` lists no publishers.
void keep_to(TopicInfo& topic, const Policy& policy) {
  const bool reliable = policy.reliability == Reliability::reliable;
  const bool first = topic.publishers.empty();
  topic.latched = topic.latched || policy.latched;
  topic.reliable = reliable && (first || topic.reliable);
  topic.depth = std::max(topic.depth, policy.depth);
  const bool both = policy.deadline_ms > 0 && (first || topic.deadline_ms > 0);
  topic.deadline_ms = both ? std::max(topic.deadline_ms, policy.deadline_ms) : 0;
  const bool both_end = policy.lifespan_ms > 0 && (first || topic.lifespan_ms > 0);
  topic.lifespan_ms = both_end ? std::max(topic.lifespan_ms, policy.lifespan_ms) : 0;
  if (policy.latched) topic.latched_depth = std::max(topic.latched_depth, policy.latched_depth);
}

}  // namespace

GraphTopics::GraphTopics(Node node, std::shared_ptr<Types> types, const GraphView& view,
                         GraphClients& clients)
    : node_(std::move(node)), types_(std::move(types)), view_(view), clients_(clients) {}

Result<const ChannelCodec*> GraphTopics::codec_for(const std::string& channel,
                                                   const std::optional<EndpointInfo>& endpoint,
                                                   const std::string& type, bool raw) {
  if (!endpoint) return raw ? types_->raw_codec(type) : types_->default_codec(type);
  TypeId id;
  id.name = endpoint->type_name;
  id.encoding = endpoint->encoding;
  id.hash = endpoint->type_hash;
  auto codec = types_->codec(type, id);
  if (codec) return codec;
  Error error = codec.error();
  if (error.code == Code::unsupported) error.code = Code::type_mismatch;
  error.where = channel;
  return error;
}

Result<std::string> GraphTopics::type_of(const std::string& channel,
                                         const std::optional<EndpointInfo>& endpoint,
                                         Form form) const {
  if (!endpoint) {
    return Error{Code::not_found,
                 "the graph has no channel '" + channel + "' yet. Give the type of the topic",
                 channel};
  }
  std::string name = types_->ros_name(endpoint->type_name, is_ros2(form) || types_->only_ros2());
  if (name.empty()) {
    return Error{Code::unsupported, "no known ROS type corresponds to " + endpoint->type_name,
                 channel};
  }
  return name;
}

Result<std::unique_ptr<ClientPublisher>> GraphTopics::open_publisher(
    const Client& client, const std::string& topic, const std::string& type, Form form,
    const ClientPublisherOptions& options) {
  const std::string channel = channel_of(topic);
  if (!clients_.lets(client, Use::publish, topic)) return denied(client, "publish", topic);
  auto info = types_->message(type);
  if (!info) return info.error();
  auto codec = codec_for(channel, view_.find(channel), type, options.raw);
  if (!codec) return codec.error();
  PublisherOptions publisher;
  Policy& policy = publisher.policy.emplace();
  policy.latched = options.latched;
  if (options.depth > 0) policy.depth = options.depth;
  if (options.reliable) policy.reliability = Reliability::reliable;
  policy.deadline_ms = options.deadline_ms;
  policy.lifespan_ms = options.lifespan_ms;
  auto place = clients_.reserve(client, {"publish " + channel});
  if (!place) return place.error();
  announce(node_, *types_, {&(*codec)->id});
  auto opened = node_.raw_publisher(channel, (*codec)->id, publisher);
  if (!opened) return opened.error();
  GraphPublisher::Setup setup{.clients = clients_,
                              .registry = registry_,
                              .client = client,
                              .quota = clients_.quota_of(client),
                              .place = std::move(*place),
                              .clock = node_.clock(),
                              .codec = **codec,
                              .type = *std::move(info),
                              .form = form,
                              .spread = options.spread};
  // The view now has the new publisher.
  const Policy used = view_.policy_here(channel);
  return std::unique_ptr<ClientPublisher>(
      std::make_unique<GraphPublisher>(std::move(setup), *opened, used));
}

Result<std::unique_ptr<ClientSubscription>> GraphTopics::open_subscription(
    const Client& client, const std::string& topic, const std::string& type, Form form,
    const ClientSubscriptionOptions& options,
    std::function<void(const OutgoingMessage&)> callback) {
  const std::string channel = channel_of(topic);
  if (!clients_.lets(client, Use::subscribe, topic)) return denied(client, "subscribe to", topic);
  const auto endpoint = view_.find(channel);
  std::string name = type;
  if (name.empty()) {
    auto known = type_of(channel, endpoint, form);
    if (!known) return known.error();
    name = *known;
  }
  auto info = types_->message(name);
  if (!info) return info.error();
  auto codec = codec_for(channel, endpoint, name);
  if (!codec) return codec.error();
  auto place = clients_.reserve(client, {"subscribe " + channel});
  if (!place) return place.error();
  const bool keeps = endpoint && endpoint->policy.latched;
  auto shared = shared_subscriptions_.get(
      {channel, info->name, form, options.depth, options.lifespan_ms},
      [&] { return open_shared(topic, **codec, *info, form, options, keeps); });
  if (!shared) return shared.error();
  return std::unique_ptr<ClientSubscription>(std::make_unique<GraphSubscription>(
      registry_, client, channel, std::move(*shared), std::move(callback), std::move(*place)));
}

Result<std::shared_ptr<SharedSubscription>> GraphTopics::open_shared(
    const std::string& topic, const ChannelCodec& codec, const TypeInfo& type, Form form,
    const ClientSubscriptionOptions& options, bool keeps) {
  const std::string channel = channel_of(topic);
  auto made = std::make_shared<SharedSubscription>(
      codec, type, form,
      [registry = registry_](std::uint64_t sender) { return registry->group_of(sender); },
      [registry = registry_](std::uint64_t sender) { return registry->has_ended(sender); },
      [this, channel] { return view_.count_publishers(channel); },
      [this, topic](const Error& error) {
        clients_.count({"/" + node_.name()}, "unconvertible", topic + ": " + error.to_string());
      });
  announce(node_, *types_, {&codec.id});
  auto opened = made->open(node_, channel, options, keeps);
  if (!opened) return opened.error();
  return made;
}

std::vector<TopicInfo> GraphTopics::list() const {
  std::vector<TopicInfo> topics;
  for (const auto& [channel, endpoints] : view_.topics()) {
    TopicInfo& topic = topics.emplace_back();
    topic.topic = topic_of(channel);
    for (const auto& endpoint : endpoints) add(topic, endpoint);
  }
  return topics;
}

void GraphTopics::add(TopicInfo& topic, const GraphView::TopicEndpoint& endpoint) const {
  const EndpointInfo& info = endpoint.info;
  if (topic.type.empty()) {
    topic.carries = info.type_name;
    topic.type = types_->ros_name(info.type_name, types_->only_ros2());
  }
  if (info.is_publisher) keep_to(topic, info.policy);
  auto& nodes = info.is_publisher ? topic.publishers : topic.subscribers;
  for (const std::string& name : owners_of(endpoint)) {
    if (std::ranges::find(nodes, name) == nodes.end()) nodes.push_back(name);
  }
}

std::set<std::string> GraphTopics::owners_of(const GraphView::TopicEndpoint& endpoint) const {
  const EndpointInfo& info = endpoint.info;
  if (!endpoint.own) return {topic_of(info.node)};
  return info.is_publisher ? registry_->publishers(info.channel)
                           : registry_->subscribers(info.channel);
}

std::vector<std::string> GraphTopics::nodes() const { return view_.nodes(); }

}  // namespace hyphos::gateway
