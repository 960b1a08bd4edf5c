#include "view/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/config.hpp"
#include "base/config_reader.hpp"
#include "hyphos/param_types.hpp"

namespace hyphos::view {
namespace {

constexpr std::int64_t kMostPixels = 16'384;

}  // namespace

void UserSettings::opened(const std::string& file) {
  std::error_code ignored;
  const std::string path = std::filesystem::absolute(file, ignored).lexically_normal().string();
  recent.erase(std::remove(recent.begin(), recent.end(), path), recent.end());
  recent.insert(recent.begin(), path);
  if (recent.size() > kMostRecent) recent.resize(kMostRecent);
}

std::string settings_file() {
  const char* folder = std::getenv("XDG_CONFIG_HOME");
  if (folder != nullptr && *folder == '/') return std::string(folder) + "/hyphos/view.yaml";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return std::string(home) + "/.config/hyphos/view.yaml";
}

UserSettings load_settings(const std::string& file) {
  UserSettings made;
  auto text = config::read_file(file);
  if (!text) return made;
  config::Problems problems;
  const config::Value root = config::parse_yaml(*text, file, problems);
  const config::Section section(&root, "", problems, {"width", "height", "theme", "recent"});
  made.width = static_cast<int>(section.integer("width", 0, 0, kMostPixels));
  made.height = static_cast<int>(section.integer("height", 0, 0, kMostPixels));
  made.theme = section.word_of("theme", "", {"dark", "light"});
  for (const config::Word& word : section.words("recent")) made.recent.push_back(word.text);
  if (made.recent.size() > UserSettings::kMostRecent) made.recent.resize(UserSettings::kMostRecent);
  return problems.failed() ? UserSettings{} : made;
}

bool save_settings(const std::string& file, const UserSettings& settings) {
  if (file.empty()) return false;
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), failed);
  if (failed) return false;
  std::string text = "# Written by hyphos view.\n";
  if (settings.width > 0) text += "width: " + std::to_string(settings.width) + "\n";
  if (settings.height > 0) text += "height: " + std::to_string(settings.height) + "\n";
  if (!settings.theme.empty()) text += "theme: " + settings.theme + "\n";
  if (!settings.recent.empty()) text += "recent:\n";
  for (const std::string& one : settings.recent) text += "  - " + to_yaml(ParamVariant(one)) + "\n";
  const std::string part = file + ".part";
  std::ofstream out(part, std::ios::trunc);
  out << text;
  out.close();
  if (!out) return false;
  std::filesystem::rename(part, file, failed);
  return !failed;
}

}  // namespace hyphos::view
