#pragma once

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <atomic>
#include <memory>
#include <utility>

#include "base/call_gate.hpp"

namespace hyphos::graph {

/// The places of a thread pool, as a worker of oneTBB uses them. A worker that executes tasks of
/// the pool's callbacks is a guest: it occupies a place, so that no thread of the pool can.
class GuestPlaces : public std::enable_shared_from_this<GuestPlaces> {
 public:
  /// Waits for a place. Null: the pool has ended.
  virtual void* take_place() = 0;
  virtual void return_place(void* place) = 0;
  /// True if work of the pool waits for a place that guests use.
  [[nodiscard]] virtual bool place_needed() = 0;

  /// Tasks of recall() enter it. The pool closes it at its end, so that no task uses the pool
  /// later, or is the last to own it: a worker of oneTBB may run longer than the program's main().
  const std::shared_ptr<CallGate> recalls = std::make_shared<CallGate>();

 protected:
  GuestPlaces() = default;
  ~GuestPlaces() = default;
};

/// The oneTBB arena of one thread. The parallel algorithms of its callbacks run in the arena.
///
/// An arena for each thread, and not one for all: a callback that waits for its algorithm runs no
/// tasks of another callback meanwhile, and threads that stand in for waiting ones have an arena,
/// too.
///
/// Invariants:
///  (1) A worker of oneTBB executes tasks of an arena only while it occupies a place of the pool.
///      It takes the place when it enters, before it has a task, and returns it when it leaves. It
///      occupies one place even if a task enters a second arena.
///  (2) recall() enqueues a task that returns the place of the guest that executes it, and takes
///      another one. oneTBB starts enqueued tasks only where no other task of the thread has
///      begun, so a guest holds no task of a callback while it waits. A thread of the pool that
///      waits for its algorithm may find this task as well. It enqueues the task again.
class Arena final {
 public:
  /// `threads`: the number of places of the pool. The pool owns the arena.
  Arena(int threads, GuestPlaces& places);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Runs `work` inside the arena, on this thread. Called once.
  template <typename F>
  void execute(F work) {
    door_.observe(true);
    arena_.execute(std::move(work));
  }
  /// Makes a guest return its place soon, between two of its tasks. Returns false if there is no
  /// guest, or if each was asked already. Allocates.
  bool recall();

 private:
  // Notified when a thread enters or leaves. On return of its destructor no notification runs.
  class Door final : public tbb::task_scheduler_observer {
   public:
    explicit Door(Arena& arena) : task_scheduler_observer(arena.arena_), arena_(arena) {}
    ~Door() override { observe(false); }
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;
    void on_scheduler_entry(bool is_worker) override {
      if (is_worker) arena_.entered();
    }
    void on_scheduler_exit(bool is_worker) override {
      if (is_worker) arena_.left();
    }

   private:
    Arena& arena_;
  };

  void entered();
  void left();
  void occupy(GuestPlaces& places);
  void vacate(GuestPlaces& places);
  void answer(GuestPlaces& places);

  GuestPlaces& places_;
  std::atomic<int> guests_{0};  // that occupy a place
  std::atomic<int> asked_{0};   // recall() was called, and its task has not begun
  tbb::task_arena arena_;
  Door door_;
};

}  // namespace hyphos::graph
