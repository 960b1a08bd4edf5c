#include "gateway/ros1/param_value.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "hyphos/remote_params.hpp"

namespace hyphos::gateway::ros1 {
namespace {

Error unsupported(std::string what) { return {Code::unsupported, std::move(what), ""}; }

Result<Value> item_to_ros(std::int64_t whole) {
  using Narrow = std::numeric_limits<std::int32_t>;
  if (whole < Narrow::min() || whole > Narrow::max()) {
    return unsupported(std::to_string(whole) + " does not fit in the 32-bit integers of ROS 1");
  }
  return Value(static_cast<std::int32_t>(whole));
}
Result<Value> item_to_ros(bool yes) { return Value(yes); }
Result<Value> item_to_ros(double real) { return Value(real); }
Result<Value> item_to_ros(const std::string& text) { return Value(text); }

/// The list, if all of its items are T.
template <typename T, typename As>
std::optional<ParamVariant> list_as(const Value::Array& items) {
  std::vector<As> list;
  for (const Value& item : items) {
    const T* held = item.get_if<T>();
    if (held == nullptr) return std::nullopt;
    list.push_back(static_cast<As>(*held));
  }
  return ParamVariant(std::move(list));
}

std::optional<ParamVariant> numbers(const Value::Array& items) {
  std::vector<double> list;
  for (const Value& item : items) {
    const auto* whole = item.get_if<std::int32_t>();
    const auto* real = item.get_if<double>();
    if (whole == nullptr && real == nullptr) return std::nullopt;
    list.push_back(whole != nullptr ? *whole : *real);
  }
  return ParamVariant(std::move(list));
}

Result<ParamVariant> list_from(const Value::Array& items) {
  // An empty list is converted where it is set.
  if (auto list = list_as<std::string, std::string>(items)) return std::move(*list);
  if (auto list = list_as<bool, bool>(items)) return std::move(*list);
  if (auto list = list_as<std::int32_t, std::int64_t>(items)) return std::move(*list);
  if (auto list = numbers(items)) return std::move(*list);
  return unsupported(
      "a list has items of several types or contains lists, which Hyphos parameters do not "
      "support");
}

}  // namespace

Result<Value> to_ros(const ParamVariant& value) {
  return std::visit(
      [](const auto& held) -> Result<Value> {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, ParamBytes>) {
          return Value(
              Binary{std::string(reinterpret_cast<const char*>(held.data()), held.size())});
        } else if constexpr (requires { item_to_ros(held); }) {
          return item_to_ros(held);
        } else {
          Value::Array list;
          for (const auto& item : held) {
            auto one = item_to_ros(item);
            if (!one) return one.error();
            list.push_back(std::move(*one));
          }
          return Value(std::move(list));
        }
      },
      value);
}

Result<Value> to_ros(const ParamValue& value) {
  switch (value.kind) {
    case ParamValue::Kind::null:
      return unsupported("null, which ROS 1 parameters do not support");
    case ParamValue::Kind::list: {
      Value::Array list;
      for (const ParamValue& item : value.items) {
        auto one = to_ros(item);
        if (!one) return one;
        list.push_back(std::move(*one));
      }
      return Value(std::move(list));
    }
    case ParamValue::Kind::map: {
      Value::Struct members;
      for (const ParamEntry& entry : value.entries) {
        auto one = to_ros(entry.value);
        if (!one) return one;
        members.insert_or_assign(entry.key, std::move(*one));
      }
      return Value(std::move(members));
    }
    case ParamValue::Kind::scalar:
      break;
  }
  if (!value.quoted) {
    if (const auto whole = value.as_integer()) return item_to_ros(*whole);
    if (const auto real = value.as_real()) return item_to_ros(*real);
    if (const auto yes = value.as_boolean()) return item_to_ros(*yes);
  }
  return item_to_ros(value.text);
}

Result<ParamValue> tree_from_ros(const Value& value) {
  return value.visit([](const auto& held) -> Result<ParamValue> {
    using T = std::decay_t<decltype(held)>;
    if constexpr (std::is_same_v<T, Binary>) {
      return unsupported("the value is bytes, which shared parameters do not support");
    } else if constexpr (std::is_same_v<T, DateTime>) {
      return unsupported("the value is an XML-RPC time, which Hyphos parameters do not support");
    } else if constexpr (std::is_same_v<T, Value::Array>) {
      ParamValue list;
      list.kind = ParamValue::Kind::list;
      for (const Value& item : held) {
        auto one = tree_from_ros(item);
        if (!one) return one;
        list.items.push_back(std::move(*one));
      }
      return list;
    } else if constexpr (std::is_same_v<T, Value::Struct>) {
      ParamValue map;
      map.kind = ParamValue::Kind::map;
      for (const auto& [key, item] : held) {
        auto one = tree_from_ros(item);
        if (!one) return one;
        map.entries.push_back({key, std::move(*one)});
      }
      return map;
    } else {
      return to_param_value(held);
    }
  });
}

Result<ParamVariant> from_ros(const Value& value) {
  return value.visit([](const auto& held) -> Result<ParamVariant> {
    using T = std::decay_t<decltype(held)>;
    if constexpr (std::is_same_v<T, std::int32_t>) {
      return ParamVariant(static_cast<std::int64_t>(held));
    } else if constexpr (std::is_same_v<T, Binary>) {
      ParamBytes bytes(held.bytes.size());
      std::ranges::transform(held.bytes, bytes.begin(),
                             [](char letter) { return static_cast<std::byte>(letter); });
      return ParamVariant(std::move(bytes));
    } else if constexpr (std::is_same_v<T, DateTime>) {
      return unsupported("the value is an XML-RPC time, which Hyphos parameters do not support");
    } else if constexpr (std::is_same_v<T, Value::Array>) {
      return list_from(held);
    } else if constexpr (std::is_same_v<T, Value::Struct>) {
      return unsupported("the value is an empty namespace, which Hyphos parameters do not support");
    } else {
      return ParamVariant(held);
    }
  });
}

std::string dotted(std::string_view ros_param) {
  std::string name(ros_param.substr(ros_param.starts_with('/') ? 1 : 0));
  std::ranges::replace(name, '/', '.');
  return name;
}

void collect_leaves(const Value& value, const std::string& name,
                    std::map<std::string, const Value*>& leaves) {
  const auto* members = value.get_if<Value::Struct>();
  if (members == nullptr) {
    leaves.emplace(name, &value);
    return;
  }
  for (const auto& [part, item] : *members) {
    std::string whole = name;
    collect_leaves(item, whole.append("/").append(part), leaves);
  }
}

}  // namespace hyphos::gateway::ros1
