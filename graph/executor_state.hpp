#pragma once

#include <oneapi/tbb/global_control.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/brief_mutex.hpp"
#include "graph/arena.hpp"
#include "graph/executor.hpp"
#include "graph/idle_places.hpp"
#include "graph/work_queues.hpp"

namespace hyphos::graph {

/// A thread of the pool. It works in a place, or sleeps.
struct Executor::Worker {
  Worker(int threads, GuestPlaces& places, int first) : place(first), arena(threads, places) {}

  enum Awake : std::uint32_t { kAsleep, kAwake, kEnded };
  /// Returns false if the thread has ended, or will end without sleeping.
  bool rouse() { return leave_sleep(kAwake); }
  void end() { (void)leave_sleep(kEnded); }
  /// Sleeps until rouse() or end(). The thread has set `awake` to kAsleep before. Returns the work
  /// that was handed over, or nothing.
  [[nodiscard]] Work sleep();

  alignas(64) std::atomic<std::uint32_t> awake{kAwake};
  int place;               // for the next turn. Set by the thread that owns the place
  Work work;               // handed over by the waking thread. None: look at the queues
  Worker* next = nullptr;  // in the list of parked threads
  unsigned turn = 0;
  std::int64_t rested_ns = 0;
  Arena arena;

 private:
  bool leave_sleep(Awake to);
};

// The ready list of one polling thread.
class Executor::Ready final : public transport::ReadyList {
 public:
  explicit Ready(State& state);
  [[nodiscard]] bool empty() const override { return !work; }
  void hand_over() override;
  void keep(Priority of, Work&& what);

  State& pool;
  Work work;
  Priority priority = Priority::normal;
  std::atomic<std::uint64_t> kept{0};  // written by the polling thread alone
  Arena arena;
};

/// Owned by every thread, so that it outlives an executor that is destroyed by its own work.
///
/// A *place* is the right to run one callback at a time. It has a queue. There are `most` places. A
/// place is in one of these hands: a thread that runs work or looks for it, the set `idle`,
/// `given_up`, a receiving thread or a worker of oneTBB (a guest) that uses it meanwhile. An idle
/// place, or one that is used meanwhile, has a sleeping thread, its `sleeper`.
///
/// Invariants:
///  (1) No work is forgotten. A thread queues work first, and then looks for a searching thread
///      and for an idle place. A thread that has found no work puts its place into `idle` first,
///      and then looks at the queues. All of this is in one order (seq_cst), so at least one of the
///      two sees the other. A searching thread stops searching first, and then looks at the queues
///      and wakes another thread if more work is there. Every other holder of a place looks at the
///      queues after its work, or puts the place into `idle`.
///  (2) A thread that takes a place out of `idle` owns it, and wakes its sleeper at most once, with
///      work or to look at the queues.
///  (3) Threads inside a Waiting have no place. Another thread has it. One that continues while no
///      place is idle is *placeless*, and more threads than `most` work. The next thread that ends
///      its work gives up its place (`given_up`) and parks. If the placeless one is the next, it
///      parks itself. A parked thread has no place.
///  (4) While the pool ends, no thread sleeps without work for it: a thread ends when it finds no
///      work after it has seen `stopping`. So the last thread that runs work runs the queued work,
///      too. A thread whose place a guest uses waits for a place first: see find_last_place().
///  (5) Work has ended if the sums of all `finished` and of all counts of new work are equal, in
///      this order of reading: see all_finished().
struct Executor::State final : GuestPlaces {
  State(int count, int at_once);

  // In executor.cpp: threads that work.
  void run(Worker& self);
  void work_off(Worker& self);
  [[nodiscard]] Work rest(Worker& self);
  [[nodiscard]] Work search(Worker& self);
  void serve(const transport::PollFunction& poll, Ready& found, int number);
  void work_in_place(Ready& self);
  void run_rest();
  void add(Priority priority, Work&& work, Fresh fresh);
  [[nodiscard]] bool hand_over(int place, Work& work, Fresh fresh);
  [[nodiscard]] std::size_t own_queue() const;
  void wake_one();
  void count_finished();

  // In places.cpp: places change hands.
  void offer(int place);
  void release(int place);
  [[nodiscard]] bool retake(Worker& self, int place);
  void after_rest();
  [[nodiscard]] Work settle(Worker& self);
  [[nodiscard]] bool regain();
  [[nodiscard]] bool begin_waiting();
  void end_waiting();
  void recall_guest();
  [[nodiscard]] bool all_finished();
  void* take_place() override;
  void return_place(void* place) override;
  void leave();
  void find_last_place();
  bool place_needed() override {
    return most == threads && (queues.any() || owed.load(std::memory_order_relaxed) > 0);
  }

  struct alignas(64) Place {
    Worker* sleeper = nullptr;  // owned with the place
    // Written by the owner of the place alone.
    std::atomic<std::uint64_t> given{0};     // work handed over to the sleeper
    std::atomic<std::uint64_t> finished{0};  // work
  };

  const int threads;
  const int most;  // number of callbacks that run at once
  tbb::global_control limit;
  WorkQueues queues;
  std::vector<Place> places;  // those from `most` on are for guests alone

  alignas(64) IdlePlaces idle;
  IdlePlaces spare;                                // idle places for guests alone
  alignas(64) std::atomic<bool> searching{false};  // one thread, for some microseconds
  // Read by all threads, and rarely written.
  alignas(64) std::atomic<bool> stopping{false};
  std::atomic<int> owed{0};            // placeless threads without a place in `given_up`
  std::atomic<int> guests{0};          // in a place that callbacks may need
  std::atomic<int> guests_waiting{0};  // for a place
  std::atomic<int> waiters{0};         // in wait_idle()
  alignas(64) std::atomic<std::uint64_t> finished_elsewhere{0};  // without a place

  BriefMutex rest_mutex;
  BriefCondition rested;  // notified when a thread rests, if there are `waiters`
  BriefMutex guest_mutex;
  BriefCondition place_free;  // notified when a place becomes idle, if there are `guests_waiting`
  bool over HYPHOS_GUARDED_BY(guest_mutex) = false;

  BriefMutex mutex;  // not on the path of work
  Worker* parked HYPHOS_GUARDED_BY(mutex) = nullptr;
  std::vector<int> given_up HYPHOS_GUARDED_BY(mutex);
  int placeless HYPHOS_GUARDED_BY(mutex) = 0;
  int waiting HYPHOS_GUARDED_BY(mutex) = 0;
  CallbackErrors errors HYPHOS_GUARDED_BY(mutex);
  std::vector<std::unique_ptr<Worker>> workers HYPHOS_GUARDED_BY(mutex);
  std::vector<std::unique_ptr<Ready>> readies HYPHOS_GUARDED_BY(mutex);
  std::vector<std::thread> stand_ins HYPHOS_GUARDED_BY(mutex);

 private:
  void park(Worker& worker) HYPHOS_REQUIRES(mutex) { worker.next = std::exchange(parked, &worker); }
  void update_owed() HYPHOS_REQUIRES(mutex) {
    owed.store(placeless - static_cast<int>(given_up.size()), std::memory_order_relaxed);
  }
  [[nodiscard]] int take_given_up() HYPHOS_REQUIRES(mutex);
  [[nodiscard]] bool give_to_parked(int place) HYPHOS_REQUIRES(mutex);
  [[nodiscard]] bool make_stand_in(int place) HYPHOS_REQUIRES(mutex);
};

/// The pool whose work this thread runs, and its place there.
struct Role {
  const void* pool = nullptr;
  int place = -1;  // -1: none
  bool is_worker = false;
  int waits = 0;  // nested
};
inline thread_local constinit Role role;

}  // namespace hyphos::graph
