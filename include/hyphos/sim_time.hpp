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

struct SimTimeOptions {
  /// Where it begins; absent: now, Unix time. Not negative.
  std::optional<Time> start = {};
  /// Seconds of simulated time in one real second, above 0, at most 1000; absent: the plan's, or 1.
  std::optional<double> speed = {};
  /// Simulated time from one message to the next, at least 1 us. At most 1000 messages are sent in
  /// one real second: beyond that each brings the time on by more.
  Duration tick = Duration::from_ms(1);
  bool paused = false;  ///< begin so
  /// The time goes on by advance() alone: a simulator with a step of its own calls it.
  bool manual = false;
  bool replayed = false;  ///< the times are those of a recording
  std::string channel;    ///< empty: the plan's, or "clock"
};

/// Makes the simulated time of a robot: publishes it on the channel `clock`, latched, to all
/// processes whose `clock` is `sim`, and obeys `hyphos time pause | resume | step | speed | jump`.
///
/// All functions are thread-safe. Unless `manual`, a thread of its own lets the time run, and sends
/// nothing while it is paused. Each function returns once the new time is published; that all
/// processes have taken it, nobody knows. Destroying it leaves the last time standing. A robot has
/// one such object: of two, all processes follow the one that was started last, and say so.
class HYPHOS_EXPORT SimTime {
 public:
  /// Errors: invalid_config for options that cannot be, and what opening channels may give.
  static Result<SimTime> open(const Node& node, SimTimeOptions options = {});
  SimTime(SimTime&&) noexcept;
  SimTime& operator=(SimTime&&) noexcept;
  ~SimTime();

  void pause();
  void resume();
  /// One message that brings the time on by `span`, when paused or manual; else invalid_config.
  Result<void> step(Duration span);
  /// The same for simulators that make their own steps; with nothing to do while paused, it waits
  /// until resume(), step() or stop. False: the process is asked to stop.
  bool advance(Duration span);
  /// The same; false as well if `give_up`, which is asked while it waits, says true.
  bool advance(Duration span, const Clock::GiveUp& give_up);
  Result<void> set_speed(double speed);
  /// Sets the time: timers begin anew, Node::on_clock_jump() tells.
  Result<void> jump(Time time);

  [[nodiscard]] Time now() const;
  [[nodiscard]] Time base() const;
  [[nodiscard]] bool paused() const;
  [[nodiscard]] double speed() const;

  class Impl;

 private:
  explicit SimTime(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyphos
