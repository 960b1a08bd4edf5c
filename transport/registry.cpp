// Makes each transport of plan/transport_list.hpp by its name.
#include "transport/registry.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/transport_list.hpp"
#include "plan/transports.hpp"

namespace hyphos::transport {

namespace make {
#define HYPHOS_DECLARE(name, between_hosts, endpoints) MadeTransport name(const TransportContext&);
HYPHOS_TRANSPORTS(HYPHOS_DECLARE)
#undef HYPHOS_DECLARE
}  // namespace make

namespace {

using Maker = MadeTransport (*)(const TransportContext&);

#define HYPHOS_MAKER(name, between_hosts, endpoints) Maker{make::name},
constexpr auto kMakers = std::to_array({HYPHOS_TRANSPORTS(HYPHOS_MAKER)});
#undef HYPHOS_MAKER

}  // namespace

std::vector<std::string_view> transport_names() {
  std::vector<std::string_view> names;
  for (const auto& traits : plan::transports()) names.push_back(traits.name);
  return names;
}

Result<MadeTransport> make_transport(std::string_view name, const TransportContext& context) {
  const auto all = plan::transports();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name](const auto& traits) { return traits.name == name; });
  if (found == all.end()) {
    return Error{
        Code::not_found,
        "there is no transport '" + std::string(name) + "'. Known: " + plan::transport_list(),
        {}};
  }
  MadeTransport made = kMakers[static_cast<std::size_t>(found - all.begin())](context);
  if (context.faults) made.transport = make_faulty(std::move(made.transport), *context.faults);
  return made;
}

}  // namespace hyphos::transport
