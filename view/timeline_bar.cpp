#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "view/app_impl.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

constexpr std::array<double, 8> kSpeeds = {0.1, 0.25, 0.5, 1, 2, 5, 10, 50};

/// "12.345 s", or "1:02:03.4".
std::string position_text(std::int64_t ns) {
  const double seconds = static_cast<double>(ns) * 1e-9;
  std::array<char, 48> text{};
  if (seconds < 3600) {
    std::snprintf(text.data(), text.size(), "%.3f s", seconds);
  } else {
    const auto whole = static_cast<long>(seconds);
    std::snprintf(text.data(), text.size(), "%ld:%02ld:%04.1f", whole / 3600, whole / 60 % 60,
                  std::fmod(seconds, 60));
  }
  return text.data();
}

/// The bar with the cursor, the bookmarks and the part that exists.
void draw_slider(App::Impl& app, float width, float height) {
  const Theme& theme = app.theme();
  const TimeRange range = app.timeline_.range;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("slider", {std::max(width, 1.F), height});
  const bool hovered = ImGui::IsItemHovered();
  const bool active = ImGui::IsItemActive();
  const double span = static_cast<double>(std::max<std::int64_t>(range.end_ns - range.begin_ns, 1));
  const auto x_of = [&](std::int64_t t) {
    const double part = std::clamp(static_cast<double>(t - range.begin_ns) / span, 0., 1.);
    return at.x + static_cast<float>(part) * width;
  };
  const float mouse = std::clamp(ImGui::GetIO().MousePos.x - at.x, 0.F, width);
  const std::int64_t pointed =
      range.begin_ns + static_cast<std::int64_t>(static_cast<double>(mouse / width) * span);
  const bool usable = range.end_ns > range.begin_ns;
  if (active && usable && (ImGui::IsItemActivated() || ImGui::GetIO().MouseDelta.x != 0)) {
    app.seek(pointed);
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float middle = at.y + height / 2;
  const float thick = theme.px(hovered || active ? 6 : 4);
  const float cursor =
      app.timeline_.live && app.timeline_.follow ? at.x + width : x_of(app.timeline_.now_ns);
  list.AddRectFilled({at.x, middle - thick / 2}, {at.x + width, middle + thick / 2}, theme.raised,
                     thick / 2);
  list.AddRectFilled({at.x, middle - thick / 2}, {cursor, middle + thick / 2},
                     fade(theme.accent, 0.55F), thick / 2);
  for (const std::int64_t mark : app.bookmarks_) {
    const float x = x_of(mark);
    list.AddTriangleFilled({x - theme.px(4), middle - theme.px(10)},
                           {x + theme.px(4), middle - theme.px(10)}, {x, middle - theme.px(4)},
                           theme.warn);
  }
  list.AddCircleFilled({cursor, middle}, theme.px(hovered || active ? 7 : 6), theme.accent, 20);
  if (hovered && usable) {
    tooltip(app.timeline_.live
                ? age_text(range.end_ns - pointed) + " ago"
                : position_text(pointed - range.begin_ns) + "\n" + clock_text(pointed));
  }
}

}  // namespace

void draw_timeline_bar(App::Impl& app, float height) {
  const Theme& theme = app.theme();
  Timeline& time = app.timeline_;
  const float side = theme.px(28);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + (height - side) / 2);
  const float right = ImGui::GetWindowWidth() - theme.px(6);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(theme.px(2), 0));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(theme.px(8), (side - ImGui::GetFontSize()) / 2));
  if (icon_button(theme, "back", Icon::step_back, "Previous message ( , )", false, side)) {
    app.step(-1);
  }
  ImGui::SameLine();
  const bool running = time.live ? time.follow : time.playing;
  if (icon_button(theme, "play", running ? Icon::pause : Icon::play,
                  running ? "Pause (space)" : "Play (space)", false, side)) {
    app.play(!running);
  }
  ImGui::SameLine();
  if (icon_button(theme, "on", Icon::step_on, "Next message ( . )", false, side)) app.step(1);
  if (!time.live) {
    ImGui::SameLine();
    if (icon_button(theme, "loop", Icon::loop, "Begin again at the end", time.loop, side)) {
      time.loop = !time.loop;
    }
    ImGui::SameLine(0, theme.px(6));
    ImGui::SetNextItemWidth(theme.px(74));
    if (ImGui::BeginCombo("##speed", (number_text(time.speed) + "x").c_str(),
                          ImGuiComboFlags_HeightLarge)) {
      for (const double speed : kSpeeds) {
        if (ImGui::Selectable((number_text(speed) + "x").c_str(), speed == time.speed)) {
          time.speed = speed;
        }
      }
      ImGui::EndCombo();
    }
  }
  ImGui::SameLine(0, theme.px(14));
  std::string text;
  if (time.live) {
    text = time.follow ? "live" : age_text(time.range.end_ns - time.now_ns) + " ago";
  } else {
    text = position_text(time.now_ns - time.range.begin_ns) + " / " +
           position_text(time.range.end_ns - time.range.begin_ns);
  }
  const std::string clock = time.now_ns > 0 ? clock_text(time.now_ns) : "";
  ImGui::PushFont(theme.fonts.mono);
  const float clock_width = ImGui::CalcTextSize("00:00:00.000").x;
  const float text_width = std::max(ImGui::CalcTextSize(text.c_str()).x, theme.px(60));
  ImGui::PopFont();
  const float room = right - ImGui::GetCursorPosX() - clock_width - text_width - theme.px(38);
  draw_slider(app, std::max(room, theme.px(40)), side);
  ImGui::SameLine(0, theme.px(14));
  if (time.live) {
    // A pill that returns to the newest messages.
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton("live", {text_width, side})) app.follow_live();
    tooltip(time.follow ? "Shows the newest messages" : "Return to the newest messages (L)");
    const std::uint32_t color = time.follow ? theme.good : theme.warn;
    ImGui::GetWindowDrawList()->AddCircleFilled({at.x + theme.px(5), at.y + side / 2}, theme.px(4),
                                                color, 16);
    ImGui::GetWindowDrawList()->AddText(
        {at.x + theme.px(15), at.y + (side - ImGui::GetFontSize()) / 2}, theme.text, text.c_str());
  } else {
    ImGui::AlignTextToFramePadding();
    ImGui::PushFont(theme.fonts.mono);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopFont();
  }
  ImGui::SameLine(0, theme.px(12));
  ImGui::SetCursorPosX(right - clock_width);
  ImGui::AlignTextToFramePadding();
  ImGui::PushFont(theme.fonts.mono);
  dim_text(theme, clock);
  ImGui::PopFont();
  ImGui::PopStyleVar(2);
}

}  // namespace hyphos::view
