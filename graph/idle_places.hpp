#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hyphos::graph {

/// A set of the idle places of a thread pool, without a lock: a bit for each place.
///
/// A thread that takes a place from the set owns the place and everything that belongs to it, until
/// it puts the place back: put() releases, and take() acquires. All calls are in the order of
/// seq_cst.
class IdlePlaces {
 public:
  explicit IdlePlaces(int count) : words_((static_cast<std::size_t>(count) + 63) / 64) {}

  void put(int place) { word(place).fetch_or(bit(place), std::memory_order_seq_cst); }
  /// Returns false if another thread has taken it.
  [[nodiscard]] bool take(int place) {
    return (word(place).fetch_and(~bit(place), std::memory_order_seq_cst) & bit(place)) != 0;
  }
  /// Takes the place with the lowest number, so that the same few threads stay warm. Returns -1 if
  /// there is none.
  [[nodiscard]] int take_any() {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::atomic<std::uint64_t>& bits = words_[i].bits;
      while (const std::uint64_t seen = bits.load(std::memory_order_seq_cst)) {
        const int place = static_cast<int>(i) * 64 + std::countr_zero(seen);
        if (take(place)) return place;
      }
    }
    return -1;
  }
  [[nodiscard]] bool any() const {
    for (const Word& one : words_) {
      if (one.bits.load(std::memory_order_seq_cst) != 0) return true;
    }
    return false;
  }
  /// Of two threads, one puts a place and one calls this, or both call this: the later one sees
  /// all writes of the earlier one.
  void meet() {
    for (Word& one : words_) one.bits.fetch_or(0, std::memory_order_seq_cst);
  }

 private:
  struct alignas(64) Word {
    std::atomic<std::uint64_t> bits{0};
  };
  std::atomic<std::uint64_t>& word(int place) {
    return words_[static_cast<std::size_t>(place) / 64].bits;
  }
  static std::uint64_t bit(int place) {
    return std::uint64_t{1} << (static_cast<unsigned>(place) % 64);
  }

  std::vector<Word> words_;
};

}  // namespace hyphos::graph
