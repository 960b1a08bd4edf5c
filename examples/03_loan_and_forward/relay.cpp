// Publishes each received message on another channel: the same bytes in the same slot. The slot
// returns to its owner when the last receiver releases it.
#include <hyphos/hyphos.hpp>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("relay", argc, argv).or_throw();
  auto relayed = node.publisher<hyphos::Buffer>("relayed");
  node.subscribe<hyphos::Buffer>("raw", hyphos::serial,
                                 [=](const auto& message) { relayed.publish(message); });
  return node.spin();
}
