#include <imgui.h>

#include <array>
#include <cstddef>
#include <deque>
#include <string>

#include "hyphos/msgs/log.pb.h"
#include "view/displays/message.hpp"
#include "view/panels/list.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

constexpr std::size_t kMostLines = 20'000;
constexpr std::int64_t kHistory = 60'000'000'000;  // ns, of the lines after a seek
constexpr std::size_t kMostText = 4'096;           // bytes of a line

struct Level {
  const char* name;
  int value;
};
constexpr std::array<Level, 5> kLevels = {{{"debug", msgs::Log::DEBUG},
                                           {"info", msgs::Log::INFO},
                                           {"warn", msgs::Log::WARN},
                                           {"error", msgs::Log::ERROR},
                                           {"fatal", msgs::Log::FATAL}}};

struct Line {
  std::int64_t time_ns;
  int level;
  std::string name;
  std::string text;
  std::string place;
};

const char* word(int level) {
  for (const Level& one : kLevels) {
    if (level <= one.value) return one.name;
  }
  return "fatal";
}

/// The log lines of all nodes, with filters for the level and for words.
class Log final : public Panel {
 public:
  [[nodiscard]] std::set<std::string> channels() const override { return {channel_}; }
  [[nodiscard]] std::string subject() const override { return channel_ == "log" ? "" : channel_; }
  [[nodiscard]] std::size_t memory() const override { return bytes_; }
  [[nodiscard]] std::int64_t history_ns() const override { return kHistory; }

  bool take(Session&, const Channel& channel, const Sample& sample) override {
    if (channel.name != channel_) return false;
    msgs::Log message;
    Line line;
    line.time_ns = sample.time_ns;
    if (parse(sample, message)) {
      line.level = message.level();
      line.name = message.name();
      line.text = message.msg().substr(0, kMostText);
      if (!message.file().empty()) {
        line.place = message.file() + ":" + std::to_string(message.line());
      }
    } else {
      line.level = msgs::Log::ERROR;
      line.text = "a corrupt message of " + std::to_string(sample.payload.size()) + " bytes";
    }
    bytes_ += size_of(line);
    const bool visible = shown(line);
    lines_.push_back(std::move(line));
    if (lines_.size() > kMostLines) {
      bytes_ -= size_of(lines_.front());
      lines_.pop_front();
      ++left_;
      stale_ = true;
    } else if (visible) {
      rows_.push_back(lines_.size() - 1);
    }
    return visible;
  }
  void clear() override {
    lines_.clear();
    rows_.clear();
    bytes_ = 0;
    left_ = 0;
  }

  void draw(Session& session) override {
    const Theme& theme = session.theme();
    draw_filter(session);
    if (stale_) refresh();
    if (session.channel(channel_) == nullptr && lines_.empty()) {
      empty_hint(theme, "No node has written a line to '" + channel_ + "' yet.");
      return;
    }
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_Resizable |
                                       ImGuiTableFlags_NoBordersInBody |
                                       ImGuiTableFlags_SizingFixedFit;
    if (!ImGui::BeginTable("lines", 4, kFlags)) return;
    ImGui::TableSetupColumn("Time", 0, theme.px(96));
    ImGui::TableSetupColumn("Level", 0, theme.px(42));
    ImGui::TableSetupColumn("Node", 0, theme.px(96));
    ImGui::TableSetupColumn("Text", ImGuiTableColumnFlags_WidthStretch);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows_.size()));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        draw_line(theme, lines_[rows_[static_cast<std::size_t>(i)]], i);
      }
    }
    // Stays at the end unless the user has scrolled up.
    if (ImGui::GetScrollY() >= ImGui::GetScrollMaxY() - 1) ImGui::SetScrollHereY(1);
    ImGui::EndTable();
  }

  Result<void> load(const Settings& settings) override {
    read_word(settings, "channel", channel_);
    read_word(settings, "filter", filter_);
    if (const auto it = settings.find("level"); it != settings.end()) {
      for (const Level& level : kLevels) {
        if (it->second.word() == level.name) {
          least_ = level.value;
          stale_ = true;
          return {};
        }
      }
      return Error{Code::invalid_config,
                   "level: expected debug, info, warn, error or fatal, found '" +
                       std::string(it->second.word()) + "'",
                   it->second.where};
    }
    stale_ = true;
    return {};
  }
  [[nodiscard]] Settings save() const override {
    Settings made;
    if (channel_ != "log") made.emplace("channel", channel_);
    if (!filter_.empty()) made.emplace("filter", filter_);
    if (least_ != msgs::Log::INFO) made.emplace("level", word(least_));
    return made;
  }

 private:
  static std::size_t size_of(const Line& line) {
    return sizeof(Line) + line.name.size() + line.text.size() + line.place.size();
  }
  [[nodiscard]] bool shown(const Line& line) const {
    return line.level >= least_ &&
           (filter_.empty() || matches(filter_, line.name + " " + line.text));
  }
  void refresh() {
    rows_.clear();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (shown(lines_[i])) rows_.push_back(i);
    }
    stale_ = false;
  }

  void draw_filter(Session& session) {
    const Theme& theme = session.theme();
    ImGui::SetNextItemWidth(theme.px(84));
    if (ImGui::BeginCombo("##level", word(least_))) {
      for (const Level& level : kLevels) {
        if (ImGui::Selectable(level.name, level.value == least_)) {
          least_ = level.value;
          stale_ = true;
          session.edited("choose the level of the log");
        }
      }
      ImGui::EndCombo();
    }
    tooltip("The least severe level to show");
    ImGui::SameLine();
    const std::string sum = count_text(rows_.size()) + " of " + count_text(lines_.size()) +
                            (left_ > 0 ? ", " + count_text(left_) + " older left out" : "");
    const float room =
        ImGui::CalcTextSize(sum.c_str()).x + ImGui::GetStyle().ItemSpacing.x + theme.px(2);
    if (search_field("##filter", "Filter", filter_, ImGui::GetContentRegionAvail().x - room)) {
      stale_ = true;
    }
    ImGui::SameLine();
    dim_text(theme, sum);
  }

  static void draw_line(const Theme& theme, const Line& line, int row) {
    const std::uint32_t color = line.level >= msgs::Log::ERROR  ? theme.bad
                                : line.level >= msgs::Log::WARN ? theme.warn
                                : line.level >= msgs::Log::INFO ? theme.text
                                                                : theme.dim;
    ImGui::PushID(row);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::PushFont(theme.fonts.mono);
    dim_text(theme, clock_text(line.time_ns));
    ImGui::PopFont();
    ImGui::TableNextColumn();
    colored_text(line.level >= msgs::Log::WARN ? color : theme.faint, word(line.level));
    ImGui::TableNextColumn();
    dim_text(theme, line.name);
    ImGui::TableNextColumn();
    colored_text(color, line.text);
    if (ImGui::IsItemHovered()) tooltip(line.place);
    if (ImGui::BeginPopupContextItem("menu")) {
      if (ImGui::MenuItem("Copy the line")) ImGui::SetClipboardText(line.text.c_str());
      ImGui::EndPopup();
    }
    ImGui::PopID();
  }

  std::string channel_ = "log";
  std::string filter_;
  int least_ = msgs::Log::INFO;
  std::deque<Line> lines_;
  std::vector<std::size_t> rows_;  // indices of lines that pass the filters
  std::size_t bytes_ = 0;
  std::uint64_t left_ = 0;
  bool stale_ = false;
};

}  // namespace

PanelKind panels::log() {
  return {.name = "log",
          .title = "Log",
          .help = "the log lines of all nodes",
          .settings = {"channel", "filter", "level"},
          .types = {"hyphos.msgs.Log"},
          .make = [] { return std::unique_ptr<Panel>(new Log); }};
}

}  // namespace hyphos::view
