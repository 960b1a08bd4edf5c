#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hyphos/time.hpp"

namespace hyphos::cosim {

/// Chooses the rate at which a device passes packets to a radio, so that the queue of the radio is
/// neither empty nor full while programs send more than the radio can. The packets then wait in
/// front of the device, where they hold their senders back.
///
/// `nominal` is the rate of the radio on a free channel. While the queue is nearly empty the rate
/// grows back to it. Otherwise it follows the bytes that have left the radio, corrected towards a
/// queue that is half full.
class Pace {
 public:
  /// `queue`: the packets that the radio holds. Rates are in bytes per second.
  Pace(double nominal, std::uint32_t queue)
      : nominal_(nominal), queue_(static_cast<double>(queue)), rate_(nominal) {}

  /// A packet has left the radio, delivered or dropped.
  void left(std::size_t bytes) { left_ += static_cast<double>(bytes); }
  /// Called about every kInterval with the packets in the radio. Returns a rate that differs from
  /// the current one enough to matter.
  [[nodiscard]] std::optional<double> update(Duration passed, std::uint32_t held);

  [[nodiscard]] double rate() const { return rate_; }

  static constexpr Duration kInterval = Duration::from_ms(100);

 private:
  double nominal_;
  double queue_;
  double rate_;
  double left_ = 0;
};

}  // namespace hyphos::cosim
