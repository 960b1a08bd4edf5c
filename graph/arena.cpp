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
  guest = {places_.weak_from_this(), this, places_.take_place()};
  guests_.fetch_add(1, std::memory_order_relaxed);
}

void Arena::left() {
  if (guest.arena != this) return;
  guests_.fetch_sub(1, std::memory_order_relaxed);
  guest.arena = nullptr;
  if (void* const place = std::exchange(guest.place, nullptr)) places_.return_place(place);
}

bool Arena::recall() {
  if (asked_.load(std::memory_order_relaxed) >= guests_.load(std::memory_order_relaxed)) {
    return false;
  }
  asked_.fetch_add(1, std::memory_order_relaxed);
  // The task may begin after the pool, which owns this arena, has ended.
  arena_.enqueue([this, pool = places_.weak_from_this()] {
    if (const auto places = pool.lock()) answer(*places);
  });
  return true;
}

void Arena::answer(GuestPlaces& places) {
  asked_.fetch_sub(1, std::memory_order_relaxed);
  if (!places.place_needed()) return;
  if (guest.arena != this) {
    (void)recall();
  } else if (guest.place != nullptr) {
    places.return_place(std::exchange(guest.place, nullptr));
    guest.place = places.take_place();
  }
}

}  // namespace hyphos::graph
