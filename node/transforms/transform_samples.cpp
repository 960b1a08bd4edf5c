#include "node/transforms/transform_samples.hpp"

#include <algorithm>

#include "node/transforms/transform_maths.hpp"

namespace hyphos::detail {
namespace {

constexpr std::size_t kFirstRing = 16;
constexpr int kPatience = 64;  // attempts before a reader waits for the writer

}  // namespace

// The writer's side.

TransformSamples::Put TransformSamples::put(const TransformSample& sample, std::int64_t history,
                                            std::size_t max_samples, std::uint64_t& shortened) {
  if (is_static()) clear();
  const Ring* ring = ring_.load(std::memory_order_relaxed);
  std::uint64_t end = end_.load(std::memory_order_relaxed);
  const bool empty = begin_.load(std::memory_order_relaxed) == end;
  if (!empty && sample.stamp <= (*ring)[end - 1].stamp()) {
    if (sample.stamp < (*ring)[end - 1].stamp() - history) return Put::too_old;
    const std::uint64_t place = place_of(sample.stamp);
    if (place < end && (*ring)[place].stamp() == sample.stamp) {
      if ((*ring)[place].load() == sample) return Put::same;
      const Change change(*this);
      (*ring)[place].store(sample);
      return Put::replaced;
    }
  }
  const Change change(*this);
  make_room(max_samples, shortened);
  ring = ring_.load(std::memory_order_relaxed);
  // A late sample moves the newer ones up, so the cost is the number of newer samples.
  const std::uint64_t place = place_of(sample.stamp);
  for (std::uint64_t i = end; i > place; --i) (*ring)[i].store((*ring)[i - 1].load());
  (*ring)[place].store(sample);
  end_.store(end + 1, std::memory_order_release);
  forget((*ring)[end].stamp() - history);
  return Put::added;
}

void TransformSamples::put_static(const TransformSample& sample) {
  const Change change(*this);
  if (rings_.empty()) {
    rings_.push_back(std::make_unique<Ring>(1));
    ring_.store(rings_.back().get(), std::memory_order_release);
  }
  begin_.store(0, std::memory_order_release);
  end_.store(1, std::memory_order_release);
  (*ring_.load(std::memory_order_relaxed))[0].store(sample);
  is_static_.store(true, std::memory_order_release);
}

void TransformSamples::clear() {
  const Change change(*this);
  is_static_.store(false, std::memory_order_release);
  begin_.store(0, std::memory_order_release);
  end_.store(0, std::memory_order_release);
}

/// The index of the first sample that is not older than `stamp`.
std::uint64_t TransformSamples::place_of(std::int64_t stamp) const {
  const Ring* ring = ring_.load(std::memory_order_relaxed);
  const std::uint64_t begin = begin_.load(std::memory_order_relaxed);
  std::uint64_t place = end_.load(std::memory_order_relaxed);
  // From the newest end, because late samples are rarely very late.
  while (place > begin && (*ring)[place - 1].stamp() >= stamp) --place;
  return place;
}

/// Makes room for one more sample: a larger ring, or at the bound, the slot of the oldest.
void TransformSamples::make_room(std::size_t max_samples, std::uint64_t& shortened) {
  const Ring* ring = ring_.load(std::memory_order_relaxed);
  const std::uint64_t begin = begin_.load(std::memory_order_relaxed);
  const std::uint64_t end = end_.load(std::memory_order_relaxed);
  if (ring != nullptr && end - begin < ring->size()) return;
  const std::size_t bound = std::bit_ceil(std::max<std::size_t>(max_samples, 2));
  if (ring != nullptr && ring->size() >= bound) {
    begin_.store(begin + 1, std::memory_order_release);
    ++shortened;
    return;
  }
  const std::size_t size =
      ring == nullptr ? std::min(kFirstRing, bound) : std::max<std::size_t>(2, 2 * ring->size());
  auto larger = std::make_unique<Ring>(size);
  for (std::uint64_t i = begin; i < end; ++i) (*larger)[i].store((*ring)[i].load());
  ring_.store(larger.get(), std::memory_order_release);
  rings_.push_back(std::move(larger));
}

/// Drops samples older than `before`, except one, so that `before` itself stays covered.
void TransformSamples::forget(std::int64_t before) {
  const Ring& ring = *ring_.load(std::memory_order_relaxed);
  const std::uint64_t end = end_.load(std::memory_order_relaxed);
  std::uint64_t begin = begin_.load(std::memory_order_relaxed);
  while (begin + 1 < end && ring[begin + 1].stamp() <= before) ++begin;
  begin_.store(begin, std::memory_order_release);
}

// The readers' side.

template <typename F>
auto TransformSamples::read(F look, Mutex& writer) const {
  for (int attempt = 0; attempt < kPatience; ++attempt) {
    const std::uint32_t before = version_.load(std::memory_order_acquire);
    if (before % 2 != 0) continue;
    auto seen = look();
    if (version_.load(std::memory_order_relaxed) == before) return seen;
  }
  const MutexLock lock(writer);
  return look();
}

Covered TransformSamples::covered(Mutex& writer) const {
  return read(
      [this]() -> Covered {
        const Ring* ring = ring_.load(std::memory_order_acquire);
        const std::uint64_t begin = begin_.load(std::memory_order_acquire);
        const std::uint64_t end = end_.load(std::memory_order_acquire);
        if (begin == end) return {};
        if (is_static()) return kAlways;
        return {(*ring)[begin].stamp(), (*ring)[end - 1].stamp()};
      },
      writer);
}

/// The index, relative to `begin`, of the last sample not later than `time`. `time` must be in
/// [first, last), the stamps of `count` > 1 samples.
///
/// Samples usually arrive at a steady rate, so the index is near the linear interpolation between
/// the first and the last. From there the search doubles its steps and then bisects: O(log of the
/// distance).
std::uint64_t TransformSamples::find(const Ring& ring, std::uint64_t begin, std::uint64_t count,
                                     std::int64_t time, Covered ends) {
  const auto reached = [&](std::uint64_t i) { return ring[begin + i].stamp() <= time; };
  const double share =
      static_cast<double>(time - ends.first) / static_cast<double>(ends.last - ends.first);
  std::uint64_t low = 0;           // reached
  std::uint64_t high = count - 1;  // not reached
  std::uint64_t probe =
      std::min(static_cast<std::uint64_t>(share * static_cast<double>(high)), high - 1);
  const bool upwards = reached(probe);
  (upwards ? low : high) = probe;
  for (std::uint64_t step = 1; low + step < high; step *= 2) {
    probe = upwards ? low + step : high - step;
    const bool here = reached(probe);
    (here ? low : high) = probe;
    if (here != upwards) break;
  }
  while (low + 1 < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    (reached(middle) ? low : high) = middle;
  }
  return low;
}

TransformSamples::Around TransformSamples::around(std::int64_t time) const {
  const Ring* ring = ring_.load(std::memory_order_acquire);
  const std::uint64_t begin = begin_.load(std::memory_order_acquire);
  const std::uint64_t end = end_.load(std::memory_order_acquire);
  const std::uint64_t count = end - begin;
  if (ring == nullptr || count == 0 || count > ring->size()) return {};
  const TransformSample newest = (*ring)[end - 1].load();
  if (newest.stamp == time || is_static()) return {true, newest, newest};
  const std::int64_t first = (*ring)[begin].stamp();
  // `count` < 2 with a time between both ends means that the ring is changing: E2.
  if (time > newest.stamp || time < first || count < 2) return {};
  const std::uint64_t low = find(*ring, begin, count, time, {first, newest.stamp});
  return {true, (*ring)[begin + low].load(), (*ring)[begin + low + 1].load()};
}

bool TransformSamples::at(std::int64_t time, Isometry& pose, Mutex& writer) const {
  const Around found = read([this, time] { return around(time); }, writer);
  if (!found.any) return false;
  const std::int64_t span = found.above.stamp - found.below.stamp;
  if (found.below.stamp == time || span <= 0) {
    pose = found.below.pose;
  } else {
    pose = maths::interpolate(
        found.below.pose, found.above.pose,
        static_cast<double>(time - found.below.stamp) / static_cast<double>(span));
  }
  return true;
}

}  // namespace hyphos::detail
