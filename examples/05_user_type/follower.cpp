// Receives it. Inside one process it would get the publisher's object itself.
#include <cstdio>

#include "route.hpp"

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("follower", argc, argv).or_throw();
  node.subscribe<Route>("route", hyphos::serial, [](const hyphos::Message<Route>& route) {
    if (route->points_m.empty()) return;
    std::printf("%zu points, the last at %.1f m\n", route->points_m.size(),
                static_cast<double>(route->points_m.back()));
    std::fflush(stdout);
  });
  return node.spin();
}
