// Looks up the laser in the map. The answer joins two transforms: laser to base, and base to map.
#include <cmath>
#include <cstdio>

#include <hyphos/hyphos.hpp>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("watcher", argc, argv).or_throw();
  auto transforms = node.transforms();
  node.every(hyphos::Duration::from_ms(100), [=] {
    const auto found =
        transforms.get("map", "laser", hyphos::wall_now(), hyphos::Duration::from_ms(1000));
    if (!found) {
      std::fprintf(stderr, "%s\n", found.error().to_string().c_str());
      return;
    }
    const auto [x, y, z] = found->translation;
    std::printf("the laser is %.2f m from the origin, %.1f m high\n", std::hypot(x, y), z);
    std::fflush(stdout);
  });
  return node.spin();
}
