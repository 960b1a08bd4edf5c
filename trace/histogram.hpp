#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "hyphos/inspect.hpp"

namespace hyphos::trace {

/// A histogram of durations with log-linear buckets, in the layout of HdrHistogram. Every power of
/// two is divided into 2^SubBits equal parts. The relative error of a value is at most 2^-SubBits
/// from 1 ns to 2^40 ns (18 minutes). Longer durations count in the last bucket.
///
/// It may live in shared memory. The memory must start as zeros. record() is wait-free and may be
/// called by any thread: one relaxed increment, plus two operations for the sum and the maximum.
/// record_alone() uses no locked instructions and requires that calls do not overlap. Reading does
/// not disturb writers. A concurrent snapshot may miss the most recent samples. Source: G. Tene,
/// HdrHistogram (hdrhistogram.org).
template <unsigned SubBits>
class Histogram {
 public:
  static constexpr unsigned kMaxBits = 40;
  static constexpr std::size_t kBuckets = std::size_t{kMaxBits - SubBits + 1} << SubBits;

  void record(std::int64_t ns) noexcept {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
    counts_[index(value)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
    std::uint64_t seen = max_.load(std::memory_order_relaxed);
    while (value > seen && !max_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }

  void record_alone(std::int64_t ns) noexcept {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
    add_alone(counts_[index(value)], 1);
    add_alone(sum_, value);
    if (value > max_.load(std::memory_order_relaxed)) max_.store(value, std::memory_order_relaxed);
  }

  [[nodiscard]] static constexpr std::size_t index(std::uint64_t value) {
    constexpr std::uint64_t kLinear = std::uint64_t{1} << SubBits;
    if (value < kLinear) return static_cast<std::size_t>(value);
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 1 - SubBits;
    const std::size_t at =
        (std::size_t{shift} << SubBits) + static_cast<std::size_t>(value >> shift);
    return std::min(at, kBuckets - 1);
  }
  /// The largest value in bucket `at`.
  [[nodiscard]] static constexpr std::int64_t upper_edge(std::size_t at) {
    constexpr std::uint64_t kLinear = std::uint64_t{1} << SubBits;
    if (at < kLinear) return static_cast<std::int64_t>(at);
    const std::size_t shift = (at >> SubBits) - 1;
    const std::uint64_t mantissa = kLinear + (at & (kLinear - 1));
    return static_cast<std::int64_t>(((mantissa + 1) << shift) - 1);
  }

  [[nodiscard]] HistogramSnapshot snapshot() const {
    HistogramSnapshot out;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      const std::uint64_t n = counts_[i].load(std::memory_order_relaxed);
      if (n == 0) continue;
      out.count += n;
      out.buckets.emplace_back(upper_edge(i), n);
    }
    if (out.count == 0) return out;
    out.min_ns = out.buckets.front().first;
    out.max_ns = static_cast<std::int64_t>(max_.load(std::memory_order_relaxed));
    out.mean_ns =
        static_cast<double>(sum_.load(std::memory_order_relaxed)) / static_cast<double>(out.count);
    return out;
  }

  void clear() noexcept {
    for (auto& count : counts_) count.store(0, std::memory_order_relaxed);
    sum_.store(0, std::memory_order_relaxed);
    max_.store(0, std::memory_order_relaxed);
  }

 private:
  static void add_alone(std::atomic<std::uint64_t>& to, std::uint64_t n) noexcept {
    to.store(to.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> sum_;
  std::atomic<std::uint64_t> max_;
  std::array<std::atomic<std::uint64_t>, kBuckets> counts_;
};

}  // namespace hyphos::trace
