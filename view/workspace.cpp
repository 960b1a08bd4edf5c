#include "view/workspace.hpp"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "view/panels/session.hpp"
#include "view/panels/theme.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

constexpr const char* kPanelPayload = "hyphos.panel";
constexpr float kGap = 5;        // points between panels
constexpr float kTitle = 27;     // points
constexpr float kSmallest = 60;  // points, of a panel in a drag of a splitter

}  // namespace

struct Workspace::Node {
  std::uint32_t id = 0;
  PanelLayout::Split split = PanelLayout::Split::none;
  double size = 1;
  const PanelKind* kind = nullptr;
  std::unique_ptr<Panel> panel;
  Settings settings;    // as loaded
  std::string problem;  // a setting that the panel refused
  std::vector<std::unique_ptr<Node>> children;
};

Workspace::Workspace() : root_(make_leaf("scene", {})) {}
Workspace::~Workspace() = default;

Workspace::NodePtr Workspace::make_leaf(std::string_view kind, const Settings& settings) {
  auto node = std::make_unique<Node>();
  node->id = next_id_++;
  node->kind = find_panel_kind(kind);
  if (node->kind == nullptr) node->kind = &panel_kinds().front();
  node->panel = node->kind->make();
  if (const auto loaded = node->panel->load(settings); !loaded) {
    const Error& error = loaded.error();
    node->problem = (error.where.empty() ? "" : error.where + ": ") + error.message;
  }
  node->settings = node->panel->save();
  return node;
}

void Workspace::collect(NodePtr node, std::vector<NodePtr>& pool) {
  for (NodePtr& child : node->children) collect(std::move(child), pool);
  if (node->panel) pool.push_back(std::move(node));
}

Workspace::NodePtr Workspace::build(const PanelLayout& layout, std::vector<NodePtr>& pool) {
  NodePtr node;
  if (layout.split == PanelLayout::Split::none) {
    for (NodePtr& old : pool) {
      if (!old || old->kind->name != layout.kind || old->panel->save() != layout.settings) continue;
      node = std::move(old);
      break;
    }
    if (!node) node = make_leaf(layout.kind, layout.settings);
  } else {
    node = std::make_unique<Node>();
    node->id = next_id_++;
    node->split = layout.split;
    for (const PanelLayout& child : layout.children) node->children.push_back(build(child, pool));
  }
  node->size = layout.size;
  return node;
}

void Workspace::set(const PanelLayout& layout) {
  std::vector<NodePtr> pool;
  collect(std::move(root_), pool);
  root_ = build(layout, pool);
  maximized_ = 0;
  if (find(focused_) == nullptr) focused_ = 0;
}

PanelLayout Workspace::describe(const Node& node) {
  PanelLayout made;
  made.split = node.split;
  made.size = std::round(node.size * 1000) / 1000;
  if (node.panel) {
    made.kind = node.kind->name;
    made.settings = node.panel->save();
  }
  for (const NodePtr& child : node.children) made.children.push_back(describe(*child));
  return made;
}

void Workspace::clear() { root_ = std::make_unique<Node>(); }

PanelLayout Workspace::get() const { return describe(*root_); }

void Workspace::visit(const Node& node, const std::function<void(Panel&)>& f) {
  if (node.panel) f(*node.panel);
  for (const NodePtr& child : node.children) visit(*child, f);
}

void Workspace::for_each(const std::function<void(Panel&)>& each) const { visit(*root_, each); }

std::size_t Workspace::count() const {
  std::size_t sum = 0;
  for_each([&sum](Panel&) { ++sum; });
  return sum;
}

bool Workspace::visible(const Panel& panel) const {
  if (maximized_ == 0) return true;
  const Node* node = find(maximized_);
  return node != nullptr && node->panel.get() == &panel;
}

Workspace::Node* Workspace::find(Node& node, std::uint32_t id) {
  if (node.id == id) return &node;
  for (NodePtr& child : node.children) {
    if (Node* found = find(*child, id)) return found;
  }
  return nullptr;
}

Workspace::Node* Workspace::find(std::uint32_t id) const {
  return id == 0 ? nullptr : find(*root_, id);
}

Workspace::Node* Workspace::parent_of(Node& node, const Node& child) const {
  for (NodePtr& one : node.children) {
    if (one.get() == &child) return &node;
    if (Node* found = parent_of(*one, child)) return found;
  }
  return nullptr;
}

/// Removes a leaf from the tree. Null for the only one.
Workspace::NodePtr Workspace::take(std::uint32_t id) {
  Node* node = find(id);
  Node* parent = node == nullptr ? nullptr : parent_of(*root_, *node);
  if (parent == nullptr) return nullptr;
  const auto at = std::find_if(parent->children.begin(), parent->children.end(),
                               [node](const NodePtr& one) { return one.get() == node; });
  NodePtr taken = std::move(*at);
  parent->children.erase(at);
  tidy(*root_);
  return taken;
}

/// Removes splits of no or one child, and merges a split into a parent of the same direction.
void Workspace::tidy(Node& node) {
  for (std::size_t i = 0; i < node.children.size();) {
    Node& child = *node.children[i];
    tidy(child);
    if (child.split != PanelLayout::Split::none && child.children.empty()) {
      node.children.erase(node.children.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    if (child.split != PanelLayout::Split::none && child.children.size() == 1) {
      NodePtr only = std::move(child.children[0]);
      only->size = child.size;
      node.children[i] = std::move(only);
    }
    ++i;
  }
  if (&node == root_.get() && node.children.size() == 1) {
    NodePtr only = std::move(node.children[0]);
    root_ = std::move(only);
  }
}

void Workspace::insert(NodePtr added, std::uint32_t beside, Side side) {
  Node* place = find(beside);
  if (place == nullptr) place = root_.get();
  const auto split = side == Side::left || side == Side::right ? PanelLayout::Split::columns
                                                               : PanelLayout::Split::rows;
  const bool after = side != Side::left && side != Side::top;
  Node* parent = parent_of(*root_, *place);
  if (parent != nullptr && parent->split == split) {
    added->size = place->size = place->size / 2;
    const auto at = std::find_if(parent->children.begin(), parent->children.end(),
                                 [place](const NodePtr& one) { return one.get() == place; });
    parent->children.insert(at + (after ? 1 : 0), std::move(added));
    return;
  }
  NodePtr& slot = parent == nullptr
                      ? root_
                      : *std::find_if(parent->children.begin(), parent->children.end(),
                                      [place](const NodePtr& one) { return one.get() == place; });
  auto made = std::make_unique<Node>();
  made->id = next_id_++;
  made->split = split;
  made->size = slot->size;
  NodePtr old = std::move(slot);
  old->size = added->size = 1;
  made->children.push_back(std::move(after ? old : added));
  made->children.push_back(std::move(after ? added : old));
  slot = std::move(made);
}

Panel* Workspace::open(Session& session, std::string_view kind, const Settings& settings) {
  if (count() >= kMaxPanels) {
    session.notify("at most " + std::to_string(kMaxPanels) + " panels", true);
    return nullptr;
  }
  NodePtr made = make_leaf(kind, settings);
  Panel* panel = made->panel.get();
  const std::uint32_t id = made->id;
  maximized_ = 0;
  const Node* focus = find(focused_);
  if (focus != nullptr && focus->kind->name != "scene") {
    insert(std::move(made), focused_, Side::bottom);
  } else if (root_->split == PanelLayout::Split::columns &&
             root_->children.back()->kind != find_panel_kind("scene")) {
    Node& side = *root_->children.back();
    const std::uint32_t last = side.children.empty() ? side.id : side.children.back()->id;
    insert(std::move(made), last, Side::bottom);
  } else {
    made->size = 0.6;
    insert(std::move(made), root_->id, Side::right);
    if (root_->children.size() == 2) root_->children.back()->size = 0.6;
  }
  focused_ = id;
  session.reselect();
  session.edited("open a panel");
  return panel;
}

void Workspace::draw(Session& session, ImVec2 at, ImVec2 size) {
  Node* only = find(maximized_);
  if (only != nullptr) {
    draw_leaf(session, *only, at, size);
  } else {
    draw_node(session, *root_, at, size);
  }
  apply(session);
}

void Workspace::draw_node(Session& session, Node& node, ImVec2 at, ImVec2 size) {
  if (node.split == PanelLayout::Split::none) return draw_leaf(session, node, at, size);
  const bool columns = node.split == PanelLayout::Split::columns;
  const float gap = std::round(session.theme().px(kGap));
  const float length = columns ? size.x : size.y;
  const float room = length - gap * static_cast<float>(node.children.size() - 1);
  double sum = 0;
  for (const NodePtr& child : node.children) sum += child->size;
  double before = 0;
  float start = 0;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    Node& child = *node.children[i];
    before += child.size;
    const float end =
        std::round(room * static_cast<float>(before / sum)) + gap * static_cast<float>(i);
    const float span = std::max(end - start, 1.F);
    const ImVec2 place = columns ? ImVec2(at.x + start, at.y) : ImVec2(at.x, at.y + start);
    draw_node(session, child, place, columns ? ImVec2(span, size.y) : ImVec2(size.x, span));
    start = end + gap;
    if (i + 1 == node.children.size()) continue;
    // The splitter.
    ImGui::SetCursorScreenPos(columns ? ImVec2(at.x + end, at.y) : ImVec2(at.x, at.y + end));
    ImGui::PushID(static_cast<int>(child.id));
    ImGui::InvisibleButton("splitter", columns ? ImVec2(gap, size.y) : ImVec2(size.x, gap));
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
      ImGui::SetMouseCursor(columns ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
      const ImVec2 low = ImGui::GetItemRectMin();
      const ImVec2 high = ImGui::GetItemRectMax();
      ImGui::GetWindowDrawList()->AddRectFilled(low, high, fade(session.theme().accent, 0.5F),
                                                gap / 2);
    }
    Node& next = *node.children[i + 1];
    if (ImGui::IsItemActive()) {
      const double moved =
          static_cast<double>(columns ? ImGui::GetIO().MouseDelta.x : ImGui::GetIO().MouseDelta.y);
      const double least = std::min(
          static_cast<double>(session.theme().px(kSmallest)) * sum / static_cast<double>(room),
          std::min(child.size, next.size));
      const double shift = std::clamp(moved * sum / static_cast<double>(room), least - child.size,
                                      next.size - least);
      child.size += shift;
      next.size -= shift;
    }
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) {
      child.size = next.size = (child.size + next.size) / 2;
    }
    if (ImGui::IsItemDeactivated()) session.edited("move a splitter");
    ImGui::PopID();
  }
}

void Workspace::draw_leaf(Session& session, Node& node, ImVec2 at, ImVec2 size) {
  const Theme& theme = session.theme();
  ImGui::SetCursorScreenPos(at);
  ImGui::PushID(static_cast<int>(node.id));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  constexpr int kFlags = ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
  const bool flush = node.kind->name == "scene";
  const float title = std::round(theme.px(kTitle));
  // The picture covers the panel below its title.
  if (flush) ImGui::PushStyleColor(ImGuiCol_ChildBg, 0);
  ImGui::BeginChild("panel", size, false, kFlags);
  if (flush) {
    ImGui::PopStyleColor();
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + size.x, at.y + title}, theme.surface,
                                              ImGui::GetStyle().ChildRounding,
                                              ImDrawFlags_RoundCornersTop);
  }
  if (ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows)) focused_ = node.id;
  draw_title(session, node, size.x);
  ImGui::SetCursorPos({0, title});
  const float pad = flush ? 0 : theme.px(8);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(pad, flush ? 0 : theme.px(6)));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0);
  ImGui::BeginChild(
      "body", {size.x, std::max(size.y - title, 1.F)}, !flush,
      ImGuiWindowFlags_AlwaysUseWindowPadding |
          (flush ? ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse : 0));
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  if (!node.problem.empty()) error_note(theme, node.problem);
  node.panel->draw(session);
  ImGui::EndChild();
  ImGui::EndChild();
  ImGui::PopStyleVar();
  draw_drop(session, node, at, size);
  ImGui::PopID();
}

void Workspace::draw_title(Session& session, Node& node, float width) {
  const Theme& theme = session.theme();
  const float height = std::round(theme.px(kTitle));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = height - theme.px(5);
  const float buttons = side * 3 + theme.px(10);
  ImGui::InvisibleButton("title", {std::max(width - buttons, 1.F), height});
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) {
    maximized_ = maximized_ == node.id ? 0 : node.id;
    session.reselect();
  }
  if (maximized_ == 0 && ImGui::BeginDragDropSource()) {
    ImGui::SetDragDropPayload(kPanelPayload, &node.id, sizeof(node.id));
    ImGui::TextUnformatted(std::string(node.kind->title).c_str());
    ImGui::EndDragDropSource();
  }
  drop_channel([&](const std::string& channel, const std::string& field) {
    node.panel->accept(session, channel, field);
  });
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool focused = focused_ == node.id;
  ImFont* font = theme.fonts.small;
  const float baseline = at.y + (height - font->FontSize) / 2;
  const ImVec2 box =
      font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, std::string(node.kind->title).c_str());
  list.PushClipRect(at, {at.x + std::max(width - buttons, 1.F), at.y + height}, true);
  list.AddText(font, font->FontSize, {at.x + theme.px(10), baseline},
               focused ? theme.text : theme.dim, std::string(node.kind->title).c_str());
  const std::string subject = node.panel->subject();
  if (!subject.empty()) {
    list.AddText(font, font->FontSize, {at.x + theme.px(18) + box.x, baseline}, theme.faint,
                 subject.c_str());
  }
  list.PopClipRect();
  ImGui::SetCursorScreenPos({at.x + width - buttons, at.y + theme.px(3)});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(theme.px(1), 0));
  if (icon_button(theme, "menu", Icon::menu, "Panel menu", false, side)) {
    ImGui::OpenPopup("panel menu");
  }
  ImGui::SameLine();
  if (icon_button(theme, "max", Icon::maximize,
                  maximized_ == node.id ? "Show all panels" : "Fill the window",
                  maximized_ == node.id, side)) {
    maximized_ = maximized_ == node.id ? 0 : node.id;
    session.reselect();
  }
  ImGui::SameLine();
  if (icon_button(theme, "close", Icon::close, "Close", false, side)) close_ = node.id;
  ImGui::PopStyleVar();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(8), theme.px(8)));
  draw_menu(session, node);
  ImGui::PopStyleVar();
}

void Workspace::draw_menu(Session& session, Node& node) {
  if (!ImGui::BeginPopup("panel menu")) return;
  const auto kinds = [&](const char* title, Side side) {
    if (!ImGui::BeginMenu(title)) return;
    for (const PanelKind& kind : panel_kinds()) {
      if (ImGui::MenuItem(std::string(kind.title).c_str())) {
        add_kind_ = kind.name;
        target_ = node.id;
        side_ = side;
      }
      tooltip(kind.help);
    }
    ImGui::EndMenu();
  };
  kinds("Split right", Side::right);
  kinds("Split below", Side::bottom);
  kinds("Replace by", Side::middle);
  ImGui::Separator();
  if (ImGui::MenuItem("Close")) close_ = node.id;
  ImGui::EndPopup();
  (void)session;
}

/// Shows where a dragged panel would go, and takes it there.
void Workspace::draw_drop(Session& session, Node& node, ImVec2 at, ImVec2 size) {
  const ImGuiPayload* payload = ImGui::GetDragDropPayload();
  if (payload == nullptr || !payload->IsDataType(kPanelPayload)) return;
  std::uint32_t dragged = 0;
  std::copy_n(static_cast<const char*>(payload->Data), sizeof(dragged),
              reinterpret_cast<char*>(&dragged));
  if (dragged == node.id) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float x = (mouse.x - at.x) / size.x;
  const float y = (mouse.y - at.y) / size.y;
  if (x < 0 || x >= 1 || y < 0 || y >= 1) return;
  const float edge = std::min({x, 1 - x, y, 1 - y});
  const Side side = edge > 0.3F     ? Side::middle
                    : edge == x     ? Side::left
                    : edge == 1 - x ? Side::right
                    : edge == y     ? Side::top
                                    : Side::bottom;
  ImVec2 low = at;
  ImVec2 high{at.x + size.x, at.y + size.y};
  if (side == Side::left) high.x = at.x + size.x / 2;
  if (side == Side::right) low.x = at.x + size.x / 2;
  if (side == Side::top) high.y = at.y + size.y / 2;
  if (side == Side::bottom) low.y = at.y + size.y / 2;
  ImGui::GetForegroundDrawList()->AddRectFilled(low, high, fade(session.theme().accent, 0.25F),
                                                session.theme().px(5));
  if (ImGui::IsMouseReleased(0)) {
    move_ = dragged;
    target_ = node.id;
    side_ = side;
  }
}

void Workspace::apply(Session& session) {
  bool changed = false;
  if (!add_kind_.empty() && count() < kMaxPanels) {
    NodePtr made = make_leaf(add_kind_, {});
    if (side_ == Side::middle) {
      if (Node* node = find(target_)) {
        made->size = node->size;
        made->id = node->id;
        *node = std::move(*made);
      }
    } else {
      insert(std::move(made), target_, side_);
    }
    changed = true;
  } else if (move_ != 0) {
    if (side_ == Side::middle) {
      Node* a = find(move_);
      Node* b = find(target_);
      if (a != nullptr && b != nullptr) {
        std::swap(*a, *b);
        std::swap(a->size, b->size);
      }
    } else if (NodePtr moved = take(move_)) {
      insert(std::move(moved), target_, side_);
    }
    changed = true;
  } else if (close_ != 0) {
    if (!take(close_)) session.notify("the last panel stays", false);
    if (maximized_ == close_) maximized_ = 0;
    changed = true;
  }
  add_kind_.clear();
  move_ = close_ = target_ = 0;
  if (!changed) return;
  session.reselect();
  session.edited("change the panels");
}

}  // namespace hyphos::view
