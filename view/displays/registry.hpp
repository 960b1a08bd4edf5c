#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "view/displays/display.hpp"

namespace hyphos::view {

/// A further channel that a display uses. It finds its name by a property of the display.
struct Companion {
  std::string_view role;      ///< "calibration"
  std::string_view property;  ///< the property with the channel's name, e.g. "camera_info"
  std::string_view type;      ///< message type
};

/// A kind of display.
struct DisplayKind {
  std::string_view name;                ///< in layouts: "points"
  std::string_view title;               ///< on the screen: "Points"
  std::string_view help;                ///< one sentence for the menu
  std::vector<std::string_view> types;  ///< message types that it shows. Empty: without a channel
  std::vector<Companion> companions;
  std::unique_ptr<Display> (*make)() = nullptr;
  /// Channels that a default layout shows with it, by the end of their name. Empty: all.
  std::string_view only_channel = {};

  [[nodiscard]] bool shows(std::string_view type) const;
};

/// All kinds, in the order of the menu. For one type with several kinds the first is the default.
[[nodiscard]] std::span<const DisplayKind> display_kinds();
[[nodiscard]] const DisplayKind* find_display_kind(std::string_view name);
/// The default display of a channel. Null if there is none.
[[nodiscard]] const DisplayKind* display_kind_for(std::string_view type, std::string_view channel);
/// The names of the properties of a kind. For layouts.
[[nodiscard]] std::vector<std::string> display_settings(const DisplayKind& kind);

}  // namespace hyphos::view
