// Starts late and receives the current place at once. Then it asks the server to go on.
#include <cstdio>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/std.pb.h>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("late", argc, argv).or_throw();
  hyphos::Policy latched;
  latched.latched = true;
  // Latched as well: the server may not have found this publisher yet.
  auto go_on = node.publisher<hyphos::msgs::Empty>("go_on", {.policy = latched});
  node.subscribe<hyphos::msgs::String>(
      "place", {.policy = latched}, [=](const hyphos::Message<hyphos::msgs::String>& place) {
        std::printf("%s, %s\n", place->data().c_str(), place.replayed() ? "as before" : "new");
        std::fflush(stdout);
        if (place.replayed()) go_on.publish(hyphos::msgs::Empty());
      });
  return node.spin();
}
