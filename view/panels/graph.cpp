#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "view/core/graph_state.hpp"
#include "view/core/prediction.hpp"
#include "view/panels/graph_layout.hpp"
#include "view/panels/graph_load.hpp"
#include "view/panels/list.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

constexpr float kColumn = 172;  // points between columns
constexpr float kRow = 58;      // points between rows
constexpr float kNodeWidth = 124;
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
      const char* const none = session.timeline().live
                                   ? "No node yet."
                                   : "The recording has no plan, so that its graph is unknown.";
      return empty_hint(theme, problem.empty() ? none : problem);
    }
    place(now);
    prediction_ = session.prediction();
    draw_verdict(theme);
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
    for (const GraphEdge& edge : now.edges) {
      if (!is_observer(now.nodes[edge.node])) draw_edge(theme, list, now, edge);
    }
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

  /// The viewer and recorders subscribe to everything, and are no part of the robot.
  [[nodiscard]] static bool is_observer(const GraphNode& node) {
    return node.viewer || node.process.starts_with("recorder-");
  }
  /// Most nodes subscribe to transforms, so they would make one cycle of a robot.
  [[nodiscard]] static bool is_for_all(const ChannelRow& row) {
    return row.type == "hyphos.msgs.TfMessage";
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
      if (is_observer(now.nodes[edge.node])) continue;
      const std::size_t channel = now.nodes.size() + edge.channel;
      used[channel] = used[edge.node] = true;
      if (edge.publishes) {
        arrows.push_back({edge.node, channel});
      } else if (!is_for_all(now.channels[edge.channel])) {
        arrows.push_back({channel, edge.node});
      }
    }
    used_ = std::move(used);
    place_used(arrows);
    processes_.clear();
    for (const GraphNode& node : now.nodes) {
      if (!is_observer(node)) processes_.emplace(node.process, processes_.size());
    }
    fit_ = true;
  }

  /// Places the vertices with an endpoint. The others would take rows.
  void place_used(std::vector<GraphArrow> arrows) {
    std::vector<std::size_t> index(used_.size(), 0);
    std::size_t count = 0;
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) index[i] = count++;
    }
    for (GraphArrow& arrow : arrows) arrow = {index[arrow.from], index[arrow.to]};
    const std::vector<GraphPlace> places = place_graph(count, arrows);
    places_.assign(used_.size(), {});
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i]) places_[i] = places[index[i]];
    }
  }

  void fit(const Theme& theme, ImVec2 room) {
    constexpr float kMargin = 28;  // points, with the turns of arrows to the left
    constexpr float kLegend = 22;
    fit_ = false;
    float right = kNodeWidth;
    float top = std::numeric_limits<float>::max();
    float bottom = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!used_[i]) continue;
      const float row = static_cast<float>(places_[i].row) * kRow;
      top = std::min(top, row - kNodeHeight / 2);
      bottom = std::max(bottom, row + kNodeHeight / 2);
      right = std::max(right, static_cast<float>(places_[i].column) * kColumn + kNodeWidth);
    }
    if (bottom <= top) return;
    bottom_ = bottom;
    bottom += kRow / 2;  // of arrows to the left
    const float width = room.x / theme.scale - 2 * kMargin;
    const float height = room.y / theme.scale - kMargin - kLegend;
    zoom_ = std::clamp(std::min(width / right, height / (bottom - top)), 0.25F, 1.25F);
    const float scale = zoom_ * theme.scale;
    pan_ = {(room.x - right * scale) / 2,
            (room.y - kLegend * theme.scale - (bottom - top) * scale) / 2 - top * scale};
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

  [[nodiscard]] std::uint32_t edge_color(const Theme& theme, const GraphSnapshot& now,
                                         const GraphEdge& edge) const {
    if (edge.drops_per_s > 0) return theme.bad;
    if (edge.dropped > 0) return theme.warn;
    if (edge.rate_hz <= 0) return theme.faint;
    if (prediction_ == nullptr || edge.publishes) return theme.accent;
    const Prediction::Subscription end{now.nodes[edge.node].node, now.channels[edge.channel].name};
    const double share =
        std::max(prediction_->callback(end).value_or(0), prediction_->queue(end).value_or(0));
    const auto verdict = verdict_of(*prediction_, share);
    return verdict == Prediction::Verdict::fits ? theme.accent : verdict_color(theme, verdict);
  }

  /// The predicted load of a node: a bar along its lower edge, coloured by the verdict.
  void draw_share(const Theme& theme, ImDrawList& list, const GraphNode& node, ImVec2 low,
                  ImVec2 high, float size) const {
    if (prediction_ == nullptr) return;
    const auto share = prediction_->node(node.node, node.process);
    if (!share) return;
    const std::uint32_t color = verdict_color(theme, verdict_of(*prediction_, *share));
    const float left = low.x + 4 * scale_;
    const float width = (high.x - left) * static_cast<float>(std::clamp(*share, 0., 1.));
    list.AddRectFilled({left, high.y - 3.5F * scale_}, high, fade(color, 0.22F));
    list.AddRectFilled({left, high.y - 3.5F * scale_}, {left + width, high.y}, color);
    const std::string text = share_text(*share);
    ImFont* const font = theme.fonts.small;
    const ImVec2 box = font->CalcTextSizeA(size, FLT_MAX, 0, text.c_str());
    list.AddText(font, size, {high.x - box.x - 7 * scale_, low.y + 21 * scale_}, color,
                 text.c_str());
  }

  void draw_verdict(const Theme& theme) const {
    if (prediction_ == nullptr) return;
    const std::uint32_t color = verdict_color(theme, prediction_->verdict);
    dot(theme, color);
    ImGui::PushTextWrapPos(0);
    colored_text(color, verdict_text(*prediction_));
    ImGui::PopTextWrapPos();
  }

  /// Draws a curve to the right. Returns its middle, as the next function.
  static ImVec2 draw_forward(ImDrawList& list, ImVec2 a, ImVec2 b, std::uint32_t color,
                             float width) {
    const float bend = (b.x - a.x) / 2;
    list.AddBezierCubic(a, {a.x + bend, a.y}, {b.x - bend, b.y}, b, color, width);
    return {(a.x + b.x) / 2, (a.y + b.y) / 2};
  }

  /// Draws a curve to the left, below all vertices, which it would cross.
  ImVec2 draw_backward(ImDrawList& list, ImVec2 a, ImVec2 b, std::uint32_t color,
                       float width) const {
    const float low = origin_.y + (bottom_ + kRow / 3) * scale_;
    const float turn = 34 * scale_;
    list.PathLineTo(a);
    list.PathBezierCubicCurveTo({a.x + turn, a.y}, {a.x + turn, low}, {a.x - turn, low});
    list.PathLineTo({b.x + turn, low});
    list.PathBezierCubicCurveTo({b.x - turn, low}, {b.x - turn, b.y}, b);
    list.PathStroke(color, 0, width);
    return {(a.x + b.x) / 2, low};
  }

  void draw_edge(const Theme& theme, ImDrawList& list, const GraphSnapshot& now,
                 const GraphEdge& edge) {
    const std::size_t channel = now.nodes.size() + edge.channel;
    const std::size_t from = edge.publishes ? edge.node : channel;
    const std::size_t to = edge.publishes ? channel : edge.node;
    const float half = kNodeWidth / 2 * scale_;
    ImVec2 a = center(from);
    ImVec2 b = center(to);
    a.x += half;
    b.x -= half;
    // The width grows with the logarithm of the load.
    const float load = edge.bytes_per_s > 1 ? static_cast<float>(std::log10(edge.bytes_per_s)) : 0;
    const float width = (1 + load * 0.38F) * scale_;
    const bool quiet = !edge.publishes && is_for_all(now.channels[edge.channel]);
    const float strength = quiet ? 0.22F : edge.rate_hz > 0 ? 0.85F : 0.5F;
    const std::uint32_t color = fade(edge_color(theme, now, edge), strength);
    const float head = 3.5F * scale_ + width;
    const ImVec2 end{b.x - head, b.y};
    const ImVec2 middle = places_[from].column < places_[to].column
                              ? draw_forward(list, a, end, color, width)
                              : draw_backward(list, a, end, color, width);
    list.AddTriangleFilled({b.x, b.y}, {b.x - head * 1.5F, b.y - head * 0.8F},
                           {b.x - head * 1.5F, b.y + head * 0.8F}, color);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (std::hypot(mouse.x - middle.x, mouse.y - middle.y) < 22 * scale_) hovered_edge_ = &edge;
    if (edge.publishes || quiet || zoom_ < 0.55F || edge.total.count == 0) return;
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
    if (!used_[vertex]) return false;
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
      draw_share(theme, list, one, low, high, small_size);
    } else {
      const ChannelRow& row = now.channels[vertex - now.nodes.size()];
      const bool drops = std::any_of(row.drops.begin(), row.drops.end(),
                                     [](const DropCount& d) { return d.per_s > 0; });
      list.AddRectFilled(low, high, theme.surface, height / 2);
      list.AddRectFilled(low, high, fade(drops ? theme.bad : theme.accent, 0.2F), height / 2);
      list.AddText(small, small_size, {low.x + 11 * scale_, at.y - small_size / 2}, theme.text,
                   row.name.c_str());
      const std::string rate = rate_text(row.rate_hz) + " Hz";
      const bool surplus = prediction_ != nullptr && above_prediction(*prediction_, row);
      const ImVec2 box = small->CalcTextSizeA(small_size, FLT_MAX, 0, rate.c_str());
      const float name = small->CalcTextSizeA(small_size, FLT_MAX, 0, row.name.c_str()).x;
      const bool fits = name + box.x + 26 * scale_ < width;
      list.AddText(small, small_size, {high.x - box.x - 9 * scale_, at.y - small_size / 2},
                   !fits             ? 0U
                   : surplus         ? theme.warn
                   : row.rate_hz > 0 ? theme.dim
                                     : theme.faint,
                   rate.c_str());
    }
    list.PopClipRect();
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    return mouse.x >= low.x && mouse.x < high.x && mouse.y >= low.y && mouse.y < high.y;
  }

  void describe(Session& session, const GraphSnapshot& now, std::size_t vertex) const {
    if (is_node(now, vertex)) {
      const GraphNode& node = now.nodes[vertex];
      std::string text = node.node + "\nprocess " + node.process;
      if (node.pid != 0) text += ", pid " + std::to_string(node.pid);
      if (!node.host.empty()) text += "\nhost " + node.host;
      if (node.pid != 0) text += "\n" + std::string(to_string(node.state));
      if (prediction_ != nullptr) {
        text += node_load(*prediction_, now, static_cast<std::uint32_t>(vertex));
      }
      return show(text);
    }
    const ChannelRow& row = now.channels[vertex - now.nodes.size()];
    std::string text = row.name + "\n" + row.type + "\n" + rate_text(row.rate_hz) + " Hz, " +
                       bytes_text(row.bytes_per_s) + "/s\n" + count_text(row.dropped) + " dropped";
    for (const DropCount& drop : row.drops) {
      text += "\n  " + count_text(drop.count) + " drop." + drop.place + "." + drop.why;
    }
    if (prediction_ != nullptr) text += channel_load(*prediction_, row);
    show(text);
    if (ImGui::IsMouseClicked(1)) {
      session.open_panel("raw", {{"channel", Setting(row.name)}});
    }
  }

  void describe_edge(const GraphSnapshot& now, const GraphEdge& edge) const {
    const std::string& node = now.nodes[edge.node].node;
    std::string text = edge.publishes ? node + " publishes " : node + " subscribes to ";
    text += now.channels[edge.channel].name + "\n" + rate_text(edge.rate_hz) + " Hz, " +
            bytes_text(edge.bytes_per_s) + "/s" +
            (edge.transports.empty() ? "" : " over " + edge.transports);
    if (!edge.publishes) {
      if (edge.depth > 0) text += "\nqueue of " + std::to_string(edge.depth);
      if (edge.total.count > 0) {
        text += "\nlatency p50 " + duration_text(edge.total.p50_ns) + ", p99 " +
                duration_text(edge.total.p99_ns) + "\nin the queue p99 " +
                duration_text(edge.queue.p99_ns);
      }
    }
    if (prediction_ != nullptr) text += edge_load(*prediction_, now, edge);
    text += "\n" + count_text(edge.dropped) + " dropped";
    show(text);
  }

  static void show(const std::string& text) {
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(9, 6));
    ImGui::BeginTooltip();
    ImGui::TextUnformatted(text.c_str());
    ImGui::EndTooltip();
    ImGui::PopStyleVar();
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
  const Prediction* prediction_ = nullptr;
  bool fit_ = true;
  float zoom_ = 1;
  float scale_ = 1;
  float bottom_ = 0;  // of the vertices
  ImVec2 pan_{0, 0};
  ImVec2 origin_{0, 0};
};

}  // namespace

PanelKind panels::graph() {
  return {.name = "graph",
          .title = "Graph",
          .help = "nodes, channels, rates, queues and latencies",
          .settings = {},
          .types = {},
          .make = [] { return std::unique_ptr<Panel>(new Graph); }};
}

}  // namespace hyphos::view
