#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/core/terrain.hpp"
#include "cosim/network/radio_model.hpp"

namespace hyphos::cosim {

/// The transport of packets to one node. Packets to everyone are always datagrams.
enum class Transport { udp, tcp };

/// The models of path loss and fading with a named radio. ns-3's own exist for `log_distance`,
/// `free_space`, `two_ray`, `rayleigh` and `nakagami`. Everything else is always that of
/// cosim/radio.
enum class Models { ns3, hyphos };
[[nodiscard]] std::optional<Models> find_models(std::string_view name);

/// The options of the ns-3 adapter. The radio options mean the same as in the analytic radio. Frame
/// errors and timing are those of ns-3.
struct Ns3Options {
  RadioOptions radio{};
  Transport transport = Transport::udp;
  Models models = Models::ns3;
  std::vector<Box> boxes{};  ///< of the world's Scene
  std::optional<TerrainOptions> terrain{};
};

/// Writes the options as the text that the adapter reads.
[[nodiscard]] std::string to_text(const Ns3Options& options);
/// Errors: invalid_config, with the option's name as `where`.
[[nodiscard]] Result<Ns3Options> ns3_options(std::string_view text);

}  // namespace hyphos::cosim
