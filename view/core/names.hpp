#pragma once

#include <string_view>

namespace hyphos::view {

/// False for the channels of services and actions ("hyphos/…") and of Hyphos itself, in which a
/// word begins with '_' ("mapper/_params").
[[nodiscard]] constexpr bool is_shown(std::string_view channel) {
  return !channel.starts_with("hyphos/") && !channel.starts_with('_') &&
         channel.find("/_") == std::string_view::npos;
}

}  // namespace hyphos::view
