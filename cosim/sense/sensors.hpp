#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/core/packet.hpp"
#include "hyphos/codec.hpp"

/// The sensors of simulated robots, as messages on channels of their programs.
namespace hyphos::cosim {

/// A channel of a sensor, and its message type.
struct SensorChannel {
  std::string name;
  TypeId type;
  bool latched = false;  ///< the first message is the only one, and late subscribers get it
  bool needed = false;   ///< without a subscriber the scenario is wrong
};

/// "scan=hyphos.msgs.LaserScan", or with ",attached" and ",latched", as an option of a program.
[[nodiscard]] std::string to_word(const SensorChannel& channel);
/// Errors: invalid_config.
[[nodiscard]] Result<SensorChannel> sensor_of(std::string_view word);

/// One measurement: an encoded message, and its attached buffers (the pixels of an image).
struct Reading {
  std::uint32_t sensor = 0;  ///< index in Sensors::channels()
  Buffer message;
  std::vector<Buffer> attached{};
};

/// The sensors of all robots. A reading is taken at an instant of the physics grid, from the poses
/// at this instant, so the same run has the same readings. Threads: one.
class Sensors {
 public:
  Sensors() = default;
  Sensors(const Sensors&) = delete;
  Sensors& operator=(const Sensors&) = delete;
  virtual ~Sensors() = default;

  /// The channels of the sensors of a robot. The list never changes.
  [[nodiscard]] virtual std::vector<SensorChannel> channels(NodeId robot) const = 0;
  /// Takes no readings for a channel without a subscriber, so that they cost nothing.
  virtual void leave_out(NodeId robot, std::uint32_t sensor) = 0;
  /// The next instant at which a sensor of the robot has a reading. kNever: it has no sensor.
  [[nodiscard]] virtual Time next(NodeId robot) const = 0;
  /// Appends the readings of the robot due at or before `now`, one for each sensor. Later calls
  /// must not go back in time. Errors: those of the simulator.
  [[nodiscard]] virtual Result<void> read(NodeId robot, Time now, std::span<const Pose> poses,
                                          std::vector<Reading>& readings) = 0;
};

}  // namespace hyphos::cosim
