// The one file that names the transports. A new transport is one line in the list below and one
// file with `MadeTransport hyphos::transport::make::NAME(const TransportContext&)`.
#include "transport/registry.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/transports.hpp"

// Columns: name, reaches other machines, needs endpoints in the plan (plan/transports.hpp). In
// order of preference. A macro, so that one line both declares the maker and registers it.
// clang-format off
#define HYPHOS_TRANSPORTS(line) \
  line(shm, false, false) \
  line(zmq, true, true)
// clang-format on

namespace hyphos::transport {

namespace make {
#define HYPHOS_DECLARE(name, between_hosts, endpoints) MadeTransport name(const TransportContext&);
HYPHOS_TRANSPORTS(HYPHOS_DECLARE)
#undef HYPHOS_DECLARE
}  // namespace make

namespace {

using Maker = MadeTransport (*)(const TransportContext&);

#define HYPHOS_TRAITS(name, between_hosts, endpoints) \
  plan::TransportTraits{#name, between_hosts, endpoints},
constexpr auto kTraits = std::to_array({HYPHOS_TRANSPORTS(HYPHOS_TRAITS)});
#undef HYPHOS_TRAITS

#define HYPHOS_MAKER(name, between_hosts, endpoints) Maker{make::name},
constexpr auto kMakers = std::to_array({HYPHOS_TRANSPORTS(HYPHOS_MAKER)});
#undef HYPHOS_MAKER

}  // namespace

std::vector<std::string_view> transport_names() {
  std::vector<std::string_view> names;
  for (const auto& traits : kTraits) names.push_back(traits.name);
  return names;
}

Result<MadeTransport> make_transport(std::string_view name, const TransportContext& context) {
  const auto found = std::find_if(kTraits.begin(), kTraits.end(),
                                  [name](const auto& traits) { return traits.name == name; });
  if (found == kTraits.end()) {
    return Error{
        Code::not_found,
        "there is no transport '" + std::string(name) + "'. Known: " + plan::transport_list(),
        {}};
  }
  MadeTransport made = kMakers[static_cast<std::size_t>(found - kTraits.begin())](context);
  if (context.faults) made.transport = make_faulty(std::move(made.transport), *context.faults);
  return made;
}

}  // namespace hyphos::transport

std::span<const hyphos::plan::TransportTraits> hyphos::plan::transports() {
  return transport::kTraits;
}
