#pragma once

#include <memory>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/network/due.hpp"
#include "cosim/network/recording.hpp"

namespace hyphos::cosim {

/// A network that replays a Recording. A packet takes the fate and the delay of the latest packet
/// recorded on its link and not sent after it. If there is none, it takes those of the first
/// recorded packet. Recorded packets of one instant are used in turn. The recorded traffic
/// therefore has its recorded outcome, and other traffic sees the network in its state at that
/// time. The positions of robots have no effect.
///
/// Losses by probability depend on seed, packet and receiver only.
class Replay final : public Network {
 public:
  explicit Replay(std::shared_ptr<const Recording> recording) : recording_(std::move(recording)) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> set_poses(std::span<const Pose>) override { return success(); }
  /// Additional error: invalid_config, if the recording has no data for a link.
  Result<void> inject(const Packet& packet) override;
  Result<void> advance(Time end) override { return due_.advance(end); }
  Time next_event_time() const override { return due_.next_event_time(); }
  Result<void> poll(std::vector<Outcome>& outcomes) override {
    due_.poll(outcomes);
    return success();
  }
  Result<std::vector<std::byte>> save() const override;
  Result<void> restore(std::span<const std::byte> state) override;

 private:
  /// The number of packets that a link has used at one instant.
  struct Turn {
    Time time;
    std::uint64_t taken = 0;
  };

  [[nodiscard]] Result<const Recording::Entry*> take(NodeId from, NodeId to, Time stamp);
  [[nodiscard]] Turn& turn(NodeId from, NodeId to) {
    return turns_[std::size_t{from} * due_.nodes() + to];
  }

  std::shared_ptr<const Recording> recording_;
  std::uint64_t seed_ = 0;
  std::vector<Turn> turns_;  // by link
  Due due_{"replay"};
};

}  // namespace hyphos::cosim
