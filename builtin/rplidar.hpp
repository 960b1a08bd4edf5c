#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "builtin/registry.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "hyphos/time.hpp"

namespace hyphos::builtin {

/// The serial protocol of Slamtec's RPLIDAR (interface protocol and application notes, A series:
/// the standard scan). A request is a5 and a command. The answer of the scan is a descriptor of
/// seven bytes, then samples of five bytes without end.
namespace rplidar {

inline constexpr std::array<std::uint8_t, 2> kStop = {0xa5, 0x25};
inline constexpr std::array<std::uint8_t, 2> kScan = {0xa5, 0x20};
/// Sets the motor of the A2 and A3. Others ignore it.
inline constexpr std::array<std::uint8_t, 6> kMotorOn = {0xa5, 0xf0, 0x02, 0x94, 0x02, 0xc1};
inline constexpr std::array<std::uint8_t, 6> kMotorOff = {0xa5, 0xf0, 0x02, 0x00, 0x00, 0x57};

struct Sample {
  bool starts = false;    ///< the first of a revolution
  double angle_rad = 0;   ///< clockwise seen from above, in [0, 2 pi)
  double distance_m = 0;  ///< 0: no echo
  std::uint8_t quality = 0;
};

/// Finds the samples in the bytes of the device. Bytes that are no sample are skipped and counted,
/// and the next sample is searched at each byte.
class Decoder {
 public:
  void feed(std::span<const std::byte> bytes, const std::function<void(const Sample&)>& sample);
  /// True once the device has answered the request for a scan.
  [[nodiscard]] bool answered() const { return answered_; }
  /// Skipped bytes since the answer. Before it: bytes without an answer.
  [[nodiscard]] std::uint64_t skipped_bytes() const { return skipped_; }

 private:
  std::vector<std::uint8_t> rest_;
  bool answered_ = false;  // the descriptor of the scan has come
  std::uint64_t skipped_ = 0;
};

}  // namespace rplidar

/// Collects the samples of one revolution. A scan is counter-clockwise, as REP 103 and ROS have it.
class Revolution {
 public:
  explicit Revolution(std::size_t points) : ranges_(points), intensities_(points) { clear(); }

  /// Adds a sample. Of two in one direction the nearer one counts.
  void add(const rplidar::Sample& sample);
  [[nodiscard]] bool empty() const { return samples_ == 0; }
  /// The scan, without its frame. `range_max_m`: more is no echo.
  [[nodiscard]] msgs::LaserScan scan(Time start, Duration took, double range_min_m,
                                     double range_max_m) const;
  void clear();

 private:
  std::vector<float> ranges_;
  std::vector<float> intensities_;
  std::size_t samples_ = 0;
};

/// `rplidar`. Reference: docs/reference/builtin.md.
std::unique_ptr<Builtin> open_rplidar(const Node& node);

}  // namespace hyphos::builtin
