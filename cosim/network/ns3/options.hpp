#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cosim/network/radio_model.hpp"

namespace hyphos::cosim {

/// How packets to one node travel. Packets to everyone are always datagrams.
enum class Transport { udp, tcp };

/// What the ns-3 adapter is told. The radio's options mean what they mean to the analytic radio;
/// frame errors and timing are ns-3's own.
struct Ns3Options {
  RadioOptions radio{};
  Transport transport = Transport::udp;
  std::vector<Box> boxes{};  ///< of the world's Scene
};

/// As the adapter's options.
[[nodiscard]] std::string to_text(const Ns3Options& options);
/// Errors: invalid_config, with the option's name as `where`.
[[nodiscard]] Result<Ns3Options> ns3_options(std::string_view text);

}  // namespace hyphos::cosim
