#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/common/stats.hpp"

namespace hyphos::lab {

// The lateness of the messages of a flow, for each part of a run. It increases from part to part
// while a queue grows. python/hyphos/lab/knee.py uses it to decide whether the system sustains a
// load.

inline constexpr std::size_t kLateParts = 8;

/// The part of a message that is due `due_ns` after the first message, in a schedule of `span_ns`.
inline std::size_t late_part(std::int64_t due_ns, std::int64_t span_ns) {
  const double share =
      static_cast<double>(due_ns) / static_cast<double>(std::max(span_ns, INT64_C(1)));
  constexpr auto kParts = static_cast<double>(kLateParts);
  return static_cast<std::size_t>(std::clamp(share * kParts, 0.0, kParts - 1));
}

/// The median lateness of each part of one flow, and the lateness of its fastest messages.
class LateParts {
 public:
  explicit LateParts(std::int64_t span_ns) : span_ns_(span_ns) {}

  /// Adds a message that was due `due_ns` after the first message and arrived `late_ns` late.
  void add(std::int64_t due_ns, std::int64_t late_ns) {
    parts_[late_part(due_ns, span_ns_)].push_back(late_ns);
  }
  /// NaN for a part without received messages.
  [[nodiscard]] std::array<double, kLateParts> medians_us() {
    std::array<double, kLateParts> found{};
    for (std::size_t part = 0; part < kLateParts; ++part) {
      std::sort(parts_[part].begin(), parts_[part].end());
      found[part] = percentile_us(parts_[part], 50);
    }
    return found;
  }
  /// The first percentile over all parts. NaN if nothing arrived.
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
