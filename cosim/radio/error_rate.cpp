#include "cosim/radio/error_rate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

namespace hyphos::cosim {
namespace {

/// The first weights of a code. Weight i belongs to the distance first + step · i.
struct Spectrum {
  int first;
  int step;
  double per;  // information bits in a period of the puncturing, times 2 for the bound
  std::span<const double> weights;
};
constexpr std::array kHalf{36.0,     211.0,     1404.0,     11633.0,    77433.0,
                           502690.0, 3322763.0, 21292910.0, 134365911.0};
constexpr std::array kTwoThirds{3.0,     70.0,     285.0,    1276.0,    6160.0,
                                27128.0, 117019.0, 498860.0, 2103891.0, 8784123.0};
constexpr std::array kThreeQuarters{42.0,     201.0,     1492.0,     10469.0,    62935.0,
                                    379644.0, 2253373.0, 13073811.0, 75152755.0, 428005675.0};
constexpr std::array kFiveSixths{92.0,      528.0,      8694.0,      79453.0,      792114.0,
                                 7375573.0, 67884974.0, 610875423.0, 5427275376.0, 47664215639.0};

Spectrum spectrum_of(Coding coding) {
  switch (coding) {
    case Coding::half:
      return {10, 2, 2, kHalf};
    case Coding::two_thirds:
      return {6, 1, 4, kTwoThirds};
    case Coding::three_quarters:
      return {5, 1, 6, kThreeQuarters};
    case Coding::five_sixths:
    case Coding::none:
      break;
  }
  return {4, 1, 10, kFiveSixths};
}

double tail(double x) { return std::erfc(x / std::numbers::sqrt2) / 2; }  // Q(x)

double qam(double points, double snr) {
  const double side = std::sqrt(points);
  return (1 - 1 / side) / std::log2(side) * std::erfc(std::sqrt(1.5 * snr / (points - 1)));
}

/// Sixteen orthogonal sequences of 32 chips for 4 bits.
double dsss(double snr) {
  double sum = 0;
  double ways = 16;  // binomial coefficient of 16 over k
  for (int k = 2; k <= 16; ++k) {
    ways = ways * (17 - k) / k;
    sum += (k % 2 == 0 ? ways : -ways) * std::exp(20 * snr * (1.0 / k - 1));
  }
  return std::clamp(8.0 / 15 / 16 * sum, 0.0, 0.5);
}

}  // namespace

double raw_bit_error(Modulation modulation, double snr, int spreading_factor) {
  snr = std::max(snr, 0.0);
  switch (modulation) {
    case Modulation::bpsk:
      return std::erfc(std::sqrt(snr)) / 2;
    case Modulation::qpsk:
      return qam(4, snr);
    case Modulation::qam16:
      return qam(16, snr);
    case Modulation::qam64:
      return qam(64, snr);
    case Modulation::qam256:
      return qam(256, snr);
    case Modulation::qam1024:
      return qam(1024, snr);
    case Modulation::oqpsk_dsss:
      return dsss(snr);
    case Modulation::chirps:
      break;
  }
  const double signal = std::sqrt(std::ldexp(snr, spreading_factor + 1));
  return tail(signal - std::sqrt(1.386 * spreading_factor + 1.154)) / 2;
}

double decoded_bit_error(Coding coding, double raw) {
  if (coding == Coding::none) return std::min(raw, 0.5);
  const double root = std::sqrt(4 * raw * (1 - std::min(raw, 1.0)));
  const Spectrum spectrum = spectrum_of(coding);
  double power = std::pow(root, spectrum.first);
  const double step = spectrum.step == 2 ? root * root : root;
  double sum = 0;
  for (const double weight : spectrum.weights) {
    sum += weight * power;
    power *= step;
  }
  return std::min(sum / spectrum.per, 0.5);
}

double no_errors(double bit_error, double bits) {
  return bit_error >= 1 ? 0 : std::exp(bits * std::log1p(-bit_error));
}

double preamble_detection(double snr, std::size_t samples) {
  constexpr double kFalseAlarm = 5e-11;
  if (snr <= 0) return 0;
  const auto count = static_cast<double>(samples);
  const double threshold = -std::log(kFalseAlarm) / count;
  const double all = (1 + snr) * (1 + snr);
  const double mean = snr * snr / all;
  const double variance = 2 * snr * snr * ((1 + mean) * snr + 1 + 2 * mean) / (count * all * all);
  return tail((threshold - mean) / std::sqrt(variance));
}

}  // namespace hyphos::cosim
