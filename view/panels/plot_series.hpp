#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hyphos/result.hpp"
#include "view/core/fields.hpp"
#include "view/core/pyramid.hpp"

namespace hyphos::view {

/// One line of a plot: a number in the messages of a channel.
struct PlotSeries {
  std::string channel;
  std::string field;
  Pyramid samples;
  std::optional<FieldPath> path;  ///< once the type of the channel is known
  std::string problem;            ///< why there is no line
  std::uint64_t absent = 0;       ///< messages without the number
  std::size_t color = 0;          ///< index of Theme::series
  bool visible = true;

  [[nodiscard]] std::string name() const { return channel + ":" + field; }
};

/// "odom:twist.twist.linear.x". Empty without a colon, or if a side is empty.
struct SeriesName {
  std::string channel;
  std::string field;
};
[[nodiscard]] std::optional<SeriesName> parse_series_name(std::string_view text);

/// The samples of all series in [begin, end] in one table: time in s since `zero_ns`, and a column
/// for each series, empty where it has no sample of that time.
[[nodiscard]] std::string series_csv(const std::vector<PlotSeries>& series, std::int64_t begin_ns,
                                     std::int64_t end_ns, std::int64_t zero_ns);

}  // namespace hyphos::view
