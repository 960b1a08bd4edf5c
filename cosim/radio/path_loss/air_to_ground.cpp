#include <algorithm>
#include <numbers>

#include "cosim/radio/path_loss/models.hpp"

namespace hyphos::cosim {
namespace {

enum class Place { urban_micro, urban_macro, rural };

/// 3GPP TR 36.777 V15.0.0, tables B-1 and B-2, for the higher end of the link as the aerial user.
/// Below the heights of these tables, 3GPP TR 38.901 V16.1.0, tables 7.4.2-1 and 7.4.1-1, applies.
///
/// Unlike in 3GPP, the lower end is a robot and no base station at 10 to 35 m. The formulas hold
/// its height in their constants, so they are optimistic for robots on the ground.
class AirToGround final : public PathLoss {
 public:
  AirToGround(Place place, double frequency_hz, bool base_station)
      : place_(place),
        frequency_hz_(frequency_hz),
        frequency_ghz_(frequency_hz * 1e-9),
        base_station_(base_station) {}

  double los_probability(const Link& link) const override {
    const double distance = link.ground_distance();
    const double height = height_of(link);
    if (height > aerial_m()) return aerial_probability(distance, height);
    switch (place_) {
      case Place::rural:
        return distance <= 10 ? 1 : std::exp(-(distance - 10) / 1000);
      case Place::urban_micro:
        return distance <= 18 ? 1 : 18 / distance + std::exp(-distance / 36) * (1 - 18 / distance);
      case Place::urban_macro:
        break;
    }
    if (distance <= 18) return 1;
    const double base = 18 / distance + std::exp(-distance / 63) * (1 - 18 / distance);
    const double high = height <= 13 ? 0 : std::pow((std::min(height, 23.0) - 13) / 10, 1.5);
    const double far = std::pow(distance / 100, 3) * std::exp(-distance / 150);
    return std::min(1.0, base * (1 + high * 1.25 * far));
  }

  double loss_db(const Link& link, bool line_of_sight) const override {
    const double height = height_of(link);
    if (base_station_ && height <= aerial_m()) return terrestrial_db(link, line_of_sight);
    const double distance = std::log10(link.distance());
    const double clear = clear_db(distance, height);
    if (line_of_sight) return clear;
    return std::max(clear, blocked_db(distance, height));
  }

  double least_db(double distance_m) const override {
    return free_space_db(distance_m, frequency_hz_) - 1;  // constants of 3GPP are rounded
  }
  double steepest() const override { return 4.6; }

 private:
  [[nodiscard]] double height_of(const Link& link) const {
    return std::clamp(base_station_ ? link.high.place.z : link.upper_m(), 1.5, 300.0);
  }
  [[nodiscard]] double terrestrial_db(const Link& link, bool line_of_sight) const {
    const Ends ends{link.distance(), link.ground_distance(), std::max(2.0, link.low.place.z),
                    height_of(link)};
    const double clear = std::max(space_db() + 20 * std::log10(ends.distance), street_clear(ends));
    return line_of_sight ? clear : std::max(clear, street_blocked(ends));
  }
  /// A base station and a user below the aerial heights.
  struct Ends {
    double distance;
    double ground;
    double base_m;
    double user_m;
  };
  [[nodiscard]] double street_clear(const Ends& ends) const;
  [[nodiscard]] double street_blocked(const Ends& ends) const;
  /// The height from which the tables of TR 36.777 apply.
  [[nodiscard]] double aerial_m() const { return place_ == Place::rural ? 10 : 22.5; }
  [[nodiscard]] double space_db() const { return free_space_db(1, frequency_hz_); }

  [[nodiscard]] double aerial_probability(double distance, double height) const {
    const double log = std::log10(height);
    double reach = 0;  // p1 of the table
    double sure = 0;   // d1
    switch (place_) {
      case Place::rural:
        if (height > 40) return 1;
        reach = std::max(15021 * log - 16053, 1000.0);
        sure = std::max(1350.8 * log - 1602, 18.0);
        break;
      case Place::urban_macro:
        if (height > 100) return 1;
        reach = 4300 * log - 3800;
        sure = std::max(460 * log - 700, 18.0);
        break;
      case Place::urban_micro:
        reach = 233.98 * log - 0.95;
        sure = std::max(294.05 * log - 432.94, 18.0);
        break;
    }
    if (distance <= sure) return 1;
    return sure / distance + std::exp(-distance / reach) * (1 - sure / distance);
  }

  /// With a line of sight. `distance` is log10 of the distance in metres.
  [[nodiscard]] double clear_db(double distance, double height) const {
    const double frequency = 20 * std::log10(frequency_ghz_);
    const double space = space_db() + 20 * distance;
    switch (place_) {
      case Place::rural:
        return std::max(23.9 - 1.8 * std::log10(height), 20.0) * distance + space_db();
      case Place::urban_macro:
        return std::max(space, 28 + 22 * distance + frequency);
      case Place::urban_micro:
        break;
    }
    if (height <= aerial_m()) return std::max(space, 32.4 + 21 * distance + frequency);
    return std::max(space, 30.9 + (22.25 - 0.5 * std::log10(height)) * distance + frequency);
  }

  [[nodiscard]] double blocked_db(double distance, double height) const {
    const double log = std::log10(height);
    const double frequency = 20 * std::log10(frequency_ghz_);
    switch (place_) {
      case Place::rural:
        return -12 + (35 - 5.3 * log) * distance + space_db();
      case Place::urban_macro:
        if (height <= aerial_m())
          return 13.54 + 39.08 * distance + frequency - 0.6 * (height - 1.5);
        return -17.5 + (46 - 7 * std::log10(std::min(height, 100.0))) * distance + space_db();
      case Place::urban_micro:
        break;
    }
    if (height <= aerial_m()) {
      return 22.4 + 35.3 * distance + 21.3 * std::log10(frequency_ghz_) - 0.3 * (height - 1.5);
    }
    return 32.4 + (43.2 - 7.6 * log) * distance + frequency;
  }

  Place place_;
  double frequency_hz_;
  double frequency_ghz_;
  bool base_station_;
};

/// 3GPP TR 38.901 V16.1.0, table 7.4.1-1, with a line of sight: two slopes.
double AirToGround::street_clear(const Ends& ends) const {
  const double log = std::log10(ends.distance);
  const double frequency = 20 * std::log10(frequency_ghz_);
  if (place_ == Place::rural) {
    constexpr double kHouses = 5;  // mean height of buildings
    const double power = std::pow(kHouses, 1.72);
    const auto first = [&](double distance) {
      return space_db() + (20 + std::min(0.03 * power, 10.0)) * std::log10(distance) -
             std::min(0.044 * power, 14.77) + 0.002 * std::log10(kHouses) * distance;
    };
    const double bend = 2 * std::numbers::pi * ends.base_m * ends.user_m * frequency_hz_ / 3e8;
    if (ends.ground <= bend) return first(ends.distance);
    return first(bend) + 40 * std::log10(ends.distance / bend);
  }
  const bool micro = place_ == Place::urban_micro;
  const double bend = 4 * (ends.base_m - 1) * (ends.user_m - 1) * frequency_hz_ / 3e8;
  const double near = micro ? 32.4 + 21 * log : 28 + 22 * log;
  if (ends.ground <= bend) return near + frequency;
  const double rise = ends.base_m - ends.user_m;
  const double square = std::log10(bend * bend + rise * rise);
  return (micro ? 32.4 - 9.5 * square : 28 - 9 * square) + 40 * log + frequency;
}

/// Without a line of sight.
double AirToGround::street_blocked(const Ends& ends) const {
  const double log = std::log10(ends.distance);
  const double frequency = 20 * std::log10(frequency_ghz_);
  const double height = ends.user_m - 1.5;
  switch (place_) {
    case Place::urban_macro:
      return 13.54 + 39.08 * log + frequency - 0.6 * height;
    case Place::urban_micro:
      return 22.4 + 35.3 * log + 21.3 * std::log10(frequency_ghz_) - 0.3 * height;
    case Place::rural:
      break;
  }
  constexpr double kHouses = 5;
  constexpr double kStreet = 20;  // mean width
  const double base = std::log10(ends.base_m);
  const double share = kHouses / ends.base_m;
  const double user = std::log10(11.75 * ends.user_m);
  return 161.04 - 7.1 * std::log10(kStreet) + 7.5 * std::log10(kHouses) -
         (24.37 - 3.7 * share * share) * base + (43.42 - 3.1 * base) * (log - 3) + frequency -
         (3.2 * user * user - 4.97);
}

}  // namespace

namespace make {
std::unique_ptr<PathLoss> air_to_ground(const PathLossOptions& options) {
  const Place place = options.environment == "rural"         ? Place::rural
                      : options.environment == "urban_macro" ? Place::urban_macro
                                                             : Place::urban_micro;
  return std::make_unique<AirToGround>(place, options.frequency_hz, options.base_station);
}
}  // namespace make

}  // namespace hyphos::cosim
