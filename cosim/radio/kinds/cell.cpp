#include <array>
#include <cmath>
#include <numbers>

#include "cosim/radio/kinds/radios.hpp"

namespace hyphos::cosim::radios {
namespace {

// 51 resource blocks of 12 carriers of 30 kHz (3GPP TS 38.101-1, table 5.3.2-1). 14 % of the
// symbols are control and reference signals (TS 38.306, 4.1.2).
constexpr double kCarrierHz = 51 * 12 * 30e3;
constexpr double kData = 0.86;

/// A channel quality of 3GPP TS 38.214, table 5.2.2.1-2, by its efficiency in bits per symbol.
constexpr Rate cqi(std::string_view name, double efficiency) {
  return {name, efficiency * kCarrierHz * kData * 1e-6, Modulation::qpsk, Coding::none, 1, 0, {}};
}
constexpr std::array<Rate, 15> kQualities{
    {cqi("cqi1", 0.1523), cqi("cqi2", 0.2344), cqi("cqi3", 0.3770), cqi("cqi4", 0.6016),
     cqi("cqi5", 0.8770), cqi("cqi6", 1.1758), cqi("cqi7", 1.4766), cqi("cqi8", 1.9141),
     cqi("cqi9", 2.4063), cqi("cqi10", 2.7305), cqi("cqi11", 3.3223), cqi("cqi12", 3.9023),
     cqi("cqi13", 4.5234), cqi("cqi14", 5.1152), cqi("cqi15", 5.5547)}};

// The ratios in dB at which 10 % of blocks are lost: Brueninghaus et al., "Link performance models
// for system level simulations of broadband radio access systems", PIMRC 2005.
constexpr std::array<double, 15> kTenPercent{-6.7, -4.7, -2.3, 0.2,  2.4,  4.3,  5.9, 8.1,
                                             10.3, 11.7, 14.1, 16.3, 18.7, 21.0, 22.7};
constexpr double kSlopeDb = 0.6;  // deviation of the normal curve: from 90 to 10 % in 1.5 dB
constexpr double kTenPercentTail = 1.2816;  // deviations above the middle

double loss(std::uint32_t rate, double sinr_db) {
  const double middle = kTenPercent[rate] - kSlopeDb * kTenPercentTail;
  return std::erfc((sinr_db - middle) / (kSlopeDb * std::numbers::sqrt2)) / 2;
}

Duration block_airtime(const RadioKind& /*kind*/, const Rate& rate, std::size_t frame_bytes) {
  return Duration{std::llround(8e3 * static_cast<double>(frame_bytes) / rate.mbit)};
}

}  // namespace

/// One carrier of 20 MHz at 3.5 GHz. cosim/network/cell.hpp has the medium access.
constinit const RadioKind kCell = {
    .name = "cell",
    .about = "5G-like cells at 3.5 GHz in 20 MHz, rates by channel quality",
    .source = "3GPP TS 38.214, table 5.2.2.1-2; Brueninghaus et al., PIMRC 2005",
    .frequency_hz = 3.5e9,
    .bandwidth_hz = kCarrierHz,
    .noise_figure_db = 9,  // of a robot
    .least_snr_db = -10,
    .rates = kQualities,
    .preamble = Duration{0},
    .symbol = Duration{0},
    .preamble_samples = 0,
    .header_bits = 0,
    .service_bits = 0,
    .mac_bytes = 8,  // SDAP, PDCP, RLC and MAC
    .network_bytes = 28,
    .most_bytes = 9000,
    .airtime = block_airtime,
    .slot = Duration::from_us(500),
    .sifs = Duration{0},
    .difs = Duration{0},
    .cw_min = 0,
    .cw_max = 0,
    .attempts = 4,
    .senses = false,
    .always_backs_off = false,
    .acknowledges = false,
    .energy_dbm = 0,
    .cellular = true,
    .loss = loss};

}  // namespace hyphos::cosim::radios
