#include "cosim/radio/waves.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "cosim/core/random.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

/// The waves of a field, at the places of one link and a time.
struct WaveSum {
  std::size_t count;
  const double* low_x;
  const double* low_y;
  const double* high_x;
  const double* high_y;
  const double* second;
  std::array<std::uint16_t, Waves::kMostWaves> phases;  // in 1 / 2^16 turns
  std::uint64_t rotations;  // of the waves at both ends, in 1 / 2^32 turns
  Vec3 low;
  Vec3 high;
  double seconds;
};

/// The places of both ends in the turned frames of their waves.
struct Turned {
  double low_x;
  double low_y;
  double high_x;
  double high_y;
};

/// The direction of wave `i` of `count`, in rad.
double direction(std::size_t i, std::size_t count) {
  return kTurn * static_cast<double>(i) / static_cast<double>(count);
}

/// A fixed permutation of the waves, so that the directions at both ends are unrelated.
std::size_t shuffled(std::size_t i, std::size_t count, std::uint64_t which) {
  std::vector<std::size_t> order(count);
  for (std::size_t k = 0; k < count; ++k) order[k] = k;
  for (std::size_t k = count - 1; k > 0; --k)
    std::swap(order[k], order[draw(which, k, 0, 0) % (k + 1)]);
  return order[i];
}

/// Inlined, so that compilers vectorize the loops around it.
[[gnu::always_inline]] inline double cosine(double x) {
  constexpr double kRound = 0x1.8p52;  // adding and subtracting it rounds to a whole number
  x -= (x + kRound) - kRound;
  const double angle = kTurn * (0.25 - std::abs(x));  // cos(2πx) is the sine of this angle
  const double square = angle * angle;
  return angle *
         (1 + square * (-1.0 / 6 +
                        square * (1.0 / 120 + square * (-1.0 / 5040 + square * (1.0 / 362880)))));
}

[[gnu::always_inline]] inline Turned turned_places(const WaveSum& waves) {
  const double low = static_cast<double>(waves.rotations >> 32) * 0x1p-32;
  const double high = static_cast<double>(waves.rotations & 0xffffffffU) * 0x1p-32;
  std::array<double, 4> turns{low, low - 0.25, high, high - 0.25};
  for (double& one : turns) one = cosine(one);
  return {turns[0] * waves.low.x + turns[1] * waves.low.y,
          turns[0] * waves.low.y - turns[1] * waves.low.x,
          turns[2] * waves.high.x + turns[3] * waves.high.y,
          turns[2] * waves.high.y - turns[3] * waves.high.x};
}

[[gnu::always_inline]] inline double angle_of(const WaveSum& waves, const Turned& at,
                                              std::size_t i) {
  return static_cast<double>(waves.phases[i]) * 0x1p-16 + waves.low_x[i] * at.low_x +
         waves.low_y[i] * at.low_y + waves.high_x[i] * at.high_x + waves.high_y[i] * at.high_y +
         waves.second[i] * waves.seconds;
}

[[gnu::always_inline]] inline double real_sum(const WaveSum& waves) {
  std::array<double, Waves::kMostWaves> cosines;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const Turned at = turned_places(waves);
  for (std::size_t i = 0; i < waves.count; ++i) cosines[i] = cosine(angle_of(waves, at, i));
  double sum = 0;
  for (std::size_t i = 0; i < waves.count; ++i) sum += cosines[i];
  return sum;
}

[[gnu::always_inline]] inline std::complex<double> complex_sum(const WaveSum& waves) {
  std::array<double, Waves::kMostWaves> cosines;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::array<double, Waves::kMostWaves> sines;    // NOLINT(cppcoreguidelines-pro-type-member-init)
  const Turned at = turned_places(waves);
  for (std::size_t i = 0; i < waves.count; ++i) {
    const double angle = angle_of(waves, at, i);
    sines[i] = cosine(angle - 0.25);
    cosines[i] = cosine(angle);
  }
  double real = 0;
  double imaginary = 0;
  for (std::size_t i = 0; i < waves.count; ++i) {
    real += cosines[i];
    imaginary += sines[i];
  }
  return {real, imaginary};
}

double plain_real_sum(const WaveSum& waves) { return real_sum(waves); }
std::complex<double> plain_complex_sum(const WaveSum& waves) { return complex_sum(waves); }

// The same operations on wider registers. AVX2 alone has no fused operations, so the results are
// equal bit by bit.
#if defined(__x86_64__)
bool has_wide() { return __builtin_cpu_supports("avx2") != 0; }
__attribute__((target("avx2"))) double wide_real_sum(const WaveSum& waves) {
  return real_sum(waves);
}
__attribute__((target("avx2"))) std::complex<double> wide_complex_sum(const WaveSum& waves) {
  return complex_sum(waves);
}
#else
bool has_wide() { return false; }
double wide_real_sum(const WaveSum& waves) { return real_sum(waves); }
std::complex<double> wide_complex_sum(const WaveSum& waves) { return complex_sum(waves); }
#endif

}  // namespace

double cos_turns(double x) { return cosine(x); }

Waves::Waves(std::uint64_t seed, std::uint64_t purpose, const std::vector<Wave>& waves)
    : seed_(seed), purpose_(purpose << 8), wide_(has_wide()), count_(waves.size()) {
  for (std::size_t i = 0; i < count_; ++i) {
    const double low = direction(i, count_);
    const double high = direction(shuffled(i, count_, 1), count_);
    low_x_[i] = waves[i].per_metre * std::cos(low);
    low_y_[i] = waves[i].per_metre * std::sin(low);
    high_x_[i] = waves[i].at_high * std::cos(high);
    high_y_[i] = waves[i].at_high * std::sin(high);
    second_[i] = waves[i].per_second * std::cos(direction(shuffled(i, count_, 2), count_));
  }
  scale_ = 1 / std::sqrt(static_cast<double>(count_));
}

template <typename Sum>
auto Waves::sum(const Link& link, Time time, Sum* plain, Sum* wide) const {
  // SplitMix64, started by the random number of the link.
  std::uint64_t state = draw(seed_, link.low.node, link.high.node, purpose_);
  const auto next = [&] {
    std::uint64_t bits = state += 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
  };
  WaveSum waves;  // NOLINT(cppcoreguidelines-pro-type-member-init): phases beyond count are unused
  waves.count = count_;
  waves.low_x = low_x_.data();
  waves.low_y = low_y_.data();
  waves.high_x = high_x_.data();
  waves.high_y = high_y_.data();
  waves.second = second_.data();
  waves.rotations = next();
  waves.low = link.low.place;
  waves.high = link.high.place;
  for (std::size_t i = 0; i < count_; i += 4) {
    const std::uint64_t phases = next();
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&waves.phases[i], &phases, sizeof phases);
    } else {
      for (std::size_t k = 0; k < 4; ++k) {
        waves.phases[i + k] = static_cast<std::uint16_t>(phases >> (16 * k));
      }
    }
  }
  waves.seconds = static_cast<double>(time.ns) * 1e-9;
  return (wide_ ? wide : plain)(waves)*scale_;
}

double Waves::real_at(const Link& link, Time time) const {
  return sum(link, time, &plain_real_sum, &wide_real_sum);
}

std::complex<double> Waves::at(const Link& link, Time time) const {
  return sum(link, time, &plain_complex_sum, &wide_complex_sum);
}

std::vector<Waves::Wave> clarke_waves(double per_metre, double second, std::size_t count) {
  return {count, Waves::Wave{per_metre, per_metre, second}};
}

std::vector<Waves::Wave> gudmundson_waves(double distance_m, std::size_t count) {
  // The share of wave numbers below k is 1 - 1 / sqrt(1 + (2π k distance)²).
  const auto number = [&](std::size_t i) {
    const double above = 1 - (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    return std::sqrt(1 / (above * above) - 1) / (kTurn * distance_m);
  };
  // The pairs of wave numbers of both ends are Hammersley's points, which fill the square evenly.
  const auto reversed = [&](std::size_t i) {
    std::size_t bits = 0;
    for (std::size_t end = 1; end < count; end *= 2, i /= 2) bits = 2 * bits + i % 2;
    return bits;
  };
  std::vector<Waves::Wave> waves(count);
  for (std::size_t i = 0; i < count; ++i) waves[i] = {number(i), number(reversed(i)), 0};
  return waves;
}

}  // namespace hyphos::cosim
