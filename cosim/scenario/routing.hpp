#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_reader.hpp"
#include "cosim/core/simulator.hpp"
#include "cosim/network/outages.hpp"
#include "cosim/programs/flow.hpp"
#include "cosim/routing/routed.hpp"
#include "cosim/routing/table_router.hpp"

namespace hyphos::cosim {

struct Scenario;

enum class RoutingProtocol : std::uint8_t {
  none,
  table,  ///< fixed routes
  aodv,   ///< in lock step
  babel   ///< babeld on the robots of `hyphos cosim emulate`
};
[[nodiscard]] constexpr std::string_view to_string(RoutingProtocol protocol) {
  constexpr std::array<std::string_view, 4> kNames{"none", "table", "aodv", "babel"};
  return kNames[static_cast<std::size_t>(protocol)];
}

/// The section `routing` of a scenario.
struct Routing {
  RoutingProtocol protocol = RoutingProtocol::none;
  std::vector<routing::TableRouter::Table> tables{};  ///< by node
  Duration hello{0};                                  ///< interval of hello messages. 0: none
};

/// Reads `routing`. Call it after the robots, the radio and the traffic.
void read_routing(const config::Section& root, Scenario& scenario, config::Problems& problems);
/// Reads `off_s` of a robot.
[[nodiscard]] OffTimes read_off_times(const config::Section& robot);

/// Puts routers between programs and network, if the scenario has a protocol for lock step. Returns
/// null otherwise, and leaves `programs` unchanged. Errors: invalid_config (a protocol for real
/// time).
[[nodiscard]] Result<std::unique_ptr<routing::Routed>> route(const Scenario& scenario,
                                                             std::unique_ptr<Programs>& programs);

/// The effect of an outage on a flow.
struct Healing {
  NodeId robot = 0;  ///< whose radio went off
  Time at;
  std::size_t flow = 0;
  std::uint64_t lost = 0;  ///< messages sent from then on and lost, before the first that arrived
  Duration after{kNever.ns};  ///< from the outage to the arrival of that message. kNever: none did
};
/// Compares the outages of a scenario with its flows. Flows from or to the robot itself, and flows
/// to everyone, are left out, as are flows without a message after the outage.
[[nodiscard]] std::vector<Healing> healings(const std::vector<OffTimes>& off,
                                            const std::vector<FlowResult>& flows);

/// The results of the routers, and the effect of outages.
struct RoutingReport {
  std::vector<routing::Routed::Results> robots{};  ///< by node. Empty without a protocol
  std::vector<Healing> healings{};
};
/// Lines for a terminal. Empty if there are neither routers nor outages.
[[nodiscard]] std::string to_text(const Scenario& scenario, const RoutingReport& report);

}  // namespace hyphos::cosim
