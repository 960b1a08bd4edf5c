#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "hyphos/result.hpp"
#include "netem/address.hpp"

namespace hyphos::lab {

/// A TUN device in a network namespace, with its address, up. The destructor removes the device.
class Tun {
 public:
  /// Enters the namespace for a moment. No other thread may run yet.
  static Result<Tun> open(const Host& host, const std::string& device, unsigned mtu);
  Tun(Tun&& other) noexcept;
  Tun& operator=(Tun&&) = delete;
  ~Tun();

  [[nodiscard]] int fd() const { return fd_; }
  /// Returns the size of the next packet, or 0 if there is none.
  std::size_t read(std::span<std::byte> into);
  bool write(std::span<const std::byte> packet);
  /// Packets that the kernel dropped because the queue of the device was full: the program read too
  /// slowly.
  [[nodiscard]] std::uint64_t overrun() const;

 private:
  Tun(int fd, int statistics, std::string device)
      : fd_(fd), statistics_(statistics), device_(std::move(device)) {}

  int fd_;
  int statistics_;  // /proc/net/dev of the namespace
  std::string device_;
};

}  // namespace hyphos::lab
