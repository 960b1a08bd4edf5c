#include "gateway/ros1/value.hpp"

#include <type_traits>

namespace hyphos::gateway::ros1 {

std::size_t memory_of(const Value& value) {
  return value.visit([](const auto& held) -> std::size_t {
    using T = std::decay_t<decltype(held)>;
    std::size_t size = sizeof(Value);
    if constexpr (std::is_same_v<T, std::string>) size += held.size();
    if constexpr (std::is_same_v<T, Binary>) size += held.bytes.size();
    if constexpr (std::is_same_v<T, DateTime>) size += held.text.size();
    if constexpr (std::is_same_v<T, Value::Array>) {
      for (const Value& item : held) size += memory_of(item);
    }
    if constexpr (std::is_same_v<T, Value::Struct>) {
      for (const auto& [name, item] : held) size += name.size() + memory_of(item);
    }
    return size;
  });
}

}  // namespace hyphos::gateway::ros1
