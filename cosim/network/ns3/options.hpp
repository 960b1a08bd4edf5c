#pragma once

#include <cstddef>
#include <cstdint>
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

/// Limits of cells in ns-3: sounding signals of one station have 320 places, and each pair of
/// stations has a link for handovers.
inline constexpr std::uint32_t kMostNs3Users = 300;
inline constexpr std::size_t kMostNs3Stations = 32;

/// The options of the ns-3 adapter. The radio options mean the same as in the analytic radio. Frame
/// errors and timing are those of ns-3.
struct Ns3Options {
  RadioOptions radio{};
  Transport transport = Transport::udp;
  Models models = Models::ns3;
  std::vector<Box> boxes{};  ///< of the world's Scene
  std::optional<TerrainOptions> terrain{};
};

/// The abilities of the ns-3 adapter with a kind of radio.
struct Ns3Support {
  std::string_view radio;  ///< of radio_list.hpp
  bool jammers = false;
  bool rate_control = false;
  bool tcp = false;
};
/// Nothing if the adapter has no such radio. An empty kind is 802.11g without a channel model.
[[nodiscard]] std::optional<Ns3Support> ns3_support(std::string_view kind);
/// The names of the radios, for an error: "802.11 or 802.15.4".
[[nodiscard]] std::string ns3_kinds();

/// Writes the options as the text that the adapter reads.
[[nodiscard]] std::string to_text(const Ns3Options& options);
/// Errors: invalid_config, with the option's name as `where`.
[[nodiscard]] Result<Ns3Options> ns3_options(std::string_view text);

}  // namespace hyphos::cosim
