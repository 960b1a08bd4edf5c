#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hyphos/result.hpp"
#include "netem/packet.hpp"

namespace hyphos::lab {

/// A host: the network namespace that gets a device (its name in /run/netns), and the address of
/// the device.
struct Host {
  std::string name_space;
  std::string address;  ///< as in the option, without the prefix
  std::uint32_t ip = 0;
  unsigned prefix = 24;

  [[nodiscard]] std::uint32_t netmask() const {
    return prefix == 0 ? 0 : ~std::uint32_t{0} << (32 - prefix);
  }
};

/// Parses "NAMESPACE=10.77.0.1/24".
[[nodiscard]] Result<Host> parse_host(std::string_view text);

/// Finds the receiver of an IPv4 packet: one host, or everyone for multicast and broadcast.
class Book {
 public:
  explicit Book(const std::vector<Host>& hosts);
  /// Returns nothing if the packet is not IPv4 or its receiver is not in this network. `bytes` may
  /// be arbitrary.
  [[nodiscard]] std::optional<Station> find(std::span<const std::byte> bytes) const;

 private:
  std::unordered_map<std::uint32_t, Station> stations_;
};

}  // namespace hyphos::lab
