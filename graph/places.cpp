// The places of a thread pool change hands: threads that wait and their stand-ins, guests.
#include <algorithm>
#include <system_error>

#include "base/hot.hpp"
#include "graph/executor_state.hpp"

namespace hyphos::graph {

/// The sleeper of the place is set.
HYPHOS_HOT void Executor::State::offer(int place) {
  idle.put(place);
  if (queues.any()) wake_one();
  after_rest();
}

/// For a thread that used the place of its sleeper. offer(), or gives the place up: (3).
HYPHOS_HOT void Executor::State::release(int place) {
  if (owed.load(std::memory_order_relaxed) > 0) {
    BriefLock lock(mutex);
    if (static_cast<int>(given_up.size()) < placeless && !stopping.load()) {
      park(*places[static_cast<std::size_t>(place)].sleeper);
      given_up.push_back(place);
      update_owed();
      lock.unlock();
      if (queues.any()) wake_one();
      idle.meet();
      after_rest();
      return;
    }
  }
  offer(place);
}

/// For a thread that has put its place into `idle`. False if another thread has taken the place and
/// will wake this one, now or when it needs it.
bool Executor::State::retake(Worker& self, int place) {
  if (!idle.take(place)) return false;
  if (places[static_cast<std::size_t>(place)].sleeper == &self) {
    self.awake.store(Worker::kAwake, std::memory_order_relaxed);
    return true;
  }
  offer(place);  // it belongs to another thread meanwhile, and this one is parked or has another
  return false;
}

/// Notifies the threads that wait until others rest. The caller has put a place into `idle`, or
/// called idle.meet().
HYPHOS_HOT void Executor::State::after_rest() {
  if (waiters.load(std::memory_order_seq_cst) > 0) {
    {
      const MutexLock lock(rest_mutex);
    }
    rested.notify_all();
  }
  if (guests_waiting.load(std::memory_order_seq_cst) > 0) {
    {
      const MutexLock lock(guest_mutex);
    }
    place_free.notify_all();
  }
}

/// Reads the number of finished tasks before the number of added tasks. Both only grow, and the
/// second is never smaller. So if they are equal, they were equal at an instant in between.
bool Executor::State::all_finished() {
  idle.meet();
  const MutexLock lock(mutex);
  std::uint64_t finished = finished_elsewhere.load(std::memory_order_acquire);
  for (const Place& place : places) finished += place.finished.load(std::memory_order_acquire);
  std::uint64_t added = queues.pushed();
  for (const Place& place : places) added += place.given.load(std::memory_order_acquire);
  for (const auto& one : readies) added += one->kept.load(std::memory_order_acquire);
  return finished == added;
}

// --- Threads that wait -------------------------------------------------------------------------

/// Returns a place that was given up for a placeless thread which does not need it, or -1.
int Executor::State::take_given_up() {
  if (static_cast<int>(given_up.size()) <= placeless) return -1;
  const int place = given_up.back();
  given_up.pop_back();
  return place;
}

/// Gives the place to a parked thread, which sleeps on. False if none is parked.
bool Executor::State::give_to_parked(int place) {
  if (parked == nullptr) return false;
  Worker* const found = std::exchange(parked, parked->next);
  found->place = place;
  places[static_cast<std::size_t>(place)].sleeper = found;
  return true;
}

/// Makes a thread that works in the place. False if no more threads are available.
bool Executor::State::make_stand_in(int place) {
  const auto self = std::static_pointer_cast<State>(shared_from_this());
  Worker& made = *workers.emplace_back(std::make_unique<Worker>(threads, *this, place));
  try {
    stand_ins.emplace_back([self, &made] { self->run(made); });
  } catch (const std::system_error&) {
    workers.pop_back();
    return false;
  }
  return true;
}

/// After a piece of work, if there is a placeless thread: (3). Returns the work with which another
/// thread wakes this one, if it had to park.
Executor::Work Executor::State::settle(Worker& self) {
  BriefLock lock(mutex);
  if (stopping.load()) return nullptr;
  if (role.place < 0) {
    --placeless;
    role.place = take_given_up();
    update_owed();
    if (role.place >= 0) return nullptr;
  } else {
    if (static_cast<int>(given_up.size()) >= placeless) return nullptr;
    given_up.push_back(std::exchange(role.place, -1));
    update_owed();
  }
  self.awake.store(Worker::kAsleep, std::memory_order_relaxed);
  park(self);
  lock.unlock();
  if (queues.any()) wake_one();
  idle.meet();
  after_rest();
  return self.sleep();
}

/// The same for a receiving thread without a place. False if it gets none.
bool Executor::State::regain() {
  const MutexLock lock(mutex);
  if (stopping.load()) return false;
  --placeless;
  const int place = take_given_up();
  update_owed();
  if (place < 0) return false;
  if (give_to_parked(place)) {
    role.place = place;
    return true;
  }
  if (!make_stand_in(place)) {
    given_up.push_back(place);  // for the next thread that continues after a wait
    update_owed();
  }
  return false;
}

bool Executor::State::begin_waiting() {
  int place = -1;
  {
    const MutexLock lock(mutex);
    if (waiting >= kMaxWaiting) return false;
    ++waiting;
    if (stopping.load()) return true;
    const bool had_place = role.place >= 0;
    place = role.place;
    if (!had_place) {
      --placeless;
      place = take_given_up();
      update_owed();
      if (place < 0) return true;
    }
    role.place = -1;
    // A receiving thread uses the place of a thread that sleeps.
    const bool has_sleeper = (had_place && !role.is_worker) || give_to_parked(place);
    if (!has_sleeper) {
      if (make_stand_in(place)) return true;
      --waiting;
      role.place = place;
      return false;
    }
  }
  offer(place);
  return true;
}

void Executor::State::end_waiting() {
  const MutexLock lock(mutex);
  --waiting;
  if (stopping.load()) return;
  role.place = take_given_up();
  if (role.place >= 0) {
    update_owed();
    if (role.is_worker || give_to_parked(role.place)) return;
    given_up.push_back(role.place);  // a receiving thread needs a thread that sleeps
  }
  role.place = idle.take_any();
  if (role.place < 0) {
    ++placeless;
    update_owed();
  } else if (role.is_worker) {
    park(*places[static_cast<std::size_t>(role.place)].sleeper);
  }
}

// --- Guests ------------------------------------------------------------------------------------

void* Executor::State::take_place() {
  const bool separate = most < threads;
  IdlePlaces& free = separate ? spare : idle;
  BriefLock lock(guest_mutex);
  guests_waiting.fetch_add(1, std::memory_order_seq_cst);
  int place = -1;
  while (!over) {
    place = stopping.load() ? -1 : free.take_any();
    if (place < 0) {
      place_free.wait(lock);
      continue;
    }
    if (separate) break;
    // A thread that queues work and does not see this guest is seen here: (1).
    guests.fetch_add(1, std::memory_order_seq_cst);
    if (!place_needed()) break;
    lock.unlock();
    release(std::exchange(place, -1));
    leave();
    lock.lock();
  }
  guests_waiting.fetch_sub(1, std::memory_order_relaxed);
  return place < 0 ? nullptr : &places[static_cast<std::size_t>(place)];
}

void Executor::State::return_place(void* place) {
  const int number = static_cast<int>(static_cast<Place*>(place) - places.data());
  if (most < threads) {
    spare.put(number);
    after_rest();
    return;
  }
  release(number);
  leave();
}

/// Called after a guest has released its place, so that find_last_place() sees the guest or the
/// place. Notifies again, because another thread may have taken the place before the guest left.
void Executor::State::leave() {
  guests.fetch_sub(1, std::memory_order_seq_cst);
  if (stopping.load(std::memory_order_seq_cst)) after_rest();
}

/// While the pool ends, for a thread without a place, which a guest may use. Waits for an idle
/// place as long as work is queued and guests are there, so that no more than `most` threads work.
/// A guest leaves its place after its task, and other threads take queued work before they end.
void Executor::State::find_last_place() {
  const auto found = [this] {
    role.place = idle.take_any();
    return role.place >= 0 || guests.load(std::memory_order_seq_cst) == 0 || !queues.any();
  };
  if (found()) return;
  recall_guest();
  BriefLock lock(guest_mutex);
  guests_waiting.fetch_add(1, std::memory_order_seq_cst);
  place_free.wait(lock, found);
  guests_waiting.fetch_sub(1, std::memory_order_relaxed);
}

void Executor::State::recall_guest() {
  const MutexLock lock(mutex);
  const auto asked = [](const auto& one) { return one->arena.recall(); };
  (void)(std::ranges::any_of(workers, asked) || std::ranges::any_of(readies, asked));
}

}  // namespace hyphos::graph
