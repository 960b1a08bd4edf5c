#include <algorithm>
#include <numbers>

#include "cosim/radio/path_loss/models.hpp"

namespace hyphos::cosim {
namespace {

/// Parameters of one environment.
struct City {
  double a;  // of the probability of a line of sight
  double b;
  double clear_db;  // loss beyond free space
  double blocked_db;
};
// Al-Hourani, Kandeepan, Lardner, "Optimal LAP Altitude for Maximum Coverage", IEEE Wireless
// Communications Letters 3 (2014), and Bor-Yaliniz et al., ICC 2016, for the numbers at 2 GHz.
constexpr std::array<City, 4> kCities{
    {{4.88, 0.43, 0.1, 21}, {9.61, 0.16, 1, 20}, {12.08, 0.11, 1.6, 23}, {27.23, 0.08, 2.3, 34}}};

/// Free space plus a loss by line of sight. Its probability is 1 / (1 + a exp(-b (θ - a))), with
/// the elevation angle θ in degrees: a fit to ITU-R P.1410.
class Elevation final : public PathLoss {
 public:
  Elevation(const City& city, double frequency_hz) : city_(city), frequency_hz_(frequency_hz) {}

  double los_probability(const Link& link) const override {
    const double rise = link.upper_m() - link.lower_m();
    const double degrees = std::atan2(rise, link.ground_distance()) * 180 / std::numbers::pi;
    return 1 / (1 + city_.a * std::exp(-city_.b * (degrees - city_.a)));
  }
  double loss_db(const Link& link, bool line_of_sight) const override {
    return free_space_db(link.distance(), frequency_hz_) +
           (line_of_sight ? city_.clear_db : city_.blocked_db);
  }
  double least_db(double distance_m) const override {
    return free_space_db(distance_m, frequency_hz_) + city_.clear_db;
  }
  double steepest() const override { return 2; }

 private:
  City city_;
  double frequency_hz_;
};

}  // namespace

namespace make {
std::unique_ptr<PathLoss> elevation(const PathLossOptions& options) {
  const auto found = std::ranges::find(kElevationEnvironments, options.environment);
  const auto at =
      found == kElevationEnvironments.end() ? 0 : found - kElevationEnvironments.begin();
  return std::make_unique<Elevation>(kCities[static_cast<std::size_t>(at)], options.frequency_hz);
}
}  // namespace make

}  // namespace hyphos::cosim
