// 802.11 with OFDM in 20 MHz, one spatial stream, no aggregation.
#include <array>
#include <span>

#include "cosim/radio/kinds/radios.hpp"

namespace hyphos::cosim::radios {
namespace {

using enum Modulation;
using enum Coding;

// Acknowledgements of 14 bytes at the highest of 6, 12 and 24 Mbit/s that is not above the rate. At
// 2.4 GHz a signal extension of 6 µs ends each frame (IEEE Std 802.11-2020, 18.3.2.4).
constexpr Duration kExtension = Duration::from_us(6);
constexpr Duration k6 = Duration::from_us(44);
constexpr Duration k12 = Duration::from_us(32);
constexpr Duration k24 = Duration::from_us(28);

/// The same rates at 2.4 GHz.
template <std::size_t kCount>
constexpr std::array<Rate, kCount> extended(std::array<Rate, kCount> rates) {
  for (Rate& rate : rates) rate.ack = rate.ack + kExtension;
  return rates;
}

// IEEE Std 802.11-2020, table 17-4.
constexpr std::array<Rate, 8> kG = extended<8>({{{"6", 6, bpsk, half, 24, 0, k6},
                                                 {"9", 9, bpsk, three_quarters, 36, 0, k6},
                                                 {"12", 12, qpsk, half, 48, 0, k12},
                                                 {"18", 18, qpsk, three_quarters, 72, 0, k12},
                                                 {"24", 24, qam16, half, 96, 0, k24},
                                                 {"36", 36, qam16, three_quarters, 144, 0, k24},
                                                 {"48", 48, qam64, two_thirds, 192, 0, k24},
                                                 {"54", 54, qam64, three_quarters, 216, 0, k24}}});
// Table 21-29, guard interval 0.8 µs. MCS 9 does not exist with 20 MHz and one stream.
constexpr std::array<Rate, 9> kAc{{{"mcs0", 6.5, bpsk, half, 26, 0, k6},
                                   {"mcs1", 13, qpsk, half, 52, 0, k12},
                                   {"mcs2", 19.5, qpsk, three_quarters, 78, 0, k12},
                                   {"mcs3", 26, qam16, half, 104, 0, k24},
                                   {"mcs4", 39, qam16, three_quarters, 156, 0, k24},
                                   {"mcs5", 52, qam64, two_thirds, 208, 0, k24},
                                   {"mcs6", 58.5, qam64, three_quarters, 234, 0, k24},
                                   {"mcs7", 65, qam64, five_sixths, 260, 0, k24},
                                   {"mcs8", 78, qam256, three_quarters, 312, 0, k24}}};
// Table 19-27 has the same values for MCS 0 to 7.
constexpr std::array<Rate, 9> kExtended = extended(kAc);
constexpr std::span<const Rate> kN = std::span(kExtended).first(8);
// IEEE Std 802.11ax-2021, table 27-62: 234 tones, symbols of 12.8 + 0.8 µs.
constexpr std::array<Rate, 12> kAx{{{"mcs0", 8.6, bpsk, half, 117, 0, k6},
                                    {"mcs1", 17.2, qpsk, half, 234, 0, k12},
                                    {"mcs2", 25.8, qpsk, three_quarters, 351, 0, k24},
                                    {"mcs3", 34.4, qam16, half, 468, 0, k24},
                                    {"mcs4", 51.6, qam16, three_quarters, 702, 0, k24},
                                    {"mcs5", 68.8, qam64, two_thirds, 936, 0, k24},
                                    {"mcs6", 77.4, qam64, three_quarters, 1053, 0, k24},
                                    {"mcs7", 86, qam64, five_sixths, 1170, 0, k24},
                                    {"mcs8", 103.2, qam256, three_quarters, 1404, 0, k24},
                                    {"mcs9", 114.7, qam256, five_sixths, 1560, 0, k24},
                                    {"mcs10", 129, qam1024, three_quarters, 1755, 0, k24},
                                    {"mcs11", 143.4, qam1024, five_sixths, 1950, 0, k24}}};

/// The values that all generations share. `qos`: frames of EDCA, in best effort. At 2.4 GHz the
/// preamble includes the signal extension, and SIFS has 10 µs.
constexpr RadioKind wifi(bool qos, std::string_view name, std::string_view about,
                         std::string_view source, double frequency_hz, std::span<const Rate> rates,
                         Duration preamble, Duration symbol) {
  const bool extends = frequency_hz < 3e9;
  const Duration slot = Duration::from_us(9);
  const Duration sifs = Duration::from_us(extends ? 10 : 16);
  return {.name = name,
          .about = about,
          .source = source,
          .frequency_hz = frequency_hz,
          .bandwidth_hz = 20e6,
          .noise_figure_db = 7,
          .least_snr_db = -6,
          .rates = rates,
          .preamble = extends ? preamble + kExtension : preamble,
          .symbol = symbol,
          .preamble_samples = 144,       // ten repetitions of 16 samples, less one
          .header_bits = 24,             // SIGNAL
          .service_bits = 22,            // SERVICE and tail
          .mac_bytes = qos ? 38U : 36U,  // MAC 24 or 26, LLC and SNAP 8, FCS 4
          .network_bytes = 28,
          .most_bytes = 1500,
          .airtime = symbol_airtime,
          .slot = slot,
          .sifs = sifs,
          .difs = sifs + slot * (qos ? 3 : 2),  // AIFSN 3, or DIFS
          .cw_min = 15,
          .cw_max = 1023,
          .attempts = 7,
          .senses = true,
          .always_backs_off = false,
          .acknowledges = true,
          .energy_dbm = -62};
}

}  // namespace

constinit const RadioKind kWifiG =
    wifi(false, "802.11g", "OFDM, 6 to 54 Mbit/s", "IEEE Std 802.11-2020, clauses 17 and 18",
         2.437e9, kG, Duration::from_us(20), Duration::from_us(4));
// Preambles: legacy 20 µs, then HT-SIG 8, STF 4, LTF 4; VHT-SIG-A 8, STF 4, LTF 4, SIG-B 4;
// RL-SIG 4, HE-SIG-A 8, STF 4, LTF 7.2.
constinit const RadioKind kWifiN =
    wifi(true, "802.11n", "HT, MCS 0 to 7", "IEEE Std 802.11-2020, clause 19", 2.437e9, kN,
         Duration::from_us(36), Duration::from_us(4));
constinit const RadioKind kWifiAc =
    wifi(true, "802.11ac", "VHT, MCS 0 to 8", "IEEE Std 802.11-2020, clause 21", 5.18e9, kAc,
         Duration::from_us(40), Duration::from_us(4));
constinit const RadioKind kWifiAx =
    wifi(true, "802.11ax", "HE, MCS 0 to 11", "IEEE Std 802.11ax-2021, clause 27", 5.18e9, kAx,
         Duration{43'200}, Duration{13'600});

}  // namespace hyphos::cosim::radios
