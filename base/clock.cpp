#include "hyphos/clock.hpp"

#include "base/clock_core.hpp"
#include "hyphos/result.hpp"

namespace hyphos {

std::string_view to_string(ClockMode value) { return value == ClockMode::sim ? "sim" : "real"; }

Time Clock::now() const { return core_->now(); }
Time Clock::base() const { return core_->base(); }
Duration Clock::elapsed() const { return core_->elapsed(); }
ClockMode Clock::mode() const { return core_->mode(); }
bool Clock::ready() const { return core_->ready(); }
bool Clock::paused() const { return core_->paused(); }
double Clock::speed() const { return core_->speed(); }
std::uint64_t Clock::jumps() const { return core_->jumps(); }
bool Clock::sleep_until(Time time) const { return core_->sleep_until(time, {}, ended()); }
bool Clock::sleep_for(Duration span) const { return core_->sleep_for(span, {}, ended()); }
bool Clock::sleep_until(Time time, const GiveUp& give_up) const {
  return core_->sleep_until(time, give_up, ended());
}
bool Clock::sleep_for(Duration span, const GiveUp& give_up) const {
  return core_->sleep_for(span, give_up, ended());
}

Rate::Rate(Clock clock, Duration period) : clock_(std::move(clock)), period_(period) {
  if (period.ns <= 0) {
    throw Exception({Code::invalid_config, "a rate's period must be positive", "Rate"});
  }
  jumps_ = clock_.core()->steady_jumps();
  next_ns_ = clock_.core()->steady_ns() + period.ns;
}

bool Rate::sleep(const Clock::GiveUp& give_up) {
  detail::ClockCore& core = *clock_.core();
  const std::atomic<bool>* ended = clock_.ended();
  while (!core.stopped() && !(ended != nullptr && *ended)) {
    // Read in this order: a jump in between is detected in the next iteration.
    const std::uint64_t jumps = core.steady_jumps();
    const std::int64_t now = core.steady_ns();
    if (jumps != jumps_) {
      jumps_ = jumps;
      next_ns_ = now + period_.ns;
    }
    if (core.ready() && next_ns_ <= now) {
      const std::int64_t passed = (now - next_ns_) / period_.ns;
      const std::int64_t kept = core.mode() == ClockMode::sim ? detail::kMaxBehind : 0;
      const std::int64_t left_out = passed > kept ? passed - kept : 0;
      skipped_ += static_cast<std::uint64_t>(left_out);
      next_ns_ += (left_out + 1) * period_.ns;
      return true;
    }
    // The loop conditions above determine why the sleep ended.
    (void)core.sleep_until_steady(next_ns_, jumps, give_up, ended);
    if (give_up && give_up()) return false;
  }
  return false;
}

}  // namespace hyphos
