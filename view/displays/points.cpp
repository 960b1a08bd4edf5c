#include <algorithm>
#include <cmath>
#include <cstring>

#include "hyphos/msgs/sensor.pb.h"
#include "view/displays/cloud.hpp"
#include "view/displays/kinds.hpp"
#include "view/displays/message.hpp"
#include "view/displays/point_layout.hpp"

namespace hyphos::view {
namespace {

constexpr std::size_t kPointBytes = sizeof(Vertex);

/// Bits 0x00RRGGBB, as point clouds of ROS have them.
Color packed_color(std::uint32_t bits) {
  return {static_cast<std::uint8_t>(bits >> 16U), static_cast<std::uint8_t>(bits >> 8U),
          static_cast<std::uint8_t>(bits), 255};
}

std::uint32_t bits_at(const std::byte* from, bool big_endian) {
  std::uint8_t bytes[4];
  std::memcpy(bytes, from, sizeof(bytes));
  if (big_endian) std::reverse(std::begin(bytes), std::end(bytes));
  return static_cast<std::uint32_t>(bytes[0]) | static_cast<std::uint32_t>(bytes[1]) << 8U |
         static_cast<std::uint32_t>(bytes[2]) << 16U | static_cast<std::uint32_t>(bytes[3]) << 24U;
}

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::isfinite(value) ? std::clamp(value, 0.0, 255.0) : 0);
}

/// Point clouds of any layout.
class Points final : public CloudDisplay {
 public:
  Points() {
    add_properties({"auto", "rgb", "field", "height", "flat"}, "auto");
    hints_ = &properties_.add("field", &field_, "field that gives the colour");
  }

 private:
  [[nodiscard]] std::string value_name() const override { return field_; }

  Result<Cloud> decode(const Sample& sample) override {
    msgs::PointCloud head;
    if (!parse(sample, head)) {
      return Error{Code::corrupt, not_a("hyphos.msgs.PointCloud", sample), ""};
    }
    hints_->hints = field_names(head);
    const Buffer none;
    const Buffer& data = sample.buffers.empty() ? none : sample.buffers[0];
    const bool by_field = coloring_ == "field" || coloring_ == "auto";
    auto layout = PointLayout::of(head, data.size(), by_field ? field_ : "");
    if (!layout) return layout.error();
    Cloud cloud;
    cloud.frame = frame_of(head.header());
    cloud.stamp = stamp_of(head.header());
    cloud.has_colors = layout->rgb || (layout->r && layout->g && layout->b);
    // A cloud may use half of the budget. Its other points are left out evenly.
    const std::uint64_t most =
        std::max<std::uint64_t>(surroundings().budget_bytes / 2 / kPointBytes, 1);
    cloud.every = (layout->points() + most - 1) / most;
    if (cloud.every == 0) cloud.every = 1;
    const bool valued = layout->value && (coloring_ == "field" || !cloud.has_colors);
    if (valued) {
      read(*layout, data, cloud, cloud.valued, [&](const std::byte* at, ValuePoint& to) {
        to.value = static_cast<float>(layout->value->at(at));
        return std::isfinite(to.value);
      });
    } else {
      read(*layout, data, cloud, cloud.colored, [&](const std::byte* at, Vertex& to) {
        if (layout->rgb) {
          to.color = packed_color(bits_at(at + layout->rgb_offset, layout->big_endian));
        } else if (cloud.has_colors) {
          to.color = {to_byte(layout->r->at(at)), to_byte(layout->g->at(at)),
                      to_byte(layout->b->at(at)), 255};
        } else {
          to.color = flat_;
        }
        return true;
      });
    }
    return cloud;
  }

  template <typename Point, typename Color>
  static void read(const PointLayout& layout, const Buffer& data, Cloud& cloud,
                   std::vector<Point>& out, Color color) {
    out.reserve(layout.points() / cloud.every + 1);
    const bool plain = layout.x.is_plain_float() && layout.y.is_plain_float() &&
                       (!layout.has_z || layout.z.is_plain_float());
    std::uint64_t left = 0;  // points to leave out
    for (std::uint64_t row = 0; row < layout.height; ++row) {
      const std::byte* at = data.data() + row * layout.row;
      for (std::uint64_t column = 0; column < layout.width; ++column, at += layout.step) {
        if (left > 0) {
          --left;
          continue;
        }
        left = cloud.every - 1;
        Point point;
        if (plain) {
          std::memcpy(&point.x, at + layout.x.offset(), sizeof(float));
          std::memcpy(&point.y, at + layout.y.offset(), sizeof(float));
          if (layout.has_z) std::memcpy(&point.z, at + layout.z.offset(), sizeof(float));
        } else {
          point.x = static_cast<float>(layout.x.at(at));
          point.y = static_cast<float>(layout.y.at(at));
          if (layout.has_z) point.z = static_cast<float>(layout.z.at(at));
        }
        const bool good = std::isfinite(point.x) && std::isfinite(point.y) &&
                          std::isfinite(point.z) && color(at, point);
        if (good) {
          out.push_back(point);
        } else {
          ++cloud.skipped;
        }
      }
    }
  }

  std::string field_ = "intensity";
  Property* hints_ = nullptr;
};

}  // namespace

std::unique_ptr<Display> make_points() { return std::make_unique<Points>(); }

}  // namespace hyphos::view
