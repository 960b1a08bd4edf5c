#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "view/core/graph_state.hpp"
#include "view/panels/graph_layout.hpp"
#include "view/panels/list.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

constexpr float kColumn = 200;  // points between columns
constexpr float kRow = 62;      // points between rows
constexpr float kNodeWidth = 132;
constexpr float kNodeHeight = 40;
constexpr float kChannelHeight = 24;

/// Nodes, channels and their load, as they are now.
class Graph final : public Panel {
 public:
  bool wants_graph() const override { return true; }

  void draw(Session& session) override {
    const Theme& theme = session.theme();
    const GraphSnapshot& now = session.graph().snapshot();
    if (now.nodes.empty()) {
      const std::string& problem = session.graph().problem();
      return empty_hint(theme, problem.empty() ? "No node yet." : problem);
    }
    place(now);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (room.x < 20 || room.y < 20) return;
    ImGui::InvisibleButton("canvas", room,
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
    if (fit_) fit(theme, room);
    interact(at);
    scale_ = zoom_ * theme.scale;
    origin_ = {at.x + pan_.x, at.y + pan_.y};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect(at, {at.x + room.x, at.y + room.y}, true);
    hovered_edge_ = nullptr;
    for (const GraphEdge& edge : now.edges) draw_edge(theme, list, now, edge);
    int hovered = -1;
    const bool inside = ImGui::IsItemHovered();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (draw_vertex(theme, list, now, i) && inside) hovered = static_cast<int>(i);
    }
    list.PopClipRect();
    if (hovered >= 0) {
      describe(session, now, static_cast<std::size_t>(hovered));
    } else if (inside && hovered_edge_ != nullptr) {
      describe_edge(now, *hovered_edge_);
    }
    draw_legend(theme, at, room);
  }

 private:
  [[nodiscard]] static bool is_node(const GraphSnapshot& now, std::size_t vertex) {
    return vertex < now.nodes.size();
  }

  /// Places the vertices again if nodes, channels or endpoints have changed.
  void place(const GraphSnapshot& now) {
    std::string shape;
    for (const GraphNode& node : now.nodes) shape += node.node + "@" + node.process + ";";
    for (const ChannelRow& row : now.channels) shape += row.name + ";";
    for (const GraphEdge& edge : now.edges) {
      shape += std::to_string(edge.node) + (edge.publishes ? ">" : "<") +
               std::to_string(edge.channel) + ";";
    }
    if (shape == shape_) return;
    shape_ = std::move(shape);
    std::vector<GraphArrow> arrows;
    std::vector<bool> used(now.nodes.size() + now.channels.size(), false);
    for (const GraphEdge& edge : now.edges) {
      const std::size_t channel = now.nodes.size() + edge.channel;
      arrows.push_back(edge.publishes ? GraphArrow{edge.node, channel}
                                      : GraphArrow{channel, edge.node});
      used[channel] = used[edge.node] = true;
    }
    places_ = place_graph(now.nodes.size() + now.channels.size(), arrows);
    used_ = std::move(used);
    processes_.clear();
    for (const GraphNode& node : now.nodes) processes_.emplace(node.process, processes_.size());
    fit_ = true;
  }

  void fit(const Theme& theme, ImVec2 room) {
    fit_ = false;
    float right = 0;
    float bottom = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      right = std::max(right, static_cast<float>(places_[i].column) * kColumn + kNodeWidth);
      bottom = std::max(bottom, static_cast<float>(places_[i].row) * kRow + kRow / 2);
    }
    const float width = (right + 24) * theme.scale;
    const float height = (bottom + 24) * theme.scale;
    zoom_ = std::clamp(std::min(room.x / width, room.y / height), 0.25F, 1.25F);
    pan_ = {
        (room.x - right * zoom_ * theme.scale) / 2,
        (room.y - (bottom - kRow / 2) * zoom_ * theme.scale) / 2 - kRow / 4 * zoom_ * theme.scale};
  }

  void interact(ImVec2 at) {
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
      const float before = zoom_;
      zoom_ = std::clamp(zoom_ * std::pow(1.15F, io.MouseWheel), 0.2F, 4.F);
      const float factor = zoom_ / before;
      pan_.x = (pan_.x + at.x - io.MousePos.x) * factor + io.MousePos.x - at.x;
      pan_.y = (pan_.y + at.y - io.MousePos.y) * factor + io.MousePos.y - at.y;
    }
    if (ImGui::IsItemActive()) {
      pan_.x += io.MouseDelta.x;
      pan_.y += io.MouseDelta.y;
    }
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) fit_ = true;
  }

  [[nodiscard]] ImVec2 center(std::size_t vertex) const {
    const GraphPlace& place = places_[vertex];
    return {origin_.x + (static_cast<float>(place.column) * kColumn + kNodeWidth / 2) * scale_,
            origin_.y + static_cast<float>(place.row) * kRow * scale_};
  }

  static std::uint32_t edge_color(const Theme& theme, const GraphEdge& edge) {
    if (edge.drops_per_s > 0) return theme.bad;
    if (edge.dropped > 0) return theme.warn;
    return edge.rate_hz > 0 ? theme.accent : theme.faint;
  }

  void draw_edge(const Theme& theme, ImDrawList& list, const GraphSnapshot& now,
                 const GraphEdge& edge) {
    const std::size_t channel = now.nodes.size() + edge.channel;
    const std::size_t from = edge.publishes ? edge.node : channel;
    const std::size_t to = edge.publishes ? channel : edge.node;
    const float half = kNodeWidth / 2 * scale_;
    ImVec2 a = center(from);
    ImVec2 b = center(to);
    const bool forward = places_[from].column < places_[to].column;
    a.x += half;
    b.x -= half;
    // The width grows with the logarithm of the load.
    const float load = edge.bytes_per_s > 1 ? static_cast<float>(std::log10(edge.bytes_per_s)) : 0;
    const float width = (1 + load * 0.38F) * scale_;
    const std::uint32_t color = fade(edge_color(theme, edge), edge.rate_hz > 0 ? 0.85F : 0.5F);
    const float bend = forward ? (b.x - a.x) / 2 : kColumn * 0.45F * scale_;
    const ImVec2 c1{a.x + bend, a.y + (forward ? 0 : kRow * 0.6F * scale_)};
    const ImVec2 c2{b.x - bend, b.y + (forward ? 0 : kRow * 0.6F * scale_)};
    list.AddBezierCubic(a, c1, c2, {b.x - 5 * scale_, b.y}, color, width);
    const float head = 3.5F * scale_ + width;
    list.AddTriangleFilled({b.x, b.y}, {b.x - head * 1.5F, b.y - head * 0.8F},
                           {b.x - head * 1.5F, b.y + head * 0.8F}, color);
    const ImVec2 middle{(a.x + 3 * c1.x + 3 * c2.x + b.x) / 8,
                        (a.y + 3 * c1.y + 3 * c2.y + b.y) / 8};
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (std::hypot(mouse.x - middle.x, mouse.y - middle.y) < 22 * scale_) hovered_edge_ = &edge;
    if (edge.publishes || zoom_ < 0.55F || edge.total.count == 0) return;
    const std::string text = duration_text(edge.total.p99_ns);
    ImFont* font = theme.fonts.small;
    const float size = font->FontSize * std::min(zoom_, 1.2F) * 0.9F;
    const ImVec2 box = font->CalcTextSizeA(size, FLT_MAX, 0, text.c_str());
    list.AddRectFilled({middle.x - box.x / 2 - 2, middle.y - box.y / 2},
                       {middle.x + box.x / 2 + 2, middle.y + box.y / 2}, theme.surface, 3);
    list.AddText(font, size, {middle.x - box.x / 2, middle.y - box.y / 2}, theme.dim, text.c_str());
  }

  /// Returns true if the pointer is on it.
  bool draw_vertex(const Theme& theme, ImDrawList& list, const GraphSnapshot& now,
                   std::size_t vertex) {
    const bool node = is_node(now, vertex);
    if (!node && !used_[vertex]) return false;
    const ImVec2 at = center(vertex);
    const float width = kNodeWidth * scale_;
    const float height = (node ? kNodeHeight : kChannelHeight) * scale_;
    const ImVec2 low{at.x - width / 2, at.y - height / 2};
    const ImVec2 high{at.x + width / 2, at.y + height / 2};
    ImFont* font = theme.fonts.text;
    ImFont* small = theme.fonts.small;
    const float size = font->FontSize * zoom_ * 0.9F;
    const float small_size = small->FontSize * zoom_ * 0.92F;
    list.PushClipRect(low, high, true);
    if (node) {
      const GraphNode& one = now.nodes[vertex];
      const std::uint32_t color = theme.line(processes_[one.process]);
      list.AddRectFilled(low, high, theme.raised, 5 * scale_);
      list.AddRectFilled(low, {low.x + 4 * scale_, high.y}, color, 5 * scale_,
                         ImDrawFlags_RoundCornersLeft);
      list.AddText(font, size, {low.x + 11 * scale_, low.y + 4 * scale_}, theme.text,
                   one.node.c_str());
      list.AddText(small, small_size, {low.x + 11 * scale_, low.y + 22 * scale_}, theme.dim,
                   one.process.c_str());
    } else {
      const ChannelRow& row = now.channels[vertex - now.nodes.size()];
      const bool drops = std::any_of(row.drops.begin(), row.drops.end(),
                                     [](const DropCount& d) { return d.per_s > 0; });
      list.AddRectFilled(low, high, fade(drops ? theme.bad : theme.accent, 0.16F), height / 2);
      list.AddText(small, small_size, {low.x + 11 * scale_, at.y - small_size / 2}, theme.text,
                   row.name.c_str());
      const std::string rate = rate_text(row.rate_hz) + " Hz";
      const ImVec2 box = small->CalcTextSizeA(small_size, FLT_MAX, 0, rate.c_str());
      list.AddText(small, small_size, {high.x - box.x - 9 * scale_, at.y - small_size / 2},
                   row.rate_hz > 0 ? theme.dim : theme.faint, rate.c_str());
    }
    list.PopClipRect();
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    return mouse.x >= low.x && mouse.x < high.x && mouse.y >= low.y && mouse.y < high.y;
  }

  static void describe(Session& session, const GraphSnapshot& now, std::size_t vertex) {
    if (is_node(now, vertex)) {
      const GraphNode& node = now.nodes[vertex];
      std::string text = node.node + "\nprocess " + node.process + ", pid " +
                         std::to_string(node.pid) + "\nhost " + node.host + "\n" +
                         std::string(to_string(node.state));
      return show(text);
    }
    const ChannelRow& row = now.channels[vertex - now.nodes.size()];
    std::string text = row.name + "\n" + row.type + "\n" + rate_text(row.rate_hz) + " Hz, " +
                       bytes_text(row.bytes_per_s) + "/s\n" + count_text(row.dropped) + " dropped";
    for (const DropCount& drop : row.drops) {
      text += "\n  " + count_text(drop.count) + " drop." + drop.place + "." + drop.why;
    }
    show(text);
    if (ImGui::IsMouseClicked(1)) {
      session.open_panel("raw", {{"channel", Setting(row.name)}});
    }
  }

  static void describe_edge(const GraphSnapshot& now, const GraphEdge& edge) {
    const std::string& node = now.nodes[edge.node].node;
    std::string text = edge.publishes ? node + " publishes " : node + " subscribes to ";
    text += now.channels[edge.channel].name + "\n" + rate_text(edge.rate_hz) + " Hz, " +
            bytes_text(edge.bytes_per_s) + "/s over " + edge.transports;
    if (!edge.publishes) {
      text += "\nqueue of " + std::to_string(edge.depth);
      if (edge.total.count > 0) {
        text += "\nlatency p50 " + duration_text(edge.total.p50_ns) + ", p99 " +
                duration_text(edge.total.p99_ns) + "\nin the queue p99 " +
                duration_text(edge.queue.p99_ns);
      }
    }
    text += "\n" + count_text(edge.dropped) + " dropped";
    show(text);
  }

  static void show(const std::string& text) {
    ImGui::BeginTooltip();
    ImGui::TextUnformatted(text.c_str());
    ImGui::EndTooltip();
  }

  static void draw_legend(const Theme& theme, ImVec2 at, ImVec2 room) {
    ImGui::SetCursorScreenPos({at.x + theme.px(6), at.y + room.y - theme.px(20)});
    ImGui::PushFont(theme.fonts.small);
    const auto entry = [&](std::uint32_t color, const char* text) {
      dot(theme, color);
      dim_text(theme, text);
      ImGui::SameLine(0, theme.px(12));
    };
    entry(theme.accent, "flows");
    entry(theme.bad, "drops now");
    entry(theme.warn, "has dropped");
    entry(theme.faint, "silent");
    ImGui::NewLine();
    ImGui::PopFont();
  }

  std::string shape_;
  std::vector<GraphPlace> places_;  // nodes, then channels
  std::vector<bool> used_;
  std::map<std::string, std::size_t> processes_;
  const GraphEdge* hovered_edge_ = nullptr;
  bool fit_ = true;
  float zoom_ = 1;
  float scale_ = 1;
  ImVec2 pan_{0, 0};
  ImVec2 origin_{0, 0};
};

}  // namespace

PanelKind panels::graph() {
  return {.name = "graph",
          .title = "Graph",
          .help = "nodes, channels, rates, queues and latencies as they are now",
          .settings = {},
          .types = {},
          .live_only = true,
          .make = [] { return std::unique_ptr<Panel>(new Graph); }};
}

}  // namespace hyphos::view
