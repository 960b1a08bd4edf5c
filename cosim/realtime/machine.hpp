#pragma once

#include <cstdint>
#include <string_view>

namespace hyphos::cosim {

/// Processor time since the machine started, summed over all processors, in kernel ticks.
struct ProcessorTicks {
  std::uint64_t busy = 0;
  std::uint64_t stolen = 0;  ///< by other virtual machines
  std::uint64_t all = 0;
};

/// Parses the first line of /proc/stat. Returns zeros for any other line.
[[nodiscard]] ProcessorTicks parse_ticks(std::string_view line);

/// The use of the machine between the constructor and finish(), as shares of all its processors.
class MachineWatch {
 public:
  MachineWatch();

  struct Use {
    double own = 0;     ///< this process and its ended children
    double others = 0;  ///< everything else, including the programs on the robots
    double stolen = 0;
    double waited_s = 0;  ///< time for which this thread was runnable but did not run
  };
  [[nodiscard]] Use finish() const;

 private:
  struct Sample {
    ProcessorTicks machine;
    double own_s = 0;
    double waited_s = 0;
  };
  static Sample sample();

  Sample start_;
};

}  // namespace hyphos::cosim
