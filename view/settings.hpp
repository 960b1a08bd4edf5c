#pragma once

#include <string>
#include <vector>

namespace hyphos::view {

/// The settings of a user that the viewer keeps between two sessions.
struct UserSettings {
  int width = 0;  ///< pixels of the window, 0: unknown
  int height = 0;
  std::string theme;                ///< empty: unknown
  std::vector<std::string> recent;  ///< recordings and plans, newest first

  /// Moves a file to the front. At most kMostRecent stay.
  void opened(const std::string& file);
  static constexpr std::size_t kMostRecent = 10;
  bool operator==(const UserSettings&) const = default;
};

/// $XDG_CONFIG_HOME/hyphos/view.yaml, or ~/.config/hyphos/view.yaml. Empty without a home.
[[nodiscard]] std::string settings_file();
/// A file that is missing or damaged gives the defaults: settings must not prevent a start.
[[nodiscard]] UserSettings load_settings(const std::string& file);
/// Makes the folder. Returns false if the file could not be written, which nothing depends on.
bool save_settings(const std::string& file, const UserSettings& settings);

}  // namespace hyphos::view
