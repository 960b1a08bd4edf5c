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

/// The distance of a pair, as a multiple of the largest change of its distance, from which on its
/// error is at most `power_db`.
double BoundTracker::far_enough(double power_db) const {
  return 1 / (1 - std::pow(10, -power_db / (10 * radio_.path_loss_exponent)));
}

BoundTracker::Error BoundTracker::over_step(std::span<const Pose> used,
                                            std::span<const Pose> before,
                                            std::span<const Pose> after, double seconds,
                                            std::span<const Pair> pairs) {
  Error worst;
  ++call_;
  moved_.resize(used.size());
  const auto moved = [&](NodeId node) -> const Moved& {
    Moved& of = moved_[node];
    if (of.call == call_) return of;
    const double speed = most_speed(before[node], after[node]);
    const double metres = (length(before[node].position - used[node].position) +
                           length(after[node].position - used[node].position) + speed * seconds) /
                          2;
    return of = {call_, speed, metres};
  };
  const bool open = radio_.scene == nullptr || radio_.scene->empty();
  double enough = std::numeric_limits<double>::infinity();
  for (const auto& [from, to] : pairs) {
    const Moved& first = moved(from);
    const Moved& second = moved(to);
    const Vec3 believed = used[to].position - used[from].position;
    // By the triangle inequality, the distance changes by at most the ways of both robots.
    const double most = first.metres + second.metres;
    if (open && most == 0) continue;
    const double surely = std::max(radio_.reference_m + most, most * enough);
    if (open && std::max(first.metres, second.metres) <= worst.position_m &&
        dot(believed, believed) >= surely * surely) {
      continue;
    }
    const double distance = length(believed);
    const double change = (length(before[to].position - before[from].position - believed) +
                           length(after[to].position - after[from].position - believed) +
                           (first.speed + second.speed) * seconds) /
                          2;
    if (distance - change > radio_.range_m) continue;
    worst.position_m = std::max({worst.position_m, first.metres, second.metres});
    double power = power_error_db(radio_.path_loss_exponent, radio_.reference_m, distance, change);
    double sight = 0;
    if (!open) {
      const Scene& scene = *radio_.scene;
      const double loss = scene.loss_db(before[from].position, before[to].position);
      const double reach = std::max(first.speed, second.speed) * seconds;
      sight = scene.uncertain_db(before[from].position, before[to].position, reach);
      power += std::abs(loss - scene.loss_db(used[from].position, used[to].position)) + sight;
    }
    if (power > worst.power_db) {
      worst.power_db = power;
      worst.sight_db = sight;
      worst.pair = {from, to};
      enough = far_enough(power);
    }
  }
  return worst;
}

}  // namespace hyphos::cosim
