#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/percentile.hpp"

namespace hyphos::lab {

// Percentile by the nearest-rank rule, in microseconds. `sorted` holds nanoseconds. NaN if empty.
inline double percentile_us(const std::vector<std::int64_t>& sorted, double percent) {
  if (sorted.empty()) return std::nan("");
  return static_cast<double>(percentile(sorted, percent / 100)) / 1e3;
}

/// A finite number in JSON format, or null.
inline std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[48];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

/// A JSON list of numbers. Numbers that are not finite become null.
inline std::string list_of(std::span<const double> values) {
  std::string text = "[";
  for (const double value : values) text += (text.size() == 1 ? "" : ", ") + number(value);
  return text + "]";
}

/// The samples as [[lowest value of the bucket, count], …], in order. Buckets are 1 ns wide up to
/// 2048 ns, and above that a 1024th of their octave, like an HDR histogram with three digits (Gil
/// Tene, hdrhistogram.org). The error of a value is at most 0.1 %.
inline std::string histogram(const std::vector<std::int64_t>& samples) {
  std::map<std::int64_t, std::uint64_t> buckets;
  for (const std::int64_t sample : samples) {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(sample, 0));
    const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - 11);
    ++buckets[static_cast<std::int64_t>(value >> shift << shift)];
  }
  std::string text = "[";
  for (const auto& [value, count] : buckets) {
    text +=
        (text.size() == 1 ? "[" : ",[") + std::to_string(value) + "," + std::to_string(count) + "]";
  }
  return text + "]";
}

// Writes one flat JSON object. The program chooses keys and strings, so they need no escaping.
class JsonLine {
 public:
  JsonLine& add(const char* key, const std::string& value) { return raw(key, "\"" + value + "\""); }
  JsonLine& add(const char* key, double value) { return raw(key, number(value)); }
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

}  // namespace hyphos::lab
