#include <imgui.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "view/displays/scene_view.hpp"
#include "view/panels/list.hpp"
#include "view/panels/property_editor.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

std::uint32_t color_of(const Theme& theme, const Display& display) {
  if (!display.visible()) return theme.faint;
  switch (display.status().health) {
    case Health::good:
      return theme.good;
    case Health::waiting:
      return theme.faint;
    case Health::warning:
      return theme.warn;
    case Health::error:
      return theme.bad;
  }
  return theme.faint;
}

/// The displays of the 3-D view: their state, their properties, the fixed frame and the camera.
class Displays final : public Panel {
 public:
  void draw(Session& session) override {
    draw_view(session);
    ImGui::Spacing();
    draw_add(session);
    std::uint32_t remove = 0;
    for (SceneView::Item& item : session.scene().items()) {
      if (!matches(filter_, item.channel + " " + std::string(item.kind->title))) continue;
      if (draw_item(session, item)) remove = item.id;
    }
    if (remove != 0) {
      session.scene().remove(remove);
      session.reselect();
      session.edited("remove a display");
    }
    const std::size_t used = session.scene().bytes();
    ImGui::Spacing();
    dim_text(session.theme(), bytes_text(static_cast<double>(used)) + " of " +
                                  bytes_text(static_cast<double>(session.scene().budget())));
    tooltip("Memory of the displayed messages. The oldest are dropped to keep the budget.");
  }

 private:
  /// A row of a label and a widget.
  static void label(const Theme& theme, const char* text) {
    ImGui::AlignTextToFramePadding();
    dim_text(theme, text);
    ImGui::SameLine(std::max(ImGui::GetWindowWidth() * 0.42F, theme.px(90)));
    ImGui::SetNextItemWidth(-1);
  }

  void draw_view(Session& session) {
    const Theme& theme = session.theme();
    SceneView& scene = session.scene();
    label(theme, "fixed frame");
    const std::string& wanted = scene.wanted_fixed_frame();
    const std::string shown =
        wanted.empty()
            ? (scene.fixed_frame().empty() ? "automatic" : scene.fixed_frame() + " (auto)")
            : wanted;
    if (ImGui::BeginCombo("##frame", shown.c_str())) {
      if (ImGui::Selectable("automatic", wanted.empty())) set_frame(session, "");
      for (const FrameInfo& frame : scene.frames().frames()) {
        if (ImGui::Selectable(frame.name.c_str(), frame.name == wanted)) {
          set_frame(session, frame.name);
        }
      }
      ImGui::EndCombo();
    }
    draw_camera(session);
  }

  static void set_frame(Session& session, const std::string& frame) {
    session.scene().set_fixed_frame(frame);
    session.edited("choose the fixed frame");
  }

  void draw_camera(Session& session) {
    const Theme& theme = session.theme();
    SceneView& scene = session.scene();
    Camera& camera = scene.camera();
    struct Mode {
      CameraMode mode;
      const char* title;
      const char* help;
    };
    static constexpr std::array<Mode, 4> kModes = {
        {{CameraMode::orbit, "orbit", "Left drag turns, right drag moves, the wheel zooms"},
         {CameraMode::first_person, "first person", "Left drag looks around, W A S D moves"},
         {CameraMode::top_down, "top down", "From above, without perspective"},
         {CameraMode::anchor, "anchor",
          "A left press takes an anchor, the wheel zooms to it, right drag pans, A D, W S and Q E "
          "turn about it"}}};
    label(theme, "camera");
    const CameraState state = camera.state();
    const char* title = "";
    for (const Mode& mode : kModes) {
      if (mode.mode == state.mode) title = mode.title;
    }
    if (ImGui::BeginCombo("##camera", title)) {
      for (const Mode& mode : kModes) {
        if (ImGui::Selectable(mode.title, mode.mode == state.mode)) {
          camera.set_mode(mode.mode);
          session.edited("choose the camera");
        }
        tooltip(mode.help);
      }
      ImGui::EndCombo();
    }
    label(theme, "follow");
    if (ImGui::BeginCombo("##follow", state.follow.empty() ? "nothing" : state.follow.c_str())) {
      std::vector<std::string> names = {""};
      for (const FrameInfo& frame : scene.frames().frames()) names.push_back(frame.name);
      for (const std::string& name : names) {
        if (!ImGui::Selectable(name.empty() ? "nothing" : name.c_str(), name == state.follow)) {
          continue;
        }
        CameraState next = state;
        next.follow = name;
        next.target = Vec3::Zero();
        camera.set_state(next);
        session.edited("follow a frame");
      }
      ImGui::EndCombo();
    }
    draw_saved_views(session);
  }

  void draw_saved_views(Session& session) {
    const Theme& theme = session.theme();
    label(theme, "views");
    auto& views = session.saved_views();
    if (!ImGui::BeginCombo("##views", "saved views")) return;
    std::string remove;
    for (const auto& [name, view] : views) {
      if (ImGui::Selectable(name.c_str(), false, 0,
                            {ImGui::GetContentRegionAvail().x - theme.px(28), 0})) {
        session.use_view(name);
      }
      ImGui::SameLine();
      if (icon_button(theme, ("x" + name).c_str(), Icon::close, "Delete this view", false,
                      ImGui::GetTextLineHeight())) {
        remove = name;
      }
    }
    if (!remove.empty()) {
      views.erase(remove);
      session.edited("delete a view");
    }
    ImGui::SetNextItemWidth(-1);
    if (input_text("##name", view_name_, "name of this view",
                   ImGuiInputTextFlags_EnterReturnsTrue) &&
        !view_name_.empty()) {
      session.save_view(view_name_);
      view_name_.clear();
    }
    if (ImGui::Selectable("look at everything")) session.scene().look_at_all();
    ImGui::EndCombo();
  }

  void draw_add(Session& session) {
    const Theme& theme = session.theme();
    if (ImGui::Button("Add")) {
      ImGui::OpenPopup("add");
      search_.clear();
    }
    ImGui::SameLine();
    search_field("##filter", "Filter displays", filter_);
    ImGui::SetNextWindowSize({theme.px(380), 0});
    if (!ImGui::BeginPopup("add")) return;
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    search_field("##search", "Search a channel or a display", search_);
    ImGui::BeginChild("choices", {0, theme.px(320)});
    for (const DisplayKind& kind : display_kinds()) {
      if (kind.types.empty()) {
        if (!matches(search_, kind.title)) continue;
        if (ImGui::Selectable(kind.title.data())) add(session, kind, "");
        tooltip(kind.help);
        continue;
      }
      for (const Channel& channel : session.source().channels()) {
        if (!kind.shows(channel.type) || !channel.name.ends_with(kind.only_channel)) continue;
        if (!matches(search_, channel.name + " " + std::string(kind.title))) continue;
        ImGui::PushID(static_cast<int>(channel.id));
        ImGui::PushID(kind.name.data());
        if (ImGui::Selectable(channel.name.c_str())) add(session, kind, channel.name);
        tooltip(kind.help);
        ImGui::SameLine(theme.px(200));
        dim_text(theme, kind.title);
        ImGui::PopID();
        ImGui::PopID();
      }
    }
    ImGui::EndChild();
    ImGui::EndPopup();
  }

  static void add(Session& session, const DisplayKind& kind, const std::string& channel) {
    if (session.scene().items().size() >= kMaxDisplays) {
      session.notify("at most " + std::to_string(kMaxDisplays) + " displays", true);
      return;
    }
    auto made = session.scene().add(kind.name, channel);
    if (!made) {
      session.notify(made.error().message, true);
      return;
    }
    session.reselect();
    session.edited("add a display");
    ImGui::CloseCurrentPopup();
  }

  /// Returns true if the display is to be removed.
  bool draw_item(Session& session, SceneView::Item& item) {
    const Theme& theme = session.theme();
    Display& display = *item.display;
    bool remove = false;
    ImGui::PushID(static_cast<int>(item.id));
    const float side = ImGui::GetFrameHeight();
    if (icon_button(theme, "visible", display.visible() ? Icon::eye : Icon::eye_off,
                    display.visible() ? "Hide" : "Show", false, side)) {
      session.scene().set_visible(item, !display.visible());
      session.reselect();
      session.edited("show or hide a display");
    }
    ImGui::SameLine(0, theme.px(2));
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const std::string title = item.channel.empty() ? std::string(item.kind->title) : item.channel;
    ImGui::PushStyleColor(ImGuiCol_Text, display.visible() ? theme.text : theme.faint);
    constexpr int kFlags = ImGuiTreeNodeFlags_SpanAvailWidth | ImGuiTreeNodeFlags_FramePadding |
                           ImGuiTreeNodeFlags_NoTreePushOnOpen |
                           ImGuiTreeNodeFlags_AllowItemOverlap;
    const bool open = ImGui::TreeNodeEx("item", kFlags, "     %s", title.c_str());
    ImGui::PopStyleColor();
    tooltip(std::string(item.kind->title) + (item.channel.empty() ? "" : " of " + item.channel) +
            "\n" + display.status().text);
    if (ImGui::BeginPopupContextItem("menu")) {
      if (ImGui::MenuItem("Look at it")) {
        const Bounds bounds = display.bounds();
        if (!bounds.empty()) session.scene().camera().look_at(bounds);
      }
      if (ImGui::MenuItem("Remove")) remove = true;
      ImGui::EndPopup();
    }
    ImGui::GetWindowDrawList()->AddCircleFilled({start.x + side + theme.px(9), start.y + side / 2},
                                                theme.px(3.5F), color_of(theme, display), 12);
    if (!item.channel.empty()) {
      const float end = start.x + 2 * side + ImGui::CalcTextSize(title.c_str()).x;
      const float right = ImGui::GetWindowPos().x + ImGui::GetContentRegionMax().x;
      ImGui::PushFont(theme.fonts.small);
      const std::string kind(item.kind->title);
      if (end + ImGui::CalcTextSize(kind.c_str()).x < right) {
        ImGui::SameLine();
        right_text(kind, theme.faint);
      }
      ImGui::PopFont();
    }
    const Health health = display.status().health;
    if (display.visible() && (health == Health::error || (health == Health::warning && open))) {
      ImGui::Indent(side + theme.px(6));
      ImGui::PushTextWrapPos(0);
      colored_text(health == Health::error ? theme.bad : theme.warn, display.status().text);
      ImGui::PopTextWrapPos();
      ImGui::Unindent(side + theme.px(6));
    }
    if (open) {
      draw_properties(session, item);
      ImGui::Spacing();
    }
    ImGui::PopID();
    return remove;
  }

  static void draw_properties(Session& session, SceneView::Item& item) {
    const Theme& theme = session.theme();
    bool changed = false;
    bool settled = false;
    ImGui::Indent(ImGui::GetFrameHeight());
    for (Property& property : item.display->properties().all()) {
      changed = edit_property(theme, property, session.scene().frames(), settled) || changed;
    }
    const Display::Counters& counters = item.display->counters();
    std::string sums = count_text(counters.taken) + " messages";
    const auto add = [&sums](std::uint64_t count, const char* what) {
      if (count > 0) sums += ", " + count_text(count) + what;
    };
    add(counters.refused, " refused");
    add(counters.late, " without a transform");
    add(counters.dropped, " batches dropped");
    add(counters.skipped, " points skipped");
    ImGui::PushFont(theme.fonts.small);
    dim_text(theme, sums);
    ImGui::PopFont();
    ImGui::Unindent(ImGui::GetFrameHeight());
    if (changed) session.scene().settings_changed(item);
    if (settled) session.edited("change a property");
  }

  std::string filter_;
  std::string search_;
  std::string view_name_;
};

}  // namespace

PanelKind panels::displays() {
  return {.name = "displays",
          .title = "Displays",
          .help = "the displays of the 3-D view with their properties, and the camera",
          .settings = {},
          .types = {},
          .make = [] { return std::unique_ptr<Panel>(new Displays); }};
}

}  // namespace hyphos::view
