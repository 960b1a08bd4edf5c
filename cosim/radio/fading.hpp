#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "cosim/radio/waves.hpp"

namespace hyphos::cosim {

struct FadingOptions {
  double frequency_hz = 2.437e9;
  double k_los_db = 9;      ///< of rician: direct to scattered power, with a line of sight
  double k_nlos_db = -100;  ///< without. The default is Rayleigh
  double m_los = 3;         ///< of nakagami, with a line of sight
  double m_nlos = 1;        ///< without. 1 is Rayleigh
  /// m/s. Speed of the surroundings, which changes the channel of robots that stand. The default is
  /// that of the TGn models (IEEE 802.11-03/940r4: 1.2 km/h).
  double scatterer_speed = 0.33;
  std::uint64_t seed = 1;
};

/// Fast changes of power by the sum of many paths. The mean power is 1.
class Fading {
 public:
  /// Larger gains are cut. With Rayleigh fading, 1 in 22,000 is larger.
  static constexpr double kMostDb = 10;

  Fading() = default;
  Fading(const Fading&) = delete;
  Fading& operator=(const Fading&) = delete;
  virtual ~Fading() = default;

  /// The gain as a ratio of powers. Depends on seed, link, places and time only.
  [[nodiscard]] virtual double gain(const Link& link, Time time, bool line_of_sight) const = 0;
  /// No gain in dB is larger, before the cut at kMostDb.
  [[nodiscard]] virtual double most_db(bool line_of_sight) const = 0;
  /// False: the gain is always 1.
  [[nodiscard]] virtual bool fades() const { return true; }
};

struct KnownFading {
  std::string_view name;
  std::string_view about;
  std::unique_ptr<Fading> (*make)(const FadingOptions&);
};
[[nodiscard]] std::span<const KnownFading> known_fadings();
[[nodiscard]] const KnownFading* find_fading(std::string_view name);

}  // namespace hyphos::cosim
