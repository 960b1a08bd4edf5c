#include <cassert>
#include <utility>

#include "hyphos/action.hpp"
#include "hyphos/node.hpp"
#include "node/calls/raw_support.hpp"

// Services and actions of types known only by name: thin over the core of the typed ones.
namespace hyphos {
namespace {

detail::CallTypes raw_types(const CallType& type) {
  return {type.action, raw_support(type.id), raw_support(type.id)};
}

}  // namespace

CallType service_type(const TypeId& request, const TypeId& reply) {
  return {detail::service_types(raw_support(request), raw_support(reply)).request.id, false};
}

CallType action_type(const TypeId& goal, const TypeId& feedback, const TypeId& result) {
  return {detail::action_types(raw_support(goal), raw_support(feedback), raw_support(result))
              .request.id,
          true};
}

Result<Service> Node::raw_service(const std::string& name, const CallType& type,
                                  const ServiceOptions& options,
                                  std::function<void(const RawRequest&)> callback) const {
  assert(!type.action && "a service needs the type of service_type()");
  auto opened = open_server(name, raw_types(type), options,
                            [callback = std::move(callback)](const detail::ExchangeRef& exchange) {
                              callback(RawRequest(exchange));
                            });
  if (!opened) return opened.error();
  return Service(std::move(*opened));
}

Result<Action> Node::raw_action(const std::string& name, const CallType& type,
                                const ActionOptions& options,
                                std::function<void(const RawGoalHandle&)> execute,
                                std::function<Result<void>(const RawRequest&)> accept) const {
  assert(type.action && "an action needs the type of action_type()");
  detail::ActionCallbacks callbacks;
  callbacks.execute = [execute = std::move(execute)](const detail::ServerGoalRef& goal) {
    execute(RawGoalHandle(goal));
  };
  if (accept) {
    callbacks.accept = [accept = std::move(accept)](const detail::ExchangeRef& exchange) {
      return accept(RawRequest(exchange));
    };
  }
  auto opened = open_action(name, raw_types(type), options, std::move(callbacks));
  if (!opened) return opened.error();
  return Action(std::move(*opened));
}

Result<RawClient> Node::raw_client(const std::string& name, const CallType& type,
                                   const ClientOptions& options) const {
  auto opened = open_client(name, raw_types(type), options);
  if (!opened) return opened.error();
  return RawClient(std::move(*opened));
}

}  // namespace hyphos
