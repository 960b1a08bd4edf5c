#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cosim/radio/channel.hpp"
#include "cosim/radio/kinds.hpp"
#include "cosim/radio/rate_control.hpp"

namespace hyphos::cosim {

/// A named radio over a channel.
///
/// A receiver detects a frame with the probability of its preamble, at the ratio of signal to noise
/// and interference at the start of the frame. A detected frame fails with the probability that one
/// bit of header or data is wrong, at the ratio over the whole frame.
class Radio {
 public:
  struct Setup {
    std::string kind = "802.11g";
    std::string rate{};  ///< name of a rate. Empty: the slowest
    std::string rate_control = "fixed";
    double tx_power_dbm = 16;
    Channel::Setup channel{};  ///< `frequency_hz` 0: that of the radio
  };
  /// Errors: invalid_config, with the option's name as `where`.
  [[nodiscard]] static Result<Radio> make(Setup setup);

  [[nodiscard]] const RadioKind& kind() const { return *kind_; }
  [[nodiscard]] const Channel& channel() const { return channel_; }
  [[nodiscard]] const RateControl& rate_control() const { return *rate_control_; }
  [[nodiscard]] double frequency_hz() const { return frequency_hz_; }
  [[nodiscard]] double tx_power_dbm() const { return tx_power_dbm_; }
  /// Noise of the receiver and interference of other systems.
  [[nodiscard]] double noise_dbm() const { return noise_dbm_; }
  [[nodiscard]] double range_m() const { return range_m_; }

  /// Received power. Nothing below the least ratio of the radio.
  [[nodiscard]] std::optional<double> received_dbm(NodeId a, const Pose& at_a, NodeId b,
                                                   const Pose& at_b, Time time) const;
  /// The probability that the preamble is detected.
  [[nodiscard]] double detection(double sinr_db) const;
  /// The probability that a detected packet with this many payload bytes is lost.
  [[nodiscard]] double frame_error(std::uint32_t rate, double sinr_db, std::size_t payload) const;
  /// Time on the air of a packet with this many payload bytes. A packet that exceeds one frame is
  /// sent as several frames with a SIFS between them, and arrives only as a whole.
  [[nodiscard]] Duration airtime(std::uint32_t rate, std::size_t payload) const;

 private:
  Radio(const Setup& setup, const RadioKind& kind, Channel channel,
        std::unique_ptr<const RateControl> control);
  /// Calls `visit(bytes)` for each frame of a packet, with its MAC bytes.
  template <typename Visit>
  void each_frame(std::size_t payload, const Visit& visit) const;

  const RadioKind* kind_;
  Channel channel_;
  std::shared_ptr<const RateControl> rate_control_;
  double frequency_hz_;
  double tx_power_dbm_;
  double noise_dbm_;
  double range_m_;
};

}  // namespace hyphos::cosim
