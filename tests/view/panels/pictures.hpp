#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "view/core/picture.hpp"

namespace hyphos::view {

/// --update: writes the golden pictures.
inline bool g_update = false;

/// Without the bars of the window, which have the domain and the time.
inline Picture without_bars(const Picture& picture) {
  constexpr int kBar = 38;
  Picture made;
  made.width = picture.width;
  made.height = picture.height - 2 * kBar;
  const auto row = static_cast<std::ptrdiff_t>(picture.width) * 4;
  made.rgba.assign(picture.rgba.begin() + kBar * row, picture.rgba.end() - kBar * row);
  return made;
}

constexpr int kGoldenTolerance = 40;      // of a channel
constexpr double kMostDifferent = 0.002;  // of the pixels: a short word

inline std::string golden_path(const std::string& name) {
  return std::string(PANEL_GOLDEN_DIR) + "/" + name + ".png";
}
inline bool within_tolerance(const Difference& found) {
  return static_cast<double>(found.different) <= kMostDifferent * static_cast<double>(found.pixels);
}

/// True if the picture is the golden one of this name, or will be that.
inline bool is_golden(const Picture& picture, const std::string& name) {
  if (g_update) return true;
  const auto golden = read_png(golden_path(name));
  if (!golden) return false;
  const auto found = compare(picture, *golden, kGoldenTolerance);
  return found && within_tolerance(*found);
}

/// Compares with the golden picture of this name. Fonts and colours are part of the program, so
/// only the rounding of edges differs between drivers.
inline void check_golden(const Picture& picture, const std::string& name) {
  if (g_update) {
    ASSERT_TRUE(write_png(golden_path(name), picture).ok());
    return;
  }
  std::filesystem::create_directories(PANEL_GOLDEN_OUT);
  const std::string actual = std::string(PANEL_GOLDEN_OUT) + "/" + name + ".png";
  ASSERT_TRUE(write_png(actual, picture).ok());
  const auto golden = read_png(golden_path(name));
  ASSERT_TRUE(golden.ok()) << golden.error().to_string();
  const auto found = compare(picture, *golden, kGoldenTolerance);
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  EXPECT_TRUE(within_tolerance(*found))
      << found->different << " pixels of " << actual << " differ from " << golden_path(name);
}

}  // namespace hyphos::view
