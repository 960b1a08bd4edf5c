#include <algorithm>

#include "cosim/radio/path_loss/models.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::array<KnownPathLoss, 5> kKnown{
    {{"log_distance", "10 n log10 of the distance", {}, make::log_distance},
     {"free_space", "Friis", {}, make::free_space},
     {"two_ray", "direct and ground-reflected ray", {}, make::two_ray},
     {"air_to_ground", "3GPP TR 36.777: line of sight by height and distance",
      make::kAirToGroundEnvironments, make::air_to_ground},
     {"elevation", "Al-Hourani: line of sight by elevation angle", make::kElevationEnvironments,
      make::elevation}}};

}  // namespace

std::span<const KnownPathLoss> known_path_losses() { return kKnown; }

const KnownPathLoss* find_path_loss(std::string_view name) {
  const auto found = std::ranges::find(kKnown, name, &KnownPathLoss::name);
  return found == kKnown.end() ? nullptr : &*found;
}

}  // namespace hyphos::cosim
