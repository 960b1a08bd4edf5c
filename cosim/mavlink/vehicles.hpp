#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cosim/core/engine.hpp"
#include "cosim/core/simulator.hpp"
#include "cosim/mavlink/link.hpp"
#include "cosim/mavlink/vehicle.hpp"

namespace hyphos::cosim::mavlink {

struct Options {
  Autopilot autopilot = Autopilot::px4;
  std::uint8_t system = 1;
  std::string remote = "127.0.0.1:14550";
  std::uint16_t port = 0;  ///< local UDP port. 0: any
};

/// The MAVLink vehicles of a run with their sockets. They steer their robots 50 times in each
/// simulated second, and never wait. Threads: one.
class Vehicles {
 public:
  /// `vehicles` by node. Errors: those of Link::open().
  [[nodiscard]] static Result<Vehicles> open(const std::vector<std::optional<Options>>& vehicles);

  /// The next instant at which they have something to do.
  [[nodiscard]] Time next() const { return flying_.empty() ? kNever : due_; }
  /// Reads the messages that have come, steers, and reports, if they are due.
  using Steer = std::function<void(NodeId, const Motion&)>;
  void step(Time now, std::span<const Pose> poses, const Steer& steer);

  /// The same at the end of a window of a real-time run, without an engine. Errors: those of
  /// Physics::steer().
  [[nodiscard]] Result<void> window(Time now, Physics& physics);
  /// Of window(): the commands to physics, and those that a robot followed in part.
  [[nodiscard]] std::uint64_t motions() const { return motions_; }
  [[nodiscard]] const std::map<NodeId, InPart>& in_part() const { return in_part_; }

 private:
  struct Flying {
    NodeId node = 0;
    Vehicle vehicle;
    Link link;
    std::uint8_t sequence = 0;
    Ignored ignored{};
  };

  std::vector<Flying> flying_;
  Time due_{};
  std::uint64_t motions_ = 0;
  std::map<NodeId, InPart> in_part_;
};

}  // namespace hyphos::cosim::mavlink
