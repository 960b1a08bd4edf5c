// A robot that drives around the origin of the map at a distance of two metres. A laser is at its
// right side.
#include <cmath>
#include <numbers>

#include <hyphos/hyphos.hpp>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("robot", argc, argv).or_throw();
  auto transforms = node.transforms();
  transforms.set_static({.parent = "base", .child = "laser", .translation = {0, -0.3, 0.2}})
      .or_throw();
  node.every(hyphos::Duration::from_ms(20), [=] {
    const hyphos::Time now = hyphos::wall_now();
    const double angle = std::remainder(static_cast<double>(now.ns) * 0.5e-9, 2 * std::numbers::pi);
    (void)transforms.set(
        {.parent = "map",
         .child = "base",
         .stamp = now,
         .translation = {2 * std::cos(angle), 2 * std::sin(angle), 0},
         .rotation = hyphos::to_quaternion({.yaw = angle + std::numbers::pi / 2})});
  });
  return node.spin();
}
