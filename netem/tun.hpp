#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "hyphos/result.hpp"
#include "netem/address.hpp"

namespace hyphos::lab {

/// A TUN device in a network namespace, with its address, up. It goes with this object.
class Tun {
 public:
  /// Enters the namespace for a moment: no other thread may run yet.
  static Result<Tun> open(const Host& host, const std::string& device, unsigned mtu);
  Tun(Tun&& other) noexcept;
  Tun& operator=(Tun&&) = delete;
  ~Tun();

  [[nodiscard]] int fd() const { return fd_; }
  /// Bytes of the next packet; 0 if there is none now.
  std::size_t read(std::span<std::byte> into);
  bool write(std::span<const std::byte> packet);
  /// Packets that the kernel dropped because the device's queue was full: it was read too slowly.
  [[nodiscard]] std::uint64_t overrun() const;

 private:
  Tun(int fd, int statistics, std::string device)
      : fd_(fd), statistics_(statistics), device_(std::move(device)) {}

  int fd_;
  int statistics_;  // /proc/net/dev of the namespace
  std::string device_;
};

}  // namespace hyphos::lab
