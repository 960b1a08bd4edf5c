#pragma once

#include <poll.h>

#include <memory>
#include <vector>

#include "cosim/realtime/outside.hpp"
#include "netem/address.hpp"
#include "netem/tun.hpp"

namespace hyphos::cosim {

/// The TUN devices in the network namespaces of the robots, by node.
class Devices final : public Outside {
 public:
  /// `signals` is a signalfd. `parent` is a pidfd of the process to end with. The caller keeps
  /// both.
  Devices(const std::vector<lab::Host>& hosts, std::vector<lab::Tun> devices, Duration spin,
          int signals, int parent);

  Time now() override { return monotonic_now(); }
  Result<void> wait(Time until, bool exact) override;
  void read(std::vector<Captured>& packets) override;
  bool write(NodeId to, std::span<const std::byte> packet) override {
    return devices_[to].write(packet);
  }
  std::uint64_t overrun() override;
  std::uint64_t to_nobody() override { return to_nobody_; }

  /// True if a signal came or the parent ended since the last wait().
  [[nodiscard]] bool asked_to_end() const;

 private:
  Result<bool> look(timespec timeout);

  std::vector<lab::Host> hosts_;
  std::vector<lab::Tun> devices_;
  lab::Book book_;
  Duration spin_;
  std::vector<pollfd> watched_;  // the devices, then signals and parent
  std::unique_ptr<std::byte[]> packet_;
  std::uint64_t to_nobody_ = 0;
};

}  // namespace hyphos::cosim
