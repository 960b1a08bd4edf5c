#pragma once

#include <span>
#include <string_view>

#include "gateway/facade/protocol.hpp"

namespace hyphos::gateway {

struct Known {
  std::string_view name;   ///< "rosbridge"
  std::string_view about;  ///< one line
  std::uint16_t port;      ///< that its clients expect
  OpenProtocol open;
};

/// A protocol whose library was not there when this was built.
struct Absent {
  std::string_view name;
  std::string_view packages;  ///< to install before it is built again
};

/// Every protocol that this build speaks.
[[nodiscard]] std::span<const Known> protocols();
[[nodiscard]] std::span<const Absent> absent_protocols();

}  // namespace hyphos::gateway
