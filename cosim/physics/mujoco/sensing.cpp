#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "cosim/physics/mujoco/physics.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kGravity = 9.81;
constexpr double kNothing = std::numeric_limits<double>::infinity();

Error missing(NodeId robot) {
  return {Code::not_found, "there is no robot " + std::to_string(robot), "mujoco"};
}

}  // namespace

/// The world has the other robots that a ray may reach, and not the robot itself.
Result<std::vector<double>> MujocoPhysics::cast(NodeId robot, const Rays& rays) {
  if (robot >= robots_.size()) return missing(robot);
  const Pose& pose = poses_[robot];
  const Vec3 from = pose.position + turned(pose.orientation, rays.mount);
  std::vector<std::uint32_t> others;
  for (std::uint32_t other = 0; other < robots_.size(); ++other) {
    const double near = rays.range_m + reach_[other];
    if (other != robot && length(poses_[other].position - from) <= near) others.push_back(other);
  }
  auto world = gather(others);
  if (!world) return world.error();
  (*world)->place(group_);
  const mjModel& model = (*world)->model();
  mjData& data = (*world)->data();
  mj_kinematics(&model, &data);
  std::vector<double> distances;
  distances.reserve(rays.directions.size());
  const std::array<mjtNum, 3> origin{from.x, from.y, from.z};
  for (const Vec3& direction : rays.directions) {
    const Vec3 along = turned(pose.orientation, direction);
    const std::array<mjtNum, 3> vector{along.x, along.y, along.z};
    int geometry = -1;
    const double found =
        mj_ray(&model, &data, origin.data(), vector.data(), nullptr, 1, -1, &geometry);
    distances.push_back(found < 0 || found > rays.range_m ? kNothing : found);
  }
  return distances;
}

/// The change of the velocity in the last step, and gravity.
Result<Vec3> MujocoPhysics::felt(NodeId robot) {
  if (robot >= robots_.size()) return missing(robot);
  const Pose& pose = poses_[robot];
  Vec3 acceleration{0, 0, kGravity};
  if (steps_ > 0) {
    acceleration = acceleration + (pose.velocity - before_[robot]) * (1 / options_.step.seconds());
  }
  return turned_back(pose.orientation, acceleration);
}

/// All robots are in the world of pictures, so that it never changes.
Result<Picture> MujocoPhysics::look(NodeId robot, const View& view) {
  if (robot >= robots_.size()) return missing(robot);
  std::vector<std::uint32_t> all(robots_.size());
  std::iota(all.begin(), all.end(), 0U);
  arrange(all);
  if (pictures_ == nullptr) {
    auto made = Pictures::make({&options_, terrain_ ? &*terrain_ : nullptr}, models_, counts_);
    if (!made) return made.error();
    pictures_ = std::move(*made);
  }
  const auto own = std::ranges::find(group_robots_, robot) - group_robots_.begin();
  return pictures_->draw(group_, static_cast<std::size_t>(own), poses_[robot], view);
}

}  // namespace hyphos::cosim
