#include <imgui.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "view/core/graph_state.hpp"
#include "view/panels/list.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

/// The layers of a message in its order, as inspect() names them, and as people see them.
struct Layer {
  const char* name;
  const char* title;
  const char* help;
};
constexpr std::array<Layer, 8> kLayers = {{
    {"encode", "encode", "the publisher writes the value as bytes"},
    {"submit", "submit", "the publisher hands the bytes to the transport"},
    {"transport", "transport", "shared memory, or the network"},
    {"deliver", "deliver", "the receiving process takes the bytes"},
    {"queue", "queue", "the message waits for a thread"},
    {"decode", "decode", "the subscriber reads the value"},
    {"callback", "callback", "the user's code"},
    {"view", "to the pixel", "from the arrival at the viewer to the frame on the screen"},
}};

/// The time from publish() to the end of the callback by layer, as stacked bars.
class Latency final : public Panel {
 public:
  bool wants_graph() const override { return true; }

  void draw(Session& session) override {
    const Theme& theme = session.theme();
    draw_bar(session);
    const GraphSnapshot& now = session.graph().snapshot();
    std::vector<const ChannelRow*> rows;
    double longest = 0;
    for (const ChannelRow& row : now.channels) {
      if (row.latency.empty() || row.latency[0].count == 0) continue;
      if (!matches(filter_, row.name)) continue;
      rows.push_back(&row);
      longest = std::max(longest, sum(row) + pixel_ns(session, row.name));
    }
    if (rows.empty()) {
      const std::string& problem = session.graph().problem();
      const char* const none =
          session.timeline().live
              ? "No subscriber has received a message yet."
              : "A recording has no layers. The panel 'Message' has the time after publish().";
      empty_hint(theme, problem.empty() ? none : problem);
      return;
    }
    const auto total = [&](const ChannelRow* row) {
      return sum(*row) + pixel_ns(session, row->name);
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const ChannelRow* a, const ChannelRow* b) { return total(a) > total(b); });
    draw_legend(theme);
    ImGui::BeginChild("bars");
    for (const ChannelRow* row : rows) draw_row(session, *row, longest);
    ImGui::EndChild();
  }

  Result<void> load(const Settings& settings) override {
    read_word(settings, "filter", filter_);
    if (const auto it = settings.find("percentile"); it != settings.end()) {
      const std::string_view word = it->second.word();
      for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
        if (word == kPercentiles[i]) {
          percentile_ = i;
          return {};
        }
      }
      return Error{Code::invalid_config,
                   "percentile: expected p50, p95 or p99, found '" + std::string(word) + "'",
                   it->second.where};
    }
    return {};
  }
  [[nodiscard]] Settings save() const override {
    Settings made;
    if (!filter_.empty()) made.emplace("filter", filter_);
    if (percentile_ != 0) made.emplace("percentile", kPercentiles[percentile_]);
    return made;
  }

 private:
  static constexpr std::array<const char*, 3> kPercentiles = {"p50", "p95", "p99"};

  [[nodiscard]] double value(const LatencyRow& row) const {
    return static_cast<double>(percentile_ == 0   ? row.p50_ns
                               : percentile_ == 1 ? row.p95_ns
                                                  : row.p99_ns);
  }
  [[nodiscard]] double layer_ns(const ChannelRow& row, std::string_view name) const {
    for (const LatencyRow& one : row.latency) {
      if (one.layer == name && one.count > 0) return std::max(value(one), 0.);
    }
    return 0;
  }
  [[nodiscard]] double sum(const ChannelRow& row) const {
    double total = 0;
    for (const Layer& layer : kLayers) total += layer_ns(row, layer.name);
    return total;
  }
  static double pixel_ns(Session& session, const std::string& channel) {
    return static_cast<double>(session.pixel_latency_ns(channel));
  }

  void draw_bar(Session& session) {
    const Theme& theme = session.theme();
    ImGui::SetNextItemWidth(theme.px(70));
    if (ImGui::BeginCombo("##percentile", kPercentiles[percentile_])) {
      for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
        if (ImGui::Selectable(kPercentiles[i], i == percentile_)) {
          percentile_ = i;
          session.edited("choose the percentile");
        }
      }
      ImGui::EndCombo();
    }
    tooltip("Each layer by itself: the percentiles of layers do not add up to that of the sum.");
    ImGui::SameLine();
    search_field("##filter", "Filter channels", filter_);
  }

  static void draw_legend(const Theme& theme) {
    ImGui::PushFont(theme.fonts.small);
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    for (std::size_t i = 0; i < kLayers.size(); ++i) {
      const float width = ImGui::CalcTextSize(kLayers[i].title).x + theme.px(26);
      if (i > 0) {
        ImGui::SameLine(0, theme.px(10));
        if (ImGui::GetCursorScreenPos().x + width > right) ImGui::NewLine();
      }
      dot(theme, theme.line(i));
      dim_text(theme, kLayers[i].title);
      tooltip(kLayers[i].help);
    }
    ImGui::PopFont();
    ImGui::Spacing();
  }

  void draw_row(Session& session, const ChannelRow& row, double longest) {
    const Theme& theme = session.theme();
    const double pixel = pixel_ns(session, row.name);
    const std::string total = duration_text(static_cast<std::int64_t>(sum(row) + pixel));
    ImGui::TextUnformatted(row.name.c_str());
    ImGui::SameLine();
    right_text(total, theme.dim);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float height = theme.px(11);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + width, at.y + height}, fade(theme.raised, 0.6F), theme.px(3));
    double x = static_cast<double>(at.x);
    std::string help;
    for (std::size_t i = 0; i < kLayers.size(); ++i) {
      const bool view = i + 1 == kLayers.size();
      const double ns = view ? pixel : layer_ns(row, kLayers[i].name);
      if (ns <= 0) continue;
      const double next = x + ns / longest * static_cast<double>(width);
      list.AddRectFilled({static_cast<float>(x), at.y}, {static_cast<float>(next), at.y + height},
                         theme.line(i));
      x = next;
      help += (help.empty() ? "" : "\n") + duration_text(static_cast<std::int64_t>(ns)) + "   " +
              kLayers[i].title;
    }
    ImGui::Dummy({width, height});
    tooltip(help + "\n\nof the slowest subscription, " + std::string(kPercentiles[percentile_]));
    ImGui::Dummy({0, theme.px(2)});
  }

  std::string filter_;
  std::size_t percentile_ = 0;
};

}  // namespace

PanelKind panels::latency() {
  return {.name = "latency",
          .title = "Latency",
          .help = "from publish() to the pixel, by layer",
          .settings = {"filter", "percentile"},
          .types = {},
          .make = [] { return std::unique_ptr<Panel>(new Latency); }};
}

}  // namespace hyphos::view
