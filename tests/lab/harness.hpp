#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "netem/network.hpp"

namespace hyphos::lab {

struct Arrival {
  Time at;
  Packet packet;
  Station to;
};

/// Runs a network with a clock that jumps from event to event.
class Lab final : public Receiver {
 public:
  explicit Lab(std::uint32_t count = 100'000) : buffers(count) {}

  bool deliver(const Packet& packet, Station to) override {
    arrivals.push_back({now, packet, to});
    return accepts;
  }

  /// Returns false if no buffer was free.
  bool send(Network& network, Station from, Station to, std::uint32_t bytes) {
    const auto buffer = buffers.acquire();
    if (!buffer) return false;
    network.send(now, {*buffer, bytes, from, to});
    return true;
  }

  /// Runs until `end`, or until no event is left.
  void run(Network& network, Time end = Time{kNever.ns - 1}) {
    while (network.next() <= end) {
      now = std::max(now, network.next());
      network.advance(now);
    }
    if (end.ns != kNever.ns - 1) now = end;
  }

  Buffers buffers;
  Time now;
  bool accepts = true;
  std::vector<Arrival> arrivals;
};

/// Checks copies = delivered + Σ drops + inside, and that no buffer is lost.
inline void expect_balanced(const Network& network, const Lab& lab) {
  std::uint64_t left = 0;
  for (Station i = 0; i < network.stations(); ++i) {
    const Counters& mine = network.counters(i);
    ASSERT_GE(mine.copies, mine.delivered + mine.dropped());
    left += mine.copies - mine.delivered - mine.dropped();
  }
  EXPECT_EQ(left, network.inside());
  if (network.next() == kNever) {
    EXPECT_EQ(network.inside(), 0U);
    EXPECT_EQ(lab.buffers.in_use(), 0U);
  }
}

}  // namespace hyphos::lab
