#pragma once

#include <memory>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/network/due.hpp"
#include "cosim/network/recording.hpp"

namespace hyphos::cosim {

/// A network that does again what a Recording says. A packet takes the fate and the delay of the
/// latest one that was recorded on its link and not sent after it, or of the first if there is none
/// before; those of one instant are taken in turn. So the traffic that was recorded ends as it did,
/// and any other sees the network as it was at that time. Where robots are changes nothing.
///
/// Losses by probability depend on seed, packet and receiver only.
class Replay final : public Network {
 public:
  explicit Replay(std::shared_ptr<const Recording> recording) : recording_(std::move(recording)) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> set_poses(std::span<const Pose>) override { return success(); }
  /// Errors also: invalid_config, if nothing was recorded of a link.
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
  /// How many packets of one instant a link has taken.
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
  std::vector<Turn> turns_;  // of each link
  Due due_{"replay"};
};

}  // namespace hyphos::cosim
