#pragma once

#include <string>
#include <utility>
#include <vector>

#include "view/layout/layout.hpp"

namespace hyphos::view {

/// Undo and redo of layouts. At most kMost steps.
class History {
 public:
  static constexpr std::size_t kMost = 100;

  void reset(Layout now) {
    steps_.clear();
    steps_.push_back({"", std::move(now)});
    at_ = 0;
  }
  /// The layout after `action`. Ignored if nothing changed. The camera alone is no step.
  void record(std::string action, const Layout& now);
  [[nodiscard]] bool can_undo() const { return at_ > 0; }
  [[nodiscard]] bool can_redo() const { return at_ + 1 < steps_.size(); }
  /// The name of the action that undo() or redo() concerns.
  [[nodiscard]] const std::string& undo_name() const { return steps_[at_].action; }
  [[nodiscard]] const std::string& redo_name() const { return steps_[at_ + 1].action; }
  const Layout& undo() { return steps_[--at_].layout; }
  const Layout& redo() { return steps_[++at_].layout; }

 private:
  struct Step {
    std::string action;
    Layout layout;
  };
  std::vector<Step> steps_;
  std::size_t at_ = 0;
};

}  // namespace hyphos::view
