#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/mutex.hpp"
#include "hyphos/clock.hpp"
#include "hyphos/time.hpp"

namespace hyphos {

/// A message of the channel `clock`, see proto/hyphos/msgs/clock.proto.
struct ClockTick {
  enum class Origin : std::uint8_t { simulated, replayed };

  std::int64_t now_ns = 0;
  std::int64_t base_ns = -1;  ///< -1: not sent
  double speed = 0;
  bool paused = false;
  std::uint64_t source = 0;
  std::uint64_t jumps = 0;
  Origin origin = Origin::simulated;
  std::uint64_t last_command = 0;
  std::string refusal;
};

namespace detail {

/// Maximum lag of simulated work in instants. Beyond it, instants are skipped and counted.
inline constexpr std::int64_t kMaxBehind = 1000;

/// The state behind every Clock of a process.
///
/// It has two time lines. `now` is the time that users see. `steady` drives timers and rates. In
/// real mode `steady` is the monotonic clock, because setting the wall clock must not stop a
/// control loop. In simulated mode it is the same as `now`.
/// Invariants: (1) `turn_` orders ticks and settings of the wall clock, so that followers see them
/// one at a time and in order. (2) The condition of a sleeper changes under `mutex_` only.
class ClockCore {
 public:
  /// `base_ns` 0: real time begins now. Ignored in simulated mode.
  explicit ClockCore(ClockMode mode, std::int64_t base_ns = 0);
  ClockCore(const ClockCore&) = delete;
  ClockCore& operator=(const ClockCore&) = delete;

  [[nodiscard]] ClockMode mode() const { return mode_; }
  [[nodiscard]] Time now() const {
    if (mode_ == ClockMode::sim) return {now_ns_.load(std::memory_order_acquire)};
    return {monotonic_now().ns + offset_ns_.load(std::memory_order_relaxed)};
  }
  [[nodiscard]] std::int64_t steady_ns() const {
    return mode_ == ClockMode::sim ? now_ns_.load(std::memory_order_acquire) : monotonic_now().ns;
  }
  [[nodiscard]] Time base() const { return {base_ns_.load(std::memory_order_acquire)}; }
  [[nodiscard]] Duration elapsed() const;
  [[nodiscard]] bool ready() const { return ready_.load(std::memory_order_acquire); }
  [[nodiscard]] bool paused() const { return paused_.load(std::memory_order_acquire); }
  [[nodiscard]] double speed() const { return speed_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t jumps() const { return jumps_.load(std::memory_order_acquire); }
  /// Jumps of the steady time line only: none in real mode.
  [[nodiscard]] std::uint64_t steady_jumps() const { return mode_ == ClockMode::sim ? jumps() : 0; }
  [[nodiscard]] ClockTick::Origin origin() const { return origin_.load(std::memory_order_relaxed); }

  /// Applies a tick. Returns false if its source is not, or no longer, followed.
  bool apply(const ClockTick& tick);
  /// Sets the offset of the wall clock from the monotonic clock. Real mode only.
  void set_wall_offset(std::int64_t offset_ns);

  /// Empty, or called every 50 ms without a lock. Returning true ends the sleep.
  using GiveUp = Clock::GiveUp;
  /// Null, or a flag. The sleep ends when the flag is true and wake() was called.
  using Ended = const std::atomic<bool>*;
  bool sleep_until(Time time, const GiveUp& give_up = {}, Ended ended = nullptr);
  bool sleep_for(Duration span, const GiveUp& give_up = {}, Ended ended = nullptr);
  /// Returns false if stopped, or if the steady time line has jumped since steady_jumps() was
  /// `jumps`.
  bool sleep_until_steady(std::int64_t steady_ns, std::uint64_t jumps, const GiveUp& give_up = {},
                          Ended ended = nullptr);
  /// Makes every sleeper check whether its sleep has ended.
  void wake();
  /// Ends all present and future sleeps, because the process is shutting down.
  void stop();
  [[nodiscard]] bool stopped() const;

  /// Called after every tick and every setting of the wall clock, in the receiving thread. `jump`
  /// is set if the time jumped. Calls may continue until `follow(nullptr)` has returned.
  using Follower = std::function<void(const std::optional<ClockJump>& jump)>;
  void follow(Follower follower);

 private:
  template <typename Reached, typename Lost, typename Deadline>
  bool sleep(const GiveUp& give_up, Ended ended, Reached reached, Lost lost, Deadline deadline);
  [[nodiscard]] bool is_stale(const ClockTick& tick) const HYPHOS_REQUIRES(turn_);
  void tell(const std::optional<ClockJump>& jump) HYPHOS_REQUIRES(turn_);

  const ClockMode mode_;
  std::atomic<std::int64_t> offset_ns_{0};  // wall − monotonic
  std::int64_t base_steady_ns_ = 0;         // real mode: base on the monotonic clock
  std::atomic<std::int64_t> now_ns_{0};
  std::atomic<std::int64_t> base_ns_{0};
  std::atomic<double> speed_{1};
  std::atomic<bool> paused_{false};
  std::atomic<bool> ready_;
  std::atomic<std::uint64_t> jumps_{0};
  std::atomic<ClockTick::Origin> origin_{ClockTick::Origin::simulated};

  Mutex turn_ HYPHOS_ACQUIRED_BEFORE(mutex_);
  Follower follower_ HYPHOS_GUARDED_BY(turn_);
  std::uint64_t source_ HYPHOS_GUARDED_BY(turn_) = 0;   // of the last tick
  std::uint64_t epoch_ HYPHOS_GUARDED_BY(turn_) = 0;    // ClockTick::jumps of the last tick
  std::uint64_t ignored_ HYPHOS_GUARDED_BY(turn_) = 0;  // consecutive ticks of other sources

  mutable Mutex mutex_;
  Condition changed_;
  std::uint64_t back_ HYPHOS_GUARDED_BY(mutex_) = 0;  // jumps back
  bool stopped_ HYPHOS_GUARDED_BY(mutex_) = false;
};

/// Realtime − monotonic clock. The measurement excludes preemption between the two readings.
[[nodiscard]] std::int64_t measure_wall_offset();

}  // namespace detail
}  // namespace hyphos
