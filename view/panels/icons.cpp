#include <imgui.h>

#include <cmath>

#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

/// Draws in a square of side 2 about the centre: x right, y down.
struct Pen {
  ImDrawList& list;
  ImVec2 center;
  float unit;  // px
  ImU32 color;
  float width;

  [[nodiscard]] ImVec2 at(float x, float y) const {
    return {center.x + x * unit, center.y + y * unit};
  }
  void line(float x0, float y0, float x1, float y1) const {
    list.AddLine(at(x0, y0), at(x1, y1), color, width);
  }
  void triangle(float x0, float y0, float x1, float y1, float x2, float y2) const {
    list.AddTriangleFilled(at(x0, y0), at(x1, y1), at(x2, y2), color);
  }
  void bar(float x0, float y0, float x1, float y1) const {
    list.AddRectFilled(at(x0, y0), at(x1, y1), color, unit * 0.12F);
  }
  void ring(float x, float y, float radius) const {
    list.AddCircle(at(x, y), radius * unit, color, 20, width);
  }
  void disc(float x, float y, float radius) const {
    list.AddCircleFilled(at(x, y), radius * unit, color, 20);
  }
  void arc(float radius, float from, float to) const {
    list.PathArcTo(center, radius * unit, from, to, 20);
    list.PathStroke(color, 0, width);
  }
};

void draw_time(const Pen& pen, Icon icon) {
  switch (icon) {
    case Icon::play:
      return pen.triangle(-0.5F, -0.75F, -0.5F, 0.75F, 0.75F, 0);
    case Icon::pause:
      pen.bar(-0.55F, -0.7F, -0.15F, 0.7F);
      return pen.bar(0.15F, -0.7F, 0.55F, 0.7F);
    case Icon::step_back:
      pen.bar(-0.65F, -0.6F, -0.4F, 0.6F);
      return pen.triangle(0.55F, -0.6F, 0.55F, 0.6F, -0.35F, 0);
    case Icon::step_on:
      pen.bar(0.4F, -0.6F, 0.65F, 0.6F);
      return pen.triangle(-0.55F, -0.6F, -0.55F, 0.6F, 0.35F, 0);
    case Icon::loop:
      pen.arc(0.62F, 0.6F, 5.5F);
      return pen.triangle(0.35F, -0.75F, 0.85F, -0.6F, 0.45F, -0.15F);
    case Icon::live:
    case Icon::record:
      return pen.disc(0, 0, 0.45F);
    default:
      return;
  }
}

void draw_view(const Pen& pen, Icon icon) {
  constexpr float kPi = 3.14159265F;
  switch (icon) {
    case Icon::eye:
    case Icon::eye_off:
      pen.list.AddBezierQuadratic(pen.at(-0.9F, 0), pen.at(0, -1.1F), pen.at(0.9F, 0), pen.color,
                                  pen.width);
      pen.list.AddBezierQuadratic(pen.at(-0.9F, 0), pen.at(0, 1.1F), pen.at(0.9F, 0), pen.color,
                                  pen.width);
      if (icon == Icon::eye) return pen.disc(0, 0, 0.26F);
      return pen.line(-0.7F, 0.7F, 0.7F, -0.7F);
    case Icon::moon:
      pen.arc(0.65F, 0.9F, 5.0F);
      pen.list.AddBezierQuadratic(pen.at(0.19F, -0.62F), pen.at(-0.35F, 0.35F), pen.at(0.41F, 0.5F),
                                  pen.color, pen.width);
      return;
    case Icon::sun:
      pen.ring(0, 0, 0.36F);
      for (int i = 0; i < 8; ++i) {
        const float angle = kPi / 4 * static_cast<float>(i);
        const float x = std::cos(angle);
        const float y = std::sin(angle);
        pen.line(x * 0.6F, y * 0.6F, x * 0.88F, y * 0.88F);
      }
      return;
    case Icon::maximize:
      pen.line(-0.65F, -0.2F, -0.65F, -0.65F);
      pen.line(-0.65F, -0.65F, -0.2F, -0.65F);
      pen.line(0.65F, 0.2F, 0.65F, 0.65F);
      return pen.line(0.65F, 0.65F, 0.2F, 0.65F);
    case Icon::camera:
      pen.list.AddRect(pen.at(-0.8F, -0.45F), pen.at(0.8F, 0.65F), pen.color, pen.unit * 0.15F, 0,
                       pen.width);
      pen.bar(-0.3F, -0.7F, 0.3F, -0.45F);
      return pen.ring(0, 0.1F, 0.3F);
    default:
      return;
  }
}

void draw_tool(const Pen& pen, Icon icon) {
  switch (icon) {
    case Icon::target:
      pen.ring(0, 0, 0.55F);
      pen.line(-0.9F, 0, -0.3F, 0);
      pen.line(0.9F, 0, 0.3F, 0);
      pen.line(0, -0.9F, 0, -0.3F);
      return pen.line(0, 0.9F, 0, 0.3F);
    case Icon::arrow:
      pen.line(-0.65F, 0.65F, 0.5F, -0.5F);
      return pen.triangle(0.75F, -0.75F, 0.05F, -0.55F, 0.55F, -0.05F);
    case Icon::pin:
      pen.ring(0, -0.25F, 0.42F);
      pen.disc(0, -0.25F, 0.14F);
      pen.line(-0.36F, 0, 0, 0.85F);
      return pen.line(0.36F, 0, 0, 0.85F);
    case Icon::ruler:
      pen.list.AddRect(pen.at(-0.9F, -0.32F), pen.at(0.9F, 0.32F), pen.color, 0, 0, pen.width);
      for (const float x : {-0.5F, -0.1F, 0.3F}) pen.line(x, -0.32F, x, 0.05F);
      return pen.line(0.62F, -0.32F, 0.62F, -0.05F);
    case Icon::cursor:
      pen.triangle(-0.5F, -0.8F, -0.5F, 0.55F, 0.5F, 0.2F);
      return pen.line(-0.1F, 0.2F, 0.25F, 0.85F);
    default:
      return;
  }
}

void draw_sign(const Pen& pen, Icon icon) {
  switch (icon) {
    case Icon::close:
      pen.line(-0.5F, -0.5F, 0.5F, 0.5F);
      return pen.line(-0.5F, 0.5F, 0.5F, -0.5F);
    case Icon::menu:
      for (const float y : {-0.6F, 0.F, 0.6F}) pen.disc(0, y, 0.15F);
      return;
    case Icon::plus:
      pen.line(-0.6F, 0, 0.6F, 0);
      return pen.line(0, -0.6F, 0, 0.6F);
    case Icon::help:
      pen.ring(0, 0, 0.75F);
      pen.list.AddBezierCubic(pen.at(-0.26F, -0.15F), pen.at(-0.25F, -0.6F), pen.at(0.55F, -0.4F),
                              pen.at(0.02F, 0.15F), pen.color, pen.width);
      return pen.disc(0, 0.42F, 0.1F);
    case Icon::save:
      pen.line(0, -0.7F, 0, 0.3F);
      pen.triangle(-0.4F, 0.05F, 0.4F, 0.05F, 0, 0.45F);
      return pen.line(-0.7F, 0.7F, 0.7F, 0.7F);
    case Icon::gear:
      pen.ring(0, 0, 0.42F);
      for (int i = 0; i < 6; ++i) {
        const float angle = 3.14159265F / 3 * static_cast<float>(i);
        const float x = std::cos(angle);
        const float y = std::sin(angle);
        pen.line(x * 0.5F, y * 0.5F, x * 0.8F, y * 0.8F);
      }
      return;
    default:
      return;
  }
}

}  // namespace

void draw_icon(const Theme& theme, Icon icon, ImVec2 center, float size, std::uint32_t color) {
  const Pen pen{*ImGui::GetWindowDrawList(), center, size / 2, color, theme.px(1.5F)};
  draw_time(pen, icon);
  draw_view(pen, icon);
  draw_tool(pen, icon);
  draw_sign(pen, icon);
}

bool icon_button(const Theme& theme, const char* id, Icon icon, std::string_view help, bool on,
                 float size) {
  const float side = size > 0 ? size : ImGui::GetFrameHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool pressed = ImGui::InvisibleButton(id, {side, side});
  const bool hovered = ImGui::IsItemHovered();
  const ImU32 back = on ? fade(theme.accent, 0.25F) : hovered ? theme.hover : 0U;
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + side, at.y + side}, back, theme.px(4));
  draw_icon(theme, icon, {at.x + side / 2, at.y + side / 2}, side * 0.52F,
            on        ? theme.accent
            : hovered ? theme.text
                      : theme.dim);
  tooltip(help);
  return pressed;
}

}  // namespace hyphos::view
