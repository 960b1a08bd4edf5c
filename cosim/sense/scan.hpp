#pragma once

#include <memory>
#include <optional>

#include "cosim/core/simulator.hpp"
#include "cosim/core/time.hpp"
#include "cosim/sense/sensors.hpp"

namespace hyphos::cosim {

/// A planar laser scanner.
struct ScanOptions {
  std::string channel = "scan";
  std::string frame = "base";
  std::int64_t rate_hz = 10;
  std::uint32_t beams = 360;
  double from = -3.14159265358979323846;  ///< rad, of the first beam, counter-clockwise
  double to = 3.14159265358979323846;     ///< rad, of the last beam
  double least_m = 0.05;
  double most_m = 20;
  double height_m = 0;  ///< above the position of the robot
  double noise_m = 0;   ///< standard deviation of each range
  double body_m = 0.3;  ///< radius of the other robots, upright cylinders of 0.6 m. 0: not seen
};

/// The distances of the beams from one robot: rays in the plane of the robot against the boxes, the
/// other robots and the ground z = 0. Infinity: nothing within `most_m`. A scanner inside a box
/// measures 0. Cost: some nanoseconds for each beam and box.
[[nodiscard]] std::vector<float> scan_ranges(const Scene& scene, std::span<const Pose> poses,
                                             NodeId robot, const ScanOptions& options);
/// The same with noise as hyphos.msgs.LaserScan. The noise depends on `draw` only.
[[nodiscard]] std::vector<std::byte> encode_scan(std::span<const float> ranges, Time now,
                                                 const ScanOptions& options);
[[nodiscard]] TypeId scan_type();

/// Laser scanners in a world of boxes, at most one for each robot.
class Scans final : public Sensors {
 public:
  /// `scene` must outlive the object. `robots` are ordered by node.
  [[nodiscard]] static Result<std::unique_ptr<Scans>> make(
      const Scene& scene, std::vector<std::optional<ScanOptions>> robots, std::uint64_t seed);

  std::vector<SensorChannel> channels(NodeId robot) const override;
  Time next(NodeId robot) const override;
  Result<void> read(NodeId robot, Time now, std::span<const Pose> poses,
                    std::vector<Reading>& readings) override;

 private:
  struct Scanner {
    ScanOptions options;
    Step step;
    std::int64_t done = 0;  // readings so far
  };
  Scans(const Scene& scene, std::uint64_t seed) : scene_(scene), seed_(seed) {}

  const Scene& scene_;
  std::uint64_t seed_;
  std::vector<std::optional<Scanner>> scanners_;
};

}  // namespace hyphos::cosim
