#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gateway/types/type_info.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// The ROS types that the gateway knows. Thread-safe. Errors: not_found, with similar names.
class TypeLookup {
 public:
  virtual ~TypeLookup() = default;

  [[nodiscard]] virtual Result<TypeInfo> message(std::string_view name) const = 0;
  [[nodiscard]] virtual Result<ServiceTypeInfo> service(std::string_view name) const = 0;
  [[nodiscard]] virtual Result<ActionTypeInfo> action(std::string_view name) const = 0;
  /// Names of all known messages, services and actions. A type that both ROS versions have is
  /// listed under both names.
  [[nodiscard]] virtual std::vector<std::string> interfaces() const = 0;
  /// The ROS version whose type names the lists of topics, services and actions use: 2 if only
  /// ROS 2 types are known, else 1.
  [[nodiscard]] virtual int ros_version() const = 0;
};

}  // namespace hyphos::gateway
