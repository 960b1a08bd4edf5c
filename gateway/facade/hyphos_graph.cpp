#include "gateway/facade/hyphos_graph.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "gateway/facade/call_bytes.hpp"
#include "gateway/facade/graph_params.hpp"
#include "gateway/facade/graph_publisher.hpp"

namespace hyphos::gateway {

namespace {

constexpr std::string_view kInternal = "hyphos/";  // prefix of the channels of services
constexpr std::string_view kRequest = "/request";

bool is_ros2(Form form) { return form == Form::cdr; }

class GraphSubscription final : public ClientSubscription {
 public:
  GraphSubscription(std::shared_ptr<ClientRegistry> clients, Client client, std::string channel,
                    std::shared_ptr<SharedSubscription> shared, Hear on_message,
                    std::shared_ptr<void> place)
      : place_(std::move(place)),
        clients_(std::move(clients)),
        client_(std::move(client)),
        channel_(std::move(channel)),
        shared_(std::move(shared)),
        listener_(
            std::make_shared<SharedSubscription::Listener>(client_.group, std::move(on_message))) {
    clients_->add_subscriber(channel_, client_);
    shared_->add(listener_);
  }
  ~GraphSubscription() override {
    shared_->remove(listener_);
    clients_->remove_subscriber(channel_, client_);
  }
  GraphSubscription(const GraphSubscription&) = delete;
  GraphSubscription& operator=(const GraphSubscription&) = delete;
  [[nodiscard]] const TypeInfo& type() const override { return shared_->type(); }

 private:
  const std::shared_ptr<void> place_;  // released after the subscription
  const std::shared_ptr<ClientRegistry> clients_;
  const Client client_;
  const std::string channel_;
  const std::shared_ptr<SharedSubscription> shared_;
  const std::shared_ptr<SharedSubscription::Listener> listener_;
};

detail::CallTypes types_of(const ServiceCodec& codec) {
  return detail::service_types(raw_support(codec.request_id), raw_support(codec.reply_id));
}

class GraphServer final : public Server {
 public:
  GraphServer(std::shared_ptr<detail::CallServer> core, ServiceTypeInfo type,
              std::shared_ptr<void> place)
      : place_(std::move(place)), core_(std::move(core)), type_(std::move(type)) {}
  ~GraphServer() override { core_->close(); }
  GraphServer(const GraphServer&) = delete;
  GraphServer& operator=(const GraphServer&) = delete;
  [[nodiscard]] const ServiceTypeInfo& type() const override { return type_; }

 private:
  const std::shared_ptr<void> place_;
  const std::shared_ptr<detail::CallServer> core_;
  const ServiceTypeInfo type_;
};

/// The reply to one call of a client. The conversion runs on the thread pool.
class CallEnd final : public detail::CallListener {
 public:
  CallEnd(CallClientPool::Use call_client, const Converter& reply, Form form, Answer answer)
      : call_client_(std::move(call_client)),
        reply_(reply),
        form_(form),
        answer_(std::move(answer)) {}
  void heard(detail::CallKind kind, const detail::Delivery& message) override {
    if (detail::is_final(kind)) finish(message);
  }
  void failed(const Error& error) override { finish(error); }

 private:
  void finish(Result<detail::Delivery> end) {
    auto call_client = std::exchange(call_client_, {});
    detail::CallClient* const pool = call_client.core.get();
    pool->post([call_client = std::move(call_client), &reply = reply_, form = form_,
                answer = std::move(answer_), end = std::move(end)] {
      answer(end ? message_of(*end, reply, form) : Result<Buffer>(end.error()));
    });
  }

  CallClientPool::Use call_client_;
  const Converter& reply_;
  const Form form_;
  Answer answer_;
};

}  // namespace

std::string channel_of(std::string_view topic) {
  return std::string(topic.starts_with('/') ? topic.substr(1) : topic);
}
std::string topic_of(std::string_view channel) { return "/" + std::string(channel); }

namespace {

/// Adds a publisher with this policy. Before the first one, `topic` lists no publishers.
void keep_to(TopicInfo& topic, const Policy& policy) {
  const bool reliable = policy.reliability == Reliability::reliable;
  const bool first = topic.publishers.empty();
  topic.latched = topic.latched || policy.latched;
  topic.reliable = reliable && (first || topic.reliable);
  topic.depth = std::max(topic.depth, policy.depth);
  const bool both = policy.deadline_ms > 0 && (first || topic.deadline_ms > 0);
  topic.deadline_ms = both ? std::max(topic.deadline_ms, policy.deadline_ms) : 0;
}

}  // namespace

HyphosGraph::HyphosGraph(Node node, std::shared_ptr<Types> types, Rules rules)
    : node_(std::move(node)),
      types_(std::move(types)),
      rules_(std::move(rules)),
      quotas_(std::make_shared<Quotas>(rules_)),
      call_clients_(std::make_shared<CallClientPool>(rules_.limits)),
      log_(node_.log()) {}

HyphosGraph::~HyphosGraph() = default;

std::optional<EndpointInfo> HyphosGraph::seen(const std::string& channel) const {
  const auto processes = inspect(node_.runtime().domain());
  if (!processes) return std::nullopt;
  std::optional<EndpointInfo> found;
  for (const auto& process : *processes) {
    for (const auto& end : process.endpoints) {
      if (end.channel != channel || (end.node == node_.name() && found)) continue;
      if (!found || (end.is_publisher && !found->is_publisher)) found = end;
    }
  }
  return found;
}

Result<const ChannelCodec*> HyphosGraph::codec_for(const std::string& channel,
                                                   const std::optional<EndpointInfo>& end,
                                                   const std::string& type, bool raw) {
  if (!end) return raw ? types_->raw_codec(type) : types_->default_codec(type);
  TypeId id;
  id.name = end->type_name;
  id.encoding = end->encoding;
  id.hash = end->type_hash;
  auto codec = types_->codec(type, id);
  if (codec) return codec;
  Error error = codec.error();
  if (error.code == Code::unsupported) error.code = Code::type_mismatch;
  error.where = channel;
  return error;
}

Result<std::string> HyphosGraph::type_of(const std::string& channel,
                                         const std::optional<EndpointInfo>& end, Form form) const {
  if (!end) {
    return Error{Code::not_found,
                 "the graph has no channel '" + channel + "' yet. Give the type of the topic",
                 channel};
  }
  std::string name = types_->ros_name(end->type_name, is_ros2(form) || types_->only_ros2());
  if (name.empty()) {
    return Error{Code::unsupported, "no known ROS type corresponds to " + end->type_name, channel};
  }
  return name;
}

Result<std::unique_ptr<ClientPublisher>> HyphosGraph::open_publisher(
    const Client& client, const std::string& topic, const std::string& type, Form form,
    const ClientPublisherOptions& options) {
  const std::string channel = channel_of(topic);
  if (!rules_.of(client).publish.let(channel)) return denied(client, "publish", topic);
  auto info = types_->message(type);
  if (!info) return info.error();
  auto codec = codec_for(channel, seen(channel), type, options.raw);
  if (!codec) return codec.error();
  PublisherOptions publisher;
  Policy& policy = publisher.policy.emplace();
  policy.latched = options.latched;
  if (options.depth > 0) policy.depth = options.depth;
  if (options.reliable) policy.reliability = Reliability::reliable;
  policy.deadline_ms = options.deadline_ms;
  auto place = quota_for(client, {"publish " + channel});
  if (!place) return place.error();
  auto opened = node_.raw_publisher(channel, (*codec)->id, publisher);
  if (!opened) return opened.error();
  GraphPublisher::Setup setup{
      *this,   clients_,         client, quotas_->of(client), std::move(*place), node_.clock(),
      **codec, *std::move(info), form,   options.spread};
  return std::unique_ptr<ClientPublisher>(
      std::make_unique<GraphPublisher>(std::move(setup), *opened, policy_here(channel)));
}

Policy HyphosGraph::policy_here(const std::string& channel) const {
  const auto processes = inspect(node_.runtime().domain());
  if (!processes) return {};
  for (const auto& process : *processes) {
    if (process.pid != ::getpid() || process.name != node_.runtime().process()) continue;
    for (const auto& end : process.endpoints) {
      if (end.is_publisher && end.channel == channel) return end.policy;
    }
  }
  return {};
}

std::map<std::uint64_t, std::size_t> HyphosGraph::publishers_now(const std::string& channel) const {
  std::map<std::uint64_t, std::size_t> now;
  const auto processes = inspect(node_.runtime().domain());
  if (!processes) return now;
  for (const auto& process : *processes) {
    const auto count = static_cast<std::size_t>(std::ranges::count_if(
        process.endpoints,
        [&](const EndpointInfo& end) { return end.is_publisher && end.channel == channel; }));
    if (count == 0) continue;
    now[process.participant] += count;
    if (process.pid == ::getpid() && process.name == node_.runtime().process()) {
      now[kThisProcess] += count;
    }
  }
  return now;
}

Result<std::unique_ptr<ClientSubscription>> HyphosGraph::open_subscription(
    const Client& client, const std::string& topic, const std::string& type, Form form,
    const ClientSubscriptionOptions& options,
    std::function<void(const OutgoingMessage&)> callback) {
  const std::string channel = channel_of(topic);
  if (!rules_.of(client).subscribe.let(channel)) return denied(client, "subscribe to", topic);
  const auto end = seen(channel);
  std::string name = type;
  if (name.empty()) {
    auto known = type_of(channel, end, form);
    if (!known) return known.error();
    name = *known;
  }
  auto info = types_->message(name);
  if (!info) return info.error();
  auto codec = codec_for(channel, end, name);
  if (!codec) return codec.error();
  auto place = quota_for(client, {"subscribe " + channel});
  if (!place) return place.error();
  const bool keeps = end && end->policy.latched;
  auto shared = shared_subscriptions_.get(
      {channel, info->name, form, options.depth},
      [&]() -> Result<std::shared_ptr<SharedSubscription>> {
        auto made = std::make_shared<SharedSubscription>(
            **codec, *info, form,
            [clients = clients_](std::uint64_t sender) { return clients->group_of(sender); },
            [clients = clients_](std::uint64_t sender) { return clients->has_ended(sender); },
            [this, channel] { return publishers_now(channel); },
            [this, topic](const Error& error) {
              count({"/" + node_.name()}, "unconvertible", topic + ": " + error.to_string());
            });
        auto opened = made->open(node_, channel, options.depth, keeps);
        if (!opened) return opened.error();
        return made;
      });
  if (!shared) return shared.error();
  return std::unique_ptr<ClientSubscription>(std::make_unique<GraphSubscription>(
      clients_, client, channel, std::move(*shared), std::move(callback), std::move(*place)));
}

std::string HyphosGraph::call_type_of(const std::string& service) const {
  const auto end = seen(std::string(kServices) + service + std::string(kRequest));
  return end ? end->type_name : "";
}

std::string HyphosGraph::action_type_of(const std::string& action) const {
  const auto end = seen(std::string(kActions) + action + std::string(kRequest));
  return end ? end->type_name : "";
}

Result<std::unique_ptr<Server>> HyphosGraph::open_server(
    const Client& client, const std::string& service, const std::string& type, Form form,
    std::function<void(const Buffer& request, Answer answer)> callback) {
  const std::string name = channel_of(service);
  if (!rules_.of(client).serve.let(name)) return denied(client, "serve", service);
  auto info = types_->service(type);
  if (!info) return info.error();
  auto codec = types_->service_codec(type, call_type_of(name));
  if (!codec) return codec.error();
  auto place = quota_for(client, {"ask " + name, "answer " + name});
  if (!place) return place.error();
  ServiceOptions options;
  options.mode = Mode::concurrent;
  options.depth =
      static_cast<std::uint32_t>(std::clamp<std::size_t>(rules_.limits.calls, 1, 65536));
  options.max_pending = options.depth;
  const auto serve = [codec = *codec, form, callback = std::move(callback),
                      clock = node_.clock()](const detail::ExchangeRef& exchange) {
    auto request = message_of(exchange->request(), *codec.request, form);
    if (!request) {
      (void)exchange->fail(request.error());
      return;
    }
    callback(*request, [exchange, codec, form, clock](const Result<Buffer>& reply) {
      if (!reply) {
        (void)exchange->fail(reply.error());
        return;
      }
      auto block = block_of(exchange->sender(), exchange->travels(), *codec.reply, form,
                            reply->bytes(), clock.now().ns);
      (void)(block ? exchange->send(detail::CallKind::reply, *block)
                   : exchange->fail(block.error()));
    });
  };
  auto opened = node_.open_server(name, types_of(*codec), options, serve);
  if (!opened) return opened.error();
  return std::unique_ptr<Server>(std::make_unique<GraphServer>(*opened, *info, std::move(*place)));
}

bool HyphosGraph::is_served(const std::string& channel) const {
  const auto processes = inspect(node_.runtime().domain());
  return processes && std::ranges::any_of(*processes, [&](const ProcessInfo& process) {
           return std::ranges::any_of(process.endpoints, [&](const EndpointInfo& end) {
             return !end.is_publisher && end.channel == channel;
           });
         });
}

Result<CallClientPool::Use> HyphosGraph::call_client(const Client& client, std::string_view kind,
                                                     const std::string& name, const TypeId& request,
                                                     const detail::CallTypes& types) {
  if (auto let = take(client, *quotas_->of(client), name); !let) return let.error();
  const std::string channel = std::string(kind) + name + std::string(kRequest);
  auto asked = call_clients_->ask(client, name + " " + std::string(kind) + request.name,
                                  is_served(channel), [&] {
                                    // CallClientPool limits the number of calls by an option of the
                                    // gateway.
                                    ClientOptions options;
                                    options.max_pending = 65536;
                                    return node_.open_client(name, types, options);
                                  });
  if (!asked && asked.error().code == Code::overloaded) {
    count(client, "calls", asked.error().message);
  }
  return asked;
}

Result<std::shared_ptr<void>> HyphosGraph::quota_for(const Client& client,
                                                     std::initializer_list<std::string> ports) {
  auto place = quotas_->take(client, ports);
  if (!place) count(client, "topics", place.error().message);
  return place;
}

Result<void> HyphosGraph::take(const Client& client, Quota& quota, const std::string& name) {
  if (quota.take(monotonic_now().ns)) return {};
  count(client, "rate", name);
  return Error{Code::permission,
               "the client exceeds the rate of messages, calls and goals that the rules allow",
               name};
}

void HyphosGraph::call(const Client& client, const std::string& service, const std::string& type,
                       Form form, std::span<const std::byte> request, Duration timeout,
                       Answer answer) {
  const std::string name = channel_of(service);
  if (!rules_.of(client).call.let(name)) return answer(denied(client, "call", service));
  const std::string call_type = call_type_of(name);
  const std::string type_name = type.empty() ? types_->ros_service_name(call_type) : type;
  if (type_name.empty()) {
    return answer(Error{Code::not_found,
                        call_type.empty() ? "the graph has no service '" + service + "'"
                                          : "no known ROS type has the messages " + call_type,
                        service});
  }
  auto codec = types_->service_codec(type_name, call_type);
  if (!codec) return answer(codec.error());
  auto asked = call_client(client, kServices, name, codec->request_id, types_of(*codec));
  if (!asked) return answer(asked.error());
  const std::shared_ptr<detail::CallClient> core = asked->core;
  auto block = block_of(core->sender(), core->travels(), *codec->request, form, request,
                        node_.clock().now().ns);
  if (!block) return answer(block.error());
  auto end = std::make_shared<CallEnd>(std::move(*asked), *codec->reply, form, std::move(answer));
  core->start(*block, (monotonic_now() + timeout).ns, std::move(end));
}

std::unique_ptr<NodeParams> HyphosGraph::open_params(std::function<void()> changed) {
  return std::make_unique<GraphParams>(node_, rules_, std::move(changed));
}

Result<TypeInfo> HyphosGraph::type(std::string_view name) const { return types_->message(name); }
Result<ServiceTypeInfo> HyphosGraph::service_type(std::string_view name) const {
  return types_->service(name);
}

Result<ActionTypeInfo> HyphosGraph::action_type(std::string_view name) const {
  return types_->action(name);
}

std::set<std::string> HyphosGraph::names_of(const ProcessInfo& process,
                                            const EndpointInfo& end) const {
  if (process.pid != ::getpid() || end.node != node_.name()) return {"/" + end.node};
  return end.is_publisher ? clients_->publishers(end.channel) : clients_->subscribers(end.channel);
}

std::vector<TopicInfo> HyphosGraph::topics() const {
  std::map<std::string, TopicInfo> found;
  const auto processes = inspect(node_.runtime().domain());
  if (!processes) return {};
  for (const auto& process : *processes) {
    for (const auto& end : process.endpoints) {
      if (end.channel.starts_with(kInternal)) continue;
      TopicInfo& topic = found[end.channel];
      topic.topic = topic_of(end.channel);
      if (topic.type.empty()) {
        topic.carries = end.type_name;
        topic.type = types_->ros_name(end.type_name, types_->only_ros2());
      }
      if (end.is_publisher) keep_to(topic, end.policy);
      auto& nodes = end.is_publisher ? topic.publishers : topic.subscribers;
      for (const std::string& name : names_of(process, end)) {
        if (std::find(nodes.begin(), nodes.end(), name) == nodes.end()) nodes.push_back(name);
      }
    }
  }
  std::vector<TopicInfo> topics;
  topics.reserve(found.size());
  for (auto& [channel, topic] : found) topics.push_back(std::move(topic));
  return topics;
}

std::vector<ServiceInfo> HyphosGraph::served(std::string_view kind) const {
  std::vector<ServiceInfo> found;
  const auto processes = inspect(node_.runtime().domain());
  if (!processes) return found;
  for (const auto& process : *processes) {
    for (const auto& end : process.endpoints) {
      // A server is a subscriber of the request channel.
      if (end.is_publisher || !end.channel.starts_with(kind) || !end.channel.ends_with(kRequest)) {
        continue;
      }
      const std::string name =
          end.channel.substr(kind.size(), end.channel.size() - kind.size() - kRequest.size());
      found.push_back({"/" + name, end.type_name, "/" + end.node});
    }
  }
  return found;
}

std::vector<ServiceInfo> HyphosGraph::services() const {
  std::vector<ServiceInfo> found = served(kServices);
  for (ServiceInfo& one : found) {
    one.carries = one.type;
    one.type = types_->ros_service_name(one.type);
  }
  return found;
}

Result<Buffer> HyphosGraph::blank_reply(std::string_view type, Form form) const {
  const auto codec = types_->service_codec(type, "");
  if (!codec) return codec.error();
  // A protobuf message of zero bytes has the default value in each field.
  const auto written = codec->reply->write(form, RawMessage());
  if (!written) return written.error();
  return written->joined();
}

bool HyphosGraph::lets(const Client& client, Use use, std::string_view name) const {
  const Rules& rules = rules_.of(client);
  const std::string channel = channel_of(name);
  switch (use) {
    case Use::publish:
      return rules.publish.let(channel);
    case Use::subscribe:
      return rules.subscribe.let(channel);
    case Use::call:
      return rules.call.let(channel);
    default:
      return rules.serve.let(channel);
  }
}

std::vector<std::string> HyphosGraph::interfaces() const { return types_->interfaces(); }
int HyphosGraph::ros_version() const { return types_->only_ros2() ? 2 : 1; }

std::vector<std::string> HyphosGraph::nodes() const {
  std::set<std::string> found;
  const auto processes = inspect(node_.runtime().domain());
  if (!processes) return {};
  for (const auto& process : *processes) {
    for (const auto& end : process.endpoints) found.insert("/" + end.node);
  }
  return {found.begin(), found.end()};
}

void HyphosGraph::add_to_counter(std::string_view why) {
  const std::lock_guard lock(mutex_);
  ++counters_["drop.gateway." + std::string(why)];
}

void HyphosGraph::note(const Client& client, std::string_view why, std::string_view detail) {
  add_to_counter(why);
  log_.warn(client.name, ": ", why, ": ", detail);
}

void HyphosGraph::count(const Client& client, std::string_view why, std::string_view detail) {
  add_to_counter(why);
  log_.every(Duration::from_ms(1000)).warn(client.name, ": ", why, ": ", detail);
}

std::map<std::string, std::uint64_t> HyphosGraph::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace hyphos::gateway
