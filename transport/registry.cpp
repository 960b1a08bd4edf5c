// The one file that names the transports. A new one is one line in kMakers.
#include "transport/registry.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hyphos::transport {
namespace {

using Maker = std::unique_ptr<Transport> (*)(const TransportContext&);

std::unique_ptr<Transport> shm(const TransportContext& context) {
  ShmConfig config = context.shm;
  config.process_name = context.process_name;
  config.domain = context.domain;
  return make_shm(std::move(config));
}

std::unique_ptr<Transport> zmq(const TransportContext& context) {
  ZmqConfig config = context.zmq;
  config.process_name = context.process_name;
  return make_zmq(std::move(config));
}

constexpr std::array<std::pair<std::string_view, Maker>, 2> kMakers = {{
    {"shm", shm},
    {"zmq", zmq},
}};

}  // namespace

std::vector<std::string_view> transport_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, maker] : kMakers) names.push_back(name);
  return names;
}

Result<std::unique_ptr<Transport>> make_transport(std::string_view name,
                                                  const TransportContext& context) {
  const auto found = std::find_if(kMakers.begin(), kMakers.end(),
                                  [name](const auto& entry) { return entry.first == name; });
  if (found == kMakers.end()) {
    std::string known;
    for (const auto& [other, maker] : kMakers)
      known.append(known.empty() ? "" : ", ").append(other);
    return Error{Code::not_found,
                 "there is no transport '" + std::string(name) + "'; there are: " + known,
                 {}};
  }
  std::unique_ptr<Transport> made = found->second(context);
  if (context.faults) made = make_faulty(std::move(made), *context.faults);
  return made;
}

}  // namespace hyphos::transport
