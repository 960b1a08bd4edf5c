// Receives a route. In the publisher's process it would receive the publisher's object itself.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "route.hpp"

// The reason why a route cannot be used, or "" if it can.
std::string_view unusable(const Route& route) {
  if (route.points_m.empty()) return "it has no points";
  const bool finite = std::ranges::all_of(route.points_m, [](float p) { return std::isfinite(p); });
  return finite ? "" : "it is not finite";
}

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("follower", argc, argv).or_throw();
  const hyphos::Refusals refusals(node);
  node.subscribe<Route>("route", hyphos::serial, [=](const hyphos::Message<Route>& route) {
    if (refusals.refuse("route", unusable(*route))) return;
    std::printf("%zu points, the last at %.1f m\n", route->points_m.size(),
                static_cast<double>(route->points_m.back()));
    std::fflush(stdout);
  });
  return node.spin();
}
