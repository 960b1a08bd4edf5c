#include "base/log.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "base/fork.hpp"
#include "base/mutex.hpp"
#include "hyphos/time.hpp"

namespace hyphos::log {
namespace {

std::atomic<Level> threshold{Level::info};
constexpr std::array<const char*, 5> kNames = {"DEBUG", "INFO", "WARN", "ERROR", "FATAL"};

/// The mutex is held while a listener is called. No code reachable from a listener locks it.
struct Listeners {
  const ForkMark mark;
  Mutex mutex;
  std::vector<Listener*> all HYPHOS_GUARDED_BY(mutex);
  std::atomic<bool> some{false};
};
Listeners& listeners() {
  // Never destroyed, because threads may write until the process ends. A forked child starts
  // without listeners.
  static std::atomic<Listeners*> made = new Listeners;
  Listeners* known = made.load();
  while (known->mark.is_inherited()) {
    auto* const own = new Listeners;
    if (made.compare_exchange_strong(known, own)) return *own;
    delete own;
  }
  return *known;
}
thread_local int unheard = 0;

}  // namespace

void set_level(Level level) { threshold.store(level, std::memory_order_relaxed); }
Level level() { return threshold.load(std::memory_order_relaxed); }

void listen(Listener* listener) {
  Listeners& to = listeners();
  const MutexLock lock(to.mutex);
  to.all.push_back(listener);
  to.some = true;
}

void unlisten(Listener* listener) {
  Listeners& to = listeners();
  const MutexLock lock(to.mutex);
  std::erase(to.all, listener);
  to.some = !to.all.empty();
}

Unheard::Unheard() { ++unheard; }
Unheard::~Unheard() { --unheard; }

void write(Level level, std::string_view room, std::string_view text) {
  if (level < log::level() || level == Level::off) return;
  write_stderr(level, room, text);
  Listeners& to = listeners();
  if (unheard > 0 || !to.some.load(std::memory_order_relaxed)) return;
  const Unheard here;
  const MutexLock lock(to.mutex);
  if (!to.all.empty()) to.all.front()->take(level, room, text);
}

void write_stderr(Level level, std::string_view room, std::string_view text) {
  if (level == Level::off) return;
  const std::int64_t now = wall_now().ns;
  const std::time_t seconds = now / 1'000'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 80> head{};
  const std::size_t stamp = std::strftime(head.data(), head.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(head.data() + stamp, head.size() - stamp, ".%03dZ %s ",
                static_cast<int>(now / 1'000'000 % 1000), kNames[static_cast<std::size_t>(level)]);
  std::string line(head.data());
  line.append(room).append(": ").append(text).push_back('\n');
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

bool OncePerSecond::allow(std::uint64_t& suppressed) {
  const std::int64_t now = monotonic_now().ns;
  std::int64_t next = next_ns_.load(std::memory_order_relaxed);
  if (now < next || !next_ns_.compare_exchange_strong(next, now + 1'000'000'000)) {
    suppressed_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  suppressed = suppressed_.exchange(0, std::memory_order_relaxed);
  return true;
}

}  // namespace hyphos::log
