#include "base/clock_core.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/log.hpp"

namespace hyphos::detail {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kAskNs = 50'000'000;

std::chrono::steady_clock::time_point steady_point(std::int64_t ns) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
}

}  // namespace

std::int64_t measure_wall_offset() {
  std::int64_t offset = 0;
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 5; ++i) {
    const std::int64_t before = monotonic_now().ns;
    const std::int64_t wall = wall_now().ns;
    const std::int64_t after = monotonic_now().ns;
    if (after - before >= best) continue;
    best = after - before;
    offset = wall - before - best / 2;
  }
  return offset;
}

ClockCore::ClockCore(ClockMode mode, std::int64_t base_ns)
    : mode_(mode), ready_(mode == ClockMode::real) {
  if (mode == ClockMode::sim) return;
  const std::int64_t offset = measure_wall_offset();
  offset_ns_ = offset;
  base_ns_ = base_ns != 0 ? base_ns : monotonic_now().ns + offset;
  base_steady_ns_ = base_ns_ - offset;
}

Duration ClockCore::elapsed() const {
  if (mode_ == ClockMode::real) return {monotonic_now().ns - base_steady_ns_};
  if (!ready()) return {};
  return now() - base();
}

/// With two simulators the time would jump back and forth, so only the one that started last is
/// followed.
bool ClockCore::is_stale(const ClockTick& tick) const { return ready() && tick.source < source_; }

bool ClockCore::apply(const ClockTick& tick) {
  const MutexLock turn(turn_);
  if (is_stale(tick)) {
    if (ignored_++ == 0) {
      log::warn("clock",
                "two programs publish the time of this robot: the one that was started "
                "first is no longer followed. Stop it");
    }
    return false;
  }
  const std::int64_t before = now_ns_.load(std::memory_order_relaxed);
  const bool first = !ready();
  const bool jumped =
      first || tick.source != source_ || tick.jumps != epoch_ || tick.now_ns < before;
  if (tick.source != source_) ignored_ = 0;
  source_ = tick.source;
  epoch_ = tick.jumps;
  {
    const MutexLock lock(mutex_);
    if (tick.base_ns >= 0) {
      base_ns_.store(tick.base_ns, std::memory_order_release);
    } else if (jumped) {
      base_ns_.store(tick.now_ns, std::memory_order_release);
    }
    speed_.store(tick.speed, std::memory_order_release);
    paused_.store(tick.paused, std::memory_order_release);
    origin_.store(tick.origin, std::memory_order_relaxed);
    now_ns_.store(tick.now_ns, std::memory_order_release);
    if (jumped) {
      jumps_.fetch_add(1, std::memory_order_acq_rel);
      if (!first && tick.now_ns < before) ++back_;
    }
    ready_.store(true, std::memory_order_release);
  }
  changed_.notify_all();
  if (jumped) {
    tell(ClockJump{{before}, {tick.now_ns}});
  } else {
    tell(std::nullopt);
  }
  return true;
}

void ClockCore::set_wall_offset(std::int64_t offset_ns) {
  const MutexLock turn(turn_);
  const std::int64_t steady = monotonic_now().ns;
  const std::int64_t old = offset_ns_.load(std::memory_order_relaxed);
  {
    const MutexLock lock(mutex_);
    offset_ns_.store(offset_ns, std::memory_order_relaxed);
    jumps_.fetch_add(1, std::memory_order_acq_rel);
    if (offset_ns < old) ++back_;
  }
  changed_.notify_all();
  tell(ClockJump{{steady + old}, {steady + offset_ns}});
}

void ClockCore::tell(const std::optional<ClockJump>& jump) {
  if (follower_) follower_(jump);
}

void ClockCore::follow(Follower follower) {
  const MutexLock turn(turn_);
  follower_ = std::move(follower);
}

/// `deadline()`: when to check again even without a change, on the monotonic clock. kNever if only
/// a tick can end the sleep. `reached` and `lost` are called under the lock.
template <typename Reached, typename Lost, typename Deadline>
bool ClockCore::sleep(const GiveUp& give_up, Ended ended, Reached reached, Lost lost,
                      Deadline deadline) {
  UniqueLock lock(mutex_);
  const auto over = [&]() HYPHOS_REQUIRES(mutex_) {
    return stopped_ || (ended != nullptr && *ended) || lost();
  };
  while (!over()) {
    if (ready() && reached()) return true;
    std::int64_t wake = mode_ == ClockMode::sim ? kNever : deadline();
    if (give_up) {
      lock.unlock();
      if (give_up()) return false;
      lock.lock();
      if (over() || (ready() && reached())) continue;
      wake = std::min(wake, monotonic_now().ns + kAskNs);
    }
    if (wake == kNever) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, steady_point(wake));
    }
  }
  return false;
}

bool ClockCore::sleep_until(Time time, const GiveUp& give_up, Ended ended) {
  std::optional<std::uint64_t> back;
  return sleep(
      give_up, ended, [&] { return now() >= time; },
      [&]() HYPHOS_REQUIRES(mutex_) {
        if (!back) back = back_;
        return back_ != *back;
      },
      [&] { return time.ns - offset_ns_.load(std::memory_order_relaxed); });
}

bool ClockCore::sleep_for(Duration span, const GiveUp& give_up, Ended ended) {
  if (mode_ == ClockMode::real)
    return sleep_until_steady((monotonic_now() + span).ns, 0, give_up, ended);
  std::optional<std::uint64_t> back;
  std::optional<std::int64_t> until;  // known once the first time has arrived
  return sleep(
      give_up, ended,
      [&] {
        if (!until) until = (now() + span).ns;
        return now().ns >= *until;
      },
      [&]() HYPHOS_REQUIRES(mutex_) {
        if (!back) back = back_;
        return back_ != *back;
      },
      [] { return kNever; });
}

bool ClockCore::sleep_until_steady(std::int64_t steady_ns, std::uint64_t jumps,
                                   const GiveUp& give_up, Ended ended) {
  return sleep(
      give_up, ended, [&] { return this->steady_ns() >= steady_ns; },
      [&] { return steady_jumps() != jumps; }, [&] { return steady_ns; });
}

void ClockCore::stop() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

void ClockCore::wake() {
  // The lock ensures that a thread about to wait does not miss the notification.
  const MutexLock lock(mutex_);
  changed_.notify_all();
}

bool ClockCore::stopped() const {
  const MutexLock lock(mutex_);
  return stopped_;
}

}  // namespace hyphos::detail
