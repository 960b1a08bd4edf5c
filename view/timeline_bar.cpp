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

std::uint32_t color_of(std::size_t part) {
  const Color c = part_color(part);
  return IM_COL32(c.r, c.g, c.b, 255);
}

/// A line for each of several sources, where it has messages.
template <typename XOf>
void draw_lanes(App::Impl& app, ImDrawList& list, ImVec2 at, const XOf& x_of) {
  const std::vector<Part> parts = app.source_->parts();
  if (parts.size() < 2) return;
  const float thick = app.theme().px(2);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].range.end_ns == 0) continue;
    const float y = at.y + static_cast<float>(i) * (thick + 1);
    list.AddRectFilled({x_of(parts[i].range.begin_ns), y},
                       {x_of(parts[i].range.end_ns) + 1, y + thick}, color_of(i));
  }
}

void draw_part(App::Impl& app, std::size_t i, const Part& part) {
  const Theme& theme = app.theme();
  ImGui::PushID(static_cast<int>(i));
  dot(theme, color_of(i));
  ImGui::TextUnformatted(
      (part.label.empty() ? part.title : part.label + ": " + part.title).c_str());
  if (i > 0 && !part.live) {
    auto seconds = static_cast<float>(app.shift_s(i));
    ImGui::SetNextItemWidth(theme.px(120));
    if (ImGui::DragFloat("##shift", &seconds, 0.01F, 0, 0, "%+.2f s")) {
      app.set_shift(i, static_cast<double>(seconds));
    }
    if (ImGui::IsItemDeactivatedAfterEdit()) app.edited("shift a source");
    ImGui::SameLine();
    if (ImGui::Button("Begins here")) {
      const std::int64_t by = app.timeline_.now_ns - part.range.begin_ns;
      app.set_shift(i, app.shift_s(i) + static_cast<double>(by) * 1e-9);
      app.edited("shift a source");
    }
    tooltip("Shifts this source, so that it begins at the cursor");
  }
  ImGui::PopID();
}

/// The popup that aligns and arranges several sources.
void draw_compare(App::Impl& app) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(app.theme().px(10), app.theme().px(10)));
  const bool open = ImGui::BeginPopup("compare");
  ImGui::PopStyleVar();
  if (!open) return;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(app.theme().px(8), app.theme().px(6)));
  const std::vector<Part> parts = app.source_->parts();
  for (std::size_t i = 0; i < parts.size(); ++i) draw_part(app, i, parts[i]);
  ImGui::Separator();
  CompareLayout next = app.compare_;
  const auto choice = [&](const char* text, std::string& value, const char* word) {
    if (ImGui::RadioButton(text, value == word)) value = word;
  };
  choice("Over one another", next.arrange, "ghost");
  ImGui::SameLine();
  choice("Columns", next.arrange, "columns");
  choice("Begin together", next.align, "start");
  ImGui::SameLine();
  choice("Same clock time", next.align, "time");
  auto alpha = static_cast<float>(next.alpha);
  auto tint = static_cast<float>(next.tint);
  bool settled = false;
  const auto slider = [&](const char* text, float& value, float least) {
    ImGui::SetNextItemWidth(app.theme().px(160));
    const bool moved = ImGui::SliderFloat(text, &value, least, 1, "%.2f");
    settled = settled || ImGui::IsItemDeactivatedAfterEdit();
    return moved;
  };
  if (slider("Opacity", alpha, 0.05F)) next.alpha = static_cast<double>(alpha);
  if (slider("Tint", tint, 0)) next.tint = static_cast<double>(tint);
  const bool chosen = next.arrange != app.compare_.arrange || next.align != app.compare_.align;
  if (next != app.compare_) app.set_compare(next);
  if (chosen || settled) app.edited("compare the sources");
  ImGui::PopStyleVar();
  ImGui::EndPopup();
}

std::string ago(std::int64_t ns) {
  const std::string age = age_text(ns);
  return age == age_text(0) ? age : age + " ago";
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
  draw_lanes(app, list, {at.x, middle + theme.px(8)}, x_of);
  for (const std::int64_t mark : app.bookmarks_) {
    const float x = x_of(mark);
    list.AddTriangleFilled({x - theme.px(4), middle - theme.px(10)},
                           {x + theme.px(4), middle - theme.px(10)}, {x, middle - theme.px(4)},
                           theme.warn);
  }
  list.AddCircleFilled({cursor, middle}, theme.px(hovered || active ? 7 : 6), theme.accent, 20);
  if (hovered && usable) {
    tooltip(app.timeline_.live
                ? ago(range.end_ns - pointed)
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
  if (time.live) {
    ImGui::SameLine();
    const std::string file = app.source_->past_file();
    const std::string help = file.empty() ? "Also write the past to a recording in this folder"
                                          : "The past is written to " + file;
    if (icon_button(theme, "past", Icon::record, help, !file.empty(), side) && file.empty()) {
      app.keep_past();
    }
  }
  if (app.source_->parts().size() > 1) {
    ImGui::SameLine(0, theme.px(6));
    if (ImGui::Button("Compare", {theme.px(74), side})) ImGui::OpenPopup("compare");
    tooltip("Align and arrange the sources");
    draw_compare(app);
  }
  ImGui::SameLine(0, theme.px(14));
  std::string text;
  if (time.live) {
    text = time.follow ? "live" : ago(time.range.end_ns - time.now_ns);
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
