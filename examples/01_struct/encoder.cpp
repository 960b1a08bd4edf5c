// Publishes a struct ten times a second.
#include "wheel.hpp"
#include <hyphos/hyphos.hpp>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("encoder", argc, argv).or_throw();
  auto wheel = node.publisher<Wheel>("wheel");
  node.every(hyphos::Duration::from_ms(100), [=] { wheel.publish({.id = 3, .speed_m_s = 0.5}); });
  return node.spin();
}
