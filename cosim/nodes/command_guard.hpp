#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cosim/core/engine.hpp"

namespace hyphos::cosim {

/// The limits for the motion commands of a robot.
struct CommandLimits {
  Duration timeout{0};  ///< the robot stops if no command came for this time. 0: never
  double speed = 0;     ///< m/s. 0: no limit
  double turn = 0;      ///< rad/s. 0: no limit
};

/// The first line of defence between the programs of a robot and its motors, as a driver has it: it
/// refuses commands that are not numbers, limits the others, and stops a robot whose programs are
/// silent. It counts each of these cases.
class CommandGuard {
 public:
  explicit CommandGuard(const CommandLimits& limits = {}) : limits_(limits) {}

  /// The motion that the robot shall follow. Nothing if the command is refused.
  [[nodiscard]] std::optional<Motion> check(const Motion& command, Time now);
  /// The instant at which the robot stops unless a command comes before. kNever: no command holds.
  [[nodiscard]] Time deadline() const { return deadline_; }
  /// True if the deadline has come. The caller then stops the robot. Counted once.
  [[nodiscard]] bool expire(Time now);

  struct Counts {
    std::uint64_t refused = 0;  ///< not finite, or beyond every robot
    std::uint64_t limited = 0;
    std::uint64_t stopped = 0;  ///< by the time limit
    Time first;                 ///< of the commands limited and of the stops
    std::string first_case{};   ///< a description of it
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// Adds the limited commands and the stops to the report of `robot`.
  void add_to(std::map<NodeId, InPart>& in_part, NodeId robot) const;

 private:
  void note(Time now, const std::string& text);

  CommandLimits limits_;
  Time deadline_ = kNever;
  Counts counts_;
};

}  // namespace hyphos::cosim
