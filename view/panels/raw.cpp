#include <imgui.h>

#include <optional>
#include <string>

#include "view/core/fields.hpp"
#include "view/panels/list.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

/// The newest message of one channel as a tree. A number can be dragged to a plot.
class Raw final : public Panel {
 public:
  [[nodiscard]] std::set<std::string> channels() const override {
    return channel_.empty() ? std::set<std::string>{} : std::set<std::string>{channel_};
  }
  bool take(Session&, const Channel& channel, const Sample& sample) override {
    if (channel.name != channel_ || held_) return false;
    sample_ = sample;
    stale_ = true;
    return true;
  }
  void clear() override {
    if (held_) return;
    sample_.reset();
    stale_ = true;
  }
  bool accept(Session& session, const std::string& channel, const std::string&) override {
    choose(session, channel);
    return true;
  }
  [[nodiscard]] std::string subject() const override { return channel_; }
  [[nodiscard]] std::size_t memory() const override {
    return sample_ ? sample_->payload.size() : 0;
  }

  void draw(Session& session) override {
    const Theme& theme = session.theme();
    std::string channel = channel_;
    const float buttons = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.x;
    if (channel_combo(session, "##channel", channel, {},
                      ImGui::GetContentRegionAvail().x - buttons)) {
      choose(session, channel);
      session.edited("choose a channel");
    }
    ImGui::SameLine();
    if (icon_button(theme, "hold", held_ ? Icon::play : Icon::pause,
                    held_ ? "Follow new messages" : "Keep this message", held_)) {
      held_ = !held_;
    }
    if (channel_.empty()) {
      empty_hint(theme, "Choose a channel, or drop one here from the table of channels.");
      return;
    }
    const Channel* found = session.channel(channel_);
    if (found == nullptr) {
      empty_hint(theme, "There is no channel '" + channel_ + "'. The panel waits for it.");
      return;
    }
    if (!sample_) {
      empty_hint(theme, "No message on '" + channel_ + "' yet.");
      return;
    }
    draw_head(theme, *found);
    search_field("##filter", "Filter fields", filter_);
    if (stale_) {
      tree_ = field_tree(*found, *sample_, session.decoder());
      stale_ = false;
    }
    draw_tree(theme);
  }

  Result<void> load(const Settings& settings) override {
    read_word(settings, "channel", channel_);
    return {};
  }
  [[nodiscard]] Settings save() const override {
    Settings made;
    if (!channel_.empty()) made.emplace("channel", channel_);
    return made;
  }

 private:
  void choose(Session& session, const std::string& channel) {
    channel_ = channel;
    held_ = false;
    sample_.reset();
    stale_ = true;
    session.reselect();
  }

  void draw_head(const Theme& theme, const Channel& channel) const {
    std::size_t bytes = sample_->payload.size();
    for (const Buffer& buffer : sample_->buffers) bytes += buffer.size();
    std::string line = short_type(channel.type) + "   " + clock_text(sample_->time_ns) + "   " +
                       bytes_text(static_cast<double>(bytes));
    if (sample_->sequence > 0) line += "   #" + count_text(sample_->sequence);
    if (sample_->publish_ns > 0 && sample_->publish_ns <= sample_->time_ns) {
      line += "   " + duration_text(sample_->time_ns - sample_->publish_ns) + " after publish";
    }
    ImGui::PushFont(theme.fonts.small);
    dim_text(theme, line);
    ImGui::PopFont();
  }

  void draw_tree(const Theme& theme) {
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_Resizable | ImGuiTableFlags_ScrollY |
                                       ImGuiTableFlags_NoBordersInBody | ImGuiTableFlags_RowBg;
    if (!ImGui::BeginTable("tree", 2, kFlags)) return;
    ImGui::TableSetupColumn("Field", ImGuiTableColumnFlags_WidthStretch, 1.2F);
    ImGui::TableSetupColumn("Value", ImGuiTableColumnFlags_WidthStretch, 1);
    for (const FieldNode& child : tree_.children) draw_node(theme, child, 0);
    if (tree_.children.empty()) draw_node(theme, tree_, 0);
    if (tree_.hidden > 0) draw_hidden(theme, tree_.hidden);
    ImGui::EndTable();
  }

  [[nodiscard]] bool wanted(const FieldNode& node) const {
    if (matches(filter_, node.path)) return true;
    for (const FieldNode& child : node.children) {
      if (wanted(child)) return true;
    }
    return false;
  }

  static void draw_hidden(const Theme& theme, std::uint64_t hidden) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    dim_text(theme, count_text(hidden) + " more");
  }

  void draw_node(const Theme& theme, const FieldNode& node, int depth) {
    if (!filter_.empty() && !wanted(node)) return;
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::PushID(node.path.empty() ? node.name.c_str() : node.path.c_str());
    const bool leaf = node.children.empty();
    ImGuiTreeNodeFlags flags = ImGuiTreeNodeFlags_SpanFullWidth;
    if (leaf) {
      flags |=
          ImGuiTreeNodeFlags_Leaf | ImGuiTreeNodeFlags_NoTreePushOnOpen | ImGuiTreeNodeFlags_Bullet;
    }
    const bool few = node.children.size() <= 16;
    if (!filter_.empty()) {
      ImGui::SetNextItemOpen(true);
    } else if (depth < 3 && few) {
      ImGui::SetNextItemOpen(true, ImGuiCond_Once);
    }
    const bool open = ImGui::TreeNodeEx(node.name.c_str(), flags);
    if (node.numeric) drag_channel(channel_, node.path);
    if (ImGui::BeginPopupContextItem("menu")) {
      if (ImGui::MenuItem("Copy the value")) ImGui::SetClipboardText(node.value.c_str());
      if (ImGui::MenuItem("Copy the path")) ImGui::SetClipboardText(node.path.c_str());
      ImGui::EndPopup();
    }
    if (ImGui::IsItemHovered() && !ImGui::IsMouseDragging(0)) {
      tooltip(node.type + (node.numeric ? "\nDrag it onto a plot" : ""));
    }
    ImGui::TableNextColumn();
    if (node.value.empty()) {
      dim_text(theme, node.type);
    } else {
      ImGui::PushFont(theme.fonts.mono);
      ImGui::TextUnformatted(node.value.c_str());
      ImGui::PopFont();
    }
    if (open && !leaf) {
      for (const FieldNode& child : node.children) draw_node(theme, child, depth + 1);
      if (node.hidden > 0) draw_hidden(theme, node.hidden);
      ImGui::TreePop();
    } else if (leaf && node.hidden > 0) {
      draw_hidden(theme, node.hidden);
    }
    ImGui::PopID();
  }

  std::string channel_;
  std::string filter_;
  std::optional<Sample> sample_;
  FieldNode tree_;
  bool stale_ = true;
  bool held_ = false;
};

}  // namespace

PanelKind panels::raw() {
  return {.name = "raw",
          .title = "Message",
          .help = "the newest message of a channel as a tree",
          .settings = {"channel"},
          .types = {},
          .make = [] { return std::unique_ptr<Panel>(new Raw); }};
}

}  // namespace hyphos::view
