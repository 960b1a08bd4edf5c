#include <cmath>

#include "cosim/core/random.hpp"
#include "cosim/radio/decibels.hpp"
#include "cosim/radio/fading/models.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::uint64_t kDirect = 0x5400;  // purpose of a random draw

/// A direct wave and scattered waves (Rice 1944). The direct wave turns by 2π for each wavelength
/// of distance. Rayleigh fading has no direct wave.
class Rician final : public Fading {
 public:
  Rician(const FadingOptions& options, double k_los, double k_nlos)
      : waves_(scattered(options)),
        per_metre_(options.frequency_hz / kSpeedOfLight),
        seed_(options.seed),
        los_(k_los),
        nlos_(k_nlos) {}

  double gain(const Link& link, Time time, bool line_of_sight) const override {
    const double k = line_of_sight ? los_ : nlos_;
    std::complex<double> field = waves_.at(link, time) * std::sqrt(1 / (k + 1));
    if (k > 0) {
      const double start = draw_unit(seed_, link.low.node, link.high.node, kDirect);
      const double turns = start - length(link.high.place - link.low.place) * per_metre_;
      field += std::complex(cos_turns(turns), cos_turns(turns - 0.25)) * std::sqrt(k / (k + 1));
    }
    return std::norm(field);
  }
  double most_db(bool line_of_sight) const override {
    const double k = line_of_sight ? los_ : nlos_;
    constexpr double kCosineError = 1e-3;  // dB, far more than that of cos_turns()
    const double scattered = std::sqrt(static_cast<double>(kScattered) / (k + 1));
    return 20 * std::log10(scattered + std::sqrt(k / (k + 1))) + kCosineError;
  }

 private:
  Waves waves_;
  double per_metre_;
  std::uint64_t seed_;
  double los_;
  double nlos_;
};

}  // namespace

namespace make {
std::unique_ptr<Fading> rician(const FadingOptions& options) {
  return std::make_unique<Rician>(options, to_ratio(options.k_los_db), to_ratio(options.k_nlos_db));
}
std::unique_ptr<Fading> rayleigh(const FadingOptions& options) {
  return std::make_unique<Rician>(options, 0, 0);
}
}  // namespace make

}  // namespace hyphos::cosim
