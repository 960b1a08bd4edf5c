#pragma once

#include <cstdint>
#include <string_view>

namespace hyphos::cosim {

/// Processor time since the machine started, of all processors together, in ticks of the kernel.
struct ProcessorTicks {
  std::uint64_t busy = 0;
  std::uint64_t stolen = 0;  ///< by other virtual machines
  std::uint64_t all = 0;
};

/// The first line of /proc/stat; zeros if it is anything else.
[[nodiscard]] ProcessorTicks parse_ticks(std::string_view line);

/// What the machine did between its making and finish(), as shares of all its processors.
class MachineWatch {
 public:
  MachineWatch();

  struct Use {
    double own = 0;     ///< this process, and its children that have ended
    double others = 0;  ///< everything else, the programs on the robots included
    double stolen = 0;
    double waited_s = 0;  ///< for a processor: this thread could run and did not
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
