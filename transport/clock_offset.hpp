#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hyphos::transport {

/// Estimates the offset between the monotonic clocks of two machines. The input is a series of
/// exchanges of four stamps, as in NTP (RFC 5905, sections 8 and 10): our time when a request left,
/// their time when it arrived, their time when the reply left, our time when it arrived.
///
/// The offset of one exchange is wrong by at most half its round trip, however the delay splits
/// between the two directions (Cristian, "Probabilistic clock synchronization", 1989). So the
/// estimate uses the exchange with the smallest such bound among the last kSamples. Its bound grows
/// with age by 15 ppm, the frequency tolerance of RFC 5905. The drift is the slope of a weighted
/// least-squares line through all of them. Two exchanges in a row whose bounds exclude the estimate
/// mean that a clock was stopped or set (for example, a machine slept). The estimation then
/// restarts.
///
/// Not thread-safe. Units: nanoseconds.
class ClockOffset {
 public:
  struct Exchange {
    std::int64_t asked = 0;     ///< ours
    std::int64_t heard = 0;     ///< theirs
    std::int64_t answered = 0;  ///< theirs
    std::int64_t got = 0;       ///< ours
  };
  /// Returns false, and changes nothing, if the stamps are impossible (from a broken or hostile
  /// peer).
  bool add(const Exchange& exchange);

  [[nodiscard]] bool known() const { return count_ > 0; }
  /// Their clock minus ours, at our time `ours`.
  [[nodiscard]] std::int64_t offset(std::int64_t ours) const;
  [[nodiscard]] std::int64_t uncertainty(std::int64_t ours) const;
  /// The round trip of the exchange in use.
  [[nodiscard]] std::int64_t round_trip() const { return best_.round_trip; }
  /// Rate of their clock relative to ours, in ppm. 0 while too little is known.
  [[nodiscard]] double drift_ppm() const { return drift_ * 1e6; }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] std::uint64_t restarts() const { return restarts_; }

  static constexpr std::size_t kSamples = 64;
  static constexpr double kTolerance = 15e-6;
  static constexpr std::int64_t kMaxRoundTripNs = 10'000'000'000;
  static constexpr std::int64_t kLeastSpanNs = 10'000'000'000;  ///< for a drift estimate

 private:
  struct Sample {
    std::int64_t at = 0;  // ours, in the middle
    std::int64_t offset = 0;
    std::int64_t round_trip = 0;

    [[nodiscard]] double bound(std::int64_t now) const;
  };
  [[nodiscard]] bool excludes(const Sample& sample) const;
  void choose(std::int64_t now);
  void fit();

  std::array<Sample, kSamples> ring_;
  std::size_t count_ = 0;
  std::size_t next_ = 0;
  Sample best_;
  double drift_ = 0;
  int excluded_ = 0;  // consecutive exchanges
  std::uint64_t samples_ = 0;
  std::uint64_t restarts_ = 0;
};

}  // namespace hyphos::transport
