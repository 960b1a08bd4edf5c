#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "view/app_impl.hpp"
#include "view/panels/widgets.hpp"
#include "view/sources/open.hpp"

namespace hyphos::view {
namespace {

constexpr float kTopBar = 38;     // points
constexpr float kBottomBar = 38;  // points
constexpr float kMargin = 6;      // points

}  // namespace

void App::Impl::frame(std::int64_t now_ns) {
  frame_ns_ = now_ns;
  more_frames_ = std::max(more_frames_ - 1, 0);
  panel_changed_ = false;
  scene_owner_ = nullptr;
  ++frames_;
  const ImGuiViewport* screen = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(screen->Pos);
  ImGui::SetNextWindowSize(screen->Size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  constexpr int kFlags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                         ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoSavedSettings |
                         ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoBackground;
  ImGui::Begin("hyphos", nullptr, kFlags);
  ImGui::PopStyleVar();
  const float top = std::round(theme_.px(kTopBar));
  const float bottom = std::round(theme_.px(kBottomBar));
  const float margin = std::round(theme_.px(kMargin));
  ImGui::SetCursorPos({margin, 0});
  ImGui::BeginGroup();
  draw_top_bar(*this);
  ImGui::EndGroup();
  const ImVec2 size{std::max(screen->Size.x - margin * 2, 1.F),
                    std::max(screen->Size.y - top - bottom, 1.F)};
  workspace_.draw(*this, {screen->Pos.x + margin, screen->Pos.y + top}, size);
  ImGui::SetCursorScreenPos({screen->Pos.x + margin, screen->Pos.y + screen->Size.y - bottom});
  draw_timeline_bar(*this, bottom);
  draw_search(*this);
  draw_help(*this);
  ImGui::End();
  draw_notices(*this);
  press_shortcuts(*this);
  next_change_ns_ = kNever;
  workspace_.for_each([&](Panel& panel) {
    if (workspace_.visible(panel)) {
      next_change_ns_ = std::min(next_change_ns_, panel.next_change_ns(*this));
    }
  });
  if (!pending_edit_.empty() && !ImGui::IsMouseDown(0)) {
    history_.record(std::move(pending_edit_), layout());
    pending_edit_.clear();
  }
  drawn_ns_ = now_ns;
}

void draw_top_bar(App::Impl& app) {
  const Theme& theme = app.theme();
  const float height = std::round(theme.px(kTopBar));
  const float side = theme.px(28);
  const float pad = (height - side) / 2;
  ImGui::SetCursorPosY(pad);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(theme.px(9), (side - ImGui::GetFontSize()) / 2));
  ImGui::AlignTextToFramePadding();
  ImGui::GetWindowDrawList()->AddCircleFilled(
      {ImGui::GetCursorScreenPos().x + theme.px(6), ImGui::GetCursorScreenPos().y + side / 2},
      theme.px(4), app.timeline_.live ? theme.good : theme.accent, 16);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + theme.px(16));
  ImGui::PushFont(theme.fonts.bold);
  ImGui::TextUnformatted(app.source_->title().c_str());
  ImGui::PopFont();
  const std::vector<std::string> problems = app.source_->problems();
  if (!problems.empty()) {
    ImGui::SameLine();
    std::string all;
    for (const std::string& line : problems) all += (all.empty() ? "" : "\n") + line;
    colored_text(theme.warn, problems.size() == 1 ? problems.front()
                                                  : std::to_string(problems.size()) + " problems");
    tooltip(all);
  }
  // From the right edge.
  const ImVec2 end = ImGui::GetWindowSize();
  const float menu = theme.px(78);
  const float search = std::clamp(end.x * 0.2F, theme.px(120), theme.px(280));
  float x = end.x - theme.px(kMargin) - side * 2 - theme.px(4);
  ImGui::SetCursorPos({x, pad});
  if (icon_button(theme, "theme", theme.dark ? Icon::sun : Icon::moon,
                  theme.dark ? "Light colours" : "Dark colours", false, side)) {
    app.set_theme(theme.dark ? "light" : "dark");
    app.edited("change the colours");
  }
  ImGui::SameLine(0, theme.px(4));
  if (icon_button(theme, "help", Icon::help, "Keys and mouse (F1)", app.show_help_, side)) {
    app.show_help_ = !app.show_help_;
  }
  std::size_t used = app.scene_->bytes() + app.source_->memory();
  app.workspace_.for_each([&used](Panel& panel) { used += panel.memory(); });
  const std::string memory =
      bytes_text(static_cast<double>(used)) + " / " + bytes_text(app.budget_mb_ * 1e6);
  ImGui::PushFont(theme.fonts.small);
  x -= ImGui::CalcTextSize(memory.c_str()).x + theme.px(12);
  ImGui::SetCursorPos({x, pad + (side - ImGui::GetFontSize()) / 2});
  dim_text(theme, memory);
  ImGui::PopFont();
  tooltip("Memory of displayed data, of " + number_text(app.budget_mb_) +
          " MB. The oldest data is dropped beyond that.");
  x -= search + theme.px(12);
  ImGui::SetCursorPos({x, pad});
  ImGui::PushStyleColor(ImGuiCol_Text, theme.dim);
  ImGui::PushStyleVar(ImGuiStyleVar_ButtonTextAlign, ImVec2(0, 0.5F));
  const char* hint = "Search channels and fields   Ctrl+K";
  if (ImGui::CalcTextSize(hint).x + theme.px(20) > search) hint = "Search   Ctrl+K";
  if (ImGui::Button(hint, {search, side})) app.show_search_ = true;
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
  x -= menu + theme.px(6);
  ImGui::SetCursorPos({x, pad});
  if (ImGui::Button("Layout", {menu, side})) ImGui::OpenPopup("layout");
  x -= menu + theme.px(6);
  ImGui::SetCursorPos({x, pad});
  if (ImGui::Button("Open", {menu, side})) ImGui::OpenPopup("open");
  x -= menu + theme.px(6);
  ImGui::SetCursorPos({x, pad});
  if (ImGui::Button("Panels", {menu, side})) ImGui::OpenPopup("panels");
  ImGui::PopStyleVar();

  if (ImGui::BeginPopup("open")) {
    std::string file;
    ImGui::SetNextItemWidth(theme.px(340));
    if (input_text("##file", app.open_name_, "recording.mcap, robot.yaml or a layout",
                   ImGuiInputTextFlags_EnterReturnsTrue)) {
      file = app.open_name_;
    }
    for (const std::string& one : app.settings_.recent) {
      if (ImGui::MenuItem(one.c_str())) file = one;
    }
    ImGui::Separator();
    const bool room = app.source_->parts().size() < kMaxParts;
    if (room) ImGui::Checkbox("Compare it with the present source", &app.open_beside_);
    dim_text(theme, "Files can also be dropped on the window. Several are compared.");
    if (!file.empty()) {
      ImGui::CloseCurrentPopup();
      const bool beside = std::exchange(app.open_beside_, false) && room;
      app.post([&app, file, beside] { app.open_file(file, beside); });
    }
    ImGui::EndPopup();
  }
  if (ImGui::BeginPopup("panels")) {
    for (const PanelKind& kind : panel_kinds()) {
      const bool usable = !kind.live_only || app.timeline_.live;
      if (ImGui::MenuItem(std::string(kind.title).c_str(), nullptr, false, usable)) {
        app.open_panel(kind.name, {});
      }
      tooltip(usable ? std::string(kind.help) : "needs a running robot");
    }
    ImGui::EndPopup();
  }
  if (ImGui::BeginPopup("layout")) {
    if (ImGui::MenuItem("Undo", "Ctrl+Z", false, app.history_.can_undo())) app.undo();
    if (ImGui::MenuItem("Redo", "Ctrl+Shift+Z", false, app.history_.can_redo())) app.redo();
    ImGui::Separator();
    if (ImGui::MenuItem("Save", "Ctrl+S", false, !app.layout_file_.empty())) {
      app.save_layout_file(app.layout_file_);
    }
    ImGui::TextUnformatted("Save as");
    ImGui::SetNextItemWidth(theme.px(220));
    if (input_text("##name", app.save_name_, "robot.view.yaml",
                   ImGuiInputTextFlags_EnterReturnsTrue) &&
        !app.save_name_.empty()) {
      app.save_layout_file(app.save_name_);
      ImGui::CloseCurrentPopup();
    }
    ImGui::Separator();
    if (ImGui::MenuItem("Default for these channels")) {
      Layout usual = app.usual_layout();
      usual.compare = app.compare_;
      app.set_layout(usual);
      app.edited("use the default layout");
    }
    if (ImGui::MenuItem("Copy as text")) {
      ImGui::SetClipboardText(layout_text(app.layout()).c_str());
    }
    ImGui::EndPopup();
  }
}

void draw_notices(App::Impl& app) {
  const Theme& theme = app.theme();
  const ImGuiViewport* screen = ImGui::GetMainViewport();
  float y = screen->Pos.y + screen->Size.y - theme.px(kBottomBar + 10);
  std::size_t gone = app.notices_.size();
  for (std::size_t i = app.notices_.size(); i-- > 0;) {
    const Notice& one = app.notices_[i];
    ImGui::SetNextWindowPos({screen->Pos.x + screen->Size.x / 2, y}, 0, {0.5F, 1});
    ImGui::SetNextWindowSizeConstraints({0, 0}, {screen->Size.x * 0.7F, screen->Size.y});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, theme.px(6));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(12), theme.px(7)));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
    ImGui::PushStyleColor(ImGuiCol_WindowBg, theme.raised);
    ImGui::PushStyleColor(ImGuiCol_Border, one.error ? theme.bad : theme.border);
    constexpr int kFlags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                           ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                           ImGuiWindowFlags_NoNav;
    ImGui::Begin(("##notice" + std::to_string(i)).c_str(), nullptr, kFlags);
    ImGui::PushTextWrapPos(screen->Size.x * 0.6F);
    colored_text(one.error ? theme.bad : theme.text, one.text);
    ImGui::PopTextWrapPos();
    if (one.error) tooltip("Click to close");
    if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(0)) gone = i;
    y -= ImGui::GetWindowHeight() + theme.px(6);
    ImGui::End();
    ImGui::PopStyleColor(2);
    ImGui::PopStyleVar(3);
  }
  if (gone < app.notices_.size()) {
    app.notices_.erase(app.notices_.begin() + static_cast<std::ptrdiff_t>(gone));
  }
}

}  // namespace hyphos::view
