#pragma once

#include <memory>
#include <vector>

#include "cosim/core/simulator.hpp"

namespace hyphos::cosim {

/// The times at which the radio of a node goes off, on, off, and so on. They increase.
using OffTimes = std::vector<Time>;

/// Whether a radio with these times is off. It is off at the first instant of an outage, and on at
/// its end.
[[nodiscard]] bool is_off(const OffTimes& times, Time at);

/// A network in which the radios of some nodes are off for some time.
///
/// A radio that is off neither sends, receives nor disturbs. Its packets, and those that reach it,
/// are dropped as `node_off`. Frames that its queue holds when it goes off reach no node. The inner
/// network gets a position beyond every range for it.
class Outages final : public Network {
 public:
  /// `off` is ordered by node.
  Outages(std::unique_ptr<Network> inner, std::vector<OffTimes> off);

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> set_poses(std::span<const Pose> poses) override;
  Result<void> inject(const Packet& packet) override;
  Result<void> advance(Time end) override;
  Time next_event_time() const override;
  Result<void> poll(std::vector<Outcome>& outcomes) override;
  RemoteCost cost() const override { return inner_->cost(); }

 private:
  [[nodiscard]] Result<void> place(Time at);

  std::unique_ptr<Network> inner_;
  std::vector<OffTimes> off_;
  std::vector<Time> changes_{};  // of any radio, in order
  std::size_t changed_ = 0;      // number of changes before now_
  Time now_;
  std::vector<Pose> poses_{};
  std::vector<Pose> placed_{};
  std::vector<Outcome> waiting_{};  // of packets from radios that are off, by time
};

}  // namespace hyphos::cosim
