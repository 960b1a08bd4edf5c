#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

/// Text formatting for errors of transforms.
namespace hyphos::detail {

[[nodiscard]] inline std::string in_quotes(std::string_view name) {
  return "'" + std::string(name) + "'";
}

[[nodiscard]] inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// "250 ns", "12.5 us", "12.5 ms", "3.25 s".
[[nodiscard]] inline std::string duration(std::int64_t ns) {
  const double value = static_cast<double>(ns);
  if (std::abs(value) < 1e3) return number(value) + " ns";
  if (std::abs(value) < 1e6) return number(value / 1e3) + " us";
  if (std::abs(value) < 1e9) return number(value / 1e6) + " ms";
  return number(value / 1e9) + " s";
}

/// A point in time in seconds, to the microsecond: "1732204800.250000 s".
[[nodiscard]] inline std::string instant(std::int64_t ns) {
  char text[48];
  std::snprintf(text, sizeof text, "%s%lld.%06lld s", ns < 0 ? "-" : "",
                static_cast<long long>(std::abs(ns / 1'000'000'000)),
                static_cast<long long>(std::abs(ns % 1'000'000'000) / 1'000));
  return text;
}

/// The first names, and the number of further ones.
[[nodiscard]] inline std::string listed(std::span<const std::string_view> names) {
  constexpr std::size_t kShown = 10;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

}  // namespace hyphos::detail
