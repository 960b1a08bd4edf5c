#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "pose.hpp"
#include "scan.hpp"

namespace patrol {

// A file that cannot be read or a line that makes no sense; what() names file:line.
class CarmenLogError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct CarmenScan {
  Scan scan;
  Pose2 odometry;   // of the robot, by wheels alone
  Pose2 annotated;  // the pose the log gives the laser; a corrected one in corrected logs
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
  std::size_t corrections = 0;    // jumps of the odometry that were taken out
  std::size_t skipped_lines = 0;  // messages of other kinds
};

// Reads the FLASER and ODOM messages of a CARMEN text log, plain or gzipped. Corrected logs (such
// as GMapping writes) set the odometry to the corrected pose after each scan: those jumps are taken
// out, so that `odometry` is what the wheels said. Beams cover 180 degrees, as CARMEN's laser
// message implies. Throws CarmenLogError. Cost: the whole log in memory.
[[nodiscard]] CarmenLog read_carmen_log(const std::string& path, double range_max_m = 50.0,
                                        const CarmenLimits& limits = {});

}  // namespace patrol
