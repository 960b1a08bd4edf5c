#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "cosim/radio/link.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

/// A random field over the positions of both ends of a link and over time: a sum of plane waves.
///
/// All links share the wave numbers. A link has its own phases, and its own rotation of the waves
/// at each end. Both are random numbers of seed and link, so the field has no state: a value
/// depends on seed, link, positions and time only. Averaged over links, the correlation between two
/// positions of one end is the mean of J0(2π k Δ) over the wave numbers k. Correlations of both
/// ends and of time multiply (Akki and Haber 1986, for two moving ends).
///
/// Waves are horizontal (Clarke 1968), so the height of an end does not change the field.
class Waves {
 public:
  static constexpr std::size_t kMostWaves = 64;

  struct Wave {
    double per_metre = 0;   ///< wave number at the end `low`, in turns
    double at_high = 0;     ///< the same at the end `high`
    double per_second = 0;  ///< largest frequency of the change with time, Hz
  };
  /// `purpose` separates fields of one link. The number of waves must be a multiple of 4, and at
  /// most kMostWaves.
  Waves(std::uint64_t seed, std::uint64_t purpose, const std::vector<Wave>& waves);

  /// The field with mean 0 and mean power 1, as a complex number. The real part alone has power
  /// 1/2.
  [[nodiscard]] std::complex<double> at(const Link& link, Time time) const;
  /// The real part alone, at half the cost.
  [[nodiscard]] double real_at(const Link& link, Time time) const;
  /// From now on, sums without AVX2. For tests: both sums are equal bit by bit.
  void use_plain_sums() { wide_ = false; }

 private:
  using Turns = std::array<double, kMostWaves>;

  template <typename Sum>
  auto sum(const Link& link, Time time, Sum* plain, Sum* wide) const;

  std::uint64_t seed_;
  std::uint64_t purpose_;
  bool wide_;  // with AVX2
  // Turns per metre along x and y of each end, and per second. Separate arrays, so that compilers
  // vectorize the sums.
  std::size_t count_;
  Turns low_x_{};
  Turns low_y_{};
  Turns high_x_{};
  Turns high_y_{};
  Turns second_{};
  double scale_ = 0;
};

/// cos(2πx). The largest error is below 4e-6. Faster than std::cos, and the same on every machine
/// with IEEE arithmetic. Valid for |x| < 2^51.
[[nodiscard]] double cos_turns(double x);

/// Equal wave numbers: the correlation is J0(2π k Δ), as in Clarke's and Jakes' model. `second` is
/// the largest Doppler frequency of moving scatterers in Hz.
[[nodiscard]] std::vector<Waves::Wave> clarke_waves(double per_metre, double second,
                                                    std::size_t count);
/// Wave numbers whose correlation is exp(-Δ / distance), as Gudmundson (1991) measured it for
/// shadowing. Their distribution is the spectrum of that function in the plane (Cai and Giannakis
/// 2003). `count` must be a power of two.
[[nodiscard]] std::vector<Waves::Wave> gudmundson_waves(double distance_m, std::size_t count);

}  // namespace hyphos::cosim
