#include <algorithm>

#include "base/percentile.hpp"
#include "hyphos/inspect.hpp"

namespace hyphos {

std::int64_t HistogramSnapshot::percentile_ns(double fraction) const {
  if (count == 0) return 0;
  if (buckets.empty()) return max_ns;
  return std::min(histogram_percentile(buckets, count, fraction), max_ns);
}

HistogramSnapshot HistogramSnapshot::since(const HistogramSnapshot& earlier) const {
  HistogramSnapshot out;
  auto old = earlier.buckets.begin();
  for (const auto& [edge, n] : buckets) {
    while (old != earlier.buckets.end() && old->first < edge) ++old;
    const std::uint64_t before =
        old != earlier.buckets.end() && old->first == edge ? old->second : 0;
    if (n <= before) continue;
    out.buckets.emplace_back(edge, n - before);
    out.count += n - before;
  }
  if (out.count == 0) return out;
  out.min_ns = out.buckets.front().first;
  out.max_ns = std::min(out.buckets.back().first, max_ns);
  const double sum =
      mean_ns * static_cast<double>(count) - earlier.mean_ns * static_cast<double>(earlier.count);
  out.mean_ns = sum / static_cast<double>(out.count);
  return out;
}

std::string_view to_string(ProcessState value) {
  switch (value) {
    case ProcessState::starting:
      return "starting";
    case ProcessState::ready:
      return "ready";
    case ProcessState::stopping:
      return "stopping";
  }
  return "unknown";
}

std::uint64_t EndpointInfo::counter(std::string_view name) const {
  for (const auto& [key, n] : counters) {
    if (key == name) return n;
  }
  return 0;
}

}  // namespace hyphos
