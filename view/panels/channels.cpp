#include <imgui.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hyphos/time.hpp"
#include "view/core/graph_state.hpp"
#include "view/panels/list.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

enum Column : ImGuiID { name, rate, bytes, dropped, latency, age };

/// The channels with their rates, drops by place and the age of the newest message.
class Channels final : public Panel {
 public:
  bool wants_graph() const override { return true; }

  void draw(Session& session) override {
    const Theme& theme = session.theme();
    search_field("##filter", "Filter channels", filter_);
    const GraphSnapshot& now = session.graph().snapshot();
    if (now.channels.empty()) {
      const std::string& problem = session.graph().problem();
      empty_hint(theme, problem.empty() ? "No channel yet." : problem);
      return;
    }
    constexpr ImGuiTableFlags kFlags =
        ImGuiTableFlags_Sortable | ImGuiTableFlags_Resizable | ImGuiTableFlags_Hideable |
        ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInnerH |
        ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoBordersInBody;
    if (!ImGui::BeginTable("channels", 6, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    const auto column = [](const char* title, float weight, ImGuiID id, int flags = 0) {
      ImGui::TableSetupColumn(title, ImGuiTableColumnFlags_WidthStretch | flags, weight, id);
    };
    column("Channel", 2.6F, name, ImGuiTableColumnFlags_DefaultSort);
    column("Hz", 1.0F, rate, ImGuiTableColumnFlags_PreferSortDescending);
    column("Bytes/s", 1.55F, bytes, ImGuiTableColumnFlags_PreferSortDescending);
    column("Drops", 1.4F, dropped, ImGuiTableColumnFlags_PreferSortDescending);
    // A recording has neither.
    const int live = session.timeline().live ? 0 : ImGuiTableColumnFlags_Disabled;
    column("p99", 1.5F, latency, ImGuiTableColumnFlags_PreferSortDescending | live);
    column("Age", 1.0F, age, ImGuiTableColumnFlags_PreferSortDescending | live);
    ImGui::TableHeadersRow();
    sort(now);
    for (const ChannelRow* row : rows_) draw_row(session, *row);
    ImGui::EndTable();
  }

  [[nodiscard]] std::int64_t next_change_ns(const Session&) const override { return next_age_; }

  Result<void> load(const Settings& settings) override {
    read_word(settings, "filter", filter_);
    return {};
  }
  [[nodiscard]] Settings save() const override {
    Settings made;
    if (!filter_.empty()) made.emplace("filter", filter_);
    return made;
  }

 private:
  void sort(const GraphSnapshot& now) {
    rows_.clear();
    next_age_ = kNever;
    for (const ChannelRow& row : now.channels) {
      if (matches(filter_, row.name + " " + row.type)) rows_.push_back(&row);
    }
    const ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
    if (specs == nullptr || specs->SpecsCount == 0) return;
    const ImGuiID by = specs->Specs[0].ColumnUserID;
    const bool down = specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
    const auto value = [by](const ChannelRow& row) {
      switch (by) {
        case rate:
          return row.rate_hz;
        case bytes:
          return row.bytes_per_s;
        case dropped:
          return static_cast<double>(row.dropped);
        case latency:
          return row.latency.empty() ? -1. : static_cast<double>(row.latency[0].p99_ns);
        case age:
          return static_cast<double>(row.age_ns);
        default:
          return 0.;
      }
    };
    std::stable_sort(rows_.begin(), rows_.end(), [&](const ChannelRow* a, const ChannelRow* b) {
      if (by == name) return down ? a->name > b->name : a->name < b->name;
      return down ? value(*a) > value(*b) : value(*a) < value(*b);
    });
  }

  void draw_row(Session& session, const ChannelRow& row) {
    const Theme& theme = session.theme();
    ImGui::PushID(row.name.c_str());
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::Selectable(row.name.c_str(), false, ImGuiSelectableFlags_SpanAllColumns);
    drag_channel(row.name, "");
    if (ImGui::IsItemHovered() && !ImGui::IsMouseDragging(0)) details(theme, row);
    if (ImGui::BeginPopupContextItem("menu")) {
      menu(session, row.name);
      ImGui::EndPopup();
    }
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) {
      session.open_panel("raw", {{"channel", Setting(row.name)}});
    }
    ImGui::TableNextColumn();
    right_text(rate_text(row.rate_hz), row.rate_hz > 0 ? theme.text : theme.faint);
    ImGui::TableNextColumn();
    // Pointers are not encoded, so they have no size.
    const bool pointers = row.rate_hz > 0 && row.bytes_per_s <= 0;
    right_text(row.bytes_per_s > 0 ? bytes_text(row.bytes_per_s)
               : pointers          ? "-"
                                   : "0",
               row.bytes_per_s > 0 ? theme.text : theme.faint);
    ImGui::TableNextColumn();
    draw_drops(theme, row);
    ImGui::TableNextColumn();
    if (!row.latency.empty() && row.latency[0].count > 0) {
      right_text(duration_text(row.latency[0].p99_ns), theme.dim);
    }
    ImGui::TableNextColumn();
    draw_age(session, row);
    ImGui::PopID();
  }

  static void draw_drops(const Theme& theme, const ChannelRow& row) {
    double per_s = 0;
    for (const DropCount& drop : row.drops) per_s += drop.per_s;
    if (row.dropped == 0) return right_text("0", theme.faint);
    right_text(count_text(row.dropped), per_s > 0 ? theme.bad : theme.warn);
  }

  void draw_age(Session& session, const ChannelRow& row) {
    const Theme& theme = session.theme();
    if (row.age_ns < 0) return right_text("-", theme.faint);
    // The snapshot holds the age at its own time.
    const std::int64_t passed =
        session.timeline().live ? wall_now().ns - session.graph().snapshot().time_ns : 0;
    const std::int64_t old = row.age_ns + std::max<std::int64_t>(passed, 0);
    if (session.timeline().live) {
      next_age_ = std::min(next_age_, session.frame_ns() + next_age_ns(old) - old);
    }
    const double silent = row.rate_hz > 0 ? 5 / row.rate_hz : 5;  // s
    right_text(age_text(old), static_cast<double>(old) * 1e-9 > silent ? theme.dim : theme.text);
  }

  static void details(const Theme& theme, const ChannelRow& row) {
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(9, 6));
    ImGui::BeginTooltip();
    ImGui::PushFont(theme.fonts.bold);
    ImGui::TextUnformatted(row.name.c_str());
    ImGui::PopFont();
    dim_text(theme, row.type.empty() ? "unknown type" : row.type);
    ImGui::Spacing();
    const auto counted = [](std::uint32_t count, const char* what) {
      return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
    };
    const std::string ends =
        counted(row.publishers, "publisher") + ", " + counted(row.subscribers, "subscriber");
    ImGui::TextUnformatted(ends.c_str());
    const std::string sums = (row.sent > 0 ? count_text(row.sent) + " sent, " : "") +
                             count_text(row.received) + " received, " + count_text(row.dropped) +
                             " dropped";
    ImGui::TextUnformatted(sums.c_str());
    for (const DropCount& drop : row.drops) {
      const std::string line = count_text(drop.count) + "  drop." + drop.place + "." + drop.why +
                               (drop.at.empty() ? "" : "  at " + drop.at);
      colored_text(drop.per_s > 0 ? theme.bad : theme.warn, line);
    }
    if (row.deadline_missed > 0) {
      colored_text(theme.warn, count_text(row.deadline_missed) + " deadlines missed");
    }
    if (row.callback_errors > 0) {
      colored_text(theme.bad, count_text(row.callback_errors) + " callbacks failed");
    }
    ImGui::EndTooltip();
    ImGui::PopStyleVar();
  }

  static void menu(Session& session, const std::string& channel) {
    if (ImGui::MenuItem("Show in 3-D") && !session.show(channel)) {
      session.notify("no display shows the type of '" + channel + "'", true);
    }
    for (const PanelKind& kind : panel_kinds()) {
      const auto& names = kind.settings;
      if (std::find(names.begin(), names.end(), "channel") == names.end()) continue;
      const Channel* found = session.channel(channel);
      const bool fits =
          kind.types.empty() || (found != nullptr && std::find(kind.types.begin(), kind.types.end(),
                                                               found->type) != kind.types.end());
      if (!fits) continue;
      if (ImGui::MenuItem(("Open in " + std::string(kind.title)).c_str())) {
        session.open_panel(kind.name, {{"channel", Setting(channel)}});
      }
    }
    ImGui::Separator();
    if (ImGui::MenuItem("Copy the name")) ImGui::SetClipboardText(channel.c_str());
  }

  std::string filter_;
  std::vector<const ChannelRow*> rows_;
  std::int64_t next_age_ = kNever;
};

}  // namespace

PanelKind panels::channels() {
  return {.name = "channels",
          .title = "Channels",
          .help = "rates, drops by place, latency and the age of the newest message",
          .settings = {"filter"},
          .types = {},
          .make = [] { return std::unique_ptr<Panel>(new Channels); }};
}

}  // namespace hyphos::view
