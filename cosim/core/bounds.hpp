#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/core/method.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

/// The largest distance between a run and an ideal run in which both simulators know everything at
/// once. Each bound holds for every packet of the run.
struct Bounds {
  /// The largest extra delay before a program reads a packet, for the same network delay.
  Duration latency;
  /// The largest distance between a robot and the position that the network used.
  double position_m = 0;
  /// The largest error of received power, from distance and line of sight. Infinite if robots could
  /// have met.
  double power_db = 0;
};

/// The limits that a scenario requests.
struct RequestedBounds {
  std::optional<Duration> latency{};  ///< until a program reads a packet, beyond an ideal run
  std::optional<double> power_db{};   ///< of received power
};

/// A requested limit that a run exceeded.
struct Exceeded {
  struct Case {
    PacketId packet = 0;
    NodeId from = 0;
    NodeId to = 0;
    Time at;           ///< the begin of the step with the error, or the instant of the read
    double value = 0;  ///< dB of received power, or ns of latency
    double sight = 0;  ///< the part in dB that a change of the line of sight inside the step causes
  };
  std::uint64_t count = 0;  ///< steps beyond the limit of power, or packets beyond that of latency
  Case first{};
  Case worst{};

  void add(const Case& one) {
    if (count++ == 0) first = worst = one;
    if (one.value > worst.value) worst = one;
  }
};

/// The radio parameters that the power bound depends on.
struct RadioBounds {
  double path_loss_exponent = 3;
  double reference_m = 1;  ///< path loss is constant below this distance
  double range_m = std::numeric_limits<double>::infinity();  ///< no reception beyond
  const Scene* scene = nullptr;
};

/// Returns the power error in dB of a pair at `distance`: 10 n log10 of the ratio. The distance may
/// have changed by up to `change`, in the worse direction. The linear form 4.34 n · change /
/// distance underestimates the error when robots approach.
[[nodiscard]] double power_error_db(double exponent, double reference, double distance,
                                    double change);
/// The inverse: the change of distance that causes this error, in the worse direction.
[[nodiscard]] double distance_change_for(double exponent, double distance, double error_db);

/// Compares the positions of the robots with the positions that the network uses, one physics step
/// at a time. Between two instants, a robot stays within the ellipse around both positions that its
/// speed allows. The bound therefore also holds between the instants, for robots that are never
/// faster than at one of the two.
class BoundTracker {
 public:
  explicit BoundTracker(const RadioBounds& radio) : radio_(radio) {}

  struct Error {
    double position_m = 0;
    double power_db = 0;
    double sight_db = 0;  ///< the part of power_db that no window avoids: a step crosses an edge
    Pair pair{};          ///< with the largest power_db
  };
  /// The error of the pairs from instant `before` to instant `after`, `seconds` later, if the
  /// network uses the poses `used`.
  /// Cost: a few nanoseconds for a pair that cannot exceed an earlier pair of the call.
  [[nodiscard]] Error over_step(std::span<const Pose> used, std::span<const Pose> before,
                                std::span<const Pose> after, double seconds,
                                std::span<const Pair> pairs);

 private:
  /// The part of one robot, which all its pairs share.
  struct Moved {
    std::uint64_t call = 0;
    double speed = 0;
    double metres = 0;  ///< the largest distance to the used position
  };
  [[nodiscard]] double far_enough(double power_db) const;

  RadioBounds radio_;
  std::uint64_t call_ = 0;
  std::vector<Moved> moved_;
};

}  // namespace hyphos::cosim
