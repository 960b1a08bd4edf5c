#include "gateway/ros1/services.hpp"

#include <utility>
#include <vector>

#include "gateway/ros1/left_out.hpp"

namespace hyphos::gateway::ros1 {
namespace {

/// Pause before a server that could not be reached or used is probed again.
constexpr Duration kPause = Duration::from_seconds(5);

Result<ServiceTypeInfo> service_type_of(const TypeLookup& types, const std::string& name) {
  const std::size_t middle = name.find("/srv/");
  if (middle != std::string::npos) {
    auto known = types.service(std::string(name).erase(middle, 4));
    if (known && !known->md5.empty()) return known;
  }
  auto known = types.service(name);
  if (!known || !known->md5.empty()) return known;
  return Error{Code::unsupported, name + " has no md5sum: it is not a service of ROS 1", name};
}

}  // namespace

ServicesIn::ServicesIn(const Context& context, net::Loop& calls, const Member& member,
                       Patterns which)
    : context_(context), calls_(calls), member_(member), which_(std::move(which)) {}

void ServicesIn::look(const GraphState& state) {
  std::erase_if(served_, [&](auto& entry) {
    auto& [name, service] = entry;
    const bool there = GraphState::has(state.services, name, service.node) && !service.gone;
    if (!there && service.proxy) service.proxy->stop();
    return !there;
  });
  for (const auto& [name, nodes] : state.services) {
    if (nodes.empty() || nodes.contains(context_.node) || served_.contains(name)) continue;
    if (!which_.match(name)) continue;
    const auto failed = failed_.find(name);
    if (failed != failed_.end() && monotonic_now() < failed->second) continue;
    begin(name, *nodes.begin());
  }
  std::erase_if(failed_, [&](const auto& entry) { return !state.services.contains(entry.first); });
}

ServicesIn::Service* ServicesIn::asking(const std::string& service, const std::string& node) {
  const auto found = served_.find(service);
  const bool still = found != served_.end() && found->second.node == node && !found->second.server;
  return still ? &found->second : nullptr;
}

void ServicesIn::begin(const std::string& service, const std::string& node) {
  served_[service].node = node;
  member_.ask("lookupService", {service}, [this, service, node](const Result<Value>& found) {
    if (asking(service, node) == nullptr) return;
    const Result<Uri> uri = found ? Uri::parse(found->text()) : found.error();
    if (!uri) return left_out(service, uri.error());
    probe_service(
        context_, service, *uri, [this, service, node, uri = *uri](const Result<Header>& header) {
          calls_.post([this, service, node, uri, header] { probed(service, node, uri, header); });
        });
  });
}

void ServicesIn::probed(const std::string& service, const std::string& node, const Uri& uri,
                        const Result<Header>& header) {
  Service* mine = asking(service, node);
  if (mine == nullptr) return;
  if (!header) return left_out(service, header.error());
  if (header->contains("error")) {
    return left_out(service,
                    {Code::unsupported,
                     "its server refused the probe: " + std::string(field(*header, "error")), ""});
  }
  const auto type = service_type_of(context_.facade.types(), std::string(field(*header, "type")));
  if (!type) return left_out(service, type.error());
  const std::string wrong = mismatch(*header, type->name, type->md5);
  if (!wrong.empty()) {
    return left_out(service,
                    {Code::type_mismatch,
                     "its md5sum is " + std::string(field(*header, "md5sum")) +
                         ", but the md5sum of " + type->name + " in the gateway is " + type->md5,
                     ""});
  }
  mine->proxy =
      std::make_shared<ServiceProxy>(context_, service, *type, node, uri, [this, service, node] {
        calls_.post([this, service, node] {
          const auto found = served_.find(service);
          if (found != served_.end() && found->second.node == node) found->second.gone = true;
        });
      });
  auto server = context_.facade.services().open_server(
      {node, context_.group}, service, type->name, Form::ros1,
      [proxy = mine->proxy](const Buffer& request, Answer answer) {
        proxy->call(request, std::move(answer));
      });
  if (!server && server.error().code == Code::disconnected) {
    served_.erase(service);  // the gateway's node is shutting down
    return;
  }
  if (!server) return left_out(service, server.error());
  mine->server = std::move(*server);
  failed_.erase(service);
}

void ServicesIn::left_out(const std::string& service, const Error& why) {
  report_left_out(context_, logged_, "service", service, why);
  served_.erase(service);
  failed_[service] = monotonic_now() + kPause;
}

void ServicesIn::stop() {
  for (auto& [name, service] : served_) {
    service.server.reset();
    if (service.proxy) service.proxy->stop();
  }
  served_.clear();
}

ServicesOut::ServicesOut(const Context& context, const Member& member, TcprosServer& server,
                         Patterns which)
    : context_(context), member_(member), server_(server), which_(std::move(which)) {}

void ServicesOut::look(const GraphState& state, const ServicesIn& in) {
  std::map<std::string, std::string> wanted;
  for (const ServiceInfo& info : context_.facade.services().list()) {
    if (!which_.match(info.name) || in.has(info.name)) continue;
    if (info.type.empty() || !is_global_name(info.name)) {
      report_left_out(context_, logged_, "service", {info.name, info.type, info.carries});
      continue;
    }
    // A service name is unique in ROS: a service that another ROS node already has stays.
    if (GraphState::has_other(state.services, info.name, context_.node)) continue;
    wanted[info.name] = info.type;
  }
  std::vector<std::string> gone;
  for (const auto& [service, type] : offered_) {
    const auto still = wanted.find(service);
    if (still == wanted.end() || still->second != type) gone.push_back(service);
  }
  for (const std::string& service : gone) end(service);
  for (const auto& [service, type] : wanted) {
    if (!offered_.contains(service)) {
      const auto known = service_type_of(context_.facade.types(), type);
      if (!known) {
        report_left_out(context_, logged_, "service", service, known.error());
        continue;
      }
      server_.offer_service(service, *known);
      offered_[service] = type;
    }
    const bool known = GraphState::has(state.services, service, context_.node);
    if (!(registered_.contains(service) && known) && !registering_.contains(service)) {
      enroll(service);
    }
  }
}

void ServicesOut::enroll(const std::string& service) {
  registering_.insert(service);
  member_.ask("registerService", {service, member_.rosrpc, member_.uri},
              [this, service](const Result<Value>& done) {
                registering_.erase(service);
                if (done && offered_.contains(service)) registered_.insert(service);
              });
}

void ServicesOut::end(const std::string& service) {
  offered_.erase(service);
  registered_.erase(service);
  server_.withdraw_service(service);
  member_.ask("unregisterService", {service, member_.rosrpc}, nullptr);
}

void ServicesOut::stop() {
  while (!offered_.empty()) end(std::string(offered_.begin()->first));
}

}  // namespace hyphos::gateway::ros1
