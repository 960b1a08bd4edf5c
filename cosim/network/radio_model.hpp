#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/core/random.hpp"
#include "cosim/radio/cells.hpp"
#include "cosim/radio/jammers.hpp"
#include "cosim/radio/radio.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

/// A radio of 802.11 OFDM in a channel of 20 MHz, as closed formulas.
///
/// Received power: transmit power - reference loss - 10 n log10(d / 1 m) - obstacles - shadowing.
/// Shadowing is one normal random number for each pair of nodes and seed. It is cut at three
/// deviations, and is the same in both directions and for the whole run. A frame weaker than
/// `detection_dbm` is not detected and does not interfere.
///
/// Frame errors: IEEE Std 802.11-2020, 17.3.10.2, defines the minimum sensitivity of each rate, at
/// which 10 % of frames of 1,000 bytes are lost. The standard assumes 15 dB of noise figure and
/// implementation loss. The sensitivity less these 15 dB gives the ratio of signal to noise and
/// interference at which 10 % are lost. Around this ratio, the error of 1,000 bytes is a logistic
/// function of the ratio in dB, and bytes fail independently. The model gives the shape of the
/// curve and is not a receiver model: ns-3 has those.
///
/// With a `kind`, the named radio of cosim/radio replaces these formulas. Then the options before
/// `kind` keep their meaning, except `rate_mbit`, `noise_dbm`, `detection_dbm`, `cw_min` and
/// `cw_max`, which the kind and the channel replace.
struct RadioOptions {
  double rate_mbit = 6;  ///< 6, 9, 12, 18, 24, 36, 48 or 54
  double tx_power_dbm = 16;
  double path_loss_exponent = 3;
  double reference_loss_db = 40.05;  ///< at 1 m, free space at 2.4 GHz
  double shadowing_db = 0;           ///< standard deviation
  double noise_dbm = -94;            ///< thermal noise of 20 MHz and 7 dB of noise figure
  double detection_dbm = -90;
  /// Longest delay between the send of a program and the radio, drawn uniformly for each packet.
  /// Programs run at instants of a common grid. Without this delay, robots that send at the same
  /// instant would always collide.
  Duration host_jitter = Duration::from_us(100);
  std::uint32_t queue_packets = 100;
  std::uint32_t retry_limit = 7;  ///< transmissions of a frame to one node before it is given up
  std::uint32_t cw_min = 15;
  std::uint32_t cw_max = 1023;
  std::string kind{};  ///< a name of known_radios(). Empty: the formulas above
  std::string rate{};  ///< name of a rate of the kind. Empty: the slowest
  std::string rate_control = "fixed";
  ChannelOptions channel{};
  std::vector<Antenna> antennas{};  ///< by node, with a kind
  std::vector<Jammer> jammers{};    ///< with a kind
  CellOptions cell{};               ///< with a cellular kind
};

class RadioModel {
 public:
  /// Errors: invalid_config, with the option's name as `where`.
  [[nodiscard]] static Result<RadioModel> make(const RadioOptions& options, const Scene* scene,
                                               std::uint64_t seed);

  [[nodiscard]] const RadioOptions& options() const { return options_; }
  /// The named radio, or null.
  [[nodiscard]] const Radio* named() const { return named_.get(); }
  /// Beyond this distance nothing is received, for every value of shadowing and fading.
  [[nodiscard]] double range_m() const { return range_m_; }
  /// The largest n of 10 n log10(distance).
  [[nodiscard]] double steepest() const;
  [[nodiscard]] double noise_dbm() const;
  /// Without a kind, and at time 0 with one.
  [[nodiscard]] double power_dbm(std::uint32_t a, const Vec3& at_a, std::uint32_t b,
                                 const Vec3& at_b) const;
  /// The cheap test for a `squared` distance that is out of range in every case.
  [[nodiscard]] bool surely_out_of_range(double squared_distance) const {
    return squared_distance > range_m_ * range_m_;
  }
  /// The power of a frame that starts now. Nothing if it is too weak to matter.
  [[nodiscard]] std::optional<double> received_dbm(std::uint32_t a, const Pose& at_a,
                                                   std::uint32_t b, const Pose& at_b,
                                                   Time now) const;
  /// The probability that a receiver detects a frame. 1 without a kind.
  [[nodiscard]] double detection(double sinr_db) const;
  /// The probability that a detected frame is lost.
  [[nodiscard]] double frame_error(double sinr_db, std::size_t bytes) const;
  [[nodiscard]] double frame_error(std::uint32_t rate, double sinr_db, std::size_t bytes) const;

  [[nodiscard]] Duration slot() const {
    return named_ ? named_->kind().slot : Duration::from_us(9);
  }
  [[nodiscard]] Duration sifs() const {
    return named_ ? named_->kind().sifs : Duration::from_us(16);
  }
  [[nodiscard]] Duration difs() const {
    return named_ ? named_->kind().difs : Duration::from_us(34);
  }
  [[nodiscard]] std::uint32_t cw_min() const {
    return named_ ? named_->kind().cw_min : options_.cw_min;
  }
  [[nodiscard]] std::uint32_t cw_max() const {
    return named_ ? named_->kind().cw_max : options_.cw_max;
  }
  /// Time on the air of a packet with this many payload bytes, in UDP, IP, LLC and MAC: 16 + 4 µs
  /// of preamble and SIGNAL, then symbols of 4 µs. A packet that exceeds one frame of 1,500 bytes
  /// of IP is sent as several frames with a SIFS between them, and arrives only as a whole.
  [[nodiscard]] Duration airtime(std::size_t payload) const;
  [[nodiscard]] Duration airtime(std::uint32_t rate, std::size_t payload) const {
    return named_ ? named_->airtime(rate, payload) : airtime(payload);
  }
  [[nodiscard]] Duration ack_airtime() const;
  [[nodiscard]] Duration ack_airtime(std::uint32_t rate) const {
    return named_ ? named_->kind().rates[rate].ack : ack_airtime();
  }
  /// Propagation delay through the air, rounded to nanoseconds.
  [[nodiscard]] static Duration propagation(const Vec3& a, const Vec3& b);

 private:
  RadioModel(const RadioOptions& options, const Scene* scene, std::uint64_t seed)
      : options_(options), scene_(scene), seed_(seed) {}
  [[nodiscard]] double shadowing(std::uint32_t a, std::uint32_t b) const;

  RadioOptions options_;
  const Scene* scene_;
  std::uint64_t seed_;
  std::shared_ptr<const Radio> named_{};
  double range_m_ = 0;
  double half_lost_db_ = 0;  // ratio at which half of the frames of 1,000 bytes are lost
};

}  // namespace hyphos::cosim
