#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hyphos::cosim {

/// A JSON object on one line, for readers that read line by line. Keys are not escaped.
class JsonLine {
 public:
  JsonLine& text(std::string_view key, std::string_view value);
  JsonLine& add(std::string_view key, std::int64_t value);
  JsonLine& add(std::string_view key, std::uint64_t value);
  /// Writes the shortest text that parses to the same number, or null if the number is not finite.
  JsonLine& add(std::string_view key, double value);
  JsonLine& truth(std::string_view key, bool value);
  /// `value` must be valid JSON.
  JsonLine& json(std::string_view key, std::string_view value);
  [[nodiscard]] std::string take() { return (text_.empty() ? "{" : text_) + '}'; }

 private:
  std::string text_;
};

/// [each(item),...]
template <typename Items, typename Each>
[[nodiscard]] std::string json_list(const Items& items, Each each) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ",") + each(item);
  return "[" + text + "]";
}

}  // namespace hyphos::cosim
