#include "cosim/core/json_line.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "base/json.hpp"

namespace hyphos::cosim {

JsonLine& JsonLine::text(std::string_view key, std::string_view value) {
  return json(key, json_quote(value));
}

JsonLine& JsonLine::add(std::string_view key, std::int64_t value) {
  return json(key, std::to_string(value));
}

JsonLine& JsonLine::add(std::string_view key, std::uint64_t value) {
  return json(key, std::to_string(value));
}

JsonLine& JsonLine::add(std::string_view key, double value) {
  if (!std::isfinite(value)) return json(key, "null");
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return json(key, {digits.data(), end});
}

JsonLine& JsonLine::truth(std::string_view key, bool value) {
  return json(key, value ? "true" : "false");
}

JsonLine& JsonLine::json(std::string_view key, std::string_view value) {
  text_ += text_.empty() ? '{' : ',';
  ((text_ += '"') += key) += "\":";
  text_ += value;
  return *this;
}

}  // namespace hyphos::cosim
