#pragma once

#include <span>
#include <string_view>

#include "gateway/facade/protocol.hpp"

namespace hyphos::gateway {

struct Known {
  std::string_view name;   ///< "rosbridge"
  std::string_view about;  ///< one line
  std::uint16_t port;      ///< default port of its clients
  OpenProtocol open;
};

/// A protocol whose library was missing when this program was built.
struct Absent {
  std::string_view name;
  std::string_view packages;  ///< packages to install before the next build
};

/// All protocols of this build.
[[nodiscard]] std::span<const Known> protocols();
[[nodiscard]] std::span<const Absent> absent_protocols();

}  // namespace hyphos::gateway
