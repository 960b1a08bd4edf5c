#include "view/panels/tools.hpp"

#include <cmath>
#include <cstdio>

#include "hyphos/node.hpp"
#include "view/displays/scene_view.hpp"
#include "view/panels/session.hpp"
#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

constexpr Color kPose{98, 184, 128, 255};
constexpr Color kRuler{219, 167, 76, 255};
// Variances of RViz's "2D Pose Estimate": 0.5 m and 15 degrees.
constexpr double kPositionVariance = 0.25;
constexpr double kYawVariance = 0.06853891945200942;

void set_header(Session& session, const Node& node, msgs::Header& header) {
  header.set_stamp_ns(node.clock().now().ns);
  header.set_frame_id(session.scene().fixed_frame());
}

void set_pose(msgs::Pose& pose, const Vec3& at, double yaw) {
  pose.mutable_position()->set_x(at.x());
  pose.mutable_position()->set_y(at.y());
  pose.mutable_position()->set_z(at.z());
  pose.mutable_orientation()->set_z(std::sin(yaw / 2));
  pose.mutable_orientation()->set_w(std::cos(yaw / 2));
}

/// Where the ray meets the plane through `at`.
std::optional<Vec3> on_plane(const Ray& ray, const Vec3& at) { return ray.at_height(at.z()); }

}  // namespace

const std::vector<ToolInfo>& tool_infos() {
  static const std::vector<ToolInfo> infos = {
      {Tool::move, "Move", "Move the camera"},
      {Tool::select, "Inspect", "Click a thing to see its values"},
      {Tool::measure, "Measure", "Click two points to measure their distance"},
      {Tool::goal, "Goal", "Press at the goal, and drag in the direction to face"},
      {Tool::initial, "Pose", "Press at the robot's place, and drag in the direction it faces"},
      {Tool::point, "Point", "Publish the clicked point"},
  };
  return infos;
}

void Tools::choose(Session& session, Tool tool) {
  ++revision_;
  from_.reset();
  to_.reset();
  measuring_ = false;
  tool_ = tool;
  const bool publishes = tool == Tool::goal || tool == Tool::initial || tool == Tool::point;
  if (!publishes) return;
  const Node* node = session.node();
  if (node == nullptr) {
    session.notify("a recording has no robot that could receive a message", true);
    tool_ = Tool::move;
    return;
  }
  try {
    if (tool == Tool::goal && !has_goal_) {
      goal_ = node->publisher<msgs::PoseStamped>(goal_channel);
      has_goal_ = true;
    }
    if (tool == Tool::initial && !has_initial_) {
      initial_ = node->publisher<msgs::PoseWithCovarianceStamped>(initial_channel);
      has_initial_ = true;
    }
    if (tool == Tool::point && !has_point_) {
      point_ = node->publisher<msgs::PointStamped>(point_channel);
      has_point_ = true;
    }
  } catch (const Exception& error) {
    session.notify(error.what(), true);
    tool_ = Tool::move;
  }
}

void Tools::press(Session& session, const std::optional<Vec3>& at, const Ray& ray) {
  ++revision_;
  const std::optional<Vec3> place = at ? at : ray.at_height(0);
  if (!place) return;
  if (tool_ == Tool::point) return publish_point(session, *place);
  if (tool_ == Tool::measure) {
    if (!measuring_) from_ = *place;
    to_ = *place;
    measuring_ = !measuring_;
    return;
  }
  if (tool_ != Tool::goal && tool_ != Tool::initial) return;
  // A pose for a robot on the ground, also where the pointer hits a wall.
  from_ = at ? *at : *place;
  to_ = from_;
}

void Tools::drag(const Ray& ray) {
  if (!from_ || (tool_ != Tool::goal && tool_ != Tool::initial)) return;
  if (const auto at = on_plane(ray, *from_)) {
    to_ = at;
    ++revision_;
  }
}

void Tools::hover(const std::optional<Vec3>& at) {
  if (tool_ != Tool::measure || !measuring_ || !at) return;
  to_ = at;
  ++revision_;
}

void Tools::release(Session& session) {
  if (!from_ || (tool_ != Tool::goal && tool_ != Tool::initial)) return;
  publish_pose(session);
  from_.reset();
  to_.reset();
  tool_ = Tool::move;
  ++revision_;
}

bool Tools::escape() {
  if (tool_ == Tool::move && !from_) return false;
  ++revision_;
  const bool unfinished = from_.has_value();
  from_.reset();
  to_.reset();
  measuring_ = false;
  if (!unfinished) tool_ = Tool::move;
  return true;
}

void Tools::forget() {
  if (tool_ != Tool::select && tool_ != Tool::measure) {
    from_.reset();
    to_.reset();
    tool_ = Tool::move;
    ++revision_;
  }
  goal_ = {};
  initial_ = {};
  point_ = {};
  has_goal_ = has_initial_ = has_point_ = false;
}

void Tools::publish_pose(Session& session) {
  const Node* node = session.node();
  if (node == nullptr) return;
  const Vec3 way = *to_ - *from_;
  const double yaw = way.head<2>().norm() > 1e-6 ? std::atan2(way.y(), way.x()) : 0;
  Published result;
  std::string channel;
  if (tool_ == Tool::goal) {
    msgs::PoseStamped message;
    set_header(session, *node, *message.mutable_header());
    set_pose(*message.mutable_pose(), *from_, yaw);
    result = goal_.publish(std::move(message));
    channel = goal_channel;
  } else {
    msgs::PoseWithCovarianceStamped message;
    set_header(session, *node, *message.mutable_header());
    set_pose(*message.mutable_pose()->mutable_pose(), *from_, yaw);
    auto& covariance = *message.mutable_pose()->mutable_covariance();
    covariance.Resize(36, 0);
    covariance.Set(0, kPositionVariance);
    covariance.Set(7, kPositionVariance);
    covariance.Set(35, kYawVariance);
    result = initial_.publish(std::move(message));
    channel = initial_channel;
  }
  const std::string place = "(" + number_text(from_->x()) + ", " + number_text(from_->y()) + "), " +
                            number_text(std::round(yaw * 1800 / M_PI) / 10) + "°";
  session.notify(result.accepted > 0
                     ? "published " + place + " on '" + channel + "'"
                     : "published " + place + " on '" + channel + "', which has no subscriber",
                 result.accepted == 0);
}

void Tools::publish_point(Session& session, const Vec3& at) {
  const Node* node = session.node();
  if (node == nullptr || !has_point_) return;
  msgs::PointStamped message;
  set_header(session, *node, *message.mutable_header());
  message.mutable_point()->set_x(at.x());
  message.mutable_point()->set_y(at.y());
  message.mutable_point()->set_z(at.z());
  const Published result = point_.publish(std::move(message));
  const std::string place =
      "(" + number_text(at.x()) + ", " + number_text(at.y()) + ", " + number_text(at.z()) + ")";
  session.notify("published " + place + " on '" + point_channel + "'" +
                     (result.accepted > 0 ? "" : ", which has no subscriber"),
                 result.accepted == 0);
}

std::optional<double> Tools::measured() const {
  if (tool_ != Tool::measure || !from_ || !to_) return {};
  return (*to_ - *from_).norm();
}

bool Tools::paint(Painter& painter) const {
  if (!from_ || !to_) return false;
  if (tool_ == Tool::measure) {
    painter.line(*from_, *to_, kRuler, 2.5);
    for (const Vec3& end : {*from_, *to_}) {
      const Vertex vertex{static_cast<float>(end.x()), static_cast<float>(end.y()),
                          static_cast<float>(end.z()), kRuler};
      painter.points(Pose::Identity(), {&vertex, 1}, 8);
    }
    const std::string text = number_text((*to_ - *from_).norm()) + " m";
    painter.label((*from_ + *to_) / 2, text, kRuler, 16, Align::center);
    return true;
  }
  const Vec3 way = *to_ - *from_;
  const double length = std::max(way.norm(), 1e-3);
  painter.arrow(*from_, *to_, length * 0.06, length * 0.16, kPose);
  return true;
}

}  // namespace hyphos::view
