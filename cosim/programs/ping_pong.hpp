#pragma once

#include <vector>

#include "cosim/core/simulator.hpp"

namespace hyphos::cosim {

/// Node 0 sends to node 1, which answers in the instant it reads; `pause` after the answer was read
/// node 0 sends again. A packet that is lost ends it.
class PingPong final : public Programs {
 public:
  struct Options {
    std::size_t bytes = 64;
    Time first{};       ///< when the first ping is due
    Duration pause{0};  ///< 0: the next ping goes in the instant of the answer
  };
  explicit PingPong(const Options& options) : options_(options), next_(options.first) {}

  void step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
            Outbox& outbox) override;
  Time next_event_time() const override { return next_; }

  /// From the instant of sending to that of reading, for every round.
  [[nodiscard]] const std::vector<Duration>& round_trips() const { return round_trips_; }

 private:
  Options options_;
  Time next_;  // ping that is due
  Time sent_;
  std::vector<Duration> round_trips_;
};

}  // namespace hyphos::cosim
