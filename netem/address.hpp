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

/// A host: the network namespace (its name in /run/netns) that gets a device, and its address.
struct Host {
  std::string name_space;
  std::string address;  ///< as it was written, without the prefix
  std::uint32_t ip = 0;
  unsigned prefix = 24;

  [[nodiscard]] std::uint32_t netmask() const {
    return prefix == 0 ? 0 : ~std::uint32_t{0} << (32 - prefix);
  }
};

/// "NAMESPACE=10.77.0.1/24"
[[nodiscard]] Result<Host> parse_host(std::string_view text);

/// Finds the receiver of an IPv4 packet: one host, or everyone for multicast and broadcast.
class Book {
 public:
  explicit Book(const std::vector<Host>& hosts);
  /// Nothing if it is no IPv4 packet, or for nobody here. `bytes` may be anything.
  [[nodiscard]] std::optional<Station> find(std::span<const std::byte> bytes) const;

 private:
  std::unordered_map<std::uint32_t, Station> stations_;
};

}  // namespace hyphos::lab
