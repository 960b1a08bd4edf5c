#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hyphos::gateway::ros1 {

/// Bytes that XML-RPC encodes as base64.
struct Binary {
  std::string bytes;
  bool operator==(const Binary&) const = default;
};

/// An ISO 8601 time as it was written. XML-RPC has no time zone, so it is not a definite instant.
struct DateTime {
  std::string text;
  bool operator==(const DateTime&) const = default;
};

/// A value of XML-RPC: arguments and results of ROS 1's calls, and parameters.
class Value {
 public:
  using Array = std::vector<Value>;
  using Struct = std::map<std::string, Value, std::less<>>;

  Value() : held_(std::string()) {}
  Value(bool value) : held_(value) {}                           // NOLINT: implicit by design
  Value(std::int32_t value) : held_(value) {}                   // NOLINT
  Value(double value) : held_(value) {}                         // NOLINT
  Value(std::string value) : held_(std::move(value)) {}         // NOLINT
  Value(std::string_view value) : held_(std::string(value)) {}  // NOLINT
  Value(const char* value) : held_(std::string(value)) {}       // NOLINT
  Value(Binary value) : held_(std::move(value)) {}              // NOLINT
  Value(DateTime value) : held_(std::move(value)) {}            // NOLINT
  Value(Array value) : held_(std::move(value)) {}               // NOLINT
  Value(Struct value) : held_(std::move(value)) {}              // NOLINT

  template <typename T>
  [[nodiscard]] const T* get_if() const {
    return std::get_if<T>(&held_);
  }
  template <typename T>
  [[nodiscard]] T* get_if() {
    return std::get_if<T>(&held_);
  }
  /// The content of a string value. Empty for other types.
  [[nodiscard]] const std::string& text() const {
    static const std::string none;
    const auto* found = get_if<std::string>();
    return found != nullptr ? *found : none;
  }
  template <typename Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    return std::visit(std::forward<Visitor>(visitor), held_);
  }

  bool operator==(const Value&) const = default;

 private:
  std::variant<bool, std::int32_t, double, std::string, Binary, DateTime, Array, Struct> held_;
};

/// The approximate size in memory, in bytes.
[[nodiscard]] std::size_t memory_of(const Value& value);

/// An array of the items. It also works for a single array, which braces could copy instead.
template <typename... Items>
[[nodiscard]] Value::Array list_of(Items&&... items) {
  Value::Array array;
  (array.emplace_back(std::forward<Items>(items)), ...);
  return array;
}

}  // namespace hyphos::gateway::ros1
