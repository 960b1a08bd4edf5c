#include "view/panels/plot_canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace hyphos::view {

std::vector<double> ticks(double low, double high, int most) {
  std::vector<double> found;
  const double span = high - low;
  if (!(span > 0) || !std::isfinite(span) || most < 1) return found;
  const double rough = span / most;
  const double unit = std::pow(10, std::floor(std::log10(rough)));
  double step = unit;
  for (const double factor : {1., 2., 5., 10.}) {
    step = unit * factor;
    if (step >= rough) break;
  }
  const double first = std::ceil(low / step);
  for (int i = 0; i <= most + 1; ++i) {
    const double value = (first + i) * step;
    if (value > high) break;
    found.push_back(value);
  }
  return found;
}

std::string tick_text(double value, double step) {
  std::array<char, 40> text{};
  if (std::abs(value) < step * 1e-6) value = 0;
  const double size = std::max(std::abs(value), step);
  if (size >= 1e6 || step < 1e-5) {
    std::snprintf(text.data(), text.size(), "%.3g", value);
  } else {
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6);
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  }
  return text.data();
}

PlotCanvas::PlotCanvas(const Theme& theme, ImVec2 min, ImVec2 max, const PlotRange& range,
                       std::int64_t zero_ns)
    : theme_(theme),
      min_{min.x + theme.px(46), min.y + theme.px(4)},
      max_{max.x - theme.px(8), max.y - theme.px(20)},
      range_(range),
      zero_ns_(zero_ns),
      list_(*ImGui::GetWindowDrawList()) {
  if (range_.end_ns <= range_.begin_ns) range_.end_ns = range_.begin_ns + 1;
  if (!(range_.high > range_.low)) range_.high = range_.low + 1;
  max_.x = std::max(max_.x, min_.x + 1);
  max_.y = std::max(max_.y, min_.y + 1);
}

bool PlotCanvas::contains(ImVec2 at) const {
  return at.x >= min_.x && at.x < max_.x && at.y >= min_.y && at.y < max_.y;
}

std::int64_t PlotCanvas::time_at(float x) const {
  const double part = static_cast<double>(x - min_.x) / static_cast<double>(max_.x - min_.x);
  return range_.begin_ns +
         std::llround(part * static_cast<double>(range_.end_ns - range_.begin_ns));
}

double PlotCanvas::value_at(float y) const {
  const double part = static_cast<double>(max_.y - y) / static_cast<double>(max_.y - min_.y);
  return range_.low + part * (range_.high - range_.low);
}

float PlotCanvas::x_of(std::int64_t time_ns) const {
  const double part = static_cast<double>(time_ns - range_.begin_ns) /
                      static_cast<double>(range_.end_ns - range_.begin_ns);
  return min_.x + static_cast<float>(part * static_cast<double>(max_.x - min_.x));
}

float PlotCanvas::y_of(double value) const {
  const double part = (value - range_.low) / (range_.high - range_.low);
  const double y = static_cast<double>(max_.y) - part * static_cast<double>(max_.y - min_.y);
  // Far outside would lose the precision of a float.
  return static_cast<float>(
      std::clamp(y, static_cast<double>(min_.y) - 1e4, static_cast<double>(max_.y) + 1e4));
}

void PlotCanvas::draw_axes() const {
  const ImU32 grid = fade(theme_.border, 0.8F);
  ImFont* font = theme_.fonts.small;
  const float size = font->FontSize;
  const auto count = [](float room, float each) {
    return std::max(static_cast<int>(room / each), 1);
  };
  const std::vector<double> rows =
      ticks(range_.low, range_.high, count(max_.y - min_.y, theme_.px(34)));
  const double row_step = rows.size() > 1 ? rows[1] - rows[0] : range_.high - range_.low;
  for (const double value : rows) {
    const float y = std::round(y_of(value)) + 0.5F;
    list_.AddLine({min_.x, y}, {max_.x, y}, grid);
    const std::string text = tick_text(value, row_step);
    const ImVec2 box = font->CalcTextSizeA(size, FLT_MAX, 0, text.c_str());
    list_.AddText(font, size, {min_.x - box.x - theme_.px(6), y - box.y / 2}, theme_.dim,
                  text.c_str());
  }
  const double left = static_cast<double>(range_.begin_ns - zero_ns_) * 1e-9;
  const double right = static_cast<double>(range_.end_ns - zero_ns_) * 1e-9;
  const std::vector<double> columns = ticks(left, right, count(max_.x - min_.x, theme_.px(76)));
  const double step = columns.size() > 1 ? columns[1] - columns[0] : right - left;
  for (const double value : columns) {
    const float x = std::round(x_of(zero_ns_ + std::llround(value * 1e9))) + 0.5F;
    list_.AddLine({x, min_.y}, {x, max_.y}, grid);
    const std::string text = tick_text(value, step) + " s";
    const ImVec2 box = font->CalcTextSizeA(size, FLT_MAX, 0, text.c_str());
    if (x + box.x / 2 > max_.x + theme_.px(8)) continue;
    list_.AddText(font, size, {x - box.x / 2, max_.y + theme_.px(4)}, theme_.dim, text.c_str());
  }
}

void PlotCanvas::draw_line(const Pyramid& series, std::uint32_t color) const {
  if (series.empty()) return;
  const std::size_t from = series.lower_bound(range_.begin_ns);
  const std::size_t to = series.lower_bound(range_.end_ns);
  list_.PushClipRect(min_, max_, true);
  if (static_cast<double>(to - from) < static_cast<double>(max_.x - min_.x) * 1.5) {
    draw_samples(series, from > 0 ? from - 1 : 0, std::min(to + 1, series.size()), color);
  } else {
    draw_columns(series, color);
  }
  list_.PopClipRect();
}

void PlotCanvas::draw_samples(const Pyramid& series, std::size_t from, std::size_t to,
                              std::uint32_t color) const {
  const float width = theme_.px(1.5F);
  std::vector<ImVec2> points;
  const auto flush = [&] {
    if (points.size() == 1) list_.AddCircleFilled(points[0], width, color, 8);
    if (points.size() > 1) {
      list_.AddPolyline(points.data(), static_cast<int>(points.size()), color, 0, width);
    }
    points.clear();
  };
  for (std::size_t i = from; i < to; ++i) {
    const Pyramid::Point point = series.at(i);
    if (std::isfinite(point.value)) {
      points.push_back({x_of(point.time_ns), y_of(point.value)});
    } else {
      flush();  // a gap
    }
  }
  if (points.size() > 1 && points.size() * 8 < static_cast<std::size_t>(max_.x - min_.x)) {
    for (const ImVec2& point : points) list_.AddCircleFilled(point, theme_.px(2), color, 8);
  }
  flush();
}

void PlotCanvas::draw_columns(const Pyramid& series, std::uint32_t color) const {
  const float width = theme_.px(1.5F);
  std::vector<Pyramid::Column> columns(static_cast<std::size_t>(max_.x - min_.x));
  series.query(range_.begin_ns, range_.end_ns, columns);
  bool connected = false;
  ImVec2 last{};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Pyramid::Column& column = columns[i];
    if (column.count == 0) continue;  // a line crosses it
    if (column.empty()) {
      connected = false;
      continue;
    }
    const float x = min_.x + static_cast<float>(i) + 0.5F;
    if (connected) list_.AddLine(last, {x, y_of(column.first)}, color, width);
    const float top = y_of(column.max);
    const float bottom = y_of(column.min);
    list_.AddRectFilled({x - width / 2, top - width / 2}, {x + width / 2, bottom + width / 2},
                        color);
    last = {x, y_of(column.last)};
    connected = true;
  }
}

void PlotCanvas::draw_instant(std::int64_t time_ns, std::uint32_t color) const {
  const float x = std::round(x_of(time_ns)) + 0.5F;
  if (x < min_.x || x > max_.x) return;
  list_.AddLine({x, min_.y}, {x, max_.y}, color);
}

void PlotCanvas::draw_mark(std::int64_t time_ns, double value, std::uint32_t color) const {
  const ImVec2 at{x_of(time_ns), y_of(value)};
  if (!contains(at)) return;
  list_.AddCircleFilled(at, theme_.px(4), theme_.surface, 12);
  list_.AddCircleFilled(at, theme_.px(3), color, 12);
}

}  // namespace hyphos::view
