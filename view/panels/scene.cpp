#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "view/displays/scene_view.hpp"
#include "view/panels/list.hpp"
#include "view/panels/session.hpp"
#include "view/panels/tools.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

constexpr double kHitRadius = 0.006;  // rad

struct KeyOfCamera {
  int key;
  CameraKey means;
};

/// ImGui 1.86 knows keys by the index of the window system, which maps letters to ASCII.
const std::array<KeyOfCamera, 15>& camera_keys() {
  static const std::array<KeyOfCamera, 15> keys = {{{'W', CameraKey::w},
                                                    {'A', CameraKey::a},
                                                    {'S', CameraKey::s},
                                                    {'D', CameraKey::d},
                                                    {'Q', CameraKey::q},
                                                    {'E', CameraKey::e},
                                                    {'=', CameraKey::zoom_in},
                                                    {'-', CameraKey::zoom_out},
                                                    {-ImGuiKey_LeftArrow, CameraKey::left},
                                                    {-ImGuiKey_RightArrow, CameraKey::right},
                                                    {-ImGuiKey_UpArrow, CameraKey::up},
                                                    {-ImGuiKey_DownArrow, CameraKey::down},
                                                    {-ImGuiKey_PageUp, CameraKey::zoom_in},
                                                    {-ImGuiKey_PageDown, CameraKey::zoom_out},
                                                    {-ImGuiKey_Home, CameraKey::home}}};
  return keys;
}

int key_index(int key) { return key < 0 ? ImGui::GetKeyIndex(-key) : key; }

/// The 3-D view with its tools.
class ScenePanel final : public Panel {
 public:
  void draw(Session& session) override {
    const Panel*& owner = session.scene_owner();
    if (owner != nullptr && owner != this) {
      empty_hint(session.theme(), "The 3-D view is in another panel. A window has one of them.");
      return;
    }
    owner = this;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (room.x < 8 || room.y < 8) return;
    SceneView& scene = session.scene();
    const auto panes = static_cast<int>(scene.panes());
    pane_width_ = std::max(static_cast<int>(room.x) / panes, 1);
    scene.camera().set_size(pane_width_, static_cast<int>(room.y));
    const auto shown = static_cast<float>(pane_width_ * panes);
    ImGui::SetNextItemWidth(room.x);
    ImGui::InvisibleButton("scene", room,
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                               ImGuiButtonFlags_MouseButtonMiddle);
    ImGui::SetItemAllowOverlap();
    const ImVec2 bar = toolbar_size(session.theme());
    const float edge = session.theme().px(8);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const bool on_bar = mouse.x < at.x + edge + bar.x && mouse.y < at.y + edge + bar.y;
    hovered_ = ImGui::IsItemHovered() && !on_bar;
    const bool active = ImGui::IsItemActive();
    drop_channel([&](const std::string& channel, const std::string&) {
      if (!session.show(channel)) {
        session.notify("no display shows the type of '" + channel + "'", true);
      }
    });
    interact(session, at, active);
    render(session);
    ImGui::GetWindowDrawList()->AddImageRounded(
        reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(session.renderer().texture())),
        at, {at.x + shown, at.y + room.y}, {0, 1}, {1, 0}, IM_COL32_WHITE,
        ImGui::GetStyle().ChildRounding, ImDrawFlags_RoundCornersBottom);
    draw_parts(session, at, room);
    draw_gizmo(session, {at.x + session.theme().px(38), at.y + room.y - session.theme().px(38)});
    draw_notices(session, at, room);
    draw_picked(session);
    draw_toolbar(session, at);
  }

  void forget() override { tools_.forget(); }

  Result<void> load(const Settings& settings) override {
    for (const auto& [key, target] : {std::pair{"goal_channel", &tools_.goal_channel},
                                      std::pair{"initial_channel", &tools_.initial_channel},
                                      std::pair{"point_channel", &tools_.point_channel}}) {
      if (const auto it = settings.find(key); it != settings.end()) *target = it->second.word();
    }
    return {};
  }
  [[nodiscard]] Settings save() const override {
    const Tools usual;
    Settings made;
    if (tools_.goal_channel != usual.goal_channel) {
      made.emplace("goal_channel", tools_.goal_channel);
    }
    if (tools_.initial_channel != usual.initial_channel) {
      made.emplace("initial_channel", tools_.initial_channel);
    }
    if (tools_.point_channel != usual.point_channel) {
      made.emplace("point_channel", tools_.point_channel);
    }
    return made;
  }

 private:
  void interact(Session& session, ImVec2 origin, bool active) {
    const ImGuiIO& io = ImGui::GetIO();
    Camera& camera = session.scene().camera();
    const double over_all = static_cast<double>(io.MousePos.x - origin.x);
    const double y = static_cast<double>(io.MousePos.y - origin.y);
    // A drag stays in the pane in which it began.
    if (!active) {
      pane_ = std::clamp(static_cast<int>(over_all) / pane_width_, 0,
                         static_cast<int>(session.scene().panes()) - 1);
    }
    const double x = over_all - static_cast<double>(pane_) * pane_width_;
    const auto hit = [&] { return session.renderer().point_at(over_all, y); };
    constexpr std::array<MouseButton, 3> kButtons = {MouseButton::left, MouseButton::right,
                                                     MouseButton::middle};
    for (int i = 0; i < 3; ++i) {
      const MouseButton button = kButtons[static_cast<std::size_t>(i)];
      const bool tool = i == 0 && tools_.takes_mouse();
      if (hovered_ && ImGui::IsMouseClicked(i)) {
        picked_.reset();
        if (tool) {
          press_tool(session, x, y, hit());
        } else {
          camera.press(button, x, y, hit(), {io.KeyShift, io.KeyCtrl, io.KeyAlt});
          down_[static_cast<std::size_t>(i)] = true;
        }
      }
      if (ImGui::IsMouseReleased(i)) {
        if (tool) tools_.release(session);
        if (down_[static_cast<std::size_t>(i)]) camera.release(button);
        down_[static_cast<std::size_t>(i)] = false;
      }
    }
    const bool moved = io.MouseDelta.x != 0 || io.MouseDelta.y != 0;
    if (active && moved) {
      if (camera.dragging()) {
        camera.drag(x, y);
      } else if (tools_.takes_mouse()) {
        tools_.drag(camera.ray(x, y));
      }
    }
    if (hovered_ && moved && !active && tools_.tool() == Tool::measure) tools_.hover(hit());
    if (hovered_ && io.MouseWheel != 0) {
      camera.wheel(static_cast<double>(io.MouseWheel), x, y, hit());
    }
    if (hovered_ && ImGui::IsMouseDoubleClicked(0) && !tools_.takes_mouse()) {
      if (const auto point = hit()) {
        CameraState state = camera.state();
        if (state.follow.empty()) {
          state.target = *point;
          camera.set_state(state);
        }
      }
    }
    if (hovered_ && !io.WantTextInput && !io.KeyCtrl) press_keys(session, camera);
  }

  void press_keys(Session& session, Camera& camera) {
    for (const KeyOfCamera& one : camera_keys()) {
      const int index = key_index(one.key);
      if (index < 0 || !ImGui::IsKeyDown(index)) continue;
      const bool first = ImGui::IsKeyPressed(index, false);
      camera.key(one.means, first ? 0.05 : static_cast<double>(ImGui::GetIO().DeltaTime));
      session.keep_drawing();
    }
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape), false)) {
      picked_.reset();
      tools_.escape();
    }
    if (ImGui::IsKeyPressed('F', false)) session.scene().look_at_all();
  }

  void press_tool(Session& session, double x, double y, const std::optional<Vec3>& hit) {
    if (tools_.tool() == Tool::select) {
      picked_ = session.scene().pick(x + static_cast<double>(pane_) * pane_width_, y);
      picked_pane_ = pane_;
      if (!picked_) session.notify("nothing is there");
      return;
    }
    tools_.press(session, hit, session.scene().camera().ray(x, y));
  }

  void render(Session& session) {
    SceneView& scene = session.scene();
    Renderer& renderer = session.renderer();
    if (drawn_tools_ != tools_.revision()) {
      drawn_tools_ = tools_.revision();
      scene.invalidate();
    }
    if (!scene.changed() && !renderer.changed() && !renderer.refining()) return;
    scene.draw(renderer, [&](Painter& painter) {
      tools_.paint(painter);
      if (const auto anchor = scene.camera().anchor()) {
        const Vertex vertex{static_cast<float>(anchor->x()), static_cast<float>(anchor->y()),
                            static_cast<float>(anchor->z()), Color{224, 147, 74, 255}};
        painter.points(Pose::Identity(), {&vertex, 1}, 7);
      }
    });
    if (renderer.refining()) session.keep_drawing();
  }

  /// The directions of the fixed frame.
  static void draw_gizmo(Session& session, ImVec2 center) {
    const Theme& theme = session.theme();
    const Mat4 view = session.scene().camera().view();
    const float length = theme.px(22);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const std::array<ImU32, 3> colors = {IM_COL32(224, 90, 86, 255), IM_COL32(98, 184, 110, 255),
                                         IM_COL32(91, 140, 240, 255)};
    list.AddCircleFilled(center, length * 1.45F, fade(theme.surface, 0.6F), 32);
    std::array<int, 3> order = {0, 1, 2};
    std::sort(order.begin(), order.end(), [&](int a, int b) { return view(2, a) < view(2, b); });
    for (const int axis : order) {
      const ImVec2 end{center.x + static_cast<float>(view(0, axis)) * length,
                       center.y - static_cast<float>(view(1, axis)) * length};
      const ImU32 color =
          fade(colors[static_cast<std::size_t>(axis)], view(2, axis) < -0.2 ? 0.55F : 1.F);
      list.AddLine(center, end, color, theme.px(2));
      const char text[2] = {static_cast<char>('x' + axis), '\0'};
      ImFont* font = theme.fonts.small;
      list.AddText(font, font->FontSize,
                   {end.x + (end.x - center.x) * 0.28F - theme.px(3),
                    end.y + (end.y - center.y) * 0.28F - font->FontSize / 2},
                   color, text);
    }
  }

  /// The frame, the dropped data and the measured distance, at the lower edge.
  void draw_notices(Session& session, ImVec2 at, ImVec2 room) const {
    const Theme& theme = session.theme();
    const SceneView& scene = session.scene();
    std::string text = scene.fixed_frame().empty() ? "no frame yet" : scene.fixed_frame();
    if (const auto length = tools_.measured()) text = number_text(*length) + " m   " + text;
    ImFont* font = theme.fonts.small;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const auto write = [&](const std::string& line, std::uint32_t color, float row) {
      const ImVec2 box = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, line.c_str());
      const ImVec2 low{at.x + room.x - box.x - theme.px(14),
                       at.y + room.y - theme.px(8) - box.y * row};
      list.AddRectFilled({low.x - theme.px(6), low.y - theme.px(2)},
                         {low.x + box.x + theme.px(6), low.y + box.y + theme.px(2)},
                         fade(theme.surface, 0.75F), theme.px(4));
      list.AddText(font, font->FontSize, low, color, line.c_str());
    };
    write(text, theme.dim, 1);
    if (!scene.budget_notice().empty()) write(scene.budget_notice(), theme.warn, 2.3F);
  }

  /// The names of several sources, in the colours of their ghosts, or at the top of their panes.
  void draw_parts(Session& session, ImVec2 at, ImVec2 room) const {
    const std::vector<Part> parts = session.source().parts();
    if (parts.size() < 2) return;
    const Theme& theme = session.theme();
    ImFont* font = theme.fonts.small;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const bool columns = session.scene().panes() > 1;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string text = (i == 0 ? "" : parts[i].label + ": ") + parts[i].title;
      const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x;
      const float row = columns ? 0 : static_cast<float>(i) * (font->FontSize + theme.px(6));
      const float right =
          columns ? static_cast<float>((static_cast<int>(i) + 1) * pane_width_) : room.x;
      const ImVec2 low{at.x + right - width - theme.px(14), at.y + theme.px(10) + row};
      const Color c = part_color(i);
      list.AddRectFilled({low.x - theme.px(16), low.y - theme.px(2)},
                         {low.x + width + theme.px(6), low.y + font->FontSize + theme.px(2)},
                         fade(theme.surface, 0.75F), theme.px(4));
      list.AddCircleFilled({low.x - theme.px(8), low.y + font->FontSize / 2}, theme.px(4),
                           IM_COL32(c.r, c.g, c.b, 255), 12);
      list.AddText(font, font->FontSize, low, theme.text, text.c_str());
      if (columns && i > 0) {
        const float x = at.x + static_cast<float>(static_cast<int>(i) * pane_width_);
        list.AddLine({x, at.y}, {x, at.y + room.y}, theme.border, theme.px(2));
      }
    }
  }

  void draw_picked(Session& session) {
    if (!picked_) return;
    const Theme& theme = session.theme();
    const auto pixel = session.scene().camera().project(picked_->picked.point);
    if (!pixel) return;
    const ImVec2 at = ImGui::GetItemRectMin();
    const auto left = static_cast<float>(picked_pane_ * pane_width_);
    const ImVec2 place{at.x + left + static_cast<float>(pixel->x()) + theme.px(14),
                       at.y + static_cast<float>(pixel->y()) - theme.px(10)};
    ImGui::SetNextWindowPos(place);
    ImGui::SetNextWindowBgAlpha(0.94F);
    constexpr int kFlags = ImGuiWindowFlags_Tooltip | ImGuiWindowFlags_NoDecoration |
                           ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoSavedSettings |
                           ImGuiWindowFlags_NoInputs;
    ImGui::Begin("##picked", nullptr, kFlags);
    if (const SceneView::Item* item = session.scene().find(picked_->item)) {
      ImGui::PushFont(theme.fonts.bold);
      ImGui::TextUnformatted(item->channel.empty() ? item->kind->title.data()
                                                   : item->channel.c_str());
      ImGui::PopFont();
    }
    const Vec3& p = picked_->picked.point;
    dim_text(theme,
             number_text(p.x()) + ", " + number_text(p.y()) + ", " + number_text(p.z()) + " m");
    for (const std::string& line : picked_->picked.lines) ImGui::TextUnformatted(line.c_str());
    ImGui::End();
  }

  static ImVec2 toolbar_size(const Theme& theme) {
    const float side = theme.px(28);
    const auto count = static_cast<float>(tool_infos().size());
    return {side * count + theme.px(2) * (count - 1) + theme.px(6), side + theme.px(6)};
  }

  void draw_toolbar(Session& session, ImVec2 at) {
    const Theme& theme = session.theme();
    static constexpr std::array<Icon, 6> kIcons = {Icon::cursor, Icon::eye,   Icon::ruler,
                                                   Icon::target, Icon::arrow, Icon::pin};
    ImGui::SetCursorScreenPos({at.x + theme.px(8), at.y + theme.px(8)});
    const float side = theme.px(28);
    const ImVec2 size = toolbar_size(theme);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled(corner, {corner.x + size.x, corner.y + size.y},
                                              fade(theme.raised, 0.88F), theme.px(6));
    ImGui::SetCursorScreenPos({corner.x + theme.px(3), corner.y + theme.px(3)});
    for (std::size_t i = 0; i < tool_infos().size(); ++i) {
      const ToolInfo& info = tool_infos()[i];
      ImGui::PushID(static_cast<int>(i));
      const std::string help = std::string(info.title) + ": " + std::string(info.help);
      if (icon_button(theme, "tool", kIcons[i], help, tools_.tool() == info.tool, side)) {
        tools_.choose(session, info.tool);
      }
      ImGui::PopID();
      ImGui::SameLine(0, theme.px(2));
    }
    ImGui::NewLine();
  }

  Tools tools_;
  std::uint64_t drawn_tools_ = 0;
  std::array<bool, 3> down_{};
  int pane_width_ = 1;  // px
  int pane_ = 0;        // of the pointer
  int picked_pane_ = 0;
  bool hovered_ = false;
  std::optional<SceneView::Hit> picked_;
};

}  // namespace

PanelKind panels::scene() {
  return {.name = "scene",
          .title = "3-D view",
          .help = "the displays, drawn in space",
          .settings = {"goal_channel", "initial_channel", "point_channel"},
          .types = {},
          .make = [] { return std::unique_ptr<Panel>(new ScenePanel); }};
}

}  // namespace hyphos::view
