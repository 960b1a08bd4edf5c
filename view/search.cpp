#include <imgui.h>

#include <algorithm>
#include <string>
#include <vector>

#include "view/app_impl.hpp"
#include "view/core/fields.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

constexpr std::size_t kMostFound = 200;
constexpr std::size_t kMostFields = 400;  // of one type

struct Found {
  std::string channel;
  std::string field;  ///< empty: the channel itself
  std::string type;
};

std::vector<Found> search(App::Impl& app) {
  std::vector<Found> found;
  const auto channels = app.source_->channels();
  for (const Channel& channel : channels) {
    if (found.size() >= kMostFound) return found;
    if (matches(app.search_, channel.name + " " + channel.type)) {
      found.push_back({channel.name, "", short_type(channel.type)});
    }
  }
  if (app.search_.empty()) return found;
  for (const Channel& channel : channels) {
    const google::protobuf::Descriptor* type = app.decoder_->find(channel.type);
    if (type == nullptr) continue;
    for (const NumericField& field : numeric_fields(*type, kMostFields)) {
      if (found.size() >= kMostFound) return found;
      std::string path = field.path;
      for (std::size_t at = path.find("[]"); at != std::string::npos; at = path.find("[]")) {
        path.replace(at, 2, "[0]");
      }
      if (matches(app.search_, channel.name + "." + path)) {
        found.push_back({channel.name, path, field.type});
      }
    }
  }
  return found;
}

void choose(App::Impl& app, const Found& found) {
  if (!found.field.empty()) {
    // A plot that is open takes the line.
    bool taken = false;
    app.workspace_.for_each([&](Panel& panel) {
      if (!taken && panel.shows_fields()) taken = panel.accept(app, found.channel, found.field);
    });
    if (!taken) {
      app.open_panel("plot", {{"fields", Setting::of({found.channel + ":" + found.field})}});
    }
    return;
  }
  if (!app.show(found.channel)) app.open_panel("raw", {{"channel", Setting(found.channel)}});
}

}  // namespace

void draw_search(App::Impl& app) {
  const Theme& theme = app.theme();
  if (app.show_search_) {
    ImGui::OpenPopup("search");
    app.show_search_ = false;
    app.search_.clear();
    app.search_row_ = 0;
  }
  const ImGuiViewport* screen = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({screen->Pos.x + screen->Size.x / 2, screen->Pos.y + screen->Size.y / 6},
                          0, {0.5F, 0});
  ImGui::SetNextWindowSize({std::min(theme.px(560), screen->Size.x - theme.px(20)), 0});
  if (!ImGui::BeginPopup("search")) return;
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  if (input_text("##words", app.search_, "A channel, a type or a field")) app.search_row_ = 0;
  const std::vector<Found> found = search(app);
  const int last = static_cast<int>(found.size()) - 1;
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_DownArrow))) ++app.search_row_;
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_UpArrow))) --app.search_row_;
  app.search_row_ = std::clamp(app.search_row_, 0, std::max(last, 0));
  const bool enter = ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter), false);
  ImGui::BeginChild("found", {0, theme.px(320)});
  for (int i = 0; i <= last; ++i) {
    const Found& one = found[static_cast<std::size_t>(i)];
    ImGui::PushID(i);
    const std::string text = one.field.empty() ? one.channel : one.channel + "  " + one.field;
    const bool chosen = ImGui::Selectable(text.c_str(), i == app.search_row_);
    drag_channel(one.channel, one.field);
    if (i == app.search_row_ && !ImGui::IsItemVisible()) ImGui::SetScrollHereY();
    ImGui::SameLine();
    right_text(one.type, theme.faint);
    if (chosen || (enter && i == app.search_row_)) {
      choose(app, one);
      ImGui::CloseCurrentPopup();
    }
    ImGui::PopID();
  }
  if (found.empty()) dim_text(theme, "Nothing is found.");
  ImGui::EndChild();
  ImGui::PushFont(theme.fonts.small);
  dim_text(theme, "Enter shows a channel, or plots a number. Drag it onto a panel.");
  ImGui::PopFont();
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape))) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace hyphos::view
