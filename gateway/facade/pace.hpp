#pragma once

#include <cstdint>

namespace hyphos::gateway {

/// A credit that limits how long a client may be delayed: `most_ns` at a stretch, and 1/`part` of
/// the time.
struct HoldUp {
  std::int64_t most_ns = 0;
  std::int64_t part = 1;
  std::int64_t left_ns = most_ns;
  void earn(std::int64_t passed_ns);
};

/// Spreads bursts, which overflow the queues of subscribers. A client may send messages one by one
/// that leave its socket together. Half a queue's depth passes at once, and as much again per
/// millisecond. In a burst, a message waits until the queues have room. The wait ends with the
/// credit, so that a permanently slow subscriber does not block the client. Not thread-safe.
///
/// The arrival of messages decides whether they are a burst, because the gateway may stall between
/// two messages that arrived together. Queues that a burst has filled count as crowded until a
/// later message finds room.
///
/// Costs: spreading delays a client for at most an eighth of the time, and 100 ms at a stretch.
/// Waiting for room delays it for at most a quarter of the time, and 1 s at a stretch. A stall of
/// the gateway is not part of these times, because subscribers on this machine may stall with it.
class Pace {
 public:
  static constexpr HoldUp kToSpread{100'000'000, 8};
  static constexpr HoldUp kForRoom{1'000'000'000, 4};
  /// Callers check a waiting message at least every 16 ms. A longer time is a stall.
  static constexpr std::int64_t kLongestCheck = 20'000'000;

  /// `depth` is the queue depth of the channel.
  explicit Pace(std::uint32_t depth) : burst_(depth < 2 ? 1 : depth / 2) {}

  /// True if a message may pass now, which is then counted. `arrived_ns` is the time of its arrival
  /// at the gateway. `room`: the subscribers' queues have room.
  [[nodiscard]] bool lets(std::int64_t now_ns, std::int64_t arrived_ns, bool room);
  /// The same for a message that did not pass before and has waited since.
  [[nodiscard]] bool lets_waiting(std::int64_t now_ns, bool room);

 private:
  /// Drains the level and returns the time since the last call.
  std::int64_t drain(std::int64_t now_ns);
  [[nodiscard]] double drained(double level, std::int64_t passed_ns) const;
  /// Removes a stall since the last call from the times.
  void skip_stall(std::int64_t now_ns);
  [[nodiscard]] bool pass(bool room);
  static constexpr std::int64_t kCrowded = 100'000'000;

  const double burst_;   ///< messages that pass at once
  double level_ = 0;     ///< messages that passed recently, at most burst_
  double together_ = 0;  ///< messages that arrived recently and passed, at most burst_
  std::int64_t last_ns_ = 0;
  std::int64_t last_arrival_ns_ = 0;
  HoldUp to_spread_ = kToSpread;
  HoldUp for_room_ = kForRoom;
  bool waits_for_room_ = false;  ///< the present message waits for room
  bool crowded_ = false;         ///< even a single message waits for room
  std::int64_t crowded_ns_ = 0;  ///< until then a message that finds room does not end that
};

}  // namespace hyphos::gateway
