// A process that service_test.cpp starts and kills: `service_peer server|client|goal DOMAIN`.
#include <string_view>
#include <vector>

#include "hyphos/hyphos.hpp"
#include "tests/node/number.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  hyphos::RuntimeOptions options;
  options.domain = argv[2];
  options.process = argv[1];
  const auto node = hyphos::Node::open("peer", options).or_throw();
  if (std::string_view(argv[1]) == "server") {
    node.service<Number, Number>("square",
                                 [](const Number& n) { return Number{n.value * n.value}; });
    std::vector<hyphos::Responder<Number>> kept;  // for a serial callback: one at a time
    node.service<Number, Number>(
        "never", [&kept](const hyphos::Message<Number>&, const hyphos::Responder<Number>& r) {
          kept.push_back(r);
        });
    std::vector<hyphos::GoalHandle<Number, Words, Number>> goals;
    node.action<Number, Words, Number>(
        "count", {},
        [&goals](const hyphos::GoalHandle<Number, Words, Number>& goal) { goals.push_back(goal); });
    return node.spin();
  }
  if (std::string_view(argv[1]) == "goal") {
    const auto client = node.action_client<Number, Words, Number>("count");
    (void)client.send({1}).result(hyphos::Duration::from_seconds(3600));
    return 0;
  }
  const auto never = node.client<Number, Number>("never");
  (void)never.call({1}, hyphos::Duration::from_seconds(3600));
  return 0;
}
