#include "graph/arena.hpp"

#include <algorithm>

namespace hyphos::graph {
namespace {

// The memory of an arena grows with its width.
constexpr int kMostWidth = 64;

/// The place that this worker of oneTBB occupies.
struct Guest {
  std::weak_ptr<GuestPlaces> pool;
  const Arena* arena = nullptr;
  void* place = nullptr;
};
thread_local Guest guest;

}  // namespace

// Two slots are reserved: for the thread of the arena, and for another thread that waits for a flow
// graph of the arena. So a pool of one thread has no slot for workers.
Arena::Arena(int threads, GuestPlaces& places)
    : places_(places), arena_(std::min(threads, kMostWidth) + 1, 2), door_(*this) {}

void Arena::entered() {
  // An arena that was destroyed while a worker was inside does not notify that it left.
  const bool is_guest = guest.place != nullptr && !guest.pool.expired();
  if (is_guest) return;
  guest = {places_.weak_from_this(), this, nullptr};
  occupy(places_);
}

void Arena::left() {
  if (guest.arena != this) return;
  if (guest.place != nullptr) vacate(places_);
  guest.arena = nullptr;
}

// A thread that queues work before the guest counts here does not find it in recall(). So the guest
// counts first, and then looks for such work. All of this is in one order (seq_cst).
void Arena::occupy(GuestPlaces& places) {
  for (;;) {
    guest.place = places.take_place();
    if (guest.place == nullptr) return;
    guests_.fetch_add(1, std::memory_order_seq_cst);
    if (!places.place_needed()) return;
    vacate(places);
  }
}

void Arena::vacate(GuestPlaces& places) {
  guests_.fetch_sub(1, std::memory_order_seq_cst);
  places.return_place(std::exchange(guest.place, nullptr));
}

bool Arena::recall() {
  if (asked_.load(std::memory_order_seq_cst) >= guests_.load(std::memory_order_seq_cst)) {
    return false;
  }
  asked_.fetch_add(1, std::memory_order_seq_cst);
  // The task may begin after the pool, which owns this arena, has ended.
  arena_.enqueue([this, recalls = places_.recalls] {
    if (const CallGate::Entry pool_exists(*recalls); pool_exists) answer(places_);
  });
  return true;
}

void Arena::answer(GuestPlaces& places) {
  asked_.fetch_sub(1, std::memory_order_seq_cst);
  if (!places.place_needed()) return;
  if (guest.arena != this) {
    (void)recall();
  } else if (guest.place != nullptr) {
    vacate(places);
    occupy(places);
  }
}

}  // namespace hyphos::graph
