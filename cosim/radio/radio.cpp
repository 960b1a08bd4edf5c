#include "cosim/radio/radio.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cosim/radio/decibels.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kThermalDbm = -173.975;  // of 1 Hz at 290 K

/// "6, 9, 12".
template <typename Names>
std::string list_of(const Names& known) {
  std::string names;
  for (const auto& one : known) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

Error bad(const std::string& what, const char* where) {
  return {Code::invalid_config, what, where};
}

double bit_error(const Rate& rate, double snr) {
  return decoded_bit_error(rate.coding, raw_bit_error(rate.modulation, snr, rate.spreading_factor));
}

}  // namespace

Result<Radio> Radio::make(Setup setup) {
  const RadioKind* kind = find_radio(setup.kind);
  if (kind == nullptr) {
    std::string names;
    for (const RadioKind* one : known_radios()) {
      names += (names.empty() ? "" : ", ") + std::string(one->name);
    }
    return bad("'" + setup.kind + "' is not one of: " + names, "kind");
  }
  std::uint32_t rate = 0;
  if (!setup.rate.empty()) {
    const auto found = std::ranges::find(kind->rates, setup.rate, &Rate::name);
    if (found == kind->rates.end()) {
      return bad("the rates of " + setup.kind + " are: " + list_of(kind->rates) + ", found '" +
                     setup.rate + "'",
                 "rate");
    }
    rate = static_cast<std::uint32_t>(found - kind->rates.begin());
  }
  const KnownRateControl* control = find_rate_control(setup.rate_control);
  if (control == nullptr) {
    return bad("'" + setup.rate_control + "' is not one of: " + list_of(known_rate_controls()),
               "rate_control");
  }
  if (setup.rate_control != "fixed") {
    if (!setup.rate.empty()) {
      return bad("only valid with `rate_control: fixed`: leave it out", "rate");
    }
    if (!kind->acknowledges) {
      return bad(setup.kind + " has no acknowledgements to measure rates with: write fixed",
                 "rate_control");
    }
  }
  if (setup.channel.frequency_hz == 0) setup.channel.frequency_hz = kind->frequency_hz;
  auto channel = Channel::make(setup.channel);
  if (!channel) return channel.error();
  return Radio(setup, *kind, std::move(*channel),
               control->make({.kind = kind, .rate = rate, .seed = setup.channel.seed}));
}

Radio::Radio(const Setup& setup, const RadioKind& kind, Channel channel,
             std::unique_ptr<const RateControl> control)
    : kind_(&kind),
      channel_(std::move(channel)),
      rate_control_(std::move(control)),
      frequency_hz_(setup.channel.frequency_hz),
      tx_power_dbm_(setup.tx_power_dbm) {
  const ChannelOptions& options = setup.channel.options;
  const double figure =
      options.noise_figure_db >= 0 ? options.noise_figure_db : kind.noise_figure_db;
  const double thermal = kThermalDbm + to_db(kind.bandwidth_hz) + figure;
  noise_dbm_ = to_db(to_ratio(thermal) + to_ratio(options.interference_dbm));
  range_m_ = channel_.range_m(noise_dbm_ + kind.least_snr_db - tx_power_dbm_);
}

std::optional<double> Radio::received_dbm(NodeId a, const Pose& at_a, NodeId b, const Pose& at_b,
                                          Time time) const {
  const auto gain =
      channel_.gain_db(a, at_a, b, at_b, time, noise_dbm_ + kind_->least_snr_db - tx_power_dbm_);
  if (!gain) return std::nullopt;
  return tx_power_dbm_ + *gain;
}

double Radio::detection(double sinr_db) const {
  const double snr = to_ratio(sinr_db);
  if (kind_->preamble_samples > 0) return preamble_detection(snr, kind_->preamble_samples);
  return no_errors(bit_error(kind_->rates.front(), snr), static_cast<double>(kind_->header_bits));
}

template <typename Visit>
void Radio::each_frame(std::size_t payload, const Visit& visit) const {
  std::size_t left = payload + kind_->network_bytes;
  for (; left > kind_->most_bytes; left -= kind_->most_bytes) {
    visit(kind_->most_bytes + kind_->mac_bytes);
  }
  visit(left + kind_->mac_bytes);
}

double Radio::frame_error(std::uint32_t rate, double sinr_db, std::size_t payload) const {
  if (kind_->loss != nullptr) return kind_->loss(rate, sinr_db);
  const double snr = to_ratio(sinr_db);
  double bits = 0;
  double headers = 0;  // of a radio that detects frames by the preamble alone
  each_frame(payload, [&](std::size_t bytes) {
    bits += static_cast<double>(8 * bytes + kind_->service_bits);
    headers += kind_->preamble_samples > 0 ? static_cast<double>(kind_->header_bits) : 0;
  });
  const double error = bit_error(kind_->rates[rate], snr);
  const double data = no_errors(error, bits);
  if (data == 0 || headers == 0) return 1 - data;
  const double of_header = rate == 0 ? error : bit_error(kind_->rates.front(), snr);
  return 1 - data * no_errors(of_header, headers);
}

Duration Radio::airtime(std::uint32_t rate, std::size_t payload) const {
  Duration time{0};
  std::int64_t frames = 0;
  each_frame(payload, [&](std::size_t bytes) {
    time = time + kind_->airtime(*kind_, kind_->rates[rate], bytes);
    ++frames;
  });
  return time + kind_->sifs * (frames - 1);
}

}  // namespace hyphos::cosim
