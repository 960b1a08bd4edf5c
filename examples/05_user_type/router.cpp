// Publishes a type that has its own serialize and parse functions.
#include "route.hpp"

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("router", argc, argv).or_throw();
  auto route = node.publisher<Route>("route");
  node.every(hyphos::Duration::from_ms(100), [=] { route.publish(Route{{0.5F, 1.0F, 2.5F}}); });
  return node.spin();
}
