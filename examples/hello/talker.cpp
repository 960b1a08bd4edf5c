#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/std.pb.h>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("talker", argc, argv).or_throw();
  auto greeting = node.publisher<hyphos::msgs::String>("greeting");
  hyphos::msgs::String text;
  text.set_data("hello");
  node.every(hyphos::Duration::from_ms(500), [=] { greeting.publish(text); });
  return node.spin();
}
