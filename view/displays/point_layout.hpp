#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/msgs/sensor.pb.h"
#include "hyphos/result.hpp"

namespace hyphos::view {

/// Reads one number of a point.
class PointReader {
 public:
  PointReader() = default;
  PointReader(const msgs::PointField& field, bool big_endian);
  [[nodiscard]] double at(const std::byte* point) const { return read_(point + offset_); }
  [[nodiscard]] std::uint32_t offset() const { return offset_; }
  [[nodiscard]] bool is_plain_float() const;  ///< little endian FLOAT32

 private:
  double (*read_)(const std::byte*) = nullptr;
  std::uint32_t offset_ = 0;
};

/// The places of the numbers of a point in a PointCloud, checked against the size of its buffer.
struct PointLayout {
  std::uint64_t width = 0;   ///< points in a row
  std::uint64_t height = 0;  ///< rows
  std::uint64_t step = 0;    ///< bytes of a point
  std::uint64_t row = 0;     ///< bytes of a row
  PointReader x, y, z;
  bool has_z = false;                  ///< otherwise z is 0
  std::optional<PointReader> value;    ///< the wanted field
  std::optional<PointReader> rgb;      ///< 0x00RRGGBB, in the bits of a float or an integer
  std::optional<PointReader> r, g, b;  ///< separate colours, 0 to 255
  std::uint32_t rgb_offset = 0;
  bool big_endian = false;

  [[nodiscard]] std::uint64_t points() const { return width * height; }

  /// `field`: the name of the wanted value, may be absent. The error is one sentence: a field that
  /// leaves the point, a buffer that is shorter than the head declares, no x and y.
  static Result<PointLayout> of(const msgs::PointCloud& cloud, std::uint64_t buffer_bytes,
                                std::string_view field);
};

/// The names of the fields that are numbers, for the choice of a field.
[[nodiscard]] std::vector<std::string> field_names(const msgs::PointCloud& cloud);

}  // namespace hyphos::view
