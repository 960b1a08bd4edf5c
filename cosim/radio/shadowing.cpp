#include "cosim/radio/shadowing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hyphos::cosim {
namespace {

constexpr std::uint64_t kShadowing = 0x51;  // purposes of random draws
constexpr std::uint64_t kSight = 0x52;
constexpr std::size_t kWaves = 32;

std::vector<Waves::Wave> waves_of(double distance_m) {
  if (distance_m > 0) return gudmundson_waves(distance_m, kWaves);
  return std::vector<Waves::Wave>(kWaves);
}

/// A normal number with deviation 1.
double normal(const Waves& waves, const Link& link) {
  return std::numbers::sqrt2 * waves.real_at(link, {});
}

}  // namespace

Shadowing::Shadowing(std::uint64_t seed, double deviation_db, double distance_m)
    : deviation_db_(deviation_db), waves_(seed, kShadowing, waves_of(distance_m)) {}

double Shadowing::loss_db(const Link& link) const {
  if (deviation_db_ == 0) return 0;
  return deviation_db_ * std::clamp(normal(waves_, link), -kMostDeviations, kMostDeviations);
}

Sight::Sight(std::uint64_t seed, double distance_m) : waves_(seed, kSight, waves_of(distance_m)) {}

bool Sight::clear(const Link& link, double probability) const {
  if (probability >= 1) return true;
  const double share = std::erfc(-normal(waves_, link) / std::numbers::sqrt2) / 2;
  return share < probability;
}

}  // namespace hyphos::cosim
