#include "view/panels/property_editor.hpp"

#include <imgui.h>

#include <array>
#include <cfloat>
#include <cmath>
#include <string>

#include "view/core/frames.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

std::string label_of(const Property& property) {
  std::string text = property.name;
  for (char& c : text) c = c == '_' ? ' ' : c;
  return text;
}

bool edit_number(const Property& property, double& value) {
  const bool bounded = property.min > -1e12 && property.max < 1e12;
  const double span = property.max - property.min;
  const std::string format = "%.4g" + (property.unit.empty() ? "" : " " + property.unit);
  if (bounded && span <= 1000 && span > 0) {
    return ImGui::SliderScalar("##value", ImGuiDataType_Double, &value, &property.min,
                               &property.max, format.c_str(), ImGuiSliderFlags_AlwaysClamp);
  }
  const float speed = static_cast<float>(std::max(std::abs(value) * 0.01, 0.01));
  return ImGui::DragScalar("##value", ImGuiDataType_Double, &value, speed, &property.min,
                           &property.max, format.c_str(), ImGuiSliderFlags_AlwaysClamp);
}

bool edit_integer(const Property& property, std::int64_t& value) {
  const auto low = static_cast<std::int64_t>(std::max(property.min, -9e15));
  const auto high = static_cast<std::int64_t>(std::min(property.max, 9e15));
  const std::string format = "%lld" + (property.unit.empty() ? "" : " " + property.unit);
  if (high - low <= 1000) {
    return ImGui::SliderScalar("##value", ImGuiDataType_S64, &value, &low, &high, format.c_str(),
                               ImGuiSliderFlags_AlwaysClamp);
  }
  return ImGui::DragScalar("##value", ImGuiDataType_S64, &value, 1, &low, &high, format.c_str(),
                           ImGuiSliderFlags_AlwaysClamp);
}

bool edit_color(Color& color) {
  std::array<float, 4> parts = {
      static_cast<float>(color.r) / 255, static_cast<float>(color.g) / 255,
      static_cast<float>(color.b) / 255, static_cast<float>(color.a) / 255};
  constexpr int kFlags = ImGuiColorEditFlags_NoInputs | ImGuiColorEditFlags_AlphaBar |
                         ImGuiColorEditFlags_AlphaPreviewHalf | ImGuiColorEditFlags_NoLabel;
  if (!ImGui::ColorEdit4("##value", parts.data(), kFlags)) return false;
  const auto byte = [](float part) { return static_cast<std::uint8_t>(std::lround(part * 255)); };
  color = {byte(parts[0]), byte(parts[1]), byte(parts[2]), byte(parts[3])};
  return true;
}

/// A combo of given words. With `free`, other words can be typed.
bool edit_choice(std::string& text, const std::vector<std::string>& words, bool free) {
  bool changed = false;
  if (!ImGui::BeginCombo("##value", text.empty() ? "automatic" : text.c_str())) return false;
  if (free) {
    ImGui::SetNextItemWidth(-1);
    changed = input_text("##free", text, "any text", ImGuiInputTextFlags_EnterReturnsTrue);
  }
  for (const std::string& word : words) {
    if (ImGui::Selectable(word.empty() ? "automatic" : word.c_str(), word == text)) {
      text = word;
      changed = true;
    }
  }
  ImGui::EndCombo();
  return changed;
}

bool edit_text(const Property& property, std::string& text, const Frames& frames) {
  if (!property.choices.empty()) return edit_choice(text, property.choices, false);
  if (property.is_frame) {
    std::vector<std::string> names = {""};
    for (const FrameInfo& frame : frames.frames()) names.push_back(frame.name);
    return edit_choice(text, names, false);
  }
  if (!property.hints.empty()) return edit_choice(text, property.hints, true);
  return input_text("##value", text, "", ImGuiInputTextFlags_EnterReturnsTrue);
}

}  // namespace

bool edit_property(const Theme& theme, Property& property, const Frames& frames, bool& settled) {
  ImGui::PushID(property.name.c_str());
  ImGui::AlignTextToFramePadding();
  const std::string label = label_of(property);
  colored_text(property.is_default() ? theme.dim : theme.text, label);
  if (!property.help.empty()) tooltip(property.help);
  if (ImGui::BeginPopupContextItem("menu")) {
    if (ImGui::MenuItem("Reset", nullptr, false, !property.is_default()) &&
        property.set(property.fallback())) {
      settled = true;
      ImGui::EndPopup();
      ImGui::PopID();
      return true;
    }
    ImGui::EndPopup();
  }
  ImGui::SameLine(std::max(ImGui::GetWindowWidth() * 0.42F, theme.px(90)));
  ImGui::SetNextItemWidth(-FLT_MIN);
  Property::Value value = property.value();
  bool changed = false;
  bool at_once = true;  // an edit that is one step by itself
  if (auto* flag = std::get_if<bool>(&value)) {
    changed = ImGui::Checkbox("##value", flag);
  } else if (auto* integer = std::get_if<std::int64_t>(&value)) {
    changed = edit_integer(property, *integer);
    at_once = false;
  } else if (auto* real = std::get_if<double>(&value)) {
    changed = edit_number(property, *real);
    at_once = false;
  } else if (auto* color = std::get_if<Color>(&value)) {
    changed = edit_color(*color);
    at_once = false;
  } else if (auto* text = std::get_if<std::string>(&value)) {
    changed = edit_text(property, *text, frames);
  }
  settled = settled || (at_once ? changed : ImGui::IsItemDeactivatedAfterEdit());
  if (changed) changed = static_cast<bool>(property.set(value));
  ImGui::PopID();
  return changed;
}

}  // namespace hyphos::view
