#include <algorithm>
#include <atomic>

#include "base/mutex.hpp"
#include "hyphos/service.hpp"
#include "node/calls/action_server.hpp"
#include "node/calls/call_client.hpp"
#include "node/calls/call_server.hpp"
#include "node/runtime/runtime_impl.hpp"
#include "shm/metrics.hpp"
#include "transport/shm/shm.hpp"

namespace hyphos {
namespace {

constexpr std::uint32_t kMostPending = 65536;

Result<void> check_bound(const std::string& name, std::string_view option, std::uint32_t value) {
  if (value >= 1 && value <= kMostPending) return success();
  return Error{Code::invalid_config,
               std::string(option) + " must be 1 to 65536, not " + std::to_string(value), name};
}

/// Reserves the name of a service while it is open. Closing it also releases its core, above all
/// the core's endpoints in the graph.
class NamedServer final : public detail::CallServer {
 public:
  NamedServer(std::shared_ptr<calls::ServerCore> core, std::shared_ptr<void> claim)
      : name_(core->name()), core_(std::move(core)), claim_(std::move(claim)) {}
  void close() override {
    if (const auto core = this->core()) core->close();
    std::shared_ptr<calls::ServerCore> ended;  // destroyed after the unlock
    const MutexLock lock(mutex_);
    ended.swap(core_);
    claim_.reset();
  }
  [[nodiscard]] std::size_t pending() const override {
    const auto core = this->core();
    return core ? core->pending() : 0;
  }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] bool is_closed() const override { return core() == nullptr; }

 private:
  [[nodiscard]] std::shared_ptr<calls::ServerCore> core() const {
    const MutexLock lock(mutex_);
    return core_;
  }

  const std::string name_;
  mutable Mutex mutex_;
  std::shared_ptr<calls::ServerCore> core_ HYPHOS_GUARDED_BY(mutex_);
  std::shared_ptr<void> claim_ HYPHOS_GUARDED_BY(mutex_);
};

class ActionServer final : public detail::CallServer {
 public:
  ActionServer(std::shared_ptr<detail::CallServer> server, std::shared_ptr<calls::ActionCore> core)
      : server_(std::move(server)), core_(std::move(core)) {}
  void close() override {
    server_->close();
    core_->close();
    closed_ = true;
  }
  [[nodiscard]] std::size_t pending() const override { return core_->pending(); }
  [[nodiscard]] const std::string& name() const override { return server_->name(); }
  [[nodiscard]] bool is_closed() const override { return closed_; }

 private:
  const std::shared_ptr<detail::CallServer> server_;
  const std::shared_ptr<calls::ActionCore> core_;
  std::atomic<bool> closed_ = false;
};

}  // namespace

std::shared_ptr<void> Runtime::Impl::claim_service(const std::string& channel) {
  const MutexLock lock(mutex_);
  std::weak_ptr<void>& place = services_[channel];
  if (!place.expired()) return nullptr;
  auto token = std::make_shared<int>(0);
  place = token;
  return token;
}

std::string Runtime::Impl::other_server(const std::string& channel) const {
  const auto* shm = dynamic_cast<transport::ShmTransport*>(graph_->transport("shm"));
  if (shm == nullptr) return {};
  const auto views = shm::open_metrics(domain_);
  if (!views) return {};
  for (const auto& view : *views) {
    if (!view.alive || view.participant == shm->participant_id()) continue;
    if (!trace::has_endpoint(view.bytes(), channel, false)) continue;
    return "process '" + view.process + "' (pid " + std::to_string(view.pid) + ")";
  }
  return {};
}

Result<std::shared_ptr<detail::CallServer>> Node::open_server(
    const std::string& name, const detail::CallTypes& types, const ServiceOptions& options,
    detail::ServerCallback callback) const {
  if (auto open = impl_->check_open(); !open) return open.error();
  if (auto good = check_bound(name, "depth", options.depth); !good) return good.error();
  if (auto good = check_bound(name, "max_pending", options.max_pending); !good) return good.error();
  Runtime::Impl& runtime = impl_->runtime();
  const std::string& service = impl_->channel_for(name);
  const CallPlan* planned =
      runtime.plan() != nullptr ? runtime.plan()->call(service, types.action) : nullptr;
  if (planned != nullptr && planned->server != impl_->name()) {
    return Error{Code::invalid_config,
                 "the plan assigns " + calls::describe(service, types.action) + " to node '" +
                     planned->server + "', not to '" + impl_->name() + "'",
                 planned->source.to_string()};
  }
  auto channels = calls::open_channels(runtime.graph(), service, types);
  if (!channels) return channels.error();
  const std::string channel = channels->request->name();
  const auto taken = [&](const std::string& by) {
    return Error{Code::already_exists,
                 calls::describe(service, types.action) + " is already served by " + by +
                     ". Stop that server, or choose another name for this one",
                 service};
  };
  auto claim = runtime.claim_service(channel);
  if (claim == nullptr) return taken("this process");
  const bool network = options.scope == Scope::network;
  auto core = std::make_shared<calls::ServerCore>(
      runtime.graph(), std::move(*channels),
      calls::ServerCore::Settings{impl_->name(), network, options.mode, options.depth,
                                  options.max_pending, types.action},
      std::move(callback));
  if (auto opened = core->open(types); !opened) return opened.error();
  // After joining: of two servers that start at once, at least one sees the other.
  const std::string other = network ? runtime.other_server(channel) : std::string();
  if (!other.empty()) {
    core->close();
    return taken(other);
  }
  auto server = std::make_shared<NamedServer>(std::move(core), std::move(claim));
  impl_->keep(server);
  return std::shared_ptr<detail::CallServer>(std::move(server));
}

Result<std::shared_ptr<detail::CallServer>> Node::open_action(
    const std::string& name, const detail::CallTypes& types, const ActionOptions& options,
    detail::ActionCallbacks callbacks) const {
  if (auto good = check_bound(name, "depth", options.depth); !good) return good.error();
  auto core = std::make_shared<calls::ActionCore>(
      impl_->runtime().graph().executor(), impl_->channel_for(name), options, std::move(callbacks));
  ServiceOptions service;
  service.scope = options.scope;
  // The action itself bounds its goals. These limits are for requests before and after that.
  service.depth = 64;
  service.max_pending = std::min(options.depth + 64, kMostPending);
  auto server = open_server(name, types, service, [core](const detail::ExchangeRef& exchange) {
    core->arrived(exchange);
  });
  if (!server) return server.error();
  auto action = std::make_shared<ActionServer>(std::move(*server), std::move(core));
  impl_->keep(std::shared_ptr<detail::CallServer>(action));
  return std::shared_ptr<detail::CallServer>(std::move(action));
}

Result<std::shared_ptr<detail::CallClient>> Node::open_client(const std::string& name,
                                                              const detail::CallTypes& types,
                                                              const ClientOptions& options) const {
  if (auto open = impl_->check_open(); !open) return open.error();
  if (auto good = check_bound(name, "max_pending", options.max_pending); !good) return good.error();
  Runtime::Impl& runtime = impl_->runtime();
  auto channels = calls::open_channels(runtime.graph(), impl_->channel_for(name), types);
  if (!channels) return channels.error();
  auto core = std::make_shared<calls::ClientCore>(
      runtime.graph(), std::move(*channels),
      calls::ClientCore::Settings{impl_->name(), options.scope == Scope::network,
                                  options.max_pending, types.action});
  if (auto opened = core->open(types); !opened) return opened.error();
  impl_->keep(std::weak_ptr(core));
  return std::shared_ptr<detail::CallClient>(
      std::make_shared<calls::ClientHandle>(std::move(core)));
}

}  // namespace hyphos
