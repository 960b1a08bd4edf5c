#pragma once

#include <vector>

#include "cosim/core/simulator.hpp"

namespace hyphos::cosim {

/// Node 0 sends to node 1, which replies in the instant of the read. Node 0 sends again `pause`
/// after it has read the reply. A lost packet ends the exchange.
class PingPong final : public Programs {
 public:
  struct Options {
    std::size_t bytes = 64;
    Time first{};       ///< the time of the first ping
    Duration pause{0};  ///< 0: the next ping is sent in the instant of the reply
  };
  explicit PingPong(const Options& options) : options_(options), next_(options.first) {}

  void step(Time now, std::span<const Delivery> inbox, std::span<const Pose> /*poses*/,
            Outbox& outbox) override {
    for (const Delivery& delivery : inbox) {
      if (delivery.to == 1) {
        outbox.send(1, 0, delivery.bytes);
      } else {
        round_trips_.push_back(now - sent_);
        next_ = now + options_.pause;
      }
    }
    if (next_ <= now) {
      sent_ = now;
      next_ = kNever;
      const std::vector<std::byte> ping(options_.bytes, std::byte{0x5a});
      outbox.send(0, 1, Buffer::copy_of(ping));
    }
  }
  Time next_event_time() const override { return next_; }

  /// From the instant of the send to that of the read, for every round.
  [[nodiscard]] const std::vector<Duration>& round_trips() const { return round_trips_; }

 private:
  Options options_;
  Time next_;  // time of the next ping
  Time sent_;
  std::vector<Duration> round_trips_;
};

}  // namespace hyphos::cosim
