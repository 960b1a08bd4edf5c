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

/// The source of a process's time: `clock:` in the plan.
enum class ClockMode : std::uint8_t {
  real,  ///< the wall clock of the machine
  sim,   ///< the channel `clock`, published by a simulator or a replay
};
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(ClockMode value);

/// A discontinuity of the time: the wall clock was stepped, a simulation restarted, or a replay was
/// moved to another position. The first message of a simulated time is a jump from 0.
struct ClockJump {
  Time before;
  Time after;

  [[nodiscard]] Duration delta() const { return after - before; }
};

namespace detail {
class ClockCore;
}

/// The time of a robot, shared by all nodes of a process: real, simulated or replayed as the plan
/// sets it. Node code is the same for all three. As in the time system of HyperGraph ROS, there is
/// a base time, set once at the start, and a time relative to it.
///
/// Cheap to copy. All functions are thread-safe. Use now() for the contents of messages, for
/// transforms and for the robot's logic. Stamps of messages and latencies use monotonic_now() in
/// every mode, because transports are not simulated. Cost: monotonic_now() and one atomic load in
/// real mode, one atomic load in simulated mode. No function allocates. Only sleep_*() blocks. A
/// Clock may outlive its Runtime: real time then continues, and simulated time stops.
class HYPHOS_EXPORT Clock {
 public:
  /// Nanoseconds since 1970 UTC in real mode. In simulated mode, nanoseconds since the simulator's
  /// origin, and 0 until the first message of the channel has arrived (see ready()).
  [[nodiscard]] Time now() const;
  /// The start of this robot's time. In real mode this is the instant that `hyphos run` passed to
  /// all processes, or else the start of this process. In simulated mode the simulator sets it, the
  /// same for all processes.
  [[nodiscard]] Time base() const;
  /// The time since base(). In real mode it never jumps, even if the wall clock is set.
  [[nodiscard]] Duration elapsed() const;

  [[nodiscard]] ClockMode mode() const;
  /// False in simulated mode until the first message has arrived.
  [[nodiscard]] bool ready() const;
  /// True if simulated time is stopped until it is resumed or stepped.
  [[nodiscard]] bool paused() const;
  /// Seconds of this time per real second. 1 in real mode, 0 if the simulator does not publish it.
  [[nodiscard]] double speed() const;
  /// Counts jumps. A loop that keeps state over time compares this number to detect a jump.
  [[nodiscard]] std::uint64_t jumps() const;

  /// Blocks until now() >= `time` and returns true. Returns false if the sleep ended early: the
  /// process is shutting down, the node of this clock was closed, or the time jumped back.
  bool sleep_until(Time time) const;
  /// Sleeps for `span`. In real mode the monotonic clock measures it.
  bool sleep_for(Duration span) const;
  /// Variants for host languages that must handle signals while they sleep. `give_up` is called
  /// every 50 ms of real time. The sleep ends once it returns true.
  using GiveUp = std::function<bool()>;
  bool sleep_until(Time time, const GiveUp& give_up) const;
  bool sleep_for(Duration span, const GiveUp& give_up) const;

  /// `ended`, if given, ends every sleep through this clock once it is true. A node passes the flag
  /// that it sets when it is closed.
  explicit Clock(std::shared_ptr<detail::ClockCore> core,
                 std::shared_ptr<const std::atomic<bool>> ended = nullptr)
      : core_(std::move(core)), ended_(std::move(ended)) {}
  [[nodiscard]] const std::shared_ptr<detail::ClockCore>& core() const { return core_; }
  [[nodiscard]] const std::atomic<bool>* ended() const { return ended_.get(); }

 private:
  std::shared_ptr<detail::ClockCore> core_;
  std::shared_ptr<const std::atomic<bool>> ended_;
};

/// A loop with a fixed period on a Clock, for threads that the program owns. Nodes use every()
/// instead.
///
///     hyphos::Rate rate(node.clock(), hyphos::Duration::from_ms(10));
///     while (rate.sleep()) work();
///
/// The instants do not drift. In real mode, instants that pass while the loop works are skipped and
/// counted. In simulated mode the loop catches up on them. A jump starts a new series of instants.
/// Not thread-safe: use one Rate per thread.
class HYPHOS_EXPORT Rate {
 public:
  /// Throws invalid_config if the period is not positive.
  Rate(Clock clock, Duration period);
  /// Waits for the next instant. Returns false once the process is shutting down or the node is
  /// closed.
  bool sleep() { return sleep({}); }
  /// Also returns false once `give_up` returns true (see Clock).
  bool sleep(const Clock::GiveUp& give_up);
  /// Number of skipped instants.
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
