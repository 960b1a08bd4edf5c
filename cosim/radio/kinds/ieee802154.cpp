#include <array>

#include "cosim/radio/kinds/radios.hpp"

namespace hyphos::cosim::radios {
namespace {

// Symbols of 16 µs carry 4 bits. An acknowledgement has 11 bytes with preamble and header.
constexpr std::array<Rate, 1> kOnlyRate{
    {{"250k", 0.25, Modulation::oqpsk_dsss, Coding::none, 4, 0, Duration::from_us(352)}}};

}  // namespace

/// CSMA-CA without beacons, as a countdown of slots: backoff exponents 3 to 5, periods of 20
/// symbols. Unlike in the standard, the countdown pauses while the channel is busy.
constinit const RadioKind kIeee802154 = {
    .name = "802.15.4",
    .about = "O-QPSK at 2.4 GHz, 250 kbit/s, with 6LoWPAN",
    .source = "IEEE Std 802.15.4-2020, clauses 6.2.5 and 12; RFC 6282",
    .frequency_hz = 2.45e9,
    .bandwidth_hz = 2e6,
    .noise_figure_db = 11,
    .least_snr_db = -8,
    .rates = kOnlyRate,
    .preamble = Duration::from_us(192),  // preamble 4, SFD 1, PHR 1 bytes
    .symbol = Duration::from_us(16),
    .preamble_samples = 0,
    .header_bits = 16,
    .service_bits = 0,
    .mac_bytes = 16,  // short addresses 9, FCS 2, fragment 5
    .network_bytes = 6,
    .most_bytes = 111,
    .airtime = symbol_airtime,
    .slot = Duration::from_us(320),
    .sifs = Duration::from_us(192),
    .difs = Duration::from_us(320),  // clear channel assessment and turnaround
    .cw_min = 7,
    .cw_max = 31,
    .attempts = 4,
    .senses = true,
    .always_backs_off = true,
    .acknowledges = true,
    .energy_dbm = -75};

}  // namespace hyphos::cosim::radios
