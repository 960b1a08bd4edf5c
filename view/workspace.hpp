#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "view/layout/layout.hpp"
#include "view/panels/panel.hpp"

struct ImVec2;

namespace hyphos::view {

class Session;
struct Theme;

/// The panels of the window in a tree of splitters.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// Panels whose kind and settings stay the same keep their contents. A setting that a panel
  /// refuses is an error line in that panel.
  void set(const PanelLayout& layout);
  [[nodiscard]] PanelLayout get() const;
  /// Removes all panels, as an end.
  void clear();

  /// Draws all panels into a rectangle of the current ImGui window.
  void draw(Session& session, ImVec2 at, ImVec2 size);
  /// Adds a panel beside the focused one, or below the last one of the right column.
  Panel* open(Session& session, std::string_view kind, const Settings& settings);
  void for_each(const std::function<void(Panel&)>& each) const;
  /// True if the panel is drawn: none or itself is maximised.
  [[nodiscard]] bool visible(const Panel& panel) const;
  [[nodiscard]] std::size_t count() const;

 private:
  struct Node;
  using NodePtr = std::unique_ptr<Node>;
  enum class Side : std::uint8_t { left, right, top, bottom, middle };

  NodePtr build(const PanelLayout& layout, std::vector<NodePtr>& pool);
  static void collect(NodePtr node, std::vector<NodePtr>& pool);
  static PanelLayout describe(const Node& node);
  static void visit(const Node& node, const std::function<void(Panel&)>& f);

  void draw_node(Session& session, Node& node, ImVec2 at, ImVec2 size);
  void draw_leaf(Session& session, Node& node, ImVec2 at, ImVec2 size);
  void draw_title(Session& session, Node& node, float width);
  void draw_menu(Session& session, Node& node);
  void draw_drop(Session& session, Node& node, ImVec2 at, ImVec2 size);
  void apply(Session& session);

  Node* find(std::uint32_t id) const;
  static Node* find(Node& node, std::uint32_t id);
  Node* parent_of(Node& node, const Node& child) const;
  NodePtr take(std::uint32_t id);
  void tidy(Node& node);
  void insert(NodePtr added, std::uint32_t beside, Side side);
  NodePtr make_leaf(std::string_view kind, const Settings& settings);

  std::uint32_t next_id_ = 1;  // before root_, which takes the first
  NodePtr root_;
  std::uint32_t focused_ = 0;
  std::uint32_t maximized_ = 0;
  // Changes of the tree, applied after it was drawn.
  std::uint32_t close_ = 0;
  std::uint32_t move_ = 0;
  std::uint32_t target_ = 0;
  Side side_ = Side::middle;
  std::string add_kind_;
};

}  // namespace hyphos::view
