#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "cosim/radio/fading/models.hpp"

namespace hyphos::cosim {
namespace {

/// The share of a gamma distribution of shape m and mean 1 below x, and the share above it. Series
/// and continued fraction of the incomplete gamma function (Abramowitz and Stegun, 6.5.29, 6.5.31).
struct Shares {
  double below;
  double above;
};
Shares shares(double m, double x) {
  const double z = m * x;
  const double front = std::exp(m * std::log(z) - z - std::lgamma(m));
  if (z < m + 1) {
    double term = 1 / m;
    double sum = term;
    for (double n = m + 1; term > sum * 1e-16; n += 1) sum += term *= z / n;
    const double below = front * sum;
    return {below, 1 - below};
  }
  // Lentz' method.
  double b = z + 1 - m;
  double c = 1e300;
  double d = 1 / b;
  double fraction = d;
  for (int n = 1; n < 500; ++n) {
    const double a = -n * (n - m);
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    fraction *= c * d;
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  const double above = front * fraction;
  return {1 - above, above};
}

/// The gains of Nakagami's distribution that correspond to those of Rayleigh's: equal shares are
/// below both. The table is over the logarithm of the gain of Rayleigh, in which both ends are
/// nearly straight.
class Quantiles {
 public:
  explicit Quantiles(double m) {
    for (std::size_t i = 0; i < table_.size(); ++i) table_[i] = find(m, std::exp(at(i)));
  }
  [[nodiscard]] double operator()(double rayleigh) const {
    const double place = std::clamp((std::log(rayleigh) - kLow) / kStep, 0.0,
                                    static_cast<double>(kCount - 1) - 1e-9);
    const auto i = static_cast<std::size_t>(place);
    const double share = place - static_cast<double>(i);
    return std::exp(table_[i] + (table_[i + 1] - table_[i]) * share);
  }
  [[nodiscard]] double most_db() const { return 10 * std::numbers::log10e * table_.back() + 1e-9; }

 private:
  static constexpr std::size_t kCount = 256;
  static constexpr double kLow = -16;  // of the logarithm: 1 in ten million gains is smaller
  static constexpr double kStep = 19.0 / (kCount - 1);
  static double at(std::size_t i) { return kLow + kStep * static_cast<double>(i); }

  /// The logarithm of the gain, by bisection of the smaller share.
  static double find(double m, double rayleigh) {
    const double below = -std::expm1(-rayleigh);
    const double above = std::exp(-rayleigh);
    double low = -40 / std::min(m, 1.0);
    double high = 4;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      const Shares found = shares(m, std::exp(middle));
      const bool larger = below < 0.5 ? found.below > below : found.above < above;
      (larger ? high : low) = middle;
    }
    return (low + high) / 2;
  }

  std::array<double, kCount> table_{};
};

/// Nakagami's m distribution (1960), with the changes over place and time of Rayleigh fading.
class Nakagami final : public Fading {
 public:
  explicit Nakagami(const FadingOptions& options)
      : waves_(scattered(options)), los_(options.m_los), nlos_(options.m_nlos) {}

  double gain(const Link& link, Time time, bool line_of_sight) const override {
    const double rayleigh = std::norm(waves_.at(link, time));
    return line_of_sight ? los_(rayleigh) : nlos_(rayleigh);
  }
  double most_db(bool line_of_sight) const override {
    return (line_of_sight ? los_ : nlos_).most_db();
  }

 private:
  Waves waves_;
  Quantiles los_;
  Quantiles nlos_;
};

}  // namespace

namespace make {
std::unique_ptr<Fading> nakagami(const FadingOptions& options) {
  return std::make_unique<Nakagami>(options);
}
}  // namespace make

}  // namespace hyphos::cosim
