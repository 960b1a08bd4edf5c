#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "cosim/core/random.hpp"
#include "cosim/programs/source.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kGravity = 9.80665;
constexpr double kNoise = 0.02;       // m/s², of a small sensor
constexpr double kTurnNoise = 0.002;  // rad/s
constexpr std::uint64_t kNoiseDraw = std::uint64_t{5} << 40;

/// The messages of an inertial sensor on a robot on rough ground: gravity, a sway whose frequency
/// and strength depend on the seed, and white noise. The layout is that of sensor_msgs/Imu in the
/// ROS 1 format.
class Accelerometer final : public Source {
 public:
  Accelerometer(const FlowOptions& options, std::uint16_t number, std::uint64_t seed)
      : beat_(options, number, seed), rate_hz_(options.rate_hz), number_(number), seed_(seed) {
    sway_hz_ = 0.5 + 2 * draw_unit(seed, number, kNoiseDraw, 0);
    sway_ = 0.2 + draw_unit(seed, number, kNoiseDraw, 1);
  }

  Time due() const override { return beat_.due(); }

  std::vector<std::byte> take() override {
    const std::uint64_t count = beat_.next();
    bytes_.clear();
    bytes_.resize(kHeaderBytes);
    const double t = static_cast<double>(count) / rate_hz_;
    put(static_cast<std::uint32_t>(count));
    put(static_cast<std::uint64_t>(t * 1e9));
    put(std::uint32_t{8});
    for (const char letter : {'i', 'm', 'u', '_', 'l', 'i', 'n', 'k'}) {
      bytes_.push_back(static_cast<std::byte>(letter));
    }
    const double angle = 2 * std::numbers::pi * sway_hz_ * t;
    put(std::array{0.0, 0.0, 0.0, 1.0});
    put(diagonal(-1));  // -1: orientation unknown (REP 145)
    put(std::array{noise(count, 0, kTurnNoise), noise(count, 1, kTurnNoise),
                   0.1 * sway_ * std::cos(angle) + noise(count, 2, kTurnNoise)});
    put(diagonal(kTurnNoise * kTurnNoise));
    put(std::array{sway_ * std::sin(angle) + noise(count, 3, kNoise),
                   0.5 * sway_ * std::cos(angle) + noise(count, 4, kNoise),
                   kGravity + noise(count, 5, kNoise)});
    put(diagonal(kNoise * kNoise));
    return bytes_;
  }

 private:
  static std::array<double, 9> diagonal(double value) {
    return {value, 0, 0, 0, value, 0, 0, 0, value};
  }

  /// The sum of twelve uniform draws is close enough to a normal distribution for a sensor.
  [[nodiscard]] double noise(std::uint64_t count, std::uint64_t axis, double deviation) const {
    double sum = -6;
    for (std::uint64_t i = 0; i < 12; ++i) {
      sum += draw_unit(seed_, number_, kNoiseDraw + count, 2 + axis * 12 + i);
    }
    return deviation * sum;
  }

  template <std::unsigned_integral Number>
  void put(Number value) {
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
  }
  template <std::size_t Count>
  void put(const std::array<double, Count>& values) {
    for (const double value : values) put(std::bit_cast<std::uint64_t>(value));
  }

  Beat beat_;
  double rate_hz_;
  std::uint16_t number_;
  std::uint64_t seed_;
  double sway_hz_ = 0;
  double sway_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace

namespace make {
std::unique_ptr<Source> accelerometer(const FlowOptions& options, std::uint16_t number,
                                      std::uint64_t seed) {
  return std::make_unique<Accelerometer>(options, number, seed);
}
}  // namespace make

}  // namespace hyphos::cosim
