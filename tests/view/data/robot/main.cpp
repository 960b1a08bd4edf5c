#include <iostream>
#include <string>

#include "hyphos/hyphos.hpp"
#include <hyphos/msgs/std.pb.h>

// The robot of the tests of live sources: view_test_robot DOMAIN TYPE. It publishes a latched value
// of TYPE ("int", "text") on `value`, and the next number on `numbers` for each line of stdin. It
// ends with stdin.

int main(int argc, char** argv) {
  using namespace hyphos;
  if (argc != 3) return 2;
  RuntimeOptions options;
  options.domain = argv[1];
  Node node = Node::open("robot", options).or_throw();
  PublisherOptions latched;
  latched.policy = Policy{};
  latched.policy->latched = true;
  Publisher<msgs::Int32> number;
  Publisher<msgs::String> text;
  if (std::string(argv[2]) == "int") {
    number = node.publisher<msgs::Int32>("value", latched);
    number.publish(msgs::Int32());
  } else {
    text = node.publisher<msgs::String>("value", latched);
    msgs::String value;
    value.set_data("ready");
    text.publish(value);
  }
  auto numbers = node.publisher<msgs::Int32>("numbers");
  msgs::Int32 next;
  for (std::string line; std::getline(std::cin, line);) {
    next.set_data(next.data() + 1);
    numbers.publish(next);
  }
  node.close();
  return 0;
}
