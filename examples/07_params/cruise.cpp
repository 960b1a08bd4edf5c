// Parameters: declared with unit and range, read in a callback, changed by any process at run time.
#include <cstdio>

#include <hyphos/hyphos.hpp>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("cruise", argc, argv).or_throw();
  const hyphos::Params params = node.params();
  const auto speed = params.declare<double>(
      "speed", {.value = 0.5, .unit = "m/s", .description = "how fast to go", .range = {0, 2}});
  const auto limit = params.declare<double>("limit", {.value = 1, .unit = "m/s", .range = {0, 2}});
  params.declare<std::string>("mode", {.value = "calm", .choices = {"calm", "brisk"}});

  // Checks parameters that depend on each other, before any of them changes.
  params.check([](const hyphos::ParamSet& next) {
    return next.get<double>("speed") <= next.get<double>("limit") ? "" : "speed is above limit";
  });
  speed.watch([](double now) {
    std::printf("speed is %.1f now\n", now);
    std::fflush(stdout);
  });
  // An atomic load: no lock, no look-up.
  node.every(hyphos::Duration::from_ms(10), [=, way = 0.0]() mutable { way += *speed * 0.01; });
  return node.spin();
}
