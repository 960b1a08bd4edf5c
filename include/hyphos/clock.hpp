#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "hyphos/export.hpp"
#include "hyphos/time.hpp"

namespace hyphos {

/// Where a process has its time from: `clock:` in the plan.
enum class ClockMode : std::uint8_t {
  real,  ///< the wall clock of the machine
  sim,   ///< the channel `clock`: a simulator or a replay makes the time
};
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(ClockMode value);

/// The time was set instead of running on: the wall clock was stepped, a simulation began again, a
/// replay was wound. The first message of a simulated time is a jump from 0.
struct ClockJump {
  Time before;
  Time after;

  [[nodiscard]] Duration delta() const { return after - before; }
};

namespace detail {
class ClockCore;
}

/// The time of a robot, one for all nodes of a process: real, simulated or replayed as the plan
/// says; node code is the same. As in the time system of HyperGraph ROS there is a base time, set
/// once at the start, and time relative to it.
///
/// Cheap to copy; all functions are thread-safe. now() is for the contents of messages, for
/// transforms and for whatever the robot reasons about; stamps of messages and latencies are
/// monotonic_now() whatever the mode, since a transport is not simulated. Cost: in real mode
/// monotonic_now() and one atomic load, in simulated mode one atomic load; nothing allocates. Only
/// sleep_*() blocks. Outlives its Runtime: real time then goes on, simulated time stands.
class HYPHOS_EXPORT Clock {
 public:
  /// Nanoseconds since 1970 UTC in real mode; whatever the simulator counts from in simulated mode,
  /// and 0 there until the first message of the channel has come (see ready()).
  [[nodiscard]] Time now() const;
  /// When the time of this robot began: what `hyphos run` gave all processes, or else the start of
  /// this process; in simulated mode what the simulator says, the same in all processes.
  [[nodiscard]] Time base() const;
  /// The time since base(). In real mode it never jumps, even if the wall clock is set.
  [[nodiscard]] Duration elapsed() const;

  [[nodiscard]] ClockMode mode() const;
  /// False in simulated mode until the first message has come.
  [[nodiscard]] bool ready() const;
  /// Simulated time that stands until somebody resumes or steps it.
  [[nodiscard]] bool paused() const;
  /// Seconds of this time in one real second; 1 in real mode, 0 if a simulator does not tell.
  [[nodiscard]] double speed() const;
  /// Counts jumps. A loop that keeps state over time compares it.
  [[nodiscard]] std::uint64_t jumps() const;

  /// Blocks until now() >= `time`. False if it ended for another reason: the process is asked to
  /// stop, the node whose clock this is was closed, or the time has jumped back.
  bool sleep_until(Time time) const;
  /// The same for a span, which in real mode is measured with the monotonic clock.
  bool sleep_for(Duration span) const;
  /// The same for hosts of other languages, whose signals must be looked after: `give_up` is asked
  /// every 50 ms of real time, and ends the sleep if it says true.
  using GiveUp = std::function<bool()>;
  bool sleep_until(Time time, const GiveUp& give_up) const;
  bool sleep_for(Duration span, const GiveUp& give_up) const;

  /// `ended`, if given, ends every sleep through this clock once it is true: that of a node which
  /// has been closed.
  explicit Clock(std::shared_ptr<detail::ClockCore> core,
                 std::shared_ptr<const std::atomic<bool>> ended = nullptr)
      : core_(std::move(core)), ended_(std::move(ended)) {}
  [[nodiscard]] const std::shared_ptr<detail::ClockCore>& core() const { return core_; }
  [[nodiscard]] const std::atomic<bool>* ended() const { return ended_.get(); }

 private:
  std::shared_ptr<detail::ClockCore> core_;
  std::shared_ptr<const std::atomic<bool>> ended_;
};

/// A loop with a fixed period on a Clock, for threads of the program's own (nodes use every()).
///
///     hyphos::Rate rate(node.clock(), hyphos::Duration::from_ms(10));
///     while (rate.sleep()) work();
///
/// The grid of instants does not drift. In real mode, instants that passed while the loop worked
/// are left out and counted, in simulated mode they are made up for; a jump begins a new grid. For
/// one thread.
class HYPHOS_EXPORT Rate {
 public:
  /// Throws invalid_config if the period is not positive.
  Rate(Clock clock, Duration period);
  /// Waits for the next instant. False once the process is asked to stop, or the node is closed.
  bool sleep() { return sleep({}); }
  /// False as well if `give_up` says true; see Clock.
  bool sleep(const Clock::GiveUp& give_up);
  /// Instants that were left out.
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
  [[nodiscard]] Duration period() const { return period_; }

 private:
  Clock clock_;
  Duration period_;
  std::int64_t next_ns_;
  std::uint64_t jumps_;
  std::uint64_t skipped_ = 0;
};

}  // namespace hyphos
