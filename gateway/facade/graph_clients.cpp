#include "gateway/facade/graph_clients.hpp"

#include <utility>

#include "gateway/facade/channel_names.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway {

GraphClients::GraphClients(Rules rules, Logger log)
    : rules_(std::move(rules)), quotas_(std::make_shared<Quotas>(rules_)), log_(std::move(log)) {}

bool GraphClients::lets(const Client& client, Use use, std::string_view name) const {
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

Result<void> GraphClients::take(const Client& client, Quota& quota, const std::string& name) {
  if (quota.take(monotonic_now().ns)) return {};
  count(client, "rate", name);
  return Error{Code::permission,
               "the client exceeds the rate of messages, calls and goals that the rules allow",
               name};
}

Result<std::shared_ptr<void>> GraphClients::reserve(const Client& client,
                                                    std::initializer_list<std::string> ports) {
  auto place = quotas_->take(client, ports);
  if (!place) count(client, "topics", place.error().message);
  return place;
}

void GraphClients::add_to_counter(std::string_view why) {
  const MutexLock lock(mutex_);
  ++counters_["drop.gateway." + std::string(why)];
}

void GraphClients::note(const Client& client, std::string_view why, std::string_view detail) {
  add_to_counter(why);
  log_.warn(client.name, ": ", why, ": ", detail);
}

void GraphClients::count(const Client& client, std::string_view why, std::string_view detail) {
  add_to_counter(why);
  log_.every(Duration::from_ms(1000)).warn(client.name, ": ", why, ": ", detail);
}

std::map<std::string, std::uint64_t> GraphClients::counters() const {
  const MutexLock lock(mutex_);
  return counters_;
}

}  // namespace hyphos::gateway
