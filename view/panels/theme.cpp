#include "view/panels/theme.hpp"

#include <imgui.h>

#include <cmath>
#include <cstddef>
#include <span>

#include "view/scene/font.hpp"

namespace hyphos::view {
namespace {

constexpr float kTextSize = 15;
constexpr float kSmallSize = 12.5F;

/// 0xRRGGBB as ImU32.
constexpr ImU32 rgb(std::uint32_t hex) {
  return IM_COL32((hex >> 16U) & 0xffU, (hex >> 8U) & 0xffU, hex & 0xffU, 0xffU);
}

/// Latin, Greek, dashes and the ellipsis, arrows.
ImFont* load(std::span<const std::byte> file, float size, float weight) {
  static constexpr ImWchar kRanges[] = {0x20,   0xff,   0x370,  0x3ff, 0x2010,
                                        0x2027, 0x2190, 0x2195, 0};
  ImFontConfig config;
  config.OversampleH = 2;
  config.OversampleV = 1;
  config.PixelSnapH = true;
  config.RasterizerMultiply = weight;
  config.FontDataOwnedByAtlas = false;
  // ImGui does not write to a file that it does not own.
  void* data = const_cast<std::byte*>(file.data());
  return ImGui::GetIO().Fonts->AddFontFromMemoryTTF(data, static_cast<int>(file.size()), size,
                                                    &config, kRanges);
}

}  // namespace

ThemeFonts load_fonts(float scale) {
  ThemeFonts fonts;
  fonts.text = load(sans_font_file(), kTextSize * scale, 1);
  fonts.bold = load(sans_font_file(), kTextSize * scale, 1.6F);
  fonts.mono = load(mono_font_file(), kTextSize * scale * 0.95F, 1);
  fonts.small = load(sans_font_file(), kSmallSize * scale, 1);
  return fonts;
}

Theme make_theme(std::string_view name, float scale, const ThemeFonts& fonts) {
  Theme theme;
  theme.scale = scale;
  theme.fonts = fonts;
  theme.dark = name != "light";
  if (theme.dark) {
    theme.background = rgb(0x101216);
    theme.surface = rgb(0x181b20);
    theme.raised = rgb(0x22262e);
    theme.hover = rgb(0x2c323c);
    theme.border = rgb(0x2a2f38);
    theme.text = rgb(0xd5dae3);
    theme.dim = rgb(0x8d96a5);
    theme.faint = rgb(0x59616f);
    theme.accent = rgb(0x5b9ee6);
    theme.good = rgb(0x62b880);
    theme.warn = rgb(0xdba74c);
    theme.bad = rgb(0xe26a66);
    theme.series = {rgb(0x5b9ee6), rgb(0xe0934a), rgb(0x62b880), rgb(0xd5679b),
                    rgb(0xa48ae0), rgb(0x4fb8b8), rgb(0xd1be57), rgb(0xb08a72)};
  } else {
    theme.background = rgb(0xe3e6eb);
    theme.surface = rgb(0xfafbfc);
    theme.raised = rgb(0xeceff3);
    theme.hover = rgb(0xdde3ea);
    theme.border = rgb(0xd0d6de);
    theme.text = rgb(0x1f242c);
    theme.dim = rgb(0x5c6673);
    theme.faint = rgb(0x98a1ae);
    theme.accent = rgb(0x2368b8);
    theme.good = rgb(0x2b8a4f);
    theme.warn = rgb(0xa96f00);
    theme.bad = rgb(0xc33733);
    theme.series = {rgb(0x2368b8), rgb(0xc46a15), rgb(0x2b8a4f), rgb(0xb23a76),
                    rgb(0x6d50bb), rgb(0x14858a), rgb(0x8f7c0a), rgb(0x7c5640)};
  }
  return theme;
}

std::uint32_t fade(std::uint32_t color, float alpha) {
  const auto a = static_cast<std::uint32_t>(std::lround(static_cast<float>(color >> 24U) * alpha));
  return (color & 0x00ffffffU) | (a << 24U);
}

void apply_theme(const Theme& theme) {
  ImGuiStyle style;
  style.WindowPadding = {8, 8};
  style.FramePadding = {8, 4};
  style.CellPadding = {6, 3};
  style.ItemSpacing = {8, 5};
  style.ItemInnerSpacing = {6, 4};
  style.IndentSpacing = 16;
  style.ScrollbarSize = 10;
  style.GrabMinSize = 10;
  style.WindowBorderSize = 0;
  style.ChildBorderSize = 0;
  style.PopupBorderSize = 1;
  style.FrameBorderSize = 0;
  style.WindowRounding = 0;
  style.ChildRounding = 5;
  style.FrameRounding = 4;
  style.PopupRounding = 6;
  style.ScrollbarRounding = 6;
  style.GrabRounding = 4;
  style.TabRounding = 4;
  style.ScaleAllSizes(theme.scale);
  const auto set = [&style](ImGuiCol index, ImU32 color) {
    style.Colors[index] = ImGui::ColorConvertU32ToFloat4(color);
  };
  const ImU32 none = 0;
  set(ImGuiCol_Text, theme.text);
  set(ImGuiCol_TextDisabled, theme.dim);
  set(ImGuiCol_WindowBg, theme.background);
  set(ImGuiCol_ChildBg, theme.surface);
  set(ImGuiCol_PopupBg, theme.raised);
  set(ImGuiCol_Border, theme.border);
  set(ImGuiCol_BorderShadow, none);
  set(ImGuiCol_FrameBg, theme.raised);
  set(ImGuiCol_FrameBgHovered, theme.hover);
  set(ImGuiCol_FrameBgActive, theme.hover);
  set(ImGuiCol_TitleBg, theme.surface);
  set(ImGuiCol_TitleBgActive, theme.surface);
  set(ImGuiCol_TitleBgCollapsed, theme.surface);
  set(ImGuiCol_MenuBarBg, theme.background);
  set(ImGuiCol_ScrollbarBg, none);
  set(ImGuiCol_ScrollbarGrab, theme.hover);
  set(ImGuiCol_ScrollbarGrabHovered, theme.faint);
  set(ImGuiCol_ScrollbarGrabActive, theme.faint);
  set(ImGuiCol_CheckMark, theme.accent);
  set(ImGuiCol_SliderGrab, theme.accent);
  set(ImGuiCol_SliderGrabActive, theme.accent);
  set(ImGuiCol_Button, theme.raised);
  set(ImGuiCol_ButtonHovered, theme.hover);
  set(ImGuiCol_ButtonActive, theme.border);
  set(ImGuiCol_Header, fade(theme.accent, 0.22F));
  set(ImGuiCol_HeaderHovered, fade(theme.accent, 0.16F));
  set(ImGuiCol_HeaderActive, fade(theme.accent, 0.30F));
  set(ImGuiCol_Separator, theme.border);
  set(ImGuiCol_SeparatorHovered, theme.accent);
  set(ImGuiCol_SeparatorActive, theme.accent);
  set(ImGuiCol_ResizeGrip, none);
  set(ImGuiCol_Tab, theme.surface);
  set(ImGuiCol_TabHovered, theme.hover);
  set(ImGuiCol_TabActive, theme.raised);
  set(ImGuiCol_TableHeaderBg, theme.surface);
  set(ImGuiCol_TableBorderStrong, theme.border);
  set(ImGuiCol_TableBorderLight, fade(theme.border, 0.6F));
  set(ImGuiCol_TableRowBg, none);
  set(ImGuiCol_TableRowBgAlt, fade(theme.raised, 0.35F));
  set(ImGuiCol_TextSelectedBg, fade(theme.accent, 0.35F));
  set(ImGuiCol_DragDropTarget, theme.accent);
  set(ImGuiCol_NavHighlight, theme.accent);
  set(ImGuiCol_ModalWindowDimBg, fade(theme.background, 0.6F));
  set(ImGuiCol_PlotHistogram, theme.accent);
  ImGui::GetStyle() = style;
}

}  // namespace hyphos::view
