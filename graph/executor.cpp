#include "graph/executor.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cassert>
#include <system_error>
#include <utility>

#include "base/brief_mutex.hpp"
#include "base/crash.hpp"
#include "base/futex.hpp"
#include "base/hot.hpp"

namespace hyphos::graph {
namespace {

thread_local const void* current_pool = nullptr;

/// A FIFO queue that keeps its memory.
class Ring {
 public:
  [[nodiscard]] bool empty() const { return count_ == 0; }
  void push(Executor::Work work) {
    if (count_ == slots_.size()) grow();
    slots_[(head_ + count_++) & (slots_.size() - 1)] = std::move(work);
  }
  [[nodiscard]] Executor::Work pop() {
    Executor::Work work = std::move(slots_[head_]);
    head_ = (head_ + 1) & (slots_.size() - 1);
    --count_;
    return work;
  }

 private:
  void grow() {
    std::vector<Executor::Work> larger(slots_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) {
      larger[i] = std::move(slots_[(head_ + i) & (slots_.size() - 1)]);
    }
    slots_ = std::move(larger);
    head_ = 0;
  }

  std::vector<Executor::Work> slots_ = std::vector<Executor::Work>(64);  // a power of two
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

void sleep_while_zero(std::atomic<std::uint32_t>& word) {
  while (word.load(std::memory_order_acquire) == 0) {
    futex::wait(word, 0, futex::Scope::process);
  }
}

void wake(std::atomic<std::uint32_t>& word) {
  word.store(1, std::memory_order_release);
  futex::wake(word, 1, futex::Scope::process);
}

}  // namespace

struct Executor::Worker {
  alignas(64) std::atomic<std::uint32_t> awake{0};
  Work work;  // handed over by the waking thread. None: check the queues
  Worker* next = nullptr;
};

// The ready list of one polling thread.
class Executor::Ready final : public transport::ReadyList {
 public:
  explicit Ready(State& state) : pool(state) {}
  [[nodiscard]] bool empty() const override { return !work; }
  void hand_over() override;

  State& pool;
  Work work;
  Priority priority = Priority::normal;
};

/// Owned by every thread, so that it outlives an executor that is destroyed by its own work.
///
/// Invariant, under `mutex`: if a thread is idle, the queues are empty. So new work is handed to an
/// idle thread, or queued for the busy ones, which check the queues before they sleep. `ready`
/// counts the threads that are neither parked nor inside a Waiting. It equals `most`, except while
/// a thread continues after its wait and no other thread has parked yet. A parked thread is in no
/// other list and gets no work. A receiving thread runs work in place of an idle one, which is in
/// no list meanwhile. While the pool ends, no thread is idle: the last thread that runs work runs
/// the queued work, too.
struct Executor::State {
  State(int threads, int at_once)
      : most(at_once),
        // oneTBB counts the calling thread as one of the pool. Our calling thread never joins,
        // hence + 1.
        limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads) + 1),
        // Our threads have reserved slots, two of them for receiving threads. The other slots are
        // for parallel algorithms inside callbacks.
        arena(2 * threads + 1, static_cast<unsigned>(threads) + 2),
        ready(at_once) {}

  void run(Worker& self, bool in_arena);
  void work_off(Worker& self);
  [[nodiscard]] Worker* assign(Priority priority, Work work) HYPHOS_REQUIRES(mutex);
  void give(Priority priority, Work work);
  [[nodiscard]] Work take() HYPHOS_REQUIRES(mutex);
  void serve(const transport::PollFunction& poll, int number);
  void work_in_place(Ready& self);
  void run_rest();
  [[nodiscard]] bool park(Worker& self, BriefLock& lock) HYPHOS_REQUIRES(mutex, lock);
  [[nodiscard]] bool begin_waiting(const std::shared_ptr<State>& self);
  void end_waiting();

  const int most;  // number of callbacks that run at once
  tbb::global_control limit;
  tbb::task_arena arena;
  BriefMutex mutex;
  std::array<Ring, 3> queues HYPHOS_GUARDED_BY(mutex);  // by priority
  // Last in, first out: the thread with the warmest cache first.
  Worker* idle HYPHOS_GUARDED_BY(mutex) = nullptr;
  Worker* parked HYPHOS_GUARDED_BY(mutex) = nullptr;
  int ready HYPHOS_GUARDED_BY(mutex);
  int waiting HYPHOS_GUARDED_BY(mutex) = 0;
  std::uint64_t unfinished HYPHOS_GUARDED_BY(mutex) = 0;  // work that is queued or running
  BriefCondition finished;                                // notified when `unfinished` becomes 0
  bool stopping HYPHOS_GUARDED_BY(mutex) = false;
  CallbackErrors errors HYPHOS_GUARDED_BY(mutex);
  std::vector<std::unique_ptr<Worker>> workers HYPHOS_GUARDED_BY(mutex);
  std::vector<std::thread> stand_ins HYPHOS_GUARDED_BY(mutex);
};

void Executor::State::run(Worker& self, bool in_arena) {
  ::pthread_setname_np(::pthread_self(), "hyphos-pool");
  const crash::HandlerStack stack;
  current_pool = this;
  if (in_arena) {
    arena.execute([&] { work_off(self); });
  } else {
    work_off(self);  // the arena has no slot for more threads, and the waiting thread keeps its own
  }
}

// Since a wait has ended there is one thread too many. This one sleeps until it is needed again.
bool Executor::State::park(Worker& self, BriefLock& lock) {
  if (ready <= most || stopping) return false;
  --ready;
  self.awake.store(0, std::memory_order_relaxed);
  self.next = std::exchange(parked, &self);
  lock.unlock();
  sleep_while_zero(self.awake);
  lock.lock();
  return true;
}

bool Executor::State::begin_waiting(const std::shared_ptr<State>& self) {
  Worker* stand_in = nullptr;
  {
    const MutexLock lock(mutex);
    if (waiting >= kMaxWaiting) return false;
    ++waiting;
    if (--ready >= most || stopping) return true;
    if (parked == nullptr) {
      Worker& worker = *workers.emplace_back(std::make_unique<Worker>());
      try {
        stand_ins.emplace_back([self, &worker] { self->run(worker, false); });
      } catch (const std::system_error&) {  // no more threads are available
        workers.pop_back();
        ++ready;
        --waiting;
        return false;
      }
    } else {
      stand_in = std::exchange(parked, parked->next);
    }
    ++ready;
  }
  if (stand_in != nullptr) wake(stand_in->awake);
  return true;
}

void Executor::State::end_waiting() {
  const MutexLock lock(mutex);
  --waiting;
  if (++ready <= most || idle == nullptr || stopping) return;
  // An idle thread is parked while it sleeps.
  Worker* const spare = std::exchange(idle, idle->next);
  spare->next = std::exchange(parked, spare);
  --ready;
}

Executor::Waiting::Waiting(Executor& executor) {
  if (!executor.on_worker()) return;
  if (executor.state_->begin_waiting(executor.state_)) {
    state_ = executor.state_;
  } else {
    refused_ = true;
  }
}

Executor::Waiting::~Waiting() {
  if (state_ != nullptr) state_->end_waiting();
}

// Returns the first queued work of the highest priority, or nothing.
HYPHOS_HOT Executor::Work Executor::State::take() {
  for (std::size_t level = queues.size(); level-- > 0;) {
    if (!queues[level].empty()) return queues[level].pop();
  }
  return nullptr;
}

HYPHOS_HOT void Executor::State::work_off(Worker& self) {
  BriefLock lock(mutex);
  for (;;) {
    if (park(self, lock)) continue;
    Work work = take();
    if (!work) {
      if (stopping) return;
      self.awake.store(0, std::memory_order_relaxed);
      self.next = std::exchange(idle, &self);
      lock.unlock();
      sleep_while_zero(self.awake);
      work = std::exchange(self.work, nullptr);
    } else {
      lock.unlock();
    }
    const bool done = static_cast<bool>(work);
    if (done) work();
    work = nullptr;
    lock.lock();
    if (done && --unfinished == 0) finished.notify_all();
  }
}

void Executor::State::serve(const transport::PollFunction& poll, int number) {
  ::pthread_setname_np(::pthread_self(), "hyphos-rx");
  const crash::HandlerStack stack;
  Ready found(*this);
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
// poll in the queue.
void Executor::State::run_rest() {
  BriefLock lock(mutex);
  if (!stopping) return;
  current_pool = this;
  while (Work work = take()) {
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    if (--unfinished == 0) finished.notify_all();
  }
  current_pool = nullptr;
}

// Runs the work that the thread has found, and then the queued work.
HYPHOS_HOT void Executor::State::work_in_place(Ready& self) {
  Work work = std::exchange(self.work, nullptr);
  BriefLock lock(mutex);
  Worker* const place = idle;
  if (place == nullptr) {  // the idle thread got other work meanwhile, and will find this work
    queues[static_cast<std::size_t>(self.priority)].push(std::move(work));
    return;
  }
  idle = place->next;
  current_pool = this;
  while (work) {
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    if (--unfinished == 0) finished.notify_all();
    if (ready <= most || stopping) work = take();
  }
  current_pool = nullptr;
  if (stopping) return;  // the idle thread is woken by the destructor
  if (ready > most) {
    --ready;
    place->next = std::exchange(parked, place);
  } else {
    place->next = std::exchange(idle, place);
  }
}

Executor::Executor(int threads, bool one_by_one)
    : state_(std::make_shared<State>(threads, one_by_one ? 1 : threads)) {
  assert(threads >= 1);
  for (int i = 0; i < state_->most; ++i) {
    Worker& worker = *state_->workers.emplace_back(std::make_unique<Worker>());
    threads_.emplace_back([state = state_, &worker] { state->run(worker, true); });
  }
}

Executor::~Executor() {
  {
    const MutexLock lock(state_->mutex);
    state_->stopping = true;
    state_->idle = nullptr;  // they end, and would not run work that they got later
    for (std::thread& thread : state_->stand_ins) threads_.push_back(std::move(thread));
    state_->stand_ins.clear();
  }
  // From here on no list grows.
  for (const auto& worker : state_->workers) wake(worker->awake);
  for (std::thread& thread : threads_) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

// Returns the thread to wake for the work, or null.
HYPHOS_HOT Executor::Worker* Executor::State::assign(Priority priority, Work work) {
  Worker* const worker = idle;
  if (worker != nullptr) {
    idle = worker->next;
    worker->work = std::move(work);
  } else {
    queues[static_cast<std::size_t>(priority)].push(std::move(work));
  }
  return worker;
}

HYPHOS_HOT void Executor::State::give(Priority priority, Work work) {
  Worker* worker = nullptr;
  {
    const MutexLock lock(mutex);
    worker = assign(priority, std::move(work));
  }
  if (worker != nullptr) wake(worker->awake);
}

HYPHOS_HOT void Executor::Ready::hand_over() {
  if (work) pool.give(priority, std::exchange(work, nullptr));
}

HYPHOS_HOT void Executor::enqueue(Priority priority, Work work, transport::ReadyList* ready) {
  // Executor::serve() makes all lists.
  Ready* const here = static_cast<Ready*>(ready);
  assert(here == nullptr || &here->pool == state_.get());
  Worker* worker = nullptr;
  {
    const MutexLock lock(state_->mutex);
    ++state_->unfinished;
    if (here != nullptr && !here->work && state_->idle != nullptr) {
      here->work = std::move(work);
      here->priority = priority;
      return;
    }
    worker = state_->assign(priority, std::move(work));
  }
  if (worker != nullptr) wake(worker->awake);
}

void Executor::serve(transport::PollFunction poll) {
  for (const int number : {0, 1}) {
    threads_.emplace_back([state = state_, poll, number] {
      state->arena.execute([&] { state->serve(poll, number); });
    });
  }
}

void Executor::wait_idle() {
  assert(!on_worker() && "work cannot wait for its own end");
  BriefLock lock(state_->mutex);
  state_->finished.wait(
      lock, [this]() HYPHOS_REQUIRES(state_->mutex) { return state_->unfinished == 0; });
}

void Executor::callback_failed(std::string what) {
  const MutexLock lock(state_->mutex);
  if (state_->errors.count++ == 0) state_->errors.first = std::move(what);
}

CallbackErrors Executor::callback_errors() const {
  const MutexLock lock(state_->mutex);
  return state_->errors;
}

bool Executor::on_worker() const { return current_pool == state_.get(); }

}  // namespace hyphos::graph
