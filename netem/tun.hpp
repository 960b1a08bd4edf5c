#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/unique_fd.hpp"
#include "hyphos/result.hpp"
#include "netem/address.hpp"

namespace hyphos::lab {

/// A device of layer 2 (TAP), which carries Ethernet frames instead of IP packets.
struct Frames {
  std::array<std::uint8_t, 6> mac{};
  std::string ipv6{};  ///< a global address "fd00::1/64". Empty: the device has no IPv6
  bool forwards = false;
};

/// A TUN or TAP device in a network namespace, with its address, up. The destructor removes the
/// device.
class Tun {
 public:
  /// Enters the namespace for a moment. No other thread may run yet. With `frames` the device is a
  /// TAP device, and the host can forward packets of others. Without it there is no IPv6.
  static Result<Tun> open(const Host& host, const std::string& device, unsigned mtu,
                          const Frames* frames = nullptr);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& name() const { return device_; }
  /// With `frames`: a NETLINK_ROUTE socket in the namespace, and the number of the device there.
  [[nodiscard]] int route() const { return route_.get(); }
  [[nodiscard]] unsigned index() const { return index_; }
  /// Returns the size of the next packet, or 0 if there is none.
  std::size_t read(std::span<std::byte> into);
  bool write(std::span<const std::byte> packet);
  /// Packets that the kernel dropped because the queue of the device was full: the program read too
  /// slowly.
  [[nodiscard]] std::uint64_t overrun() const;

 private:
  Tun(UniqueFd fd, UniqueFd statistics, std::string device)
      : fd_(std::move(fd)), statistics_(std::move(statistics)), device_(std::move(device)) {}

  UniqueFd fd_;
  UniqueFd route_;
  unsigned index_ = 0;
  UniqueFd statistics_;  // /proc/net/dev of the namespace
  std::string device_;
};

}  // namespace hyphos::lab
