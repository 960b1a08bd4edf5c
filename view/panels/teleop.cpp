#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "hyphos/msgs/geometry.pb.h"
#include "hyphos/node.hpp"
#include "view/panels/list.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

constexpr std::int64_t kPeriod = 50'000'000;  // ns between commands while the stick is held

/// A stick that publishes velocities while it is held, and a stop when it is released.
class Teleop final : public Panel {
 public:
  ~Teleop() override { stop(); }

  void forget() override {
    stop();
    publisher_.reset();
    problem_.clear();
  }
  [[nodiscard]] std::string subject() const override { return channel_; }
  [[nodiscard]] std::int64_t next_change_ns(const Session&) const override {
    return held_ ? sent_ns_ + kPeriod : kNever;
  }

  void draw(Session& session) override {
    const Theme& theme = session.theme();
    if (session.node() == nullptr) {
      return empty_hint(theme, "A recording has no robot that could be driven.");
    }
    draw_settings(session);
    open(session);
    if (!problem_.empty()) return error_note(theme, problem_);
    draw_stick(session);
  }

  Result<void> load(const Settings& settings) override {
    read_word(settings, "channel", channel_);
    for (const auto& [key, target] : {std::pair{"speed", &speed_}, std::pair{"turn", &turn_}}) {
      const auto it = settings.find(key);
      if (it == settings.end()) continue;
      char* end = nullptr;
      const std::string text(it->second.word());
      *target = std::strtod(text.c_str(), &end);
      if (text.empty() || *end != '\0' || !(*target >= 0 && *target <= kMostSpeed)) {
        return Error{Code::invalid_config,
                     std::string(key) + ": expected a number from 0 to 100, found '" + text + "'",
                     it->second.where};
      }
    }
    return {};
  }
  [[nodiscard]] Settings save() const override {
    Settings made;
    if (channel_ != "cmd_vel") made.emplace("channel", channel_);
    if (speed_ != 0.5) made.emplace("speed", number_text(speed_));
    if (turn_ != 1) made.emplace("turn", number_text(turn_));
    return made;
  }

 private:
  static constexpr double kMostSpeed = 100;

  void draw_settings(Session& session) {
    const Theme& theme = session.theme();
    const float width = ImGui::GetContentRegionAvail().x;
    std::string channel = channel_;
    ImGui::SetNextItemWidth(width * 0.4F);
    if (input_text("##channel", channel, "channel", ImGuiInputTextFlags_EnterReturnsTrue) &&
        channel != channel_) {
      forget();
      channel_ = channel;
      session.edited("choose a channel");
    }
    tooltip("Channel of hyphos.msgs.Twist. Enter takes it.");
    const double least = 0;
    ImGui::SameLine();
    ImGui::SetNextItemWidth((width * 0.6F - theme.px(16)) / 2);
    ImGui::DragScalar("##speed", ImGuiDataType_Double, &speed_, 0.01F, &least, &kMostSpeed,
                      "%.2f m/s", ImGuiSliderFlags_AlwaysClamp);
    bool settled = ImGui::IsItemDeactivatedAfterEdit();
    tooltip("Full speed");
    ImGui::SameLine();
    ImGui::SetNextItemWidth(-1);
    ImGui::DragScalar("##turn", ImGuiDataType_Double, &turn_, 0.01F, &least, &kMostSpeed,
                      "%.2f rad/s", ImGuiSliderFlags_AlwaysClamp);
    settled = settled || ImGui::IsItemDeactivatedAfterEdit();
    tooltip("Full turn");
    if (settled) session.edited("change the full speed");
  }

  void open(Session& session) {
    if (publisher_ || !problem_.empty()) return;
    try {
      publisher_.emplace(session.node()->publisher<msgs::Twist>(channel_));
    } catch (const Exception& error) {
      problem_ = error.what();
    }
  }

  void draw_stick(Session& session) {
    const Theme& theme = session.theme();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float radius = std::min(room.x, room.y - theme.px(26)) / 2 - theme.px(8);
    if (radius < theme.px(20)) return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 center{at.x + room.x / 2, at.y + radius + theme.px(8)};
    ImGui::SetCursorScreenPos({center.x - radius, center.y - radius});
    ImGui::InvisibleButton("stick", {radius * 2, radius * 2});
    float x = 0;
    float y = 0;
    const bool by_mouse = ImGui::IsItemActive();
    if (by_mouse) {
      const ImVec2 mouse = ImGui::GetIO().MousePos;
      x = (mouse.x - center.x) / radius;
      y = (center.y - mouse.y) / radius;
      const float length = std::hypot(x, y);
      if (length > 1) {
        x /= length;
        y /= length;
      }
    }
    const bool by_keys = !by_mouse && read_keys(x, y);
    move(session, by_mouse || by_keys, static_cast<double>(y), static_cast<double>(-x));
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddCircleFilled(center, radius, theme.raised, 64);
    list.AddCircle(center, radius, theme.border, 64, theme.px(1.5F));
    list.AddLine({center.x - radius, center.y}, {center.x + radius, center.y}, theme.border);
    list.AddLine({center.x, center.y - radius}, {center.x, center.y + radius}, theme.border);
    const ImVec2 knob{center.x + x * radius, center.y - y * radius};
    list.AddLine(center, knob, fade(theme.accent, 0.6F), theme.px(3));
    list.AddCircleFilled(knob, radius * 0.22F, held_ ? theme.accent : theme.hover, 40);
    ImGui::SetCursorScreenPos({at.x, center.y + radius + theme.px(6)});
    const std::string text =
        number_text(std::round(static_cast<double>(y) * speed_ * 100) / 100) + " m/s   " +
        number_text(std::round(static_cast<double>(-x) * turn_ * 100) / 100) + " rad/s" +
        (publisher_->listeners() == 0 ? "   no subscriber" : "   drag, or W A S D");
    colored_text(publisher_->listeners() == 0 ? theme.warn : theme.dim, text);
  }

  static bool read_keys(float& x, float& y) {
    if (!ImGui::IsWindowFocused() || ImGui::GetIO().WantTextInput) return false;
    const auto down = [](int key, ImGuiKey arrow) {
      return ImGui::IsKeyDown(key) || ImGui::IsKeyDown(ImGui::GetKeyIndex(arrow));
    };
    if (down('W', ImGuiKey_UpArrow)) y += 1;
    if (down('S', ImGuiKey_DownArrow)) y -= 1;
    if (down('A', ImGuiKey_LeftArrow)) x -= 1;
    if (down('D', ImGuiKey_RightArrow)) x += 1;
    return x != 0 || y != 0;
  }

  void move(Session& session, bool held, double forward, double left) {
    if (!held) return stop();
    held_ = true;
    if (session.frame_ns() - sent_ns_ < kPeriod) return;
    sent_ns_ = session.frame_ns();
    publish(forward * speed_, left * turn_);
  }

  void stop() {
    if (!held_) return;
    held_ = false;
    publish(0, 0);
  }

  void publish(double forward, double turn) {
    if (!publisher_) return;
    msgs::Twist message;
    message.mutable_linear()->set_x(forward);
    message.mutable_angular()->set_z(turn);
    // The window must not wait for a subscriber that is behind.
    (void)publisher_->try_publish(std::move(message));
  }

  std::string channel_ = "cmd_vel";
  double speed_ = 0.5;
  double turn_ = 1;
  std::optional<Publisher<msgs::Twist>> publisher_;
  std::string problem_;
  bool held_ = false;
  std::int64_t sent_ns_ = 0;
};

}  // namespace

PanelKind panels::teleop() {
  return {.name = "teleop",
          .title = "Teleoperation",
          .help = "a stick that drives the robot",
          .settings = {"channel", "speed", "turn"},
          .types = {},
          .live_only = true,
          .make = [] { return std::unique_ptr<Panel>(new Teleop); }};
}

}  // namespace hyphos::view
