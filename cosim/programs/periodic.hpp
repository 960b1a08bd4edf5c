#pragma once

#include <tuple>
#include <vector>

#include "cosim/core/simulator.hpp"

namespace hyphos::cosim {

/// Every node sends `rate_hz` packets per second, with a phase that depends on the seed. It sends
/// to everyone, or to one node after another in turn. The bytes depend on node and count.
class Periodic final : public Programs {
 public:
  struct Options {
    std::uint32_t nodes = 2;
    double rate_hz = 10;
    std::size_t bytes = 100;
    bool everyone = true;
    std::uint64_t seed = 1;
  };
  explicit Periodic(const Options& options);

  void step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
            Outbox& outbox) override;
  Time next_event_time() const override;

  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] std::uint64_t read() const { return read_; }

 private:
  struct Due {
    Time time;
    NodeId node = 0;
    std::uint64_t count = 0;
  };
  static bool later(const Due& a, const Due& b) {
    return std::tie(a.time, a.node) > std::tie(b.time, b.node);
  }

  Options options_;
  Duration period_;
  std::vector<Due> due_;  // a heap
  std::uint64_t sent_ = 0;
  std::uint64_t read_ = 0;
};

}  // namespace hyphos::cosim
