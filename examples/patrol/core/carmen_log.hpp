#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "pose.hpp"
#include "scan.hpp"

namespace patrol {

// Reports a file that cannot be read or an invalid line. `what()` names file:line.
class CarmenLogError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct CarmenScan {
  Scan scan;
  Pose2 odometry;   // of the robot, from its wheels alone
  Pose2 annotated;  // the laser's pose in the log, corrected in corrected logs
};

struct CarmenLimits {
  std::size_t max_scans = 1'000'000;
  std::size_t max_beams = 8192;  // per scan
  std::size_t max_line_bytes = 1U << 18;
  std::uint64_t max_file_bytes = 1ULL << 32;  // after decompression
};

struct CarmenLog {
  std::vector<CarmenScan> scans;
  std::size_t odometry_lines = 0;
  std::size_t corrections = 0;    // removed jumps of the odometry
  std::size_t skipped_lines = 0;  // messages of other kinds
};

// Reads the FLASER and ODOM messages of a CARMEN text log, plain or gzipped. A corrected log (as
// GMapping writes it) sets the odometry to the corrected pose after each scan. The reader removes
// those jumps, so `odometry` is the pure wheel odometry. Beams cover 180 degrees, as CARMEN's laser
// message implies. Throws CarmenLogError. Cost: the whole log in memory.
[[nodiscard]] CarmenLog read_carmen_log(const std::string& path, double range_max_m = 50.0,
                                        const CarmenLimits& limits = {});

}  // namespace patrol
