#pragma once

#include <cstdint>
#include <random>

namespace hyphos::lab {

/// Random numbers of one network. The same seed gives the same ones on every machine: the
/// distributions are ours, since those of the standard library differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// In [0, 1).
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  /// In [0, most].
  std::int64_t upto(std::int64_t most) {
    return static_cast<std::int64_t>(unit() * static_cast<double>(most + 1));
  }

 private:
  std::mt19937_64 engine_;
};

/// Which packets are lost: each for itself (burst_packets = 0), or in bursts by the model of
/// Gilbert and Elliott (E. N. Gilbert, "Capacity of a Burst-Noise Channel", 1960; E. O. Elliott,
/// 1963): a path is good or bad, bad for `burst_packets` packets on average; a packet is lost with
/// probability `in_burst` while it is bad and `between` while it is good. How often it is bad
/// follows from `probability`, which stays the share of packets that are lost.
struct LossOptions {
  double probability = 0;
  double burst_packets = 0;
  double in_burst = 1;
  double between = 0;

  /// The share of packets that find their path bad.
  [[nodiscard]] double share_bad() const { return (probability - between) / (in_burst - between); }
  /// How likely the path turns bad after a good packet; above 1, bursts so short cannot lose so
  /// much.
  [[nodiscard]] double turns_bad() const { return share_bad() / (1 - share_bad()) / burst_packets; }
};

/// One path.
class Loss {
 public:
  explicit Loss(const LossOptions& options);
  /// Whether the next packet is lost.
  bool draw(Random& random);

 private:
  double in_good_;
  double in_bad_;
  double to_bad_ = 0;
  double to_good_ = 0;
  double share_bad_ = 0;  // 0: each packet for itself
  bool started_ = false;
  bool bad_ = false;
};

}  // namespace hyphos::lab
