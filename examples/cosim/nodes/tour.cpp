// Drives its robot along a closed tour of points.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/nav.pb.h>

namespace {

using hyphos::msgs::Odometry;
using hyphos::msgs::Twist;

// The reason why a message cannot be used, or "" if it can.
std::string_view unusable(const hyphos::msgs::Pose& pose) {
  const bool finite = std::isfinite(pose.position().x()) && std::isfinite(pose.position().y());
  if (!finite) return "the position is not finite";
  // A robot that does not tip over has z or w different from 0. All zeros mean unset.
  const double norm = std::hypot(pose.orientation().z(), pose.orientation().w());
  return norm > 0.1 && std::isfinite(norm) ? "" : "the orientation is unset or not finite";
}

class Tour {
 public:
  explicit Tour(const hyphos::Node& node)
      : refusals_(node),
        points_(node.params()
                    .declare<std::vector<double>>(
                        "points", {.value = {20, 0, 20, 20, 0, 20, 0, 0},
                                   .unit = "m",
                                   .description = "x and y of each",
                                   .read_only = true,
                                   .check =
                                       [](const std::vector<double>& points) {
                                         const bool pairs = points.size() % 2 == 0;
                                         return pairs && !points.empty() ? ""
                                                                         : "not pairs of x and y";
                                       }})
                    .get()),
        speed_(node.param("speed", 1.0)),
        command_(node.publisher<Twist>("cmd_vel")) {
    node.subscribe<Odometry>("odom", hyphos::serial, [this](const auto& odometry) {
      const hyphos::msgs::Pose& pose = odometry->pose().pose();
      if (!refusals_.refuse("odom", unusable(pose))) drive(pose);
    });
  }

 private:
  void drive(const hyphos::msgs::Pose& pose) {
    double dx = points_[next_] - pose.position().x();
    double dy = points_[next_ + 1] - pose.position().y();
    if (std::hypot(dx, dy) < kNear) next_ = (next_ + 2) % points_.size();
    dx = points_[next_] - pose.position().x();
    dy = points_[next_ + 1] - pose.position().y();
    const double yaw = 2 * std::atan2(pose.orientation().z(), pose.orientation().w());
    const double off = std::remainder(std::atan2(dy, dx) - yaw, 2 * std::numbers::pi);
    Twist twist;
    twist.mutable_linear()->set_x(speed_ * std::max(0.0, std::cos(off)));
    twist.mutable_angular()->set_z(std::clamp(2 * off, -1.0, 1.0));
    command_.publish(twist);
  }

  static constexpr double kNear = 1;  // m
  hyphos::Refusals refusals_;
  std::vector<double> points_;
  double speed_;
  hyphos::Publisher<Twist> command_;
  std::size_t next_ = 0;
};

}  // namespace

HYPHOS_NODE(Tour)
