#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/mavlink/vehicles.hpp"

namespace hyphos::cosim::mavlink {

/// The programs of robots, and MAVLink vehicles beside them. What arrives by UDP depends on real
/// time, so such a run has no fixed trace.
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
  MavlinkPrograms(std::unique_ptr<Programs> inner, Vehicles vehicles)
      : inner_(std::move(inner)), vehicles_(std::move(vehicles)) {}

  std::unique_ptr<Programs> inner_;
  Vehicles vehicles_;
};

}  // namespace hyphos::cosim::mavlink
