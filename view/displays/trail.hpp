#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "view/displays/display.hpp"

namespace hyphos::view {

/// The style of a pose, and the poses before it: axes, arrows or a line.
///
/// With axes this is the trajectory of HyperGraph ROS, figure 6: many overlapping frames.
class Trail {
 public:
  void add_properties(Properties& properties, const std::string& shape);
  /// Draws a pose now.
  void paint(Painter& painter, const Pose& pose) const;
  /// Adds a pose to the past, if it is `spacing` away from the last one.
  void add(Store& store, const Pose& pose, std::int64_t time_ns, bool visible);
  void settings_changed();
  void clear();
  void set_visible(bool visible);
  /// Removes the poses that are too old. True if there were any.
  bool expire(std::int64_t now_ns);
  void move(const Pose& new_from_old);

  [[nodiscard]] Retained* set() const { return set_.get(); }
  [[nodiscard]] std::int64_t history_ns() const;
  [[nodiscard]] Color color() const { return color_; }

 private:
  [[nodiscard]] bool keeps() const { return history_s_ != 0; }

  std::string shape_;
  Color color_{255, 170, 60, 255};
  double length_ = 0.5;
  double width_ = 2;
  double history_s_ = 0;
  double spacing_ = 0.1;
  std::unique_ptr<Retained> set_;
  bool has_last_ = false;
  Pose last_ = Pose::Identity();
};

}  // namespace hyphos::view
