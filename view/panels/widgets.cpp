#include "view/panels/widgets.hpp"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "view/panels/panel.hpp"
#include "view/panels/session.hpp"

namespace hyphos::view {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

template <typename... Args>
std::string print(const char* format, Args... args) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, args...);
  return text.data();
}

/// Three significant digits with a unit.
std::string scaled(double value, const char* unit) {
  const double size = std::abs(value);
  return size >= 100  ? print("%.0f %s", value, unit)
         : size >= 10 ? print("%.1f %s", value, unit)
                      : print("%.2f %s", value, unit);
}

}  // namespace

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string bytes_text(double bytes) {
  if (!(bytes >= 1000)) return print("%.0f B", bytes);
  if (bytes < 1e6) return scaled(bytes / 1e3, "kB");
  return bytes < 1e9 ? scaled(bytes / 1e6, "MB") : scaled(bytes / 1e9, "GB");
}

std::string rate_text(double hz) {
  if (hz <= 0) return "0";
  return hz >= 100 ? print("%.0f", hz) : hz >= 1 ? print("%.1f", hz) : print("%.2f", hz);
}

std::string duration_text(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  const double size = std::abs(value);
  if (size < 1e3) return print("%.0f ns", value);
  if (size < 1e6) return scaled(value / 1e3, "µs");
  return size < 1e9 ? scaled(value / 1e6, "ms") : scaled(value / 1e9, "s");
}

std::string age_text(std::int64_t ns) {
  if (ns < 0) return {};
  const std::int64_t seconds = ns / kSecond;
  if (seconds < 1) return "now";
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 3600) return std::to_string(seconds / 60) + " min";
  return std::to_string(seconds / 3600) + " h";
}

std::int64_t next_age_ns(std::int64_t ns) {
  const std::int64_t seconds = std::max<std::int64_t>(ns, 0) / kSecond;
  const std::int64_t step = seconds < 60 ? 1 : seconds < 3600 ? 60 : 3600;
  return (seconds / step + 1) * step * kSecond;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (value == 0) value = 0;  // without the sign of a negative zero
  return print("%.6g", value);
}

std::string clock_text(std::int64_t unix_ns) {
  std::int64_t seconds = unix_ns / kSecond;
  std::int64_t rest = unix_ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  const std::time_t time = seconds;
  std::tm local{};
  if (::localtime_r(&time, &local) == nullptr) return "-";
  return print("%02d:%02d:%02d.%03d", local.tm_hour, local.tm_min, local.tm_sec,
               static_cast<int>(rest / 1'000'000));
}

std::string short_type(std::string_view type) {
  const std::size_t at = type.rfind('.');
  return std::string(at == std::string_view::npos ? type : type.substr(at + 1));
}

bool matches(std::string_view filter, std::string_view text) {
  const auto lower = [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  };
  const auto same = [&](char a, char b) { return lower(a) == lower(b); };
  while (!filter.empty()) {
    const std::size_t end = std::min(filter.find(' '), filter.size());
    const std::string_view word = filter.substr(0, end);
    if (std::search(text.begin(), text.end(), word.begin(), word.end(), same) == text.end() &&
        !word.empty()) {
      return false;
    }
    filter.remove_prefix(std::min(end + 1, filter.size()));
  }
  return true;
}

void dim_text(const Theme& theme, std::string_view text) { colored_text(theme.dim, text); }

void colored_text(std::uint32_t color, std::string_view text) {
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopStyleColor();
}

void right_text(std::string_view text, std::uint32_t color) {
  const float width = ImGui::CalcTextSize(text.data(), text.data() + text.size()).x;
  const float room = ImGui::GetContentRegionAvail().x;
  if (room > width) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - width);
  colored_text(color, text);
}

void empty_hint(const Theme& theme, std::string_view text) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float wrap = std::max(std::min(room.x - theme.px(24), theme.px(380)), theme.px(60));
  const ImVec2 size = ImGui::CalcTextSize(text.data(), text.data() + text.size(), false, wrap);
  const ImVec2 at = ImGui::GetCursorPos();
  const float left = at.x + std::max((room.x - size.x) / 2, 0.F);
  ImGui::SetCursorPos({left, at.y + std::max((room.y - size.y) / 2.4F, 0.F)});
  ImGui::PushTextWrapPos(left + wrap);
  ImGui::PushStyleColor(ImGuiCol_Text, theme.dim);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
}

void error_note(const Theme& theme, std::string_view text) {
  ImGui::PushTextWrapPos(0);
  colored_text(theme.bad, text);
  ImGui::PopTextWrapPos();
}

bool search_field(const char* id, const char* hint, std::string& text, float width) {
  ImGui::SetNextItemWidth(width > 0 ? width : -1.F);
  const bool changed = ImGui::InputTextWithHint(id, hint, &text);
  if (ImGui::IsItemActive() && ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape))) {
    text.clear();
    return true;
  }
  return changed;
}

bool input_text(const char* id, std::string& text, const char* hint, int flags) {
  return ImGui::InputTextWithHint(id, hint, &text, flags);
}

void tooltip(std::string_view text) {
  if (text.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(9, 6));
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * 26);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

bool quiet_button(const Theme& theme, const char* label, bool on) {
  ImGui::PushStyleColor(ImGuiCol_Button, on ? fade(theme.accent, 0.25F) : 0U);
  ImGui::PushStyleColor(ImGuiCol_Text, on ? theme.text : theme.dim);
  const bool pressed = ImGui::Button(label);
  ImGui::PopStyleColor(2);
  return pressed;
}

void dot(const Theme& theme, std::uint32_t color) {
  const float size = theme.px(7);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddCircleFilled(
      {at.x + size / 2, at.y + ImGui::GetTextLineHeight() / 2 + theme.px(0.5F)}, size / 2, color,
      12);
  ImGui::Dummy({size, ImGui::GetTextLineHeight()});
  ImGui::SameLine(0, theme.px(6));
}

bool channel_combo(Session& session, const char* id, std::string& channel,
                   const std::vector<std::string_view>& types, float width) {
  ImGui::SetNextItemWidth(width > 0 ? width : -1.F);
  bool changed = false;
  if (!ImGui::BeginCombo(id, channel.empty() ? "choose a channel" : channel.c_str())) return false;
  bool any = false;
  for (const Channel& one : session.source().channels()) {
    if (!types.empty() && std::find(types.begin(), types.end(), one.type) == types.end()) continue;
    any = true;
    if (ImGui::Selectable(one.name.c_str(), one.name == channel)) {
      channel = one.name;
      changed = true;
    }
    ImGui::SameLine();
    dim_text(session.theme(), short_type(one.type));
  }
  if (!any) dim_text(session.theme(), "no channel of a fitting type");
  ImGui::EndCombo();
  return changed;
}

void drag_channel(const std::string& channel, const std::string& field) {
  if (!ImGui::BeginDragDropSource(ImGuiDragDropFlags_SourceAllowNullID)) return;
  std::string payload = channel;
  payload.push_back('\0');
  payload.append(field).push_back('\0');
  ImGui::SetDragDropPayload(kFieldPayload, payload.data(), payload.size());
  ImGui::TextUnformatted(field.empty() ? channel.c_str() : (channel + "." + field).c_str());
  ImGui::EndDragDropSource();
}

void drop_channel(const std::function<void(const std::string&, const std::string&)>& drop) {
  if (!ImGui::BeginDragDropTarget()) return;
  if (const ImGuiPayload* payload = ImGui::AcceptDragDropPayload(kFieldPayload)) {
    const std::string text(static_cast<const char*>(payload->Data),
                           static_cast<std::size_t>(payload->DataSize));
    const std::size_t end = text.find('\0');
    const std::string channel = text.substr(0, end);
    std::string field = end == std::string::npos ? "" : text.substr(end + 1);
    field.resize(std::min(field.size(), field.find('\0')));
    drop(channel, field);
  }
  ImGui::EndDragDropTarget();
}

}  // namespace hyphos::view
