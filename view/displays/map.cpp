#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "hyphos/msgs/nav.pb.h"
#include "view/core/words.hpp"
#include "view/displays/kinds.hpp"
#include "view/displays/message.hpp"

namespace hyphos::view {
namespace {

constexpr std::uint64_t kMostCells = 16'384;  // along a side, as textures of OpenGL
using Table = std::array<Color, 256>;

std::uint8_t blend(double from, double to, double share) {
  return static_cast<std::uint8_t>(std::lround(from + (to - from) * share));
}

/// Free space light, obstacles dark, the unknown of a tone between them.
Table map_table() {
  Table table;
  table.fill({160, 110, 60, 255});  // values outside 0 to 100 are against the rules: brown
  for (int i = 0; i <= 100; ++i) {
    const std::uint8_t gray = blend(214, 18, i / 100.0);
    table[static_cast<std::size_t>(i)] = {gray, gray, static_cast<std::uint8_t>(gray + 4), 255};
  }
  table[255] = {74, 82, 92, 70};
  return table;
}

/// Costs over a map: free space is clear, lethal is magenta, inscribed cyan, as in RViz.
Table costmap_table() {
  Table table;
  table.fill({255, 255, 0, 200});
  table[0] = {0, 0, 0, 0};
  for (int i = 1; i <= 98; ++i) {
    const double share = (i - 1) / 97.0;
    table[static_cast<std::size_t>(i)] = {blend(40, 255, share), 30, blend(255, 60, share),
                                          blend(70, 190, share)};
  }
  table[99] = {0, 230, 230, 210};
  table[100] = {235, 0, 220, 230};
  table[255] = {60, 66, 74, 120};
  return table;
}

Table raw_table() {
  Table table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto gray = static_cast<std::uint8_t>(i);
    table[i] = {gray, gray, gray, 255};
  }
  return table;
}

/// Occupancy grids and costmaps.
class Map final : public MessageDisplay<msgs::OccupancyGrid> {
 public:
  Map() {
    properties_.add("scheme", &scheme_, "meaning of the cells", {"map", "costmap", "raw"});
    properties_.add("alpha", &alpha_, "opacity", "", 0, 1);
    properties_.add("smooth", &smooth_, "cells without edges");
    properties_.add("z", &z_, "height above the origin", "m", -1'000, 1'000);
  }

  void paint(Painter& painter) override {
    if (!pose_ || texture_ == nullptr || texture_->width() == 0) return;
    Pose at = *pose_ * local_;
    at.translation() += at.linear().col(2) * z_;
    painter.image(*texture_, at, width_, height_, alpha_, smooth_);
  }
  bool settings_changed() override {
    if (texture_ == nullptr) texture_ = store().texture();
    const Table table = scheme_ == "map"       ? map_table()
                        : scheme_ == "costmap" ? costmap_table()
                                               : raw_table();
    texture_->set_colors(table);
    return false;
  }
  [[nodiscard]] Bounds bounds() const override {
    Bounds all;
    if (!pose_) return all;
    for (const double x : {known_.left, known_.right}) {
      for (const double y : {known_.low, known_.high}) all.add(*pose_ * local_ * Vec3(x, y, 0));
    }
    return all;
  }
  [[nodiscard]] std::size_t bytes() const override {
    return texture_ == nullptr ? 0 : texture_->bytes();  // the message keeps no cells
  }

 private:
  /// The rectangle around all known cells, m. The whole grid if no cell is known.
  struct Known {
    double left = 0;
    double low = 0;
    double right = 0;
    double high = 0;
  };

  static Known known_part(const msgs::OccupancyGrid& grid) {
    constexpr char kUnknown = -1;
    const std::uint32_t width = grid.info().width();
    const std::uint32_t height = grid.info().height();
    std::uint32_t left = width;
    std::uint32_t right = 0;
    std::uint32_t low = height;
    std::uint32_t high = 0;
    const char* row = grid.data().data();
    for (std::uint32_t y = 0; y < height; ++y, row += width) {
      const auto known = [](char cell) { return cell != kUnknown; };
      const char* const first = std::find_if(row, row + width, known);
      if (first == row + width) continue;
      const char* last = row + width;
      while (!known(last[-1])) --last;
      left = std::min(left, static_cast<std::uint32_t>(first - row));
      right = std::max(right, static_cast<std::uint32_t>(last - row));
      low = std::min(low, y);
      high = y + 1;
    }
    const auto cell = static_cast<double>(grid.info().resolution());
    if (high == 0) return {0, 0, width * cell, height * cell};
    return {left * cell, low * cell, right * cell, high * cell};
  }

  std::string check(msgs::OccupancyGrid& grid) override {
    const msgs::MapMetaData& info = grid.info();
    const std::uint64_t cells = std::uint64_t{info.width()} * info.height();
    if (cells == 0) return "the map has no cell";
    if (!(info.resolution() > 0) || !std::isfinite(info.resolution())) {
      return "the resolution of the map is not above 0 m";
    }
    if (info.width() > kMostCells || info.height() > kMostCells) {
      return "the map has " + grouped(info.width()) + " x " + grouped(info.height()) +
             " cells, the limit is " + grouped(kMostCells) + " along a side";
    }
    if (grid.data().size() != cells) {
      return "the map has " + grouped(grid.data().size()) + " bytes, but the head declares " +
             grouped(cells) + " cells";
    }
    const auto origin = to_pose(info.origin());
    if (!origin) return "the origin of the map has a number that is not finite";
    local_ = *origin;
    width_ = info.width() * static_cast<double>(info.resolution());
    height_ = info.height() * static_cast<double>(info.resolution());
    if (texture_ == nullptr) settings_changed();
    texture_->set(static_cast<int>(info.width()), static_cast<int>(info.height()),
                  PixelFormat::gray8, info.width(), std::as_bytes(std::span(grid.data())));
    known_ = known_part(grid);
    grid.clear_data();  // the copy on the GPU is enough
    return "";
  }

  void placed(const msgs::OccupancyGrid& grid, const Pose& pose) override {
    (void)pose;
    report(Health::good, grouped(grid.info().width()) + " x " + grouped(grid.info().height()) +
                             " cells of " + std::to_string(grid.info().resolution()).substr(0, 5) +
                             " m");
  }

  std::string scheme_ = "map";
  double alpha_ = 1;
  bool smooth_ = false;
  double z_ = 0;
  std::unique_ptr<Texture> texture_;
  Pose local_ = Pose::Identity();
  double width_ = 0;  // m
  double height_ = 0;
  Known known_;
};

}  // namespace

std::unique_ptr<Display> make_map() { return std::make_unique<Map>(); }

}  // namespace hyphos::view
