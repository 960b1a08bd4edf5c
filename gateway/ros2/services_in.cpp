#include "gateway/ros2/services_in.hpp"

#include <utility>
#include <vector>

#include "gateway/ros2/names.hpp"
#include "gateway/ros2/node_graph.hpp"

namespace hyphos::gateway::ros2 {

/// One service: represents the server in ROS. After its end it uses no object of the gateway, so a
/// call that arrives at that moment is harmless.
class ServicesIn::Proxy : public std::enable_shared_from_this<Proxy> {
 public:
  Proxy(const Context& context, std::string service, Offered offered)
      : context_(context),
        service_(service),
        calls_(context, std::move(service), std::move(offered)) {}

  Result<void> open() { return calls_.open(); }
  [[nodiscard]] bool is_of(const Offered& offered) const { return calls_.is_of(offered); }
  void add_endpoints(OwnEndpoints& endpoints) const { calls_.add_endpoints(endpoints); }
  [[nodiscard]] GUID_t reader() const { return calls_.reader(); }
  [[nodiscard]] GUID_t writer() const { return calls_.writer(); }

  /// Becomes a service of the robot once the server is reachable. Ends calls that took too long.
  Result<void> look() {
    calls_.expire();
    if (server_ || !calls_.is_ready()) return success();
    auto server = context_.facade.services().open_server(
        client_of(context_.nodes->node_of(calls_.offered().server)), service_,
        calls_.offered().type, Form::cdr,
        [weak = weak_from_this(), timeout = context_.settings.call_timeout](const Buffer& request,
                                                                            Answer answer) {
          if (const auto proxy = weak.lock()) {
            return proxy->calls_.call(request.bytes(), timeout, std::move(answer));
          }
          answer(Error{Code::disconnected, "the gateway is shut down", {}});
        });
    if (!server) return server.error();
    server_ = std::move(*server);
    return success();
  }

  void end() {
    server_.reset();
    calls_.end();
  }

 private:
  const Context& context_;
  const std::string service_;
  std::unique_ptr<Server> server_;
  ServiceClient calls_;
};

ServicesIn::ServicesIn(const Context& context) : context_(context) {}
ServicesIn::~ServicesIn() {
  while (!proxies_.empty()) end(std::string(proxies_.begin()->first));
}

void ServicesIn::end(const std::string& service) {
  proxies_[service]->end();
  proxies_.erase(service);
}

void ServicesIn::look(const DomainState& state) {
  const auto offered = offered_services(state);
  std::vector<std::string> gone;
  for (const auto& [service, proxy] : proxies_) {
    const auto now = offered.find(service);
    if (now == offered.end() || !proxy->is_of(now->second)) gone.push_back(service);
  }
  for (const std::string& service : gone) end(service);
  for (const auto& [service, offer] : offered) {
    if (proxies_.contains(service) || !context_.settings.services.match(service) ||
        !refused_.may_try(service)) {
      continue;
    }
    auto& proxy = proxies_[service] = std::make_shared<Proxy>(context_, service, offer);
    auto opened = context_.facade.types().service(offer.type).ok()
                      ? proxy->open()
                      : Result<void>(context_.facade.types().service(offer.type).error());
    if (opened) continue;
    if (refused_.failed(service)) {
      context_.facade.clients().note(client_of(service), to_string(opened.error().code),
                                     "the service is left out: " + opened.error().to_string());
    }
    end(service);
  }
  for (auto& [service, proxy] : proxies_) {
    const auto looked = proxy->look();
    if (looked) continue;
    if (looked.error().code == Code::disconnected) return;  // the gateway's node is shutting down
    if (refused_.failed(service + " server")) {
      context_.facade.clients().note(client_of(service), to_string(looked.error().code),
                                     "the service is left out: " + looked.error().to_string());
    }
  }
}

std::vector<GUID_t> ServicesIn::readers() const {
  std::vector<GUID_t> readers;
  for (const auto& [service, proxy] : proxies_) readers.push_back(proxy->reader());
  return readers;
}

std::vector<GUID_t> ServicesIn::writers() const {
  std::vector<GUID_t> writers;
  for (const auto& [service, proxy] : proxies_) writers.push_back(proxy->writer());
  return writers;
}

void ServicesIn::add_endpoints(OwnEndpoints& endpoints) const {
  for (const auto& [service, proxy] : proxies_) proxy->add_endpoints(endpoints);
}

}  // namespace hyphos::gateway::ros2
