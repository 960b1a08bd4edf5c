#include "plan/transports.hpp"

#include <algorithm>
#include <array>

#include "plan/transport_list.hpp"

namespace hyphos::plan {
namespace {

#define HYPHOS_TRAITS(name, between_hosts, endpoints) \
  TransportTraits{#name, between_hosts, endpoints},
constexpr auto kTraits = std::to_array({HYPHOS_TRANSPORTS(HYPHOS_TRAITS)});
#undef HYPHOS_TRAITS

}  // namespace

std::span<const TransportTraits> transports() { return kTraits; }

const TransportTraits* transport(std::string_view name) {
  const auto all = transports();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name](const TransportTraits& t) { return t.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string transport_list() {
  std::string names;
  for (const TransportTraits& each : transports()) {
    names.append(names.empty() ? "" : ", ").append(each.name);
  }
  return names;
}

const TransportTraits* carrier(const ChannelPlan& channel, bool same_host) {
  if (channel.reach == Reach::local) return nullptr;
  if (!same_host && channel.reach != Reach::network) return nullptr;
  const bool automatic = channel.transport == kAutomaticTransport;
  for (const TransportTraits& each : transports()) {
    if (!automatic && each.name != channel.transport) continue;
    if (same_host || each.between_hosts) return &each;
  }
  return nullptr;
}

}  // namespace hyphos::plan
