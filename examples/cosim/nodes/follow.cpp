// Keeps its robot at a distance from another robot, which sends its position. After a second
// without a position the robot stops.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/nav.pb.h>

namespace {

using hyphos::msgs::Odometry;
using hyphos::msgs::PointStamped;
using hyphos::msgs::Twist;

// The reason why a message cannot be used, or "" if it can.
std::string_view unusable(const Odometry& odometry) {
  const hyphos::msgs::Point& here = odometry.pose().pose().position();
  const hyphos::msgs::Quaternion& turned = odometry.pose().pose().orientation();
  if (!std::isfinite(here.x()) || !std::isfinite(here.y())) return "the position is not finite";
  // A robot that does not tip over has z or w different from 0. All zeros mean unset.
  const double norm = std::hypot(turned.z(), turned.w());
  return norm > 0.1 && std::isfinite(norm) ? "" : "the orientation is unset or not finite";
}

std::string_view unusable(const PointStamped& position) {
  if (position.header().stamp_ns() < 0) return "the stamp is negative";
  const hyphos::msgs::Point& there = position.point();
  const bool finite = std::isfinite(there.x()) && std::isfinite(there.y());
  return finite ? "" : "the position is not finite";
}

class Follow {
 public:
  explicit Follow(const hyphos::Node& node)
      : refusals_(node),
        clock_(node.clock()),
        distance_m_(node.param("distance_m", 5.0)),
        most_speed_(node.param("most_speed", 3.0)),
        command_(node.publisher<Twist>("cmd_vel")) {
    node.subscribe<Odometry>("odom", hyphos::serial, [this](const auto& odometry) {
      if (refusals_.refuse("odom", unusable(*odometry))) return;
      here_ = odometry->pose().pose().position();
      const auto& turned = odometry->pose().pose().orientation();
      yaw_ = 2 * std::atan2(turned.z(), turned.w());
    });
    node.subscribe<PointStamped>("ahead/position", hyphos::serial, [this](const auto& position) {
      if (refusals_.refuse("ahead/position", unusable(*position))) return;
      there_ = position->point();
      heard_ns_ = position->header().stamp_ns();
    });
    node.every(hyphos::Duration::from_ms(50), [this] { drive(); });
  }

 private:
  static constexpr std::int64_t kFreshNs = 1'000'000'000;

  void drive() {
    Twist twist;
    // A stamp of the future does not count as fresh either.
    const std::int64_t age_ns = clock_.now().ns - heard_ns_;
    const bool fresh = heard_ns_ >= 0 && age_ns < kFreshNs && age_ns > -kFreshNs;
    if (fresh) {
      const double dx = there_.x() - here_.x();
      const double dy = there_.y() - here_.y();
      const double off = std::remainder(std::atan2(dy, dx) - yaw_, 2 * std::numbers::pi);
      const double gap = std::hypot(dx, dy) - distance_m_;
      twist.mutable_linear()->set_x(std::clamp(gap, 0.0, most_speed_) *
                                    std::max(0.0, std::cos(off)));
      twist.mutable_angular()->set_z(std::clamp(2 * off, -2.0, 2.0));
    }
    command_.publish(twist);
  }

  hyphos::Refusals refusals_;
  hyphos::Clock clock_;
  double distance_m_;
  double most_speed_;
  hyphos::Publisher<Twist> command_;
  hyphos::msgs::Point here_;
  hyphos::msgs::Point there_;
  double yaw_ = 0;
  std::int64_t heard_ns_ = -1;
};

}  // namespace

HYPHOS_NODE(Follow)
