#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/mutex.hpp"
#include "hyphos/transforms.hpp"

namespace hyphos::detail {

/// The pose of a frame in its parent at one time: one cache line.
struct TransformSample {
  std::int64_t stamp = 0;
  Isometry pose;

  bool operator==(const TransformSample&) const = default;
};

/// The time range of an edge's samples. Empty: first > last.
struct Covered {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();

  [[nodiscard]] bool empty() const { return first > last; }
  [[nodiscard]] bool holds(std::int64_t time) const { return first <= time && time <= last; }
};
inline constexpr Covered kAlways{std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max()};

/// The samples of one frame in its parent, ordered by stamp, in a ring buffer that grows up to a
/// bound.
///
/// One writer at a time (the tree's lock) and any number of readers, synchronised by a sequence
/// counter:
///  E1  `version_` is odd while any other member changes, and no member changes while it is even.
///  E2  A reader that finds it odd, or changed at the end, discards its values and starts over. All
///      its reads are atomic, so it never reads half a word. Its reads of a changing ring may be
///      inconsistent but never out of bounds, because every index is taken modulo the size of the
///      ring in use.
///  E3  Rings are never freed before the edge, because a reader may still use an outgrown one. They
///      double, so all outgrown rings together are smaller than the current one.
/// All loads are acquire and all stores release. They replace fences, which the thread sanitizer
/// does not support. On x86, both are plain moves.
class TransformSamples {
 public:
  enum class Put : std::uint8_t { added, replaced, same, too_old };

  TransformSamples() = default;
  TransformSamples(const TransformSamples&) = delete;
  TransformSamples& operator=(const TransformSamples&) = delete;

  // For the writer.

  /// Inserts a sample in order. `shortened` counts the samples dropped for lack of room.
  Put put(const TransformSample& sample, std::int64_t history, std::size_t max_samples,
          std::uint64_t& shortened);
  /// The one sample of a static edge.
  void put_static(const TransformSample& sample);
  void clear();
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  [[nodiscard]] bool is_static() const { return is_static_.load(std::memory_order_acquire); }

  // For readers. `writer` is the lock of the writer. After several failed attempts, a reader waits
  // for this lock, so that an interrupted writer of low priority can continue.

  /// The covered time range. For a static edge, all of time.
  [[nodiscard]] Covered covered(Mutex& writer) const;
  /// The pose at `time`, interpolated. False if it is not covered.
  [[nodiscard]] bool at(std::int64_t time, Isometry& pose, Mutex& writer) const;

 private:
  static constexpr std::size_t kWords = 8;
  static_assert(sizeof(TransformSample) == kWords * sizeof(std::uint64_t));
  using Words = std::array<std::uint64_t, kWords>;

  struct alignas(64) Slot {
    std::array<std::atomic<std::uint64_t>, kWords> words;

    void store(const TransformSample& sample) {
      const auto from = std::bit_cast<Words>(sample);
      for (std::size_t i = 0; i < kWords; ++i) words[i].store(from[i], std::memory_order_release);
    }
    [[nodiscard]] TransformSample load() const {
      Words to;
      for (std::size_t i = 0; i < kWords; ++i) to[i] = words[i].load(std::memory_order_acquire);
      return std::bit_cast<TransformSample>(to);
    }
    [[nodiscard]] std::int64_t stamp() const {
      return static_cast<std::int64_t>(words[0].load(std::memory_order_acquire));
    }
  };
  struct Ring {
    explicit Ring(std::size_t size) : mask(size - 1), slots(std::make_unique<Slot[]>(size)) {}
    [[nodiscard]] Slot& operator[](std::uint64_t index) const { return slots[index & mask]; }
    [[nodiscard]] std::size_t size() const { return mask + 1; }

    const std::size_t mask;
    const std::unique_ptr<Slot[]> slots;
  };
  /// Marks the duration of a change, as E1 requires.
  class Change {
   public:
    explicit Change(TransformSamples& of) : of_(of) { step(); }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;
    ~Change() { step(); }

   private:
    void step() {
      of_.version_.store(of_.version_.load(std::memory_order_relaxed) + 1,
                         std::memory_order_release);
    }
    TransformSamples& of_;
  };

  /// The samples on both sides of a time. `any` is true if the time is covered.
  struct Around {
    bool any = false;
    TransformSample below;
    TransformSample above;
  };

  [[nodiscard]] Around around(std::int64_t time) const;
  [[nodiscard]] static std::uint64_t find(const Ring& ring, std::uint64_t begin,
                                          std::uint64_t count, std::int64_t time, Covered ends);
  template <typename F>
  auto read(F look, Mutex& writer) const;
  void make_room(std::size_t max_samples, std::uint64_t& shortened);
  void forget(std::int64_t before);
  [[nodiscard]] std::uint64_t place_of(std::int64_t stamp) const;

  std::atomic<std::uint32_t> version_{0};
  std::atomic<bool> is_static_{false};
  std::atomic<const Ring*> ring_{nullptr};
  std::atomic<std::uint64_t> begin_{0};  ///< samples are [begin_, end_), the newest is end_ - 1
  std::atomic<std::uint64_t> end_{0};
  std::vector<std::unique_ptr<Ring>> rings_;  ///< the last one is in use. The others: E3
};

}  // namespace hyphos::detail
