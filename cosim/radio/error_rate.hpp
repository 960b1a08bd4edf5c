#pragma once

#include <cstddef>
#include <cstdint>

namespace hyphos::cosim {

enum class Modulation : std::uint8_t {
  bpsk,
  qpsk,
  qam16,
  qam64,
  qam256,
  qam1024,
  oqpsk_dsss,  ///< IEEE 802.15.4 at 2.4 GHz
  chirps,      ///< LoRa
};
enum class Coding : std::uint8_t { none, half, two_thirds, three_quarters, five_sixths };

/// The probability of a wrong bit before decoding, at this ratio of signal to noise in the band of
/// the radio.
///
/// - Square QAM with Gray code: (1 - 1/√M) / log2(√M) · erfc(√(3 snr / (2 (M - 1)))), as in ns-3
///   and yans (Lacage and Henderson 2006).
/// - 802.15.4: IEEE Std 802.15.4-2006, equation E.1.
/// - LoRa: 0.5 Q(√(2^(SF+1) snr) - √(1.386 SF + 1.154)), Elshabrawy and Robert, IEEE
///   Communications Letters 22 (2018).
[[nodiscard]] double raw_bit_error(Modulation modulation, double snr, int spreading_factor = 0);

/// The probability of a wrong bit after a Viterbi decoder of hard decisions, constraint length 7:
/// the union bound Σ c_d P_d with P_d <= D^d, D = √(4 p (1 - p)). The weights c_d are those of
/// Frenger, Orten, Ottosson, "Convolutional codes with optimum distance spectrum" (1999), as in
/// Pei and Henderson, "Validation of OFDM error rate model in ns-3" (2010), the NIST model. At most
/// 1/2.
[[nodiscard]] double decoded_bit_error(Coding coding, double raw);

/// The probability that all bits are right.
[[nodiscard]] double no_errors(double bit_error, double bits);

/// The probability that a receiver detects a preamble of repeated parts by autocorrelation.
///
/// The metric of Schmidl and Cox (1997) over `samples` is nearly normal, with the mean and variance
/// of their equations 12 to 14. Its threshold follows from the false alarms: without a signal, the
/// metric exceeds t with probability exp(-samples t), which is 5e-11 here: an alarm in 1000 s at 20
/// million samples a second.
[[nodiscard]] double preamble_detection(double snr, std::size_t samples);

}  // namespace hyphos::cosim
