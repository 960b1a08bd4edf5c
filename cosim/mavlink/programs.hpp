#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/mavlink/link.hpp"
#include "cosim/mavlink/vehicle.hpp"

namespace hyphos::cosim::mavlink {

struct Options {
  Autopilot autopilot = Autopilot::px4;
  std::uint8_t system = 1;
  std::string remote = "127.0.0.1:14550";
  std::uint16_t port = 0;  ///< local UDP port. 0: any
};

/// The programs of robots, and MAVLink vehicles beside them, which steer their robots 50 times in
/// each simulated second. What arrives by UDP depends on real time, so such a run has no fixed
/// trace.
class MavlinkPrograms final : public Programs {
 public:
  /// `vehicles` by node. Errors: those of Link::open().
  [[nodiscard]] static Result<std::unique_ptr<MavlinkPrograms>> open(
      std::unique_ptr<Programs> inner, const std::vector<std::optional<Options>>& vehicles);

  void step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
            Outbox& outbox) override;
  Time next_event_time() const override;
  bool wants_failures() const override { return inner_->wants_failures(); }
  Result<void> failure() const override { return inner_->failure(); }

 private:
  struct Flying {
    NodeId node = 0;
    Vehicle vehicle;
    Link link;
    std::uint8_t sequence = 0;
    Ignored ignored{};
  };

  explicit MavlinkPrograms(std::unique_ptr<Programs> inner) : inner_(std::move(inner)) {}

  std::unique_ptr<Programs> inner_;
  std::vector<Flying> vehicles_;
  Time due_{};
};

}  // namespace hyphos::cosim::mavlink
