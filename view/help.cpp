#include <imgui.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "view/app_impl.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

using Lines = std::vector<std::pair<const char*, const char*>>;

const std::vector<std::pair<const char*, Lines>>& help_lines() {
  static const std::vector<std::pair<const char*, Lines>> lines = {
      {"Window",
       {{"Ctrl+K", "search channels and fields"},
        {"Ctrl+Z, Ctrl+Shift+Z", "undo, redo"},
        {"Ctrl+S", "save the layout"},
        {"Double click on a title", "fill the window with the panel"},
        {"Drag a title", "move the panel"},
        {"Drag a channel or number", "show it in another panel"}}},
      {"Time",
       {{"Space", "play or pause"},
        {", and .", "previous and next message"},
        {"L", "return to the newest messages"},
        {"B", "set a bookmark. Shift+B jumps to the next one"}}},
      {"3-D view",
       {{"Left drag", "turn"},
        {"Right or middle drag", "move"},
        {"Wheel", "zoom to the pointer"},
        {"Double click", "look at that point"},
        {"F", "look at everything"},
        {"W A S D Q E", "turn about the anchor, or walk"},
        {"Esc", "end the tool"}}},
      {"Plot",
       {{"Wheel", "zoom the time. Ctrl+wheel zooms the values"},
        {"Drag", "move"},
        {"Double click", "show the newest samples"},
        {"Shift+click", "go to that time"}}}};
  return lines;
}

}  // namespace

void draw_help(App::Impl& app) {
  if (!app.show_help_) return;
  const Theme& theme = app.theme();
  const ImGuiViewport* screen = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({screen->Pos.x + screen->Size.x / 2, screen->Pos.y + screen->Size.y / 2},
                          0, {0.5F, 0.5F});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, theme.px(8));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(22), theme.px(18)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, theme.raised);
  constexpr int kFlags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                         ImGuiWindowFlags_NoSavedSettings;
  ImGui::Begin("##help", nullptr, kFlags);
  for (const auto& [title, lines] : help_lines()) {
    ImGui::PushFont(theme.fonts.bold);
    ImGui::TextUnformatted(title);
    ImGui::PopFont();
    for (const auto& [keys, effect] : lines) {
      colored_text(theme.accent, keys);
      ImGui::SameLine(theme.px(220));
      ImGui::TextUnformatted(effect);
    }
    ImGui::Spacing();
    ImGui::Spacing();
  }
  const bool outside =
      ImGui::IsMouseClicked(0) && !ImGui::IsWindowHovered() && !ImGui::IsWindowAppearing();
  if (outside || ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape), false)) {
    app.show_help_ = false;
  }
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(3);
}

void press_shortcuts(App::Impl& app) {
  // Keys by the index of the window system, which maps letters and punctuation to ASCII.
  constexpr int kF1 = 290;
  const ImGuiIO& io = ImGui::GetIO();
  const auto pressed = [](int key) { return ImGui::IsKeyPressed(key, false); };
  if (pressed(kF1)) app.show_help_ = !app.show_help_;
  if (io.KeyCtrl) {
    if (pressed('K') || pressed('F')) app.show_search_ = true;
    if (pressed('Q')) app.quit_ = true;
    if (io.WantTextInput) return;
    if (pressed('Z') && !io.KeyShift) app.undo();
    if ((pressed('Z') && io.KeyShift) || pressed('Y')) app.redo();
    if (pressed('S')) {
      app.save_layout_file(app.layout_file_.empty() ? "hyphos.view.yaml" : app.layout_file_);
    }
    return;
  }
  if (io.WantTextInput) return;
  const bool running = app.timeline_.live ? app.timeline_.follow : app.timeline_.playing;
  if (pressed(' ')) app.play(!running);
  if (pressed(',')) app.step(-1);
  if (pressed('.')) app.step(1);
  if (pressed('L')) app.follow_live();
  if (!pressed('B')) return;
  std::vector<std::int64_t>& marks = app.bookmarks_;
  const std::int64_t now = app.timeline_.now_ns;
  if (!io.KeyShift) {
    const auto same = std::find(marks.begin(), marks.end(), now);
    if (same == marks.end()) {
      marks.insert(std::upper_bound(marks.begin(), marks.end(), now), now);
    } else {
      marks.erase(same);
    }
  } else if (!marks.empty()) {
    const auto next = std::upper_bound(marks.begin(), marks.end(), now);
    app.seek(next == marks.end() ? marks.front() : *next);
  }
}

}  // namespace hyphos::view
