#include <algorithm>
#include <array>

#include "cosim/radio/kinds/radios.hpp"

namespace hyphos::cosim::radios {
namespace {

constexpr double kChirpHz = 125e3;

/// A spreading factor with code rate 4/5. The code detects errors and corrects none. From SF 11 on,
/// the low-rate optimization leaves out two bits of each symbol.
constexpr Rate sf(std::string_view name, int factor) {
  const double symbols = kChirpHz / static_cast<double>(1 << factor);
  const int bits = factor >= 11 ? factor - 2 : factor;
  return {name, bits * symbols * 0.8 * 1e-6, Modulation::chirps, Coding::none, bits, factor, {}};
}
constexpr std::array<Rate, 6> kFactors{
    {sf("sf12", 12), sf("sf11", 11), sf("sf10", 10), sf("sf9", 9), sf("sf8", 8), sf("sf7", 7)}};

/// Semtech SX1276 datasheet, 4.1.1.7: a preamble of 8 symbols, explicit header and CRC.
Duration chirp_airtime(const RadioKind& /*kind*/, const Rate& rate, std::size_t frame_bytes) {
  const int factor = rate.spreading_factor;
  const auto bits = 8 * static_cast<std::int64_t>(frame_bytes) - 4 * factor + 28 + 16;
  const std::int64_t block = 4 * rate.bits;
  const std::int64_t blocks = std::max<std::int64_t>(0, (bits + block - 1) / block);
  const std::int64_t symbol_ns = (std::int64_t{1} << factor) * 8'000;
  return Duration{symbol_ns * 49 / 4 + symbol_ns * (8 + 5 * blocks)};
}

}  // namespace

/// Class A frames without acknowledgement or carrier sense. Limits of the duty cycle are not
/// enforced. Frames of other spreading factors interfere like noise of their power.
constinit const RadioKind kLora = {.name = "lora",
                                   .about = "chirps at 868 MHz in 125 kHz, SF 12 to 7, ALOHA",
                                   .source = "Semtech SX1276 datasheet, AN1200.22; LoRaWAN 1.0.4",
                                   .frequency_hz = 868.1e6,
                                   .bandwidth_hz = kChirpHz,
                                   .noise_figure_db = 6,
                                   .least_snr_db = -26,
                                   .rates = kFactors,
                                   .preamble = Duration{0},
                                   .symbol = Duration{0},
                                   .preamble_samples = 0,
                                   .header_bits = 0,
                                   .service_bits = 0,
                                   .mac_bytes = 13,
                                   .network_bytes = 0,
                                   .most_bytes = 222,
                                   .airtime = chirp_airtime,
                                   .slot = Duration::from_us(1),
                                   .sifs = Duration::from_us(1),
                                   .difs = Duration::from_us(1),
                                   .cw_min = 0,
                                   .cw_max = 0,
                                   .attempts = 1,
                                   .senses = false,
                                   .always_backs_off = false,
                                   .acknowledges = false,
                                   .energy_dbm = 0};

}  // namespace hyphos::cosim::radios
