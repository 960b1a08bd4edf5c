#include "cosim/scenario/point.hpp"

#include <array>
#include <cmath>

#include "cosim/scenario/ranges.hpp"

namespace hyphos::cosim {
namespace {

using config::Problems;
using config::Section;
using config::Value;

}  // namespace

Vec3 read_point(const Value* value, const std::string& path, Problems& problems) {
  if (value == nullptr) return {};
  std::array<double, 3> numbers{};
  bool right = value->is(Value::Kind::list) && value->items.size() == numbers.size();
  for (std::size_t i = 0; right && i < numbers.size(); ++i) {
    right = config::read_real(value->items[i], numbers[i]) && std::abs(numbers[i]) <= kMostMetres;
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
