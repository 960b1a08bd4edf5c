#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"

namespace hyphos::gateway::ros2 {

/// An IPv4 address in network byte order.
using Address = std::array<std::uint8_t, 4>;

[[nodiscard]] constexpr bool is_loopback(const Address& address) { return address[0] == 127; }
/// 224.0.0.0/4.
[[nodiscard]] constexpr bool is_multicast(const Address& address) {
  return (address[0] & 0xF0) == 0xE0;
}
/// Parses "127.0.0.1". Returns 0.0.0.0 for text that is not an address.
[[nodiscard]] Address address_of(std::string_view text);

/// The addresses of this machine. list() and a look-up of an unknown address read them again, at
/// most once per second, because an interface may come up later. Thread-safe.
class OwnAddresses {
 public:
  [[nodiscard]] bool contains(const Address& address);
  /// Loopback addresses are left out.
  [[nodiscard]] std::vector<Address> list();

 private:
  void read() HYPHOS_REQUIRES(mutex_);

  Mutex mutex_;
  std::set<Address> known_ HYPHOS_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point next_read_ HYPHOS_GUARDED_BY(mutex_){};
};

/// The machines that exchange datagrams with the gateway.
enum class Reach : std::uint8_t {
  machine,  ///< this machine, on all of its interfaces
  address,  ///< machines that reach one of its addresses
  all,
};

/// 127.0.0.0/8 means this machine only. Empty means all.
[[nodiscard]] Reach reach_of(const std::string& host);

}  // namespace hyphos::gateway::ros2
