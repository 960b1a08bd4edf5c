#pragma once

#include <imgui.h>

#include <cstdint>
#include <string>
#include <vector>

#include "view/core/pyramid.hpp"
#include "view/panels/theme.hpp"

/// Axes and lines of a plot, drawn into ImGui's draw list. Cost: by pixels, not by samples.
namespace hyphos::view {

struct PlotRange {
  std::int64_t begin_ns = 0;  ///< x, Unix time
  std::int64_t end_ns = 1;
  double low = 0;  ///< y
  double high = 1;
};

class PlotCanvas {
 public:
  /// The rectangle of the whole plot with its axes, in pixels of the screen.
  PlotCanvas(const Theme& theme, ImVec2 min, ImVec2 max, const PlotRange& range,
             std::int64_t zero_ns);

  void draw_axes() const;
  void draw_line(const Pyramid& series, std::uint32_t color) const;
  /// A vertical line, at the time of the mouse or of the timeline.
  void draw_instant(std::int64_t time_ns, std::uint32_t color) const;
  void draw_mark(std::int64_t time_ns, double value, std::uint32_t color) const;

  [[nodiscard]] bool contains(ImVec2 at) const;
  [[nodiscard]] std::int64_t time_at(float x) const;
  [[nodiscard]] double value_at(float y) const;
  [[nodiscard]] float x_of(std::int64_t time_ns) const;
  [[nodiscard]] float y_of(double value) const;
  [[nodiscard]] ImVec2 min() const { return min_; }
  [[nodiscard]] ImVec2 max() const { return max_; }

 private:
  void draw_samples(const Pyramid& series, std::size_t from, std::size_t to,
                    std::uint32_t color) const;
  void draw_columns(const Pyramid& series, std::uint32_t color) const;

  const Theme& theme_;
  ImVec2 min_;  // of the area of the lines
  ImVec2 max_;
  PlotRange range_;
  std::int64_t zero_ns_;  // x = 0 of the labels
  ImDrawList& list_;
};

/// Round numbers between `low` and `high`, about `most` of them.
[[nodiscard]] std::vector<double> ticks(double low, double high, int most);
/// The text of a tick, with as many decimals as `step` needs.
[[nodiscard]] std::string tick_text(double value, double step);

}  // namespace hyphos::view
