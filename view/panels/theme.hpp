#pragma once

#include <array>
#include <cstdint>
#include <string_view>

struct ImFont;

namespace hyphos::view {

/// The fonts of the window, in the atlas of the current ImGui context.
struct ThemeFonts {
  ImFont* text = nullptr;
  ImFont* bold = nullptr;
  ImFont* mono = nullptr;
  ImFont* small = nullptr;
};
/// Adds DejaVu Sans, which is part of the program. `scale`: pixels per point.
[[nodiscard]] ThemeFonts load_fonts(float scale);

/// Colours by meaning, as ImU32, and the fonts.
struct Theme {
  bool dark = true;
  float scale = 1;
  ThemeFonts fonts;
  std::uint32_t background = 0;  ///< between the panels
  std::uint32_t surface = 0;     ///< of panels
  std::uint32_t raised = 0;      ///< fields, buttons, title bars
  std::uint32_t hover = 0;
  std::uint32_t border = 0;
  std::uint32_t text = 0;
  std::uint32_t dim = 0;    ///< secondary text
  std::uint32_t faint = 0;  ///< hints, axes
  std::uint32_t accent = 0;
  std::uint32_t good = 0;
  std::uint32_t warn = 0;
  std::uint32_t bad = 0;
  std::array<std::uint32_t, 8> series{};  ///< lines of plots and layers, in order

  [[nodiscard]] float px(float points) const { return points * scale; }
  [[nodiscard]] std::uint32_t line(std::size_t index) const {
    return series[index % series.size()];
  }
};

/// `name`: "dark" or "light".
[[nodiscard]] Theme make_theme(std::string_view name, float scale, const ThemeFonts& fonts);
/// Sets the style of the current ImGui context.
void apply_theme(const Theme& theme);
/// The colour with another opacity, 0 to 1.
[[nodiscard]] std::uint32_t fade(std::uint32_t color, float alpha);

}  // namespace hyphos::view
