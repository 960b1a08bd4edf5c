#pragma once

#include <string>
#include <string_view>

namespace hyphos::view {

/// False for the channels of services and actions ("hyphos/…") and of Hyphos itself, in which a
/// word begins with '_' ("mapper/_params").
[[nodiscard]] constexpr bool is_shown(std::string_view channel) {
  return !channel.starts_with("hyphos/") && !channel.starts_with('_') &&
         channel.find("/_") == std::string_view::npos;
}

/// The name of a channel of a part that is shown beside others: "b/scan" for "scan" and "/scan".
[[nodiscard]] inline std::string part_channel(std::string_view label, std::string_view channel) {
  if (label.empty()) return std::string(channel);
  std::string name(label);
  if (!channel.starts_with('/')) name += '/';
  return name.append(channel);
}

/// True for the channels of the part with this label.
[[nodiscard]] inline bool is_of_part(std::string_view label, std::string_view channel) {
  return channel.size() > label.size() && channel.starts_with(label) &&
         channel[label.size()] == '/';
}

}  // namespace hyphos::view
