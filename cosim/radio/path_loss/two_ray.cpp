#include <algorithm>
#include <cmath>
#include <numbers>

#include "cosim/radio/path_loss/models.hpp"

namespace hyphos::cosim {
namespace {

/// The direct ray and its reflection on flat ground at height 0 (Rappaport, Wireless
/// Communications, 4.6): free space up to 4π h1 h2 / wavelength, and the fourth power of the
/// distance beyond, without the ripple of the exact sum.
class TwoRay final : public PathLoss {
 public:
  explicit TwoRay(double frequency_hz)
      : frequency_hz_(frequency_hz),
        per_metre_(4 * std::numbers::pi * frequency_hz / kSpeedOfLight) {}

  double loss_db(const Link& link, bool /*line_of_sight*/) const override {
    // Antennas on the ground itself would have an infinite loss.
    constexpr double kLowest = 0.01;
    const double heights = std::max(kLowest, link.lower_m()) * std::max(kLowest, link.upper_m());
    const double distance = link.distance();
    // The larger of both losses, with one logarithm.
    return 20 * std::log10(distance * std::max(per_metre_, distance / heights));
  }
  double least_db(double distance_m) const override {
    return free_space_db(distance_m, frequency_hz_);
  }
  double steepest() const override { return 4; }

 private:
  double frequency_hz_;
  double per_metre_;
};

}  // namespace

namespace make {
std::unique_ptr<PathLoss> two_ray(const PathLossOptions& options) {
  return std::make_unique<TwoRay>(options.frequency_hz);
}
}  // namespace make

}  // namespace hyphos::cosim
