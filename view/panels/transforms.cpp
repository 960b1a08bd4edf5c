#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "view/core/frames.hpp"
#include "view/displays/scene_view.hpp"
#include "view/panels/list.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

std::string vector_text(const Vector3& v) {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%.3f  %.3f  %.3f", v.x, v.y, v.z);
  return text.data();
}

/// Roll, pitch and yaw in degrees.
std::string angles_text(const Quaternion& q) {
  constexpr double kDegree = 180 / M_PI;
  const double roll = std::atan2(2 * (q.w * q.x + q.y * q.z), 1 - 2 * (q.x * q.x + q.y * q.y));
  const double pitch = std::asin(std::clamp(2 * (q.w * q.y - q.z * q.x), -1., 1.));
  const double yaw = std::atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z));
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%.1f  %.1f  %.1f", roll * kDegree, pitch * kDegree,
                yaw * kDegree);
  return text.data();
}

/// The tree of frames, the age of each transform, and the transform between two frames.
class TransformsPanel final : public Panel {
 public:
  void draw(Session& session) override {
    const Theme& theme = session.theme();
    const Frames& frames = session.scene().frames();
    const std::vector<FrameInfo> all = frames.frames();
    if (all.empty()) {
      empty_hint(theme, "No transform has come. A robot publishes them on 'tf' and 'tf_static'.");
      return;
    }
    draw_between(session, frames, all);
    for (const std::string& problem : frames.problems()) {
      ImGui::PushTextWrapPos(0);
      colored_text(theme.warn, problem);
      ImGui::PopTextWrapPos();
    }
    search_field("##filter", "Filter frames", filter_);
    draw_tree(session, all);
  }

  Result<void> load(const Settings& settings) override {
    read_word(settings, "target", target_);
    read_word(settings, "source", source_);
    return {};
  }
  [[nodiscard]] Settings save() const override {
    Settings made;
    if (!target_.empty()) made.emplace("target", target_);
    if (!source_.empty()) made.emplace("source", source_);
    return made;
  }

 private:
  void draw_between(Session& session, const Frames& frames, const std::vector<FrameInfo>& all) {
    const Theme& theme = session.theme();
    const float width = (ImGui::GetContentRegionAvail().x - theme.px(40)) / 2;
    bool changed = frame_combo("##target", "target frame", target_, all, width);
    ImGui::SameLine();
    dim_text(theme, "from");
    ImGui::SameLine();
    changed = frame_combo("##source", "source frame", source_, all, width) || changed;
    if (changed) session.edited("choose two frames");
    if (target_.empty() || source_.empty()) return;
    const auto found = frames.get(target_, source_, Time{});
    if (!found) return error_note(theme, found.error().message);
    ImGui::PushFont(theme.fonts.mono);
    ImGui::TextUnformatted((vector_text(found->translation) + "  m").c_str());
    ImGui::TextUnformatted((angles_text(found->rotation) + "  deg, roll pitch yaw").c_str());
    ImGui::PopFont();
    ImGui::Spacing();
  }

  static bool frame_combo(const char* id, const char* hint, std::string& frame,
                          const std::vector<FrameInfo>& all, float width) {
    ImGui::SetNextItemWidth(width);
    bool changed = false;
    if (!ImGui::BeginCombo(id, frame.empty() ? hint : frame.c_str())) return false;
    for (const FrameInfo& one : all) {
      if (ImGui::Selectable(one.name.c_str(), one.name == frame)) {
        frame = one.name;
        changed = true;
      }
    }
    ImGui::EndCombo();
    return changed;
  }

  void draw_tree(Session& session, const std::vector<FrameInfo>& all) {
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                       ImGuiTableFlags_Resizable | ImGuiTableFlags_NoBordersInBody;
    if (!ImGui::BeginTable("frames", 3, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("Frame", ImGuiTableColumnFlags_WidthStretch, 2);
    ImGui::TableSetupColumn("In its parent, m", ImGuiTableColumnFlags_WidthStretch, 2);
    ImGui::TableSetupColumn("Newest", ImGuiTableColumnFlags_WidthStretch, 1);
    ImGui::TableHeadersRow();
    std::int64_t newest = 0;
    for (const FrameInfo& one : all) newest = std::max(newest, one.newest.ns);
    std::map<std::string, int> depth;
    for (const FrameInfo& one : all) {
      depth[one.name] = one.parent.empty() ? 0 : depth[one.parent] + 1;
      if (matches(filter_, one.name)) draw_frame(session, one, depth[one.name], newest);
    }
    ImGui::EndTable();
  }

  void draw_frame(Session& session, const FrameInfo& one, int depth, std::int64_t newest) {
    const Theme& theme = session.theme();
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const float indent = theme.px(14) * static_cast<float>(filter_.empty() ? depth : 0);
    if (indent > 0) ImGui::Indent(indent);
    if (ImGui::Selectable(one.name.c_str(), false, ImGuiSelectableFlags_SpanAllColumns)) {
      source_ = one.name;
      if (target_.empty()) target_ = session.scene().fixed_frame();
      session.edited("choose two frames");
    }
    if (indent > 0) ImGui::Unindent(indent);
    ImGui::TableNextColumn();
    if (!one.parent.empty()) {
      const auto found = session.scene().frames().get(one.parent, one.name, Time{});
      ImGui::PushFont(theme.fonts.mono);
      dim_text(theme, found ? vector_text(found->translation) : "-");
      ImGui::PopFont();
    }
    ImGui::TableNextColumn();
    if (one.parent.empty()) return right_text("root", theme.faint);
    if (one.is_static) return right_text("static", theme.faint);
    // Ages against the newest transform: stamps are those of the robot's clock.
    const std::int64_t behind = newest - one.newest.ns;
    const std::uint32_t color = behind > 1'000'000'000 ? theme.bad
                                : behind > 200'000'000 ? theme.warn
                                                       : theme.good;
    right_text(behind > 0 ? "-" + duration_text(behind) : "newest", color);
  }

  std::string target_;
  std::string source_;
  std::string filter_;
};

}  // namespace

PanelKind panels::transforms() {
  return {.name = "transforms",
          .title = "Transforms",
          .help = "the tree of frames with the age of each, and the transform between two",
          .settings = {"target", "source"},
          .types = {},
          .make = [] { return std::unique_ptr<Panel>(new TransformsPanel); }};
}

}  // namespace hyphos::view
