#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace hyphos::bench {

// Percentile by the nearest-rank rule, in microseconds; `sorted` holds nanoseconds. NaN if empty.
inline double percentile_us(const std::vector<std::int64_t>& sorted, double percent) {
  if (sorted.empty()) return std::nan("");
  const auto rank =
      static_cast<std::size_t>(std::ceil(percent / 100.0 * static_cast<double>(sorted.size())));
  return static_cast<double>(sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1]) / 1e3;
}

// Writes one flat JSON object. Keys and strings are ours and need no escaping.
class JsonLine {
 public:
  JsonLine& add(const char* key, const std::string& value) { return raw(key, "\"" + value + "\""); }
  JsonLine& add(const char* key, double value) {
    if (!std::isfinite(value)) return raw(key, "null");
    char text[48];
    std::snprintf(text, sizeof text, "%.10g", value);
    return raw(key, text);
  }
  JsonLine& add_percentiles(const std::string& prefix, std::vector<std::int64_t> samples) {
    std::sort(samples.begin(), samples.end());
    add((prefix + "p50_us").c_str(), percentile_us(samples, 50));
    add((prefix + "p95_us").c_str(), percentile_us(samples, 95));
    add((prefix + "p99_us").c_str(), percentile_us(samples, 99));
    return add((prefix + "max_us").c_str(), percentile_us(samples, 100));
  }
  JsonLine& raw(const char* key, const std::string& value) {
    text_ += (text_.empty() ? "{\"" : ", \"") + std::string(key) + "\": " + value;
    return *this;
  }
  [[nodiscard]] std::string str() const { return text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace hyphos::bench
