#include "cosim/core/bounds.hpp"

#include <algorithm>
#include <cmath>

namespace hyphos::cosim {
namespace {

double most_speed(const Pose& before, const Pose& after) {
  return std::max(length(before.velocity), length(after.velocity));
}

}  // namespace

double power_error_db(double exponent, double reference, double distance, double change) {
  if (change <= 0) return 0;
  if (reference <= 0 && change >= distance) return std::numeric_limits<double>::infinity();
  const double here = std::max(distance, reference);
  const double nearer = std::max(distance - change, reference);
  const double farther = std::max(distance + change, reference);
  return 10 * exponent * std::log10(std::max(here / nearer, farther / here));
}

double distance_change_for(double exponent, double distance, double error_db) {
  return distance * (1 - std::pow(10, -error_db / (10 * exponent)));
}

BoundTracker::Error BoundTracker::over_step(std::span<const Pose> used,
                                            std::span<const Pose> before,
                                            std::span<const Pose> after, double seconds,
                                            std::span<const Pair> pairs) const {
  Error worst;
  for (const auto& [from, to] : pairs) {
    const Vec3 believed = used[to].position - used[from].position;
    const double distance = length(believed);
    const double speed_from = most_speed(before[from], after[from]);
    const double speed_to = most_speed(before[to], after[to]);
    const auto moved = [&](NodeId node, double speed) {
      return (length(before[node].position - used[node].position) +
              length(after[node].position - used[node].position) + speed * seconds) /
             2;
    };
    const double change = (length(before[to].position - before[from].position - believed) +
                           length(after[to].position - after[from].position - believed) +
                           (speed_from + speed_to) * seconds) /
                          2;
    if (distance - change > radio_.range_m) continue;
    worst.position_m = std::max({worst.position_m, moved(from, speed_from), moved(to, speed_to)});
    double power = power_error_db(radio_.path_loss_exponent, radio_.reference_m, distance, change);
    double sight = 0;
    if (radio_.scene != nullptr && !radio_.scene->empty()) {
      const Scene& scene = *radio_.scene;
      const double loss = scene.loss_db(before[from].position, before[to].position);
      const double reach = std::max(speed_from, speed_to) * seconds;
      sight = scene.uncertain_db(before[from].position, before[to].position, reach);
      power += std::abs(loss - scene.loss_db(used[from].position, used[to].position)) + sight;
    }
    if (power > worst.power_db) {
      worst.power_db = power;
      worst.sight_db = sight;
      worst.pair = {from, to};
    }
  }
  return worst;
}

}  // namespace hyphos::cosim
