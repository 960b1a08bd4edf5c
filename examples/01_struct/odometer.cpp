// Receives the struct. The callback reads it in the memory where the publisher wrote it.
#include <cstdio>

#include "wheel.hpp"
#include <hyphos/hyphos.hpp>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("odometer", argc, argv).or_throw();
  node.subscribe<Wheel>("wheel", hyphos::serial, [](const hyphos::Message<Wheel>& wheel) {
    std::printf("wheel %u turns at %.1f m/s\n", wheel->id, wheel->speed_m_s);
    std::fflush(stdout);
  });
  return node.spin();
}
