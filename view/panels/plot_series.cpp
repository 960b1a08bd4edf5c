#include "view/panels/plot_series.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

namespace hyphos::view {

std::optional<SeriesName> parse_series_name(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return {};
  return SeriesName{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

std::string series_csv(const std::vector<PlotSeries>& series, std::int64_t begin_ns,
                       std::int64_t end_ns, std::int64_t zero_ns) {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::string out = "time_s";
  std::vector<std::size_t> at;
  for (const PlotSeries& one : series) {
    std::string name = one.name();
    for (std::size_t i = name.find('"'); i != std::string::npos; i = name.find('"', i + 2)) {
      name.insert(i, 1, '"');
    }
    out += ",\"" + name + "\"";
    at.push_back(one.samples.lower_bound(begin_ns));
  }
  out += '\n';
  while (true) {
    std::int64_t next = kNone;
    for (std::size_t i = 0; i < series.size(); ++i) {
      if (at[i] < series[i].samples.size()) {
        next = std::min(next, series[i].samples.at(at[i]).time_ns);
      }
    }
    if (next == kNone || next > end_ns) return out;
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.9f", static_cast<double>(next - zero_ns) * 1e-9);
    out += text.data();
    for (std::size_t i = 0; i < series.size(); ++i) {
      out += ',';
      if (at[i] >= series[i].samples.size()) continue;
      const Pyramid::Point point = series[i].samples.at(at[i]);
      if (point.time_ns != next) continue;
      std::snprintf(text.data(), text.size(), "%.17g", point.value);
      out += text.data();
      ++at[i];
    }
    out += '\n';
  }
}

}  // namespace hyphos::view
