#pragma once

#include <poll.h>

#include <memory>
#include <string>
#include <vector>

#include "cosim/realtime/outside.hpp"
#include "netem/tun.hpp"

namespace hyphos::cosim {

/// The TAP devices in the network namespaces of the robots, by node.
class Devices final : public Outside {
 public:
  struct Setup {
    std::vector<std::string> names;  ///< of the robots, for errors
    Duration spin{};
    unsigned mtu = 1500;
    std::uint32_t overhead = 0;  ///< bytes for each packet, in set_rate()
    int signals = -1;            ///< a signalfd
    int parent = -1;             ///< a pidfd of the process to end with
  };
  /// The caller keeps the descriptors of `setup`.
  Devices(std::vector<lab::Tun> devices, const Setup& setup);

  Time now() override { return monotonic_now(); }
  Result<void> wait(Time until, bool exact) override;
  void read(std::vector<Captured>& packets) override;
  void set_room(NodeId from, std::uint32_t packets) override;
  void set_rate(NodeId from, double bytes_per_second) override;
  bool write(NodeId to, std::span<const std::byte> packet) override {
    return ports_[to].device.write(packet);
  }
  Losses losses() override;

  /// True if a signal came or the parent ended since the last wait().
  [[nodiscard]] bool asked_to_end() const;

 private:
  struct Port {
    lab::Tun device;
    std::uint32_t room = ~0U;
    /// From the first full radio until the device was read empty: the kernel's losses are then
    /// those of the radio.
    bool pressed = false;
    std::uint64_t lost_before = 0;  // count of the kernel when the pressure began
    std::uint64_t full = 0;         // losses under pressure that is over
  };

  Result<bool> look(timespec timeout);
  void read(NodeId from, std::vector<Captured>& packets);
  void take(NodeId from, std::span<const std::byte> frame, std::vector<Captured>& packets);
  static void release(Port& port);

  std::vector<Port> ports_;
  Setup setup_;
  std::vector<pollfd> watched_;  // the devices, then signals and parent
  std::unique_ptr<std::byte[]> packet_;
  Losses read_;          // of frames that were read
  bool warned_ = false;  // that a rate could not be set
};

}  // namespace hyphos::cosim
