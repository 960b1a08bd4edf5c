#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/msgs/geometry.pb.h"
#include "hyphos/publisher.hpp"
#include "view/scene/camera.hpp"
#include "view/scene/painter.hpp"

namespace hyphos::view {

class Session;

/// The effect of the left mouse button in the 3-D view.
enum class Tool : std::uint8_t { move, select, goal, initial, point, measure };

struct ToolInfo {
  Tool tool;
  std::string_view title;
  std::string_view help;
};
[[nodiscard]] const std::vector<ToolInfo>& tool_infos();

/// The tools that publish or measure. Positions are in the fixed frame.
///
/// A publisher opens when its tool is chosen, so that subscribers know it at the click.
class Tools {
 public:
  std::string goal_channel = "goal_pose";
  std::string initial_channel = "initialpose";
  std::string point_channel = "clicked_point";

  [[nodiscard]] Tool tool() const { return tool_; }
  void choose(Session& session, Tool tool);
  /// True if the tool takes the left button from the camera.
  [[nodiscard]] bool takes_mouse() const { return tool_ != Tool::move; }

  /// The pointer is at `at`. Nothing where it hits neither a thing nor the ground.
  void press(Session& session, const std::optional<Vec3>& at, const Ray& ray);
  void drag(const Ray& ray);
  void release(Session& session);
  void hover(const std::optional<Vec3>& at);
  /// Ends an unfinished measurement or pose, then returns to Tool::move. False if it was there.
  bool escape();

  /// Releases the publishers, before their node ends. A tool that publishes must be chosen again.
  void forget();

  /// Draws the pose or the ruler. True if it drew something.
  bool paint(Painter& painter) const;
  [[nodiscard]] std::optional<double> measured() const;
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

 private:
  void publish_pose(Session& session);
  void publish_point(Session& session, const Vec3& at);

  Tool tool_ = Tool::move;
  std::optional<Vec3> from_;
  std::optional<Vec3> to_;
  bool measuring_ = false;
  std::uint64_t revision_ = 0;
  Publisher<msgs::PoseStamped> goal_;
  Publisher<msgs::PoseWithCovarianceStamped> initial_;
  Publisher<msgs::PointStamped> point_;
  bool has_goal_ = false;
  bool has_initial_ = false;
  bool has_point_ = false;
};

}  // namespace hyphos::view
