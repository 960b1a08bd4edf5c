#include "cosim/radio/waves.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "cosim/core/random.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

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

}  // namespace

double cos_turns(double x) {
  constexpr double kRound = 0x1.8p52;  // adding and subtracting it rounds to a whole number
  x -= (x + kRound) - kRound;
  const double angle = kTurn * (0.25 - std::abs(x));  // cos(2πx) is the sine of this angle
  const double square = angle * angle;
  return angle *
         (1 + square * (-1.0 / 6 +
                        square * (1.0 / 120 + square * (-1.0 / 5040 + square * (1.0 / 362880)))));
}

Waves::Waves(std::uint64_t seed, std::uint64_t purpose, const std::vector<Wave>& waves)
    : seed_(seed), purpose_(purpose << 8), count_(waves.size()) {
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

void Waves::fill(const Link& link, Time time, Turns& turns) const {
  // SplitMix64, started by the random number of the link.
  std::uint64_t state = draw(seed_, link.low.node, link.high.node, purpose_);
  const auto next = [&] {
    std::uint64_t bits = state += 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
  };
  const auto rotate = [](const Vec3& place, std::uint64_t angle) {
    const double share = static_cast<double>(angle) * 0x1p-32;
    const double cosine = cos_turns(share);
    const double sine = cos_turns(share - 0.25);
    return std::pair(cosine * place.x + sine * place.y, cosine * place.y - sine * place.x);
  };
  const std::uint64_t rotation = next();
  const std::pair low = rotate(link.low.place, rotation >> 32);
  const std::pair high = rotate(link.high.place, rotation & 0xffffffffU);
  for (std::size_t i = 0; i < count_; i += 4) {
    const std::uint64_t phases = next();
    for (std::size_t k = 0; k < 4; ++k) {
      turns[i + k] = static_cast<double>(static_cast<std::int32_t>(phases >> (16 * k) & 0xffffU));
    }
  }
  const double seconds = static_cast<double>(time.ns) * 1e-9;
  for (std::size_t i = 0; i < count_; ++i) {
    turns[i] = turns[i] * 0x1p-16 + low_x_[i] * low.first + low_y_[i] * low.second +
               high_x_[i] * high.first + high_y_[i] * high.second + second_[i] * seconds;
  }
}

double Waves::real_at(const Link& link, Time time) const {
  Turns turns;  // NOLINT(cppcoreguidelines-pro-type-member-init): fill() writes the used part
  fill(link, time, turns);
  for (std::size_t i = 0; i < count_; ++i) turns[i] = cos_turns(turns[i]);
  double sum = 0;
  for (std::size_t i = 0; i < count_; ++i) sum += turns[i];
  return sum * scale_;
}

std::complex<double> Waves::at(const Link& link, Time time) const {
  Turns turns;  // NOLINT(cppcoreguidelines-pro-type-member-init): fill() writes the used part
  Turns sines;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  fill(link, time, turns);
  for (std::size_t i = 0; i < count_; ++i) {
    sines[i] = cos_turns(turns[i] - 0.25);
    turns[i] = cos_turns(turns[i]);
  }
  double real = 0;
  double imaginary = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    real += turns[i];
    imaginary += sines[i];
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
