#pragma once

#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/network/due.hpp"

namespace hyphos::cosim {

/// `radio.simulator: ideal`: every packet arrives everywhere after the same delay. It is the
/// reference for the delay that synchronization alone adds.
class ConstantDelay final : public Network {
 public:
  explicit ConstantDelay(Duration delay) : delay_(delay) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> set_poses(std::span<const Pose>) override { return success(); }
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
  Duration delay_;
  Due due_{"constant_delay"};
};

}  // namespace hyphos::cosim
