#include "cosim/scenario/point.hpp"

#include <array>
#include <cmath>

namespace hyphos::cosim {
namespace {

using config::Problems;
using config::Section;
using config::Value;

constexpr double kWorld = 1e7;  // metres: beyond any radio, within the precision of double

}  // namespace

Vec3 read_point(const Value* value, const std::string& path, Problems& problems) {
  if (value == nullptr) return {};
  std::array<double, 3> numbers{};
  bool right = value->is(Value::Kind::list) && value->items.size() == numbers.size();
  for (std::size_t i = 0; right && i < numbers.size(); ++i) {
    right = config::read_real(value->items[i], numbers[i]) && std::abs(numbers[i]) <= kWorld;
  }
  if (!right) {
    problems.error(value->source, path + ": expected three numbers [x, y, z] in metres, found " +
                                      config::describe(*value));
    return {};
  }
  return {numbers[0], numbers[1], numbers[2]};
}

Vec3 read_point(const Section& section, std::string_view key, Problems& problems) {
  return read_point(section.find(key), section.path(key), problems);
}

}  // namespace hyphos::cosim
