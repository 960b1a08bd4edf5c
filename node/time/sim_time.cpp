#include "hyphos/sim_time.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "base/clock_core.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "hyphos/plan.hpp"
#include "node/runtime/runtime_impl.hpp"
#include "wire/clock_tick.hpp"

namespace hyphos {
namespace {

constexpr std::int64_t kLeastTickNs = 1'000;
constexpr std::chrono::milliseconds kLook{50};
constexpr std::int64_t kLeastRealNs = 1'000'000;  // between two messages

Error refuse(std::string message) { return {Code::invalid_config, std::move(message), "SimTime"}; }

Result<void> check_speed(double speed) {
  if (std::isfinite(speed) && speed > 0 && speed <= wire::kMaxSpeed) return success();
  char found[32];
  std::snprintf(found, sizeof found, "%g", speed);
  return refuse(std::string("the speed must be above 0 and at most 1000, not ") + found +
                ". To stop the time, pause it");
}

std::chrono::steady_clock::time_point steady_point(std::int64_t ns) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
}

}  // namespace

/// Invariants, under `mutex_`: (1) the messages are published in the order of the changes of state_
/// and equal state_. (2) while the time runs by itself, state_.now_ns = anchor_now_ + k * tick for
/// the k-th tick since anchor_real_, so that rounding errors never accumulate.
class SimTime::Impl {
 public:
  Impl(const Node& node, const SimTimeOptions& options, std::string channel)
      : options_(options), node_(node), channel_(std::move(channel)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    {
      const MutexLock lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    commands_.close();
    if (thread_.joinable()) thread_.join();
  }

  Result<void> start(double speed);
  void set_paused(bool paused);
  Result<void> step(Duration span);
  bool advance(Duration span, const Clock::GiveUp& give_up);
  Result<void> set_speed(double speed);
  Result<void> jump(Time time);
  ClockTick state() const {
    const MutexLock lock(mutex_);
    return state_;
  }

 private:
  Result<void> obey(const wire::ClockCommand& command);
  void handle(const Message<RawMessage>& message);
  void publish(const RawPublisher& to) const HYPHOS_REQUIRES(mutex_);
  void anchor() HYPHOS_REQUIRES(mutex_);
  void run();
  [[nodiscard]] bool stopping() const HYPHOS_REQUIRES(mutex_) {
    return ending_ || node_.runtime().stopping();
  }

  const SimTimeOptions options_;
  const Node node_;
  const std::string channel_;
  RawPublisher ticks_;
  RawPublisher answers_;
  Subscription commands_;
  log::OncePerSecond bad_log_;

  mutable Mutex mutex_;
  Condition changed_;
  ClockTick state_ HYPHOS_GUARDED_BY(mutex_);
  std::int64_t anchor_now_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::int64_t anchor_real_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::int64_t done_ HYPHOS_GUARDED_BY(mutex_) = 0;  // ticks since the anchor
  // Manual and paused: the remaining span for advance().
  std::int64_t granted_ HYPHOS_GUARDED_BY(mutex_) = 0;
  bool ending_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

Result<void> SimTime::Impl::start(double speed) {
  {
    const MutexLock lock(mutex_);
    state_.now_ns = options_.start ? options_.start->ns : wall_now().ns;
    state_.base_ns = state_.now_ns;
    state_.speed = speed;
    state_.paused = options_.paused;
    state_.source = static_cast<std::uint64_t>(wall_now().ns);
    state_.origin = options_.replayed ? ClockTick::Origin::replayed : ClockTick::Origin::simulated;
  }
  Policy latched;
  latched.latched = true;
  auto ticks = node_.raw_publisher(channel_, wire::clock_type(), {Scope::network, latched});
  if (!ticks) return ticks.error();
  ticks_ = std::move(*ticks);
  auto answers =
      node_.raw_publisher(channel_ + "/answer", wire::clock_type(), {Scope::network, latched});
  if (!answers) return answers.error();
  answers_ = std::move(*answers);
  {
    const MutexLock lock(mutex_);
    anchor();
    publish(ticks_);
    publish(answers_);
  }
  SubscriptionOptions serial_reliable;
  serial_reliable.policy = reliable_policy();
  auto commands =
      node_.raw_subscribe(channel_ + "/control", wire::command_type(), serial_reliable,
                          [this](const Message<RawMessage>& message) { handle(message); });
  if (!commands) return commands.error();
  commands_ = std::move(*commands);
  if (!options_.manual) thread_ = std::thread([this] { run(); });
  return success();
}

void SimTime::Impl::publish(const RawPublisher& to) const {
  const std::string bytes = wire::encode_clock(state_);
  to.publish(Buffer::copy_of(std::as_bytes(std::span(bytes))));
}

void SimTime::Impl::anchor() {
  anchor_now_ = state_.now_ns;
  anchor_real_ = monotonic_now().ns;
  done_ = 0;
}

void SimTime::Impl::run() {
  UniqueLock lock(mutex_);
  std::int64_t last_real = 0;
  while (!ending_) {
    if (state_.paused) {
      changed_.wait(lock);
      continue;
    }
    const double real_tick = static_cast<double>(options_.tick.ns) / state_.speed;
    const std::int64_t due =
        anchor_real_ + std::llround(real_tick * static_cast<double>(done_ + 1));
    const std::int64_t wake = std::max(due, last_real + kLeastRealNs);
    const std::int64_t real = monotonic_now().ns;
    if (real < wake) {
      changed_.wait_until(lock, steady_point(wake));
      continue;
    }
    const auto passed = static_cast<double>(real - anchor_real_);
    done_ = std::max(done_ + 1, static_cast<std::int64_t>(passed / real_tick));
    state_.now_ns = anchor_now_ + done_ * options_.tick.ns;
    last_real = real;
    publish(ticks_);
  }
}

void SimTime::Impl::set_paused(bool paused) {
  {
    const MutexLock lock(mutex_);
    if (state_.paused == paused) return;
    state_.paused = paused;
    granted_ = 0;
    anchor();
    publish(ticks_);
  }
  changed_.notify_all();
}

Result<void> SimTime::Impl::step(Duration span) {
  if (span.ns <= 0) return refuse("a step must be positive. To go back, jump");
  {
    const MutexLock lock(mutex_);
    if (!state_.paused && !options_.manual) return refuse("the time is running. Pause it to step");
    if (options_.manual) {
      if (!state_.paused) return refuse("the simulator is running. Pause it to step");
      granted_ += span.ns;
    } else {
      state_.now_ns += span.ns;
      anchor();
      publish(ticks_);
    }
  }
  changed_.notify_all();
  return success();
}

bool SimTime::Impl::advance(Duration span, const Clock::GiveUp& give_up) {
  UniqueLock lock(mutex_);
  // The stop of the process does not wake this thread. Polling for it while paused is cheap.
  while (state_.paused && granted_ <= 0 && !stopping()) {
    changed_.wait_for(lock, kLook);
    if (!give_up) continue;
    lock.unlock();
    if (give_up()) return false;
    lock.lock();
  }
  if (stopping()) return false;
  granted_ = std::max<std::int64_t>(0, granted_ - span.ns);
  state_.now_ns += std::max<std::int64_t>(0, span.ns);
  anchor();
  publish(ticks_);
  return true;
}

Result<void> SimTime::Impl::set_speed(double speed) {
  if (auto good = check_speed(speed); !good) return good;
  {
    const MutexLock lock(mutex_);
    state_.speed = speed;
    anchor();
    publish(ticks_);
  }
  changed_.notify_all();
  return success();
}

Result<void> SimTime::Impl::jump(Time time) {
  if (time.ns < 0) return refuse("a time before 1970");
  {
    const MutexLock lock(mutex_);
    state_.now_ns = time.ns;
    state_.base_ns = std::min(state_.base_ns, time.ns);
    ++state_.jumps;
    anchor();
    publish(ticks_);
  }
  changed_.notify_all();
  return success();
}

Result<void> SimTime::Impl::obey(const wire::ClockCommand& command) {
  using Do = wire::ClockCommand::Action;
  switch (command.action) {
    case Do::pause:
    case Do::resume:
      set_paused(command.action == Do::pause);
      return success();
    case Do::step:
      return step({command.value_ns});
    case Do::speed:
      return set_speed(command.speed);
    case Do::jump:
      return jump({command.value_ns});
    case Do::nothing:
      break;
  }
  return success();
}

void SimTime::Impl::handle(const Message<RawMessage>& message) {
  const auto command = wire::parse_command(message->payload.bytes());
  if (!command) {
    std::uint64_t more = 0;
    if (bad_log_.allow(more)) log::warn("clock", channel_ + "/control: " + command.error().message);
    return;
  }
  const Result<void> done = obey(*command);
  const MutexLock lock(mutex_);
  state_.last_command = command->id;
  state_.refusal = done ? std::string() : done.error().message;
  publish(answers_);
}

SimTime::SimTime(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SimTime::SimTime(SimTime&&) noexcept = default;
SimTime& SimTime::operator=(SimTime&&) noexcept = default;
SimTime::~SimTime() = default;

Result<SimTime> SimTime::open(const Node& node, SimTimeOptions options) {
  const Runtime runtime = node.runtime();
  const Plan* plan = runtime.plan();
  const double speed = options.speed.value_or(plan != nullptr ? plan->clock.speed : 1.0);
  if (auto good = check_speed(speed); !good) return good.error();
  if (options.tick.ns < kLeastTickNs) return refuse("the tick must be at least 1 us");
  if (options.start && options.start->ns < 0) return refuse("a start before 1970");
  std::string channel = options.channel.empty() ? runtime.impl()->clock_channel() : options.channel;
  auto impl = std::make_unique<Impl>(node, options, std::move(channel));
  if (auto started = impl->start(speed); !started) return started.error();
  return SimTime(std::move(impl));
}

void SimTime::pause() { impl_->set_paused(true); }
void SimTime::resume() { impl_->set_paused(false); }
Result<void> SimTime::step(Duration span) { return impl_->step(span); }
bool SimTime::advance(Duration span) { return impl_->advance(span, {}); }
bool SimTime::advance(Duration span, const Clock::GiveUp& give_up) {
  return impl_->advance(span, give_up);
}
Result<void> SimTime::set_speed(double speed) { return impl_->set_speed(speed); }
Result<void> SimTime::jump(Time time) { return impl_->jump(time); }
Time SimTime::now() const { return {impl_->state().now_ns}; }
Time SimTime::base() const { return {impl_->state().base_ns}; }
bool SimTime::paused() const { return impl_->state().paused; }
double SimTime::speed() const { return impl_->state().speed; }

}  // namespace hyphos
