#include "graph/timers.hpp"

#include <cassert>
#include <chrono>
#include <deque>
#include <limits>
#include <utility>

#include "base/crash.hpp"
#include "graph/failure.hpp"
#include "hyphos/time.hpp"

namespace hyphos::graph {
namespace {

constexpr std::size_t kMaxJumps = 64;  // maximum number of jumps that wait for one callback
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

}  // namespace

struct Timers::Entry {
  Id id = 0;
  enum class Kind : std::uint8_t { periodic, once, jump } kind = Kind::periodic;
  std::int64_t period_ns = 0;  // periodic only
  std::string owner;
  std::function<void()> work;
  std::function<void(const ClockJump&)> jump_work;
  Skipped skipped;
  std::int64_t pending = 0;     // further calls to make, under mutex_, like all below
  std::deque<ClockJump> jumps;  // the same for jumps
  bool running = false;
  bool cancelled = false;
  bool self_cancelled = false;  // its work is destroyed when the call has ended
  std::thread::id runner;
  log::OncePerSecond errors;

  void skip(std::int64_t count) const {
    if (skipped != nullptr) *skipped += static_cast<std::uint64_t>(count);
  }
  [[nodiscard]] bool waiting() const { return pending > 0 || !jumps.empty(); }
  void drop_work(std::function<void()>& a, std::function<void(const ClockJump&)>& b) {
    a.swap(work);
    b.swap(jump_work);
  }
};

Timers::Timers(Executor& executor, std::shared_ptr<detail::ClockCore> clock, bool in_turn)
    : executor_(executor), clock_(std::move(clock)), in_turn_(in_turn) {
  clock_->follow([this](const std::optional<ClockJump>& jump) { follow(jump); });
}

Timers::~Timers() { stop(); }

Timers::Id Timers::every(std::int64_t period_ns, std::function<void()> work, Skipped skipped,
                         std::string owner) {
  auto entry = std::make_shared<Entry>();
  entry->owner = std::move(owner);
  entry->period_ns = period_ns;
  entry->work = std::move(work);
  entry->skipped = std::move(skipped);
  // Before the first tick there is no time to count from. The first tick is a jump and starts the
  // series.
  return add(std::move(entry), clock_->ready() ? clock_->steady_ns() + period_ns : kNever);
}

Timers::Id Timers::at(std::int64_t instant_ns, std::function<void()> work) {
  assert(clock_->mode() == ClockMode::real);
  auto entry = std::make_shared<Entry>();
  entry->kind = Entry::Kind::once;
  entry->work = std::move(work);
  return add(std::move(entry), instant_ns);
}

Timers::Id Timers::on_jump(std::function<void(const ClockJump&)> work, Skipped skipped,
                           std::string owner) {
  auto entry = std::make_shared<Entry>();
  entry->owner = std::move(owner);
  entry->kind = Entry::Kind::jump;
  entry->jump_work = std::move(work);
  entry->skipped = std::move(skipped);
  return add(std::move(entry), kNever);
}

Timers::Id Timers::add(std::shared_ptr<Entry> entry, std::int64_t first_ns) {
  const MutexLock lock(mutex_);
  const Id id = entry->id = next_id_++;
  entries_.emplace(id, entry);
  if (first_ns == kNever) return id;
  queue_.emplace(first_ns, std::move(entry));
  if (clock_->mode() == ClockMode::real) {
    if (!thread_.joinable() && !stopping_) thread_ = std::thread([this] { loop(); });
    wake_.notify_one();
  }
  return id;
}

void Timers::cancel(Id id) {
  UniqueLock lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  const std::shared_ptr<Entry> entry = found->second;
  entries_.erase(found);
  entry->cancelled = true;
  idle_.wait(lock, [&] { return !entry->running || entry->runner == std::this_thread::get_id(); });
  // The function's captures are destroyed in the caller's thread. For a call that cancels itself
  // this happens later.
  std::function<void()> work;
  std::function<void(const ClockJump&)> jump_work;
  if (entry->running) {
    entry->self_cancelled = true;
  } else {
    entry->drop_work(work, jump_work);
  }
  lock.unlock();
}

void Timers::stop() {
  clock_->follow(nullptr);  // waits for a tick in progress
  std::vector<std::function<void()>> works;
  std::vector<std::function<void(const ClockJump&)>> jump_works;
  std::thread thread;
  {
    UniqueLock lock(mutex_);
    stopping_ = true;
    wake_.notify_one();
    for (auto& [id, entry] : entries_) entry->cancelled = true;
    idle_.wait(lock, [this]() HYPHOS_REQUIRES(mutex_) { return running_ == 0; });
    for (auto& [id, entry] : entries_) {
      works.push_back(std::move(entry->work));
      jump_works.push_back(std::move(entry->jump_work));
    }
    thread.swap(thread_);  // from here on, no timer starts one
  }
  if (thread.joinable()) thread.join();
  // The functions' captures are destroyed here, not in a worker that still holds one: they may hold
  // the last reference to the runtime.
  std::multimap<std::int64_t, std::shared_ptr<Entry>> queue;
  std::map<Id, std::shared_ptr<Entry>> entries;
  const MutexLock lock(mutex_);
  queue.swap(queue_);
  entries.swap(entries_);
}

/// Real mode: the waiting thread.
void Timers::loop() {
  UniqueLock lock(mutex_);
  while (!stopping_) {
    if (queue_.empty()) {
      wake_.wait(lock);
      continue;
    }
    const std::int64_t next = queue_.begin()->first;
    const std::int64_t now = monotonic_now().ns;
    if (now < next) {
      // steady_clock is CLOCK_MONOTONIC here. A new, earlier timer notifies.
      wake_.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(next)));
      continue;
    }
    take_due(lock, now);
  }
}

/// Called when the clock advanced or was set.
void Timers::follow(const std::optional<ClockJump>& jump) {
  UniqueLock lock(mutex_);
  if (stopping_) return;
  if (jump) {
    for (auto& [id, entry] : entries_) {
      if (entry->kind != Entry::Kind::jump) continue;
      if (entry->jumps.size() == kMaxJumps) {
        entry->jumps.back().after = jump->after;
        entry->skip(1);
      } else {
        entry->jumps.push_back(*jump);
      }
      if (!entry->running) fire(entry);
    }
  }
  if (clock_->mode() == ClockMode::real) return;  // here timers follow the monotonic clock
  const std::int64_t now = clock_->steady_ns();
  if (jump) return restart(now);
  if (!in_turn_) return take_due(lock, now);
  if (queue_.empty() || queue_.begin()->first > now) return;
  ++running_;
  executor_.enqueue(Priority::normal, [this] { take_in_turn(); });
}

void Timers::take_in_turn() {
  UniqueLock lock(mutex_);
  if (!stopping_) take_due(lock, clock_->steady_ns());
  --running_;
  idle_.notify_all();
}

std::int64_t Timers::next_due_ns() {
  const MutexLock lock(mutex_);
  return queue_.empty() ? kNever : queue_.begin()->first;
}

/// Restarts every series of instants. Pending calls are dropped.
void Timers::restart(std::int64_t now) {
  queue_.clear();
  for (auto& [id, entry] : entries_) {
    if (entry->kind != Entry::Kind::periodic) continue;
    entry->pending = 0;
    queue_.emplace(now + entry->period_ns, entry);
  }
}

void Timers::take_due(UniqueLock<Mutex>& lock, std::int64_t now) {
  while (!queue_.empty() && queue_.begin()->first <= now) {
    const std::int64_t due = queue_.begin()->first;
    std::shared_ptr<Entry> entry = queue_.extract(queue_.begin()).mapped();
    if (!entry->cancelled) {
      pass(entry, due, now);
      continue;
    }
    lock.unlock();
    entry.reset();  // destroying its captures may take long
    lock.lock();
  }
}

void Timers::pass(const std::shared_ptr<Entry>& entry, std::int64_t due, std::int64_t now) {
  if (entry->kind == Entry::Kind::once) {
    entry->pending = 1;
    fire(entry);
    return;
  }
  const std::int64_t steps = 1 + (now - due) / entry->period_ns;
  queue_.emplace(due + steps * entry->period_ns, entry);
  if (clock_->mode() == ClockMode::real) {
    entry->skip(steps - 1 + (entry->running ? 1 : 0));
    if (entry->running) return;
    entry->pending = 1;
  } else {
    entry->pending += steps;
    const std::int64_t excess = entry->pending - detail::kMaxBehind;
    if (excess > 0) {
      entry->skip(excess);
      entry->pending -= excess;
    }
  }
  if (!entry->running) fire(entry);
}

void Timers::fire(const std::shared_ptr<Entry>& entry) {
  if (!std::exchange(entry->running, true)) ++running_;
  const Priority priority = entry->kind == Entry::Kind::jump ? Priority::high : Priority::normal;
  executor_.enqueue(priority, [this, entry] { run(entry); });
}

/// Makes one call on the pool. Further calls are queued behind the other waiting work.
void Timers::run(const std::shared_ptr<Entry>& entry) {
  std::function<void()> spent;  // destroyed after the lock is released
  std::function<void(const ClockJump&)> jump_spent;
  UniqueLock lock(mutex_);
  if (!entry->cancelled && entry->waiting()) {
    entry->runner = std::this_thread::get_id();
    ClockJump jump;
    if (entry->kind == Entry::Kind::jump) {
      jump = entry->jumps.front();
      entry->jumps.pop_front();
    } else {
      --entry->pending;
    }
    lock.unlock();
    try {
      const crash::Work here(entry->owner, "callback of a timer");
      entry->kind == Entry::Kind::jump ? entry->jump_work(jump) : entry->work();
    } catch (...) {
      const Failure failure = Failure::current();
      if (!executor_.is_normal_end(failure)) {
        const std::string who =
            (entry->owner.empty() ? "" : "node '" + entry->owner + "': ") + "a timer's callback";
        failure.log(who, entry->errors);
        executor_.callback_failed(who + " threw: " + failure.summary);
      }
    }
    lock.lock();
  }
  const bool done = entry->kind == Entry::Kind::once;
  if (entry->self_cancelled || done) entry->drop_work(spent, jump_spent);
  if (done) entries_.erase(entry->id);
  entry->runner = {};
  if (!entry->cancelled && entry->waiting()) {
    fire(entry);
    return;
  }
  entry->running = false;
  --running_;
  idle_.notify_all();
}

}  // namespace hyphos::graph
