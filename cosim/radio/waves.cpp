#include "cosim/radio/waves.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "cosim/core/random.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr std::uint64_t kRotation = 0xff;  // after the draws of phases, of which there are fewer

/// The direction of wave `i` of `count`, in rad, with `offset` in turns.
double direction(std::size_t i, std::size_t count, double offset) {
  return kTurn * (static_cast<double>(i) / static_cast<double>(count) + offset);
}

/// A fixed permutation of the waves, so that the directions at both ends are unrelated.
std::size_t shuffled(std::size_t i, std::size_t count, std::uint64_t which) {
  std::vector<std::size_t> order(count);
  for (std::size_t k = 0; k < count; ++k) order[k] = k;
  for (std::size_t k = count - 1; k > 0; --k)
    std::swap(order[k], order[draw(which, k, 0, 0) % (k + 1)]);
  return order[i];
}

}  // namespace

double cos_turns(double x) {
  constexpr double kRound = 0x1.8p52;  // adding and subtracting it rounds to a whole number
  x -= (x + kRound) - kRound;
  const double angle = kTurn * (0.25 - std::abs(x));  // cos(2πx) is the sine of this angle
  const double square = angle * angle;
  double sum = 1.0 / 6227020800;
  for (const double term : {-1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0}) {
    sum = sum * square + term;
  }
  return angle * sum;
}

Waves::Waves(std::uint64_t seed, std::uint64_t purpose, const std::vector<Wave>& waves)
    : seed_(seed), purpose_(purpose << 8), waves_(waves.size()) {
  const std::size_t count = waves.size();
  for (std::size_t i = 0; i < count; ++i) {
    const double low = direction(i, count, 0);
    const double high = direction(shuffled(i, count, 1), count, 0);
    const double moving = direction(shuffled(i, count, 2), count, 0);
    waves_[i] = {waves[i].per_metre * std::cos(low), waves[i].per_metre * std::sin(low),
                 waves[i].at_high * std::cos(high), waves[i].at_high * std::sin(high),
                 waves[i].per_second * std::cos(moving)};
  }
  scale_ = 1 / std::sqrt(static_cast<double>(count));
}

std::complex<double> Waves::at(const Link& link, Time time) const {
  const NodeId low = link.low.node;
  const NodeId high = link.high.node;
  const std::uint64_t turned = draw(seed_, low, high, purpose_ + kRotation);
  const auto rotate = [](const Vec3& place, std::uint64_t angle) {
    const double turns = static_cast<double>(angle) * 0x1p-32;
    const double cosine = cos_turns(turns);
    const double sine = cos_turns(turns - 0.25);
    return std::pair(cosine * place.x + sine * place.y, cosine * place.y - sine * place.x);
  };
  const auto [low_x, low_y] = rotate(link.low.place, turned >> 32);
  const auto [high_x, high_y] = rotate(link.high.place, turned & 0xffffffffU);
  const double seconds = static_cast<double>(time.ns) * 1e-9;
  std::array<double, 4> turns{};
  double real = 0;
  double imaginary = 0;
  for (std::size_t i = 0; i < waves_.size(); i += 4) {
    const std::uint64_t phases = draw(seed_, low, high, purpose_ + i / 4);
    for (std::size_t k = 0; k < 4; ++k) {
      const Turning& wave = waves_[i + k];
      turns[k] = static_cast<double>(phases >> (16 * k) & 0xffffU) * 0x1p-16 + wave.low_x * low_x +
                 wave.low_y * low_y + wave.high_x * high_x + wave.high_y * high_y +
                 wave.second * seconds;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      real += cos_turns(turns[k]);
      imaginary += cos_turns(turns[k] - 0.25);
    }
  }
  return {real * scale_, imaginary * scale_};
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
