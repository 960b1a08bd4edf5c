#include "cosim/network/radio_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

namespace hyphos::cosim {
namespace {

constexpr double kReferenceBytes = 1000;
constexpr double kSlopeDb = 0.5;       // of the logistic function
constexpr double kMostDeviations = 3;  // of shadowing
constexpr std::size_t kUdpIpHeaders = 28;
constexpr std::size_t kMacHeaders = 36;  // MAC 24, LLC and SNAP 8, FCS 4
constexpr std::size_t kMtu = 1500;
constexpr std::size_t kAckBytes = 14;

struct Ofdm {
  double mbit;
  double ratio_db;  // signal to noise at which 10 % of frames of 1,000 bytes are lost
};
// Sensitivities of -82, -81, -79, -77, -74, -70, -66, -65 dBm against -101 + 15 dBm.
constexpr std::array<Ofdm, 8> kRates{
    {{6, 4}, {9, 5}, {12, 7}, {18, 9}, {24, 12}, {36, 16}, {48, 20}, {54, 21}}};

/// Preamble, SIGNAL, and symbols with 16 bits of SERVICE and 6 bits of tail (802.11-2020, 17.4.3).
Duration frame_time(std::size_t bytes, double rate_mbit) {
  const double bits_per_symbol = rate_mbit * 4;
  const auto symbols = static_cast<std::int64_t>(
      std::ceil((16 + 6 + 8 * static_cast<double>(bytes)) / bits_per_symbol));
  return Duration::from_us(20 + 4 * symbols);
}

Error bad(std::string what, std::string where) {
  return {Code::invalid_config, std::move(what), std::move(where)};
}

Radio::Setup setup_of(const RadioOptions& options, const Scene* scene, std::uint64_t seed) {
  const RadioKind* const kind = find_radio(options.kind);
  Radio::Setup setup{options.kind, options.rate, options.rate_control, options.tx_power_dbm};
  setup.channel = {.options = options.channel,
                   .exponent = options.path_loss_exponent,
                   .reference_loss_db = options.reference_loss_db,
                   .shadowing_db = options.shadowing_db,
                   .frequency_hz = options.channel.frequency_hz,
                   .antennas = options.antennas,
                   .scene = scene,
                   .seed = seed,
                   .base_stations = kind != nullptr && kind->cellular};
  return setup;
}

}  // namespace

Result<RadioModel> RadioModel::make(const RadioOptions& options, const Scene* scene,
                                    std::uint64_t seed) {
  const auto rate = std::ranges::find(kRates, options.rate_mbit, &Ofdm::mbit);
  if (options.kind.empty() && rate == kRates.end()) {
    return bad("no rate of " + std::to_string(options.rate_mbit) +
                   " Mbit/s: the rates are 6, 9, 12, 18, 24, 36, 48 and 54",
               "rate_mbit");
  }
  if (!(options.path_loss_exponent > 0)) return bad("must be positive", "path_loss_exponent");
  if (!(options.shadowing_db >= 0)) return bad("must not be negative", "shadowing_db");
  if (options.host_jitter.ns < 0) return bad("must not be negative", "host_jitter");
  if (options.queue_packets == 0) return bad("must be at least 1", "queue_packets");
  if (options.retry_limit == 0) return bad("must be at least 1", "retry_limit");
  if (options.cw_min > options.cw_max) return bad("must not exceed cw_max", "cw_min");
  RadioModel model(options, scene, seed);
  if (!options.kind.empty()) {
    auto named = Radio::make(setup_of(options, scene, seed));
    if (!named) return named.error();
    model.named_ = std::make_shared<const Radio>(std::move(*named));
    const bool cellular = model.named_->kind().cellular;
    model.range_m_ = cellular ? std::numeric_limits<double>::infinity() : model.named_->range_m();
    return model;
  }
  const double margin_db = options.tx_power_dbm - options.reference_loss_db -
                           options.detection_dbm + kMostDeviations * options.shadowing_db;
  model.range_m_ = std::max(1.0, std::pow(10, margin_db / (10 * options.path_loss_exponent)));
  model.half_lost_db_ = rate->ratio_db - kSlopeDb * std::log(9);
  return model;
}

double RadioModel::shadowing(std::uint32_t a, std::uint32_t b) const {
  if (options_.shadowing_db == 0) return 0;
  const auto [low, high] = std::minmax(a, b);
  // Box-Muller transform. 1 - u is never 0.
  const double radius = std::sqrt(-2 * std::log(1 - draw_unit(seed_, low, high, 11)));
  const double normal = radius * std::cos(2 * std::numbers::pi * draw_unit(seed_, low, high, 12));
  return options_.shadowing_db * std::clamp(normal, -kMostDeviations, kMostDeviations);
}

double RadioModel::power_dbm(std::uint32_t a, const Vec3& at_a, std::uint32_t b,
                             const Vec3& at_b) const {
  if (named_) {
    const Channel::Parts parts = named_->channel().parts(a, {at_a, {}}, b, {at_b, {}}, {});
    return options_.tx_power_dbm + parts.sum_db();
  }
  const double distance = std::max(1.0, length(at_b - at_a));
  const double obstacles = scene_ != nullptr ? scene_->loss_db(at_a, at_b) : 0;
  return options_.tx_power_dbm - options_.reference_loss_db -
         10 * options_.path_loss_exponent * std::log10(distance) - obstacles + shadowing(a, b);
}

std::optional<double> RadioModel::received_dbm(std::uint32_t a, const Pose& at_a, std::uint32_t b,
                                               const Pose& at_b, Time now) const {
  if (named_) return named_->received_dbm(a, at_a, b, at_b, now);
  const double power = power_dbm(a, at_a.position, b, at_b.position);
  if (power < options_.detection_dbm) return std::nullopt;
  return power;
}

double RadioModel::steepest() const {
  return named_ ? named_->channel().steepest() : options_.path_loss_exponent;
}

double RadioModel::noise_dbm() const { return named_ ? named_->noise_dbm() : options_.noise_dbm; }

double RadioModel::detection(double sinr_db) const {
  return named_ ? named_->detection(sinr_db) : 1;
}

double RadioModel::frame_error(std::uint32_t rate, double sinr_db, std::size_t bytes) const {
  return named_ ? named_->frame_error(rate, sinr_db, bytes) : frame_error(sinr_db, bytes);
}

double RadioModel::frame_error(double sinr_db, std::size_t bytes) const {
  const double reference = 1 / (1 + std::exp((sinr_db - half_lost_db_) / kSlopeDb));
  return 1 - std::pow(1 - reference, static_cast<double>(bytes + kUdpIpHeaders) / kReferenceBytes);
}

Duration RadioModel::airtime(std::size_t payload) const {
  std::size_t left = payload + kUdpIpHeaders;
  Duration time{0};
  while (left > kMtu) {
    time = time + frame_time(kMtu + kMacHeaders, options_.rate_mbit) + sifs();
    left -= kMtu;
  }
  return time + frame_time(left + kMacHeaders, options_.rate_mbit);
}

Duration RadioModel::ack_airtime() const {
  const double rate = options_.rate_mbit >= 24 ? 24 : options_.rate_mbit >= 12 ? 12 : 6;
  return frame_time(kAckBytes, rate);
}

Duration RadioModel::propagation(const Vec3& a, const Vec3& b) {
  return {std::llround(length(b - a) / kSpeedOfLight * 1e9)};
}

}  // namespace hyphos::cosim
