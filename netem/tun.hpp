#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/unique_fd.hpp"
#include "hyphos/result.hpp"
#include "netem/address.hpp"

namespace hyphos::lab {

/// A TUN device in a network namespace, with its address, up. The destructor removes the device.
class Tun {
 public:
  /// Enters the namespace for a moment. No other thread may run yet.
  static Result<Tun> open(const Host& host, const std::string& device, unsigned mtu);

  [[nodiscard]] int fd() const { return fd_.get(); }
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
  UniqueFd statistics_;  // /proc/net/dev of the namespace
  std::string device_;
};

}  // namespace hyphos::lab
