#include <iostream>
#include <string>

#include "hyphos/hyphos.hpp"
#include <hyphos/msgs/std.pb.h>

// The robot of the tests of live sources: view_test_robot DOMAIN KIND. It publishes a latched value
// of KIND ("int", "text") on `value`, and the next number on `numbers` for each line of stdin. The
// kind "block" has a plan in which `numbers` waits for its subscribers, and prints each number that
// was sent. The kind "guest" has no plan, subscribes to `numbers`, and prints each. All end with
// stdin.

namespace {

constexpr const char* kPlan = R"(
hyphos: 1
nodes: {robot: {}}
channels: {numbers: {reliability: reliable, overflow: block, depth: 4}}
)";

int listen(const hyphos::Node& node) {
  using namespace hyphos;
  node.subscribe<msgs::Int32>("numbers", inline_, [](const Message<msgs::Int32>& number) {
    std::cout << "got " << number->data() << std::endl;
  });
  for (std::string line; std::getline(std::cin, line);) {
  }
  node.close();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hyphos;
  if (argc != 3) return 2;
  const std::string kind = argv[2];
  RuntimeOptions options;
  options.domain = argv[1];
  if (kind == "block") options.plan = kPlan;
  Node node = Node::open("robot", options).or_throw();
  if (kind == "guest") return listen(node);
  PublisherOptions latched;
  latched.policy = Policy{};
  latched.policy->latched = true;
  Publisher<msgs::Int32> number;
  Publisher<msgs::String> text;
  if (kind == "int") {
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
    if (kind == "block") std::cout << "sent " << next.data() << std::endl;
  }
  node.close();
  return 0;
}
