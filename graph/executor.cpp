#include "graph/executor.hpp"

#include <pthread.h>

#include <cassert>
#include <utility>

#include "base/crash.hpp"
#include "base/futex.hpp"
#include "base/hot.hpp"
#include "graph/executor_state.hpp"
#include "hyphos/time.hpp"

namespace hyphos::graph {
namespace {

// A thread that rests again within kBusyNs searches for kSearchNs before it sleeps. Waking it would
// cost more. At the message rates of a robot no thread searches.
constexpr std::int64_t kBusyNs = 50'000;
constexpr std::int64_t kSearchNs = 3'000;

HYPHOS_HOT unsigned thread_number() {
  static constinit std::atomic<unsigned> threads{0};
  static thread_local constinit unsigned mine = 0;
  if (mine == 0) mine = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return mine;
}

/// For a counter with one writer at a time.
void increment(std::atomic<std::uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

// --- One thread --------------------------------------------------------------------------------

HYPHOS_HOT bool Executor::Worker::leave_sleep(Awake to) {
  std::uint32_t asleep = kAsleep;
  if (!awake.compare_exchange_strong(asleep, to, std::memory_order_acq_rel)) return false;
  futex::wake(awake, 1, futex::Scope::process);
  return true;
}

HYPHOS_HOT Executor::Work Executor::Worker::sleep() {
  while (awake.load(std::memory_order_acquire) == kAsleep) {
    futex::wait(awake, kAsleep, futex::Scope::process);
  }
  if (awake.load(std::memory_order_relaxed) == kEnded) {
    role.place = -1;
    return nullptr;  // a thread that tries to hand work over takes it back
  }
  role.place = place;
  return std::exchange(work, nullptr);
}

Executor::State::State(int count, int at_once)
    : threads(count),
      most(at_once),
      // oneTBB counts the calling thread as one of the pool. Our calling thread never joins, hence
      // + 1.
      limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count) + 1),
      queues(at_once),
      places(static_cast<std::size_t>(count)),
      idle(count),
      spare(count) {
  for (int place = most; place < threads; ++place) spare.put(place);
}

void Executor::State::run(Worker& self) {
  ::pthread_setname_np(::pthread_self(), "hyphos-pool");
  const crash::HandlerStack stack;
  role = {this, self.place, true};
  self.arena.execute([&] { work_off(self); });
}

HYPHOS_HOT void Executor::State::count_finished() {
  if (role.place >= 0) {
    increment(places[static_cast<std::size_t>(role.place)].finished);
  } else {
    finished_elsewhere.fetch_add(1, std::memory_order_release);
  }
}

HYPHOS_HOT void Executor::State::work_off(Worker& self) {
  Work work;
  for (;;) {
    const bool ending = stopping.load(std::memory_order_seq_cst);
    if (!work) {
      if (ending && role.place < 0) find_last_place();
      work = queues.take(own_queue(), self.turn++);
    }
    if (work) {
      work();
      work = nullptr;
      count_finished();
      if (role.place < 0 || owed.load(std::memory_order_relaxed) > 0) work = settle(self);
      continue;
    }
    if (ending) break;
    work = rest(self);
  }
  idle.meet();
  after_rest();
}

/// Puts the place into `idle` and sleeps. Returns the work with which another thread wakes this
/// one, or nothing.
HYPHOS_HOT Executor::Work Executor::State::rest(Worker& self) {
  const std::int64_t now = monotonic_now().ns;
  if (now - std::exchange(self.rested_ns, now) < kBusyNs) {
    if (Work found = search(self)) return found;
  }
  const int place = role.place;
  self.place = place;
  self.awake.store(Worker::kAsleep, std::memory_order_relaxed);
  places[static_cast<std::size_t>(place)].sleeper = &self;
  idle.put(place);
  if (queues.any() && retake(self, place)) return nullptr;
  if (stopping.load(std::memory_order_seq_cst)) self.end();
  after_rest();
  return self.sleep();
}

/// Looks for work for some microseconds, if no other thread does. See (1).
HYPHOS_HOT Executor::Work Executor::State::search(Worker& self) {
  if (searching.load(std::memory_order_relaxed) || searching.exchange(true)) return nullptr;
  const std::int64_t end = self.rested_ns + kSearchNs;
  bool found = false;
  do {
    for (int i = 0; i < 8; ++i) pause_briefly();
    found = queues.any();
  } while (!found && monotonic_now().ns < end);
  searching.store(false, std::memory_order_seq_cst);
  if (!found) return nullptr;
  Work work = queues.take(own_queue(), self.turn++);
  if (queues.any()) wake_one();
  return work;
}

// --- New work ----------------------------------------------------------------------------------

/// The queue of this thread's place, or one that depends on the thread.
HYPHOS_HOT std::size_t Executor::State::own_queue() const {
  if (role.pool == this && role.place >= 0) return static_cast<std::size_t>(role.place);
  return thread_number() % queues.size();
}

HYPHOS_HOT void Executor::State::add(Priority priority, Work&& work, Fresh fresh) {
  if (!searching.load(std::memory_order_relaxed)) {
    const int place = idle.take_any();
    if (place >= 0) {
      if (hand_over(place, work, fresh)) return;
      idle.put(place);  // the pool ends: see find_last_place()
    }
  }
  queues.push(own_queue(), priority, std::move(work), fresh);
  if (!searching.load(std::memory_order_seq_cst)) wake_one();
}

/// For the owner of the place. False if its thread has ended.
HYPHOS_HOT bool Executor::State::hand_over(int place, Work& work, Fresh fresh) {
  Place& to = places[static_cast<std::size_t>(place)];
  to.sleeper->work = std::move(work);
  if (fresh == Fresh::yes) increment(to.given);
  if (to.sleeper->rouse()) return true;
  work = std::move(to.sleeper->work);
  if (fresh == Fresh::yes) increment(to.finished);
  return false;
}

/// Wakes a thread that looks at the queues, or recalls a guest.
HYPHOS_HOT void Executor::State::wake_one() {
  if (const int place = idle.take_any(); place >= 0) {
    if (places[static_cast<std::size_t>(place)].sleeper->rouse()) return;
    // The pool ends, and each thread looks at the queues before it ends: (4).
    idle.put(place);
    after_rest();
    return;
  }
  if (guests.load(std::memory_order_seq_cst) > 0) recall_guest();
}

// --- Receiving threads -------------------------------------------------------------------------

Executor::Ready::Ready(State& state) : pool(state), arena(state.threads, state) {}

HYPHOS_HOT void Executor::Ready::keep(Priority of, Work&& what) {
  priority = of;
  work = std::move(what);
  increment(kept);
}

HYPHOS_HOT void Executor::Ready::hand_over() {
  if (work) pool.add(priority, std::exchange(work, nullptr), Fresh::no);
}

void Executor::State::serve(const transport::PollFunction& poll, Ready& found, int number) {
  ::pthread_setname_np(::pthread_self(), "hyphos-rx");
  const crash::HandlerStack stack;
  for (transport::Poll last = transport::Poll::again; last != transport::Poll::over;) {
    last = poll(number, &found);
    if (found.empty()) continue;
    if (last == transport::Poll::promoted) {
      work_in_place(found);
    } else {
      found.hand_over();
    }
  }
  run_rest();
}

// Without a poll, the threads of the pool may end at once. They then leave the work of the last
// poll in the queues.
void Executor::State::run_rest() {
  if (!stopping.load(std::memory_order_seq_cst)) return;
  role = {this, -1};
  while (Work work = queues.take(own_queue(), 1)) {
    work();
    work = nullptr;
    count_finished();
  }
  role = {};
  idle.meet();
  after_rest();
}

// Runs the work that the thread has found, and then the queued work, in the place of an idle
// thread.
HYPHOS_HOT void Executor::State::work_in_place(Ready& self) {
  const int place = idle.take_any();
  if (place < 0) {  // the idle thread got other work meanwhile
    self.hand_over();
    return;
  }
  role = {this, place};
  Work work = std::exchange(self.work, nullptr);
  for (unsigned turn = 1; work; ++turn) {
    work();
    work = nullptr;
    count_finished();
    if (role.place < 0 && !regain()) break;
    if (owed.load(std::memory_order_relaxed) > 0) break;
    work = queues.take(own_queue(), turn);
  }
  if (role.place >= 0) {
    release(role.place);
  } else {
    idle.meet();
    after_rest();
  }
  role = {};
}

// --- The executor ------------------------------------------------------------------------------

Executor::Executor(int threads, bool one_by_one)
    : state_(std::make_shared<State>(threads, one_by_one ? 1 : threads)) {
  assert(threads >= 1);
  const MutexLock lock(state_->mutex);
  for (int i = 0; i < state_->most; ++i) {
    Worker& worker = *state_->workers.emplace_back(std::make_unique<Worker>(threads, *state_, i));
    threads_.emplace_back([state = state_, &worker] { state->run(worker); });
  }
}

Executor::~Executor() {
  std::vector<Worker*> workers;
  {
    const MutexLock lock(state_->mutex);
    state_->stopping.store(true, std::memory_order_seq_cst);
    for (std::thread& thread : state_->stand_ins) threads_.push_back(std::move(thread));
    state_->stand_ins.clear();
    for (const auto& worker : state_->workers) workers.push_back(worker.get());
  }
  // From here on no list grows.
  for (Worker* const worker : workers) worker->end();
  for (std::thread& thread : threads_) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
  {
    const MutexLock lock(state_->guest_mutex);
    state_->over = true;
  }
  state_->place_free.notify_all();
  (void)state_->recalls->close();
}

HYPHOS_HOT void Executor::enqueue(Priority priority, Work work, transport::ReadyList* ready) {
  // Executor::serve() makes all lists.
  Ready* const here = static_cast<Ready*>(ready);
  assert(here == nullptr || &here->pool == state_.get());
  if (here != nullptr && !here->work && state_->idle.any()) {
    here->keep(priority, std::move(work));
  } else {
    state_->add(priority, std::move(work), Fresh::yes);
  }
}

HYPHOS_HOT void Executor::enqueue_last(Priority priority, Work work) {
  if (role.pool == state_.get() && role.place >= 0) {
    state_->queues.push(state_->own_queue(), priority, std::move(work), Fresh::yes);
  } else {
    state_->add(priority, std::move(work), Fresh::yes);
  }
}

void Executor::serve(transport::PollFunction poll) {
  for (const int number : {0, 1}) {
    const MutexLock lock(state_->mutex);
    Ready& found = *state_->readies.emplace_back(std::make_unique<Ready>(*state_));
    threads_.emplace_back([state = state_, &found, poll, number] {
      found.arena.execute([&] { state->serve(poll, found, number); });
    });
  }
}

void Executor::wait_idle() {
  assert(!on_worker() && "work cannot wait for its own end");
  state_->waiters.fetch_add(1, std::memory_order_seq_cst);
  {
    BriefLock lock(state_->rest_mutex);
    state_->rested.wait(lock, [this] { return state_->all_finished(); });
  }
  state_->waiters.fetch_sub(1, std::memory_order_relaxed);
}

void Executor::callback_failed(std::string what) {
  const MutexLock lock(state_->mutex);
  if (state_->errors.count++ == 0) state_->errors.first = std::move(what);
}

CallbackErrors Executor::callback_errors() const {
  const MutexLock lock(state_->mutex);
  return state_->errors;
}

bool Executor::on_worker() const { return role.pool == state_.get(); }

bool Executor::one_by_one() const { return state_->most == 1; }

Executor::Waiting::Waiting(Executor& executor) {
  if (!executor.on_worker()) return;
  if (role.waits++ > 0 || executor.state_->begin_waiting()) {
    state_ = executor.state_;
  } else {
    --role.waits;
    refused_ = true;
  }
}

Executor::Waiting::~Waiting() {
  if (state_ != nullptr && --role.waits == 0) state_->end_waiting();
}

}  // namespace hyphos::graph
