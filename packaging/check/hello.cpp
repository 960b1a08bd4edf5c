// A publisher and a subscriber in one process.
#include <cstdio>
#include <future>
#include <string>
#include <utility>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/std.pb.h>

int main() {
  auto node = hyphos::Node::open("hello").or_throw();
  std::promise<std::string> received;
  node.subscribe<hyphos::msgs::String>("greeting", hyphos::serial,
                                       [&](const auto& text) { received.set_value(text->data()); });
  hyphos::msgs::String text;
  text.set_data("hello");
  if (!node.publisher<hyphos::msgs::String>("greeting").publish(std::move(text))) return 1;
  const std::string got = received.get_future().get();
  std::puts(got.c_str());
  return got == "hello" ? 0 : 1;
}
