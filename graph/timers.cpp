#include "graph/timers.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/log.hpp"
#include "hyphos/time.hpp"

namespace hyphos::graph {

struct Timers::Entry {
  Id id = 0;
  std::int64_t period_ns = 0;  // 0: once
  std::function<void()> work;
  std::shared_ptr<std::atomic<std::uint64_t>> skipped;
  bool running = false;         // under mutex_
  bool cancelled = false;       // under mutex_
  bool self_cancelled = false;  // under mutex_; its work goes when the call has ended
  std::thread::id runner;       // under mutex_
};

Timers::~Timers() { stop(); }

Timers::Id Timers::every(std::int64_t period_ns, std::function<void()> work,
                         std::shared_ptr<std::atomic<std::uint64_t>> skipped) {
  auto entry = std::make_shared<Entry>();
  entry->period_ns = period_ns;
  entry->work = std::move(work);
  entry->skipped = std::move(skipped);
  return add(std::move(entry), monotonic_now().ns + period_ns);
}

Timers::Id Timers::at(std::int64_t instant_ns, std::function<void()> work) {
  auto entry = std::make_shared<Entry>();
  entry->work = std::move(work);
  return add(std::move(entry), instant_ns);
}

Timers::Id Timers::add(std::shared_ptr<Entry> entry, std::int64_t first_ns) {
  const std::lock_guard lock(mutex_);
  const Id id = entry->id = next_id_++;
  entries_.emplace(id, entry);
  queue_.emplace(first_ns, std::move(entry));
  if (!thread_.joinable() && !stopping_) thread_ = std::thread([this] { loop(); });
  wake_.notify_one();
  return id;
}

void Timers::cancel(Id id) {
  std::unique_lock lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  const std::shared_ptr<Entry> entry = found->second;
  entries_.erase(found);
  entry->cancelled = true;
  idle_.wait(lock, [&] { return !entry->running || entry->runner == std::this_thread::get_id(); });
  // What the function captured goes in the caller's thread; a call that cancels itself comes later.
  std::function<void()> work;
  if (entry->running) {
    entry->self_cancelled = true;
  } else {
    work.swap(entry->work);
  }
  lock.unlock();
}

void Timers::stop() {
  std::vector<std::function<void()>> works;
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    wake_.notify_one();
    for (auto& [id, entry] : entries_) entry->cancelled = true;
    idle_.wait(lock, [this] {
      return std::none_of(entries_.begin(), entries_.end(),
                          [](const auto& item) { return item.second->running; });
    });
    for (auto& [id, entry] : entries_) works.push_back(std::move(entry->work));
  }
  if (thread_.joinable()) thread_.join();
  // What the functions captured goes with them, here and not in a worker that had one in hand: it
  // may be the last to hold the runtime.
  entries_.clear();
  queue_.clear();
}

void Timers::loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (queue_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const std::int64_t next = queue_.begin()->first;
    const std::int64_t now = monotonic_now().ns;
    if (now < next) {
      // steady_clock is CLOCK_MONOTONIC here; a new, earlier timer notifies.
      wake_.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(next)));
      continue;
    }
    std::shared_ptr<Entry> entry = queue_.extract(queue_.begin()).mapped();
    if (entry->cancelled) {
      lock.unlock();
      entry.reset();
      lock.lock();
      continue;
    }
    if (entry->period_ns == 0) {
      fire(entry);
      continue;
    }
    const std::int64_t behind = now - next;
    const std::int64_t steps = 1 + behind / entry->period_ns;
    queue_.emplace(next + steps * entry->period_ns, entry);
    if (entry->skipped != nullptr) {
      *entry->skipped += static_cast<std::uint64_t>(steps - 1) + (entry->running ? 1 : 0);
    }
    if (!entry->running) fire(entry);
  }
}

void Timers::fire(const std::shared_ptr<Entry>& entry) {
  entry->running = true;
  executor_.enqueue(Priority::normal, [this, entry] {
    std::function<void()> spent;  // destroyed after the lock is released
    std::unique_lock lock(mutex_);
    if (!entry->cancelled) {
      entry->runner = std::this_thread::get_id();
      lock.unlock();
      try {
        entry->work();
      } catch (const std::exception& error) {
        log::error("graph", std::string("a timer's callback threw: ") + error.what());
      }
      lock.lock();
    }
    if (entry->self_cancelled || entry->period_ns == 0) spent.swap(entry->work);
    if (entry->period_ns == 0) entries_.erase(entry->id);
    entry->runner = {};
    entry->running = false;
    idle_.notify_all();
  });
}

}  // namespace hyphos::graph
