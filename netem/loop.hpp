#pragma once

#include <memory>
#include <string>
#include <vector>

#include "netem/options.hpp"
#include "netem/tun.hpp"

namespace hyphos::lab {

/// Carries packets between the devices and the network model, in real time.
class Loop final : public Receiver {
 public:
  Loop(const Options& options, std::vector<Tun> devices);

  /// Runs until SIGINT, SIGTERM or SIGHUP arrives through `signals` (a signalfd), or `parent` (a
  /// pidfd) ends. SIGUSR1 prints the counters.
  Result<void> run(int signals, int parent);
  /// The counters as one line of JSON.
  [[nodiscard]] std::string counters() const;

  bool deliver(const Packet& packet, Station to) override;

 private:
  [[nodiscard]] std::span<std::byte> bytes_of(std::uint32_t buffer);
  void read_some(Station station);
  void take(Station from, std::uint32_t buffer, std::size_t bytes);
  /// Returns false if the loop must end.
  bool obey(int signals);

  Options options_;
  std::vector<Tun> devices_;
  Book book_;
  Buffers buffers_;
  std::unique_ptr<std::byte[]> memory_;
  std::unique_ptr<Network> network_;
};

}  // namespace hyphos::lab
