#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

/// Percentiles by the nearest-rank rule: the p-th percentile of n samples is the sample with the
/// rank ⌈p/100 · n⌉ in ascending order, from 1. It is always a sample that occurred. `fraction` is
/// p/100. Values outside 0 to 1 count as 0 or 1.
namespace hyphos {

/// The rank of the percentile, from 1 to `count`. `count` must not be 0.
[[nodiscard]] inline std::uint64_t nearest_rank(double fraction, std::uint64_t count) {
  const double wanted = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count);
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(wanted)), 1, count);
}

/// The percentile of samples in ascending order, a random-access range that is not empty.
template <typename Sorted>
[[nodiscard]] auto percentile(const Sorted& sorted, double fraction) {
  return sorted[static_cast<std::size_t>(nearest_rank(fraction, sorted.size())) - 1];
}

/// The percentile of a histogram: a range of (value, count), in ascending order of the values, with
/// `total` samples, at least one.
template <typename Histogram>
[[nodiscard]] auto histogram_percentile(const Histogram& histogram, std::uint64_t total,
                                        double fraction) {
  const std::uint64_t rank = nearest_rank(fraction, total);
  auto at = histogram.begin();
  for (std::uint64_t seen = at->second; seen < rank; seen += at->second) {
    if (const auto next = std::next(at); next == histogram.end()) break;
    ++at;
  }
  return at->first;
}

}  // namespace hyphos
