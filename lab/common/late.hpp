#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/common/stats.hpp"

namespace hyphos::lab {

// How late the messages of a flow are in each part of a run: where a queue grows, they are later
// from part to part. python/hyphos/lab/knee.py decides by it whether a load is carried.

inline constexpr std::size_t kLateParts = 8;

/// The part in which a message is due, so long after the first one of a schedule of that span.
inline std::size_t late_part(std::int64_t due_ns, std::int64_t span_ns) {
  const double share =
      static_cast<double>(due_ns) / static_cast<double>(std::max(span_ns, INT64_C(1)));
  constexpr auto kParts = static_cast<double>(kLateParts);
  return static_cast<std::size_t>(std::clamp(share * kParts, 0.0, kParts - 1));
}

/// Of one flow: the median lateness of each part, and that of its quickest messages.
class LateParts {
 public:
  explicit LateParts(std::int64_t span_ns) : span_ns_(span_ns) {}

  /// A message that was due so long after the first one arrived so late.
  void add(std::int64_t due_ns, std::int64_t late_ns) {
    parts_[late_part(due_ns, span_ns_)].push_back(late_ns);
  }
  /// NaN for a part of which nothing arrived.
  [[nodiscard]] std::array<double, kLateParts> medians_us() {
    std::array<double, kLateParts> found{};
    for (std::size_t part = 0; part < kLateParts; ++part) {
      std::sort(parts_[part].begin(), parts_[part].end());
      found[part] = percentile_us(parts_[part], 50);
    }
    return found;
  }
  /// The first percentile of all; NaN if nothing arrived.
  [[nodiscard]] double least_us() const {
    std::vector<std::int64_t> all;
    for (const auto& part : parts_) all.insert(all.end(), part.begin(), part.end());
    std::sort(all.begin(), all.end());
    return percentile_us(all, 1);
  }

 private:
  std::int64_t span_ns_;
  std::array<std::vector<std::int64_t>, kLateParts> parts_;
};

}  // namespace hyphos::lab
