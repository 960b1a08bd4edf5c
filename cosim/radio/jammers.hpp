#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/core/packet.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

class Radio;

/// A sender of noise, at a fixed place or on a robot. In each period it is on for the share `duty`.
/// The phase of the period is a random number of seed and jammer. Its power is spread evenly over
/// its band, of which a radio receives the part inside its own band.
struct Jammer {
  std::optional<NodeId> robot{};  ///< otherwise at `place`
  Vec3 place{};
  double power_dbm = 20;
  double duty = 1;
  Duration period = Duration::from_ms(10);
  double low_hz = 0;  ///< 0 and 0: the band of the radio
  double high_hz = 0;
};

/// The jammers of a scenario, as the receivers of one radio see them.
///
/// The powers depend on seed, poses and time only, so jammers cost nothing while no radio sends.
class Jammers {
 public:
  static constexpr Duration kLeastPeriod = Duration::from_us(100);

  Jammers() = default;
  /// `nodes`: the number of robots. A fixed jammer is a node after them for the channel.
  Jammers(std::span<const Jammer> jammers, const Radio& radio, std::uint32_t nodes,
          std::uint64_t seed);

  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// The power of one jammer at a node while it is on, in mW.
  [[nodiscard]] double power_mw(std::size_t jammer, NodeId node, std::span<const Pose> poses,
                                Time now) const;
  /// The power of all that are on, in mW.
  [[nodiscard]] double power_mw(NodeId node, std::span<const Pose> poses, Time now) const;
  [[nodiscard]] bool on(std::size_t jammer, Time now) const;
  /// The next instant after `now` at which a jammer turns on or off. kNever: they stay as they are.
  [[nodiscard]] Time next_change(Time now) const;
  [[nodiscard]] Time next_change(std::size_t jammer, Time now) const;

  /// Part of a time with a constant power.
  struct Part {
    double share = 1;
    double power_mw = 0;
  };
  /// The power at a node from `from` to `to`, in parts. At least one part. Their shares add up to
  /// 1.
  void over(NodeId node, std::span<const Pose> poses, Time from, Time to,
            std::vector<Part>& parts) const;

  /// The end of a countdown.
  struct Countdown {
    Time end;                ///< if nothing else interrupts it
    std::int64_t slots = 0;  ///< that are left at the last interruption
    bool interrupted = false;
  };
  /// A station waits from `from` on for an idle channel, for `wait` and for `slots`. A jammer makes
  /// the channel busy from `energy_mw` on. `interrupted` with `slots` slots left: look again at
  /// `end`.
  [[nodiscard]] Countdown count_down(NodeId node, std::span<const Pose> poses, double energy_mw,
                                     Time from, Duration wait, Duration slot,
                                     std::int64_t slots) const;

 private:
  struct One {
    NodeId node = 0;
    Jammer jammer;
    double power_dbm = 0;  // inside the band of the radio
    Duration on{};         // in each period
    Duration phase{};
  };

  const Radio* radio_ = nullptr;
  std::vector<One> all_;  // those that reach into the band of the radio
};

}  // namespace hyphos::cosim
