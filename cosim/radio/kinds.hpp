#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cosim/radio/error_rate.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

/// A rate of a radio.
struct Rate {
  std::string_view name;  ///< as in a scenario: "54", "mcs7", "sf9"
  double mbit = 0;        ///< of the payload
  Modulation modulation = Modulation::bpsk;
  Coding coding = Coding::none;
  int bits = 0;              ///< information bits of a symbol
  int spreading_factor = 0;  ///< of chirps
  Duration ack{0};           ///< time on the air of the acknowledgement of a frame at this rate
};

/// A radio as a table. A new radio is a file in cosim/radio/kinds and a line in its registry.
struct RadioKind {
  std::string_view name;
  std::string_view about;
  std::string_view source;
  double frequency_hz;
  double bandwidth_hz;
  double noise_figure_db;
  /// Weaker frames are not simulated: they are neither detected nor do they interfere.
  double least_snr_db;
  std::span<const Rate> rates;  ///< the slowest first

  // Frames.
  Duration preamble;  ///< and header, before the first symbol of data
  Duration symbol;
  std::size_t preamble_samples;  ///< of the autocorrelation. 0: the header alone is detected
  std::size_t header_bits;       ///< of the header, at the slowest rate
  std::size_t service_bits;      ///< added to the data
  std::size_t mac_bytes;         ///< headers and checks of each frame
  std::size_t network_bytes;     ///< headers of each packet
  std::size_t most_bytes;        ///< of a frame, without `mac_bytes`. A longer packet is divided
  Duration (*airtime)(const RadioKind&, const Rate&, std::size_t frame_bytes);

  // Medium access.
  Duration slot;
  Duration sifs;  ///< before an acknowledgement, and between the parts of a packet
  Duration difs;  ///< idle time before a backoff
  std::uint32_t cw_min;
  std::uint32_t cw_max;
  std::uint32_t attempts;  ///< of a frame to one node, unless the scenario has `retry_limit`
  bool senses;             ///< false: ALOHA
  bool always_backs_off;   ///< also if the channel is idle
  bool acknowledges;       ///< false: a frame to one node is sent once
  double energy_dbm;       ///< without a preamble, the channel is busy from this power on

  // Cells.
  bool cellular = false;  ///< robots send over base stations
  /// The loss of one transmission at this rate and ratio in dB. Null: by modulation and coding.
  double (*loss)(std::uint32_t rate, double sinr_db) = nullptr;
};

/// All radios, in the order of the documentation.
[[nodiscard]] std::span<const RadioKind* const> known_radios();
[[nodiscard]] const RadioKind* find_radio(std::string_view name);

/// The time of a frame of whole symbols.
[[nodiscard]] Duration symbol_airtime(const RadioKind& kind, const Rate& rate,
                                      std::size_t frame_bytes);

}  // namespace hyphos::cosim
