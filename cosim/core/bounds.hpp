#pragma once

#include <limits>
#include <span>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/core/method.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

/// How far a run can be from one in which both simulators know everything at once. Each holds for
/// every packet of the run.
struct Bounds {
  /// How much later a program may read a packet, for the same delay in the network.
  Duration latency;
  /// How far a robot may have been from where the network believed it.
  double position_m = 0;
  /// How wrong the received power may be, from distance and line of sight; infinite if robots could
  /// have met.
  double power_db = 0;
};

/// What the bound of power needs to know of the radio.
struct RadioBounds {
  double path_loss_exponent = 3;
  double reference_m = 1;  ///< nearer than this, path loss is what it is there
  double range_m = std::numeric_limits<double>::infinity();  ///< no reception beyond
  const Scene* scene = nullptr;
};

/// Power error of a pair `distance` apart that may have come nearer or gone away by `change`:
/// 10 n log10 of the ratio, to the worse side. The linear form 4.34 n · change / distance is less
/// than this when robots come nearer.
[[nodiscard]] double power_error_db(double exponent, double reference, double distance,
                                    double change);
/// The inverse: how much a distance may change for that error, to the worse side.
[[nodiscard]] double distance_change_for(double exponent, double distance, double error_db);

/// Compares where robots are with where the network believes them, one step of physics at a time.
/// Between two instants a robot stays within the ellipse around both places that its speed allows,
/// so the bound holds in between as well, for robots that are never faster than at one of the two.
class BoundTracker {
 public:
  explicit BoundTracker(const RadioBounds& radio) : radio_(radio) {}

  struct Error {
    double position_m = 0;
    double power_db = 0;
  };
  /// Of the pairs, from instant `before` to instant `after`, `seconds` apart, if the network
  /// believes `used`.
  [[nodiscard]] Error over_step(std::span<const Pose> used, std::span<const Pose> before,
                                std::span<const Pose> after, double seconds,
                                std::span<const Pair> pairs) const;

 private:
  RadioBounds radio_;
};

}  // namespace hyphos::cosim
