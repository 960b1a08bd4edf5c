#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "hyphos/clock.hpp"
#include "hyphos/export.hpp"
#include "hyphos/node.hpp"
#include "hyphos/result.hpp"

namespace hyphos {

/// Options of SimTime::open().
struct SimTimeOptions {
  /// Start time, not negative. Absent: the present Unix time.
  std::optional<Time> start = {};
  /// Simulated seconds per real second, above 0 and at most 1000. Absent: the plan's value, or 1.
  std::optional<double> speed = {};
  /// Simulated time between two messages, at least 1 us. At most 1000 messages are sent per real
  /// second. At higher speeds each message advances the time by more than one tick.
  Duration tick = Duration::from_ms(1);
  bool paused = false;  ///< start in the paused state
  /// The time advances by advance() only. For simulators that have their own step.
  bool manual = false;
  bool replayed = false;  ///< the times come from a recording
  std::string channel;    ///< empty: the plan's channel, or "clock"
};

/// The source of a robot's simulated time. It publishes the time on the latched channel `clock` to
/// all processes whose `clock` is `sim`, and obeys `hyphos time pause | resume | step | speed |
/// jump`.
///
/// All functions are thread-safe. Unless `manual` is set, an own thread advances the time and sends
/// nothing while the time is paused. Each function returns once the new time is published. It does
/// not wait until all processes have received it. After destruction the last time remains valid and
/// stands still. A robot has one such object. If there are two, all processes follow the one that
/// started last, and log a warning.
class HYPHOS_EXPORT SimTime {
 public:
  /// Errors: invalid_config for invalid options, and the errors of opening channels.
  static Result<SimTime> open(const Node& node, SimTimeOptions options = {});
  SimTime(SimTime&&) noexcept;
  SimTime& operator=(SimTime&&) noexcept;
  ~SimTime();

  /// Stops the time until resume(). No effect if it is paused.
  void pause();
  /// Continues a paused time at the same instant.
  void resume();
  /// Publishes one message that advances the time by `span`. Errors: invalid_config unless the time
  /// is paused or manual.
  Result<void> step(Duration span);
  /// Advances the time by `span`, for simulators with their own steps. While the time is paused it
  /// blocks until resume(), step() or shutdown. Returns false if the process is shutting down.
  bool advance(Duration span);
  /// Also returns false once `give_up` returns true. It is called while advance() waits.
  bool advance(Duration span, const Clock::GiveUp& give_up);
  /// Sets the simulated seconds per real second. Errors: invalid_config unless above 0 and at most
  /// 1000.
  Result<void> set_speed(double speed);
  /// Sets the time. Timers restart, and Node::on_clock_jump() callbacks run. Errors: invalid_config
  /// for a negative time.
  Result<void> jump(Time time);

  /// The time that was published last.
  [[nodiscard]] Time now() const;
  /// The start of the robot's time, see Clock::base().
  [[nodiscard]] Time base() const;
  [[nodiscard]] bool paused() const;
  [[nodiscard]] double speed() const;

  class Impl;

 private:
  explicit SimTime(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyphos
