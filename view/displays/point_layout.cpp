#include "view/displays/point_layout.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "view/core/words.hpp"
#include "view/displays/message.hpp"

namespace hyphos::view {
namespace {

using msgs::PointField;

template <typename T, bool kSwap>
double read(const std::byte* from) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  if constexpr (kSwap) std::reverse(std::begin(bytes), std::end(bytes));
  return static_cast<double>(std::bit_cast<T>(bytes));
}

using ReadNumber = double (*)(const std::byte*);

template <bool kSwap>
ReadNumber reader(int type) {
  switch (type) {
    case PointField::INT8:
      return &read<std::int8_t, kSwap>;
    case PointField::UINT8:
      return &read<std::uint8_t, kSwap>;
    case PointField::INT16:
      return &read<std::int16_t, kSwap>;
    case PointField::UINT16:
      return &read<std::uint16_t, kSwap>;
    case PointField::INT32:
      return &read<std::int32_t, kSwap>;
    case PointField::UINT32:
      return &read<std::uint32_t, kSwap>;
    case PointField::FLOAT32:
      return &read<float, kSwap>;
    case PointField::FLOAT64:
      return &read<double, kSwap>;
    default:
      return nullptr;
  }
}

std::uint64_t size_of(int type) {
  switch (type) {
    case PointField::INT8:
    case PointField::UINT8:
      return 1;
    case PointField::INT16:
    case PointField::UINT16:
      return 2;
    case PointField::INT32:
    case PointField::UINT32:
    case PointField::FLOAT32:
      return 4;
    case PointField::FLOAT64:
      return 8;
    default:
      return 0;
  }
}

const PointField* find(const msgs::PointCloud& cloud, std::string_view name) {
  for (const PointField& each : cloud.fields()) {
    if (each.name() == name) return &each;
  }
  return nullptr;
}

}  // namespace

PointReader::PointReader(const msgs::PointField& field, bool big_endian)
    : read_(big_endian ? reader<true>(field.datatype()) : reader<false>(field.datatype())),
      offset_(field.offset()) {}

bool PointReader::is_plain_float() const { return read_ == &read<float, false>; }

Result<PointLayout> PointLayout::of(const msgs::PointCloud& cloud, std::uint64_t buffer_bytes,
                                    std::string_view field) {
  PointLayout made;
  made.width = cloud.width();
  made.height = cloud.height();
  made.step = cloud.point_step();
  made.row = cloud.row_step();
  made.big_endian = cloud.is_bigendian();
  if (made.points() == 0) return made;
  if (made.step == 0) return corrupt("the cloud has points of 0 bytes (point_step)");
  if (made.row == 0) made.row = made.width * made.step;
  if (made.row < made.width * made.step) {
    return corrupt("a row of " + grouped(made.width) + " points needs " +
                   grouped(made.width * made.step) + " bytes, but row_step is " +
                   grouped(made.row));
  }
  // Both factors are below 2^33, so that the sum does not overflow.
  const std::uint64_t needed = made.row * (made.height - 1) + made.width * made.step;
  if (buffer_bytes < needed) {
    return corrupt("the buffer has " + grouped(buffer_bytes) + " bytes, but the head declares " +
                   grouped(needed));
  }
  for (const PointField& each : cloud.fields()) {
    const std::uint64_t size = size_of(each.datatype());
    if (size == 0) {
      return corrupt("the field '" + each.name() + "' has the unknown type " +
                     std::to_string(each.datatype()));
    }
    const std::uint64_t count = std::max<std::uint64_t>(each.count(), 1);
    if (each.offset() + size * count > made.step) {
      return corrupt("the field '" + each.name() + "' ends at byte " +
                     grouped(each.offset() + size * count) + " of a point of " +
                     grouped(made.step) + " bytes");
    }
  }
  const auto reader_of = [&](std::string_view name) -> std::optional<PointReader> {
    const PointField* const found = find(cloud, name);
    if (found == nullptr) return std::nullopt;
    return PointReader(*found, made.big_endian);
  };
  const auto x = reader_of("x");
  const auto y = reader_of("y");
  const auto z = reader_of("z");
  if (!x || !y) {
    return corrupt("the cloud has no field 'x' or 'y'" + propose("x", field_names(cloud)));
  }
  made.x = *x;
  made.y = *y;
  made.has_z = z.has_value();
  if (z) made.z = *z;
  if (!field.empty()) made.value = reader_of(field);
  for (const std::string_view name : {"rgb", "rgba"}) {
    const PointField* const found = find(cloud, name);
    if (found != nullptr && size_of(found->datatype()) == 4) {
      made.rgb = PointReader(*found, made.big_endian);
      made.rgb_offset = found->offset();
    }
  }
  made.r = reader_of("r");
  made.g = reader_of("g");
  made.b = reader_of("b");
  return made;
}

std::vector<std::string> field_names(const msgs::PointCloud& cloud) {
  std::vector<std::string> names;
  for (const PointField& each : cloud.fields()) names.push_back(each.name());
  return names;
}

}  // namespace hyphos::view
