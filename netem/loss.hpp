#pragma once

#include <cstdint>
#include <random>

namespace hyphos::lab {

/// The random numbers of one network. The same seed gives the same numbers on every machine. The
/// distributions are implemented here, because those of the standard library differ between
/// libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// A number in [0, 1).
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  /// A number in [0, most].
  std::int64_t upto(std::int64_t most) {
    return static_cast<std::int64_t>(unit() * static_cast<double>(most + 1));
  }

 private:
  std::mt19937_64 engine_;
};

/// The loss of packets: independent for each packet (burst_packets = 0), or in bursts by the model
/// of Gilbert and Elliott (E. N. Gilbert, "Capacity of a Burst-Noise Channel", 1960; E. O. Elliott,
/// 1963). In the model a path is good or bad, and bad for `burst_packets` packets on average. A
/// packet is lost with probability `in_burst` while the path is bad, and `between` while it is
/// good. `probability` remains the share of lost packets. The frequency of bad states follows from
/// it.
struct LossOptions {
  double probability = 0;
  double burst_packets = 0;
  double in_burst = 1;
  double between = 0;

  /// The share of packets that find their path bad.
  [[nodiscard]] double share_bad() const { return (probability - between) / (in_burst - between); }
  /// The probability that the path turns bad after a good packet. Above 1, bursts of this length
  /// cannot cause the required loss.
  [[nodiscard]] double turns_bad() const { return share_bad() / (1 - share_bad()) / burst_packets; }
};

/// The state of one path.
class Loss {
 public:
  explicit Loss(const LossOptions& options);
  /// Returns true if the next packet is lost.
  bool draw(Random& random);

 private:
  double in_good_;
  double in_bad_;
  double to_bad_ = 0;
  double to_good_ = 0;
  double share_bad_ = 0;  // 0: independent losses
  bool started_ = false;
  bool bad_ = false;
};

}  // namespace hyphos::lab
