#include <cstdio>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/std.pb.h>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("listener", argc, argv).or_throw();
  node.subscribe<hyphos::msgs::String>("greeting", hyphos::serial, [](const auto& text) {
    std::puts(text->data().c_str());
    std::fflush(stdout);
  });
  return node.spin();
}
