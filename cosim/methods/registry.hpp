#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "cosim/core/method.hpp"

namespace hyphos::cosim {

struct KnownMethod {
  std::string_view name;
  std::string_view about;
  std::unique_ptr<Method> (*make)(const MethodOptions&);
};

/// All methods, in the order of the documentation.
[[nodiscard]] std::span<const KnownMethod> known_methods();
/// Errors: not_found (lists the names), invalid_config (a window that is not a whole number of
/// steps).
[[nodiscard]] Result<std::unique_ptr<Method>> make_method(std::string_view name,
                                                          const MethodOptions& options);

}  // namespace hyphos::cosim
