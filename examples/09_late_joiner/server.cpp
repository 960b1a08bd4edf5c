// Publishes each place once, on a latched channel: a late joiner receives the last one at once.
#include <cstdio>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/std.pb.h>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("server", argc, argv).or_throw();
  hyphos::Policy latched;
  latched.latched = true;
  auto place = node.publisher<hyphos::msgs::String>("place", {.policy = latched});
  const auto say = [=](const char* where) {
    hyphos::msgs::String text;
    text.set_data(where);
    place.publish(std::move(text));
    std::printf("in the %s\n", where);
    std::fflush(stdout);
  };
  say("hall");
  say("kitchen");  // a late joiner receives this value
  node.subscribe<hyphos::msgs::Empty>("go_on", {.policy = latched},
                                      [=](const auto&) { say("garden"); });
  return node.spin();
}
