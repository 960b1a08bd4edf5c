#include "gateway/ros1/master.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "gateway/ros1/methods.hpp"
#include "gateway/ros1/names.hpp"
#include "gateway/ros1/param_server.hpp"
#include "gateway/ros1/registrations.hpp"
#include "gateway/ros1/rpc.hpp"

namespace hyphos::gateway::ros1 {
namespace {

constexpr const char* kName = "/master";
/// Interval at which silent nodes are checked.
constexpr Duration kLook = Duration::from_seconds(5);

using Params = Methods::Params;
using ByName = std::map<std::string, Registrations::Nodes, std::less<>>;

Value names_of(const Registrations::Nodes& nodes) {
  Value::Array names;
  for (const auto& [name, uri] : nodes) names.emplace_back(name);
  return names;
}

Value uris_of(const std::vector<std::string>& uris) {
  return Value::Array(uris.begin(), uris.end());
}

Value table_of(const ByName& table) {
  Value::Array rows;
  for (const auto& [name, nodes] : table) rows.emplace_back(Value::Array{name, names_of(nodes)});
  return rows;
}

}  // namespace

class Master::Api {
 public:
  explicit Api(net::Loop& loop)
      : loop_(loop),
        client_(loop),
        params_(nodes_,
                [this](const std::string& uri, const std::string& name, const Value& value) {
                  notify(uri, "paramUpdate", {kName, name, value}, "paramUpdate " + name);
                }) {
    add_publishers_and_subscribers();
    add_services();
    add_questions();
    add_watching();
    params_.add_to(methods_);
  }

  Result<void> open(const Options& options) {
    auto server =
        RpcServer::open(loop_, {.host = options.host, .port = options.port},
                        [this](const RpcCall& call, const net::Address& from,
                               const RpcReply& reply) { reply(methods_.call(call, {from})); });
    if (!server) return server.error();
    server_ = std::move(*server);
    uri_ = make_uri("http", options.name, server_->port());
    loop_.post([this] { look_later(); });
    return success();
  }

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  [[nodiscard]] const std::string& uri() const { return uri_; }

 private:
  using Change = std::function<Registrations::Changes(
      const std::string& node, const std::string& uri, const std::string& name, const Params&)>;

  // All calls begin with the node's name. Calls that register have its URI and a name at the given
  // positions. Returns an empty string if they are valid.
  std::string problem_of(const std::string& node, const std::string& uri, const std::string& name,
                         bool is_root) const {
    if (!is_global_name(node)) return "'" + node.substr(0, 100) + "' is not a valid node name";
    if (!is_global_name(name) && !is_root)
      return "'" + name.substr(0, 100) + "' is not a valid name";
    const auto parsed = Uri::parse(uri);
    if (!parsed) return parsed.error().message;
    if (uri.size() > 1024)
      return "the URI has " + std::to_string(uri.size()) + " bytes, more than 1024";
    if (nodes_.full()) return "the master has reached its limit of entries";
    return {};
  }

  Value register_at(const Params& p, std::size_t name_at, std::size_t uri_at, const Change& change,
                    const std::function<Value(const std::string& name)>& result,
                    bool may_be_root = false) {
    const std::string node = caller_of(p);
    const std::string name = resolve_name(p[name_at].text(), node);
    const std::string& uri = p[uri_at].text();
    const std::string problem = problem_of(node, uri, name, may_be_root && name == "/");
    if (!problem.empty()) return outcome(-1, problem, 0);
    const Registrations::Changes changes = change(node, uri, name, p);
    if (!changes.replaced.empty()) {
      log::info("ros1", "master: " + node + " is now at " + uri + ". The node at " +
                            changes.replaced + " is asked to shut down");
      client_.call(changes.replaced, "shutdown",
                   {kName, "[" + node + "] Reason: new node registered with same name"}, {}, {});
    }
    for (const std::string& topic : changes.topics) tell_subscribers(topic);
    return outcome(1, "registered " + name, result(name));
  }

  void add_publishers_and_subscribers() {
    methods_.add(
        "registerPublisher", "caller_id topic topic_type caller_api", [this](const Params& p) {
          return register_at(
              p, 1, 3,
              [this](const auto& node, const auto& uri, const auto& name, const Params& q) {
                return nodes_.add_publisher(node, uri, name, q[2].text());
              },
              [this](const auto& name) { return uris_of(nodes_.subscriber_uris(name)); });
        });
    methods_.add(
        "registerSubscriber", "caller_id topic topic_type caller_api", [this](const Params& p) {
          return register_at(
              p, 1, 3,
              [this](const auto& node, const auto& uri, const auto& name, const Params& q) {
                return nodes_.add_subscriber(node, uri, name, q[2].text());
              },
              [this](const auto& name) { return uris_of(nodes_.publisher_uris(name)); });
        });
    methods_.add("unregisterPublisher", "caller_id topic caller_api", [this](const Params& p) {
      const std::string topic = resolve_name(p[1].text(), p[0].text());
      const bool gone = nodes_.remove_publisher(caller_of(p), p[2].text(), topic);
      if (gone) tell_subscribers(topic);
      return outcome(1, "unregistered " + topic, gone ? 1 : 0);
    });
    methods_.add("unregisterSubscriber", "caller_id topic caller_api", [this](const Params& p) {
      const std::string topic = resolve_name(p[1].text(), p[0].text());
      const bool gone = nodes_.remove_subscriber(caller_of(p), p[2].text(), topic);
      return outcome(1, "unregistered " + topic, gone ? 1 : 0);
    });
  }

  void add_services() {
    methods_.add(
        "registerService", "caller_id service service_api caller_api", [this](const Params& p) {
          return register_at(
              p, 1, 3,
              [this](const auto& node, const auto& uri, const auto& name, const Params& q) {
                return nodes_.add_service(node, uri, name, q[2].text().substr(0, 1024));
              },
              [](const auto&) { return 1; });
        });
    methods_.add("unregisterService", "caller_id service service_api", [this](const Params& p) {
      const std::string service = resolve_name(p[1].text(), p[0].text());
      const bool gone = nodes_.remove_service(caller_of(p), service, p[2].text());
      return outcome(1, "unregistered " + service, gone ? 1 : 0);
    });
    methods_.add("lookupService", "caller_id service", [this](const Params& p) {
      const std::string name = resolve_name(p[1].text(), p[0].text());
      const auto* service = nodes_.service(name);
      if (service == nullptr) return outcome(-1, "no node offers the service " + name, "");
      return outcome(1, "rosrpc URI of " + name, service->uri);
    });
  }

  void add_questions() {
    methods_.add("lookupNode", "caller_id node_name", [this](const Params& p) {
      const std::string node = resolve_name(p[1].text(), p[0].text());
      const std::string uri = nodes_.node_uri(node);
      if (uri.empty()) return outcome(-1, "no node is called " + node, "");
      return outcome(1, "node " + node, uri);
    });
    methods_.add("getPublishedTopics", "caller_id subgraph",
                 [this](const Params& p) { return published(p); });
    methods_.add("getTopicTypes", "caller_id", [this](const Params&) {
      Value::Array rows;
      for (const auto& [topic, type] : nodes_.types()) {
        rows.emplace_back(Value::Array{topic, type});
      }
      return outcome(1, "types of topics", std::move(rows));
    });
    methods_.add("getSystemState", "caller_id", [this](const Params&) {
      Value::Array services;
      for (const auto& [name, service] : nodes_.services()) {
        services.emplace_back(Value::Array{name, Value::Array{service.node}});
      }
      return outcome(1, "publishers, subscribers, services",
                     Value::Array{table_of(nodes_.publishers()), table_of(nodes_.subscribers()),
                                  std::move(services)});
    });
    methods_.add("getUri", "caller_id", [this](const Params&) { return outcome(1, "", uri_); });
    methods_.add("getPid", "caller_id", [](const Params&) {
      return outcome(1, "", static_cast<std::int32_t>(::getpid()));
    });
  }

  void add_watching() {
    methods_.add("subscribeParam", "caller_id caller_api key", [this](const Params& p) {
      return register_at(
          p, 2, 1,
          [this](const auto& node, const auto& uri, const auto& name, const Params&) {
            return nodes_.add_param_watcher(node, uri, name);
          },
          [this](const auto& name) { return params_.value(name); }, true);
    });
    methods_.add("unsubscribeParam", "caller_id caller_api key", [this](const Params& p) {
      const std::string name = resolve_name(p[2].text(), p[0].text());
      const bool gone = nodes_.remove_param_watcher(caller_of(p), p[1].text(), name);
      return outcome(1, "unsubscribed " + name, gone ? 1 : 0);
    });
  }

  Value published(const Params& p) const {
    std::string within = p[1].text().empty() ? "/" : resolve_name(p[1].text(), p[0].text());
    if (!within.ends_with('/')) within += '/';
    Value::Array rows;
    for (const auto& [topic, publishers] : nodes_.publishers()) {
      if (topic.starts_with(within)) rows.emplace_back(Value::Array{topic, nodes_.type(topic)});
    }
    return outcome(1, "topics with publishers", std::move(rows));
  }

  void tell_subscribers(const std::string& topic) {
    const Value publishers = uris_of(nodes_.publisher_uris(topic));
    for (const std::string& uri : nodes_.subscriber_uris(topic)) {
      notify(uri, "publisherUpdate", {kName, topic, publishers}, "publisherUpdate " + topic);
    }
  }

  // Only the latest update of an item counts. A node that refuses connections is gone.
  void notify(const std::string& uri, const std::string& method, const Params& params,
              std::string replaces) {
    client_.call(uri, method, params, {.replaces = std::move(replaces)},
                 [this, uri](const Result<Value>& result) {
                   if (!result && result.error().code == Code::disconnected) forget(uri);
                 });
  }

  void forget(const std::string& uri) {
    for (const std::string& node : nodes_.at(uri)) {
      log::info("ros1", "master: " + node + " is gone: no program listens at " + uri);
      for (const std::string& topic : nodes_.remove_node(node)) tell_subscribers(topic);
    }
  }

  void look_later() {
    look_ = loop_.after(kLook, [this] {
      for (const std::string& uri : nodes_.uris()) notify(uri, "getPid", {kName}, "getPid");
      look_later();
    });
  }

  net::Loop& loop_;
  RpcClient client_;
  Registrations nodes_;
  ParamServer params_;
  Methods methods_;
  std::unique_ptr<RpcServer> server_;
  std::string uri_;
  net::Timer look_;
};

Result<std::unique_ptr<Master>> Master::open(net::Loop& loop, const Options& options) {
  auto api = std::make_unique<Api>(loop);
  const Result<void> opened = api->open(options);
  if (!opened) return opened.error();
  return std::unique_ptr<Master>(new Master(std::move(api)));
}

Master::Master(std::unique_ptr<Api> api) : api_(std::move(api)) {}
Master::~Master() = default;
std::uint16_t Master::port() const { return api_->port(); }
const std::string& Master::uri() const { return api_->uri(); }

}  // namespace hyphos::gateway::ros1
