#include <gtest/gtest.h>

#include "hyphos/plan.hpp"
#include "tests/node/harness.hpp"

/// A transport that was added with one file and one line (tests/transport/sample_transport.cpp and
/// CMakeLists.txt) carries the channels of running processes as soon as a plan names it.
namespace hyphos::test {
namespace {

constexpr const char* kPlan = R"(hyphos: 1
robot: test
processes: {body: {nodes: [eye]}, brain: {nodes: [mind]}}
nodes: {eye: {}, mind: {}}
channels:
  seen: {publishers: [eye], subscribers: [mind], transport: sample}
  felt: {publishers: [eye], subscribers: [mind]}
)";

std::string carried_by(const std::string& domain, const std::string& channel, bool publisher) {
  for (const ProcessInfo& process : inspect(domain).or_throw()) {
    for (const EndpointInfo& end : process.endpoints) {
      if (end.channel == channel && end.is_publisher == publisher) return end.transports;
    }
  }
  return "nothing";
}

TEST(NewTransport, plans_can_name_it_and_their_processes_use_it) {
  Arrivals seen;
  Arrivals felt;
  const std::string domain = fresh_domain();
  const PlanFile file(kPlan);
  RuntimeOptions options = file.options("body");
  options.domain = domain;
  Runtime body = Runtime::open(options).or_throw();
  options.process = "brain";
  Runtime brain = Runtime::open(options).or_throw();
  const Node eye = body.node("eye").or_throw();
  const Node mind = brain.node("mind").or_throw();
  mind.subscribe<Number>("seen", serial, [&](const Message<Number>& m) { seen.add(m->value); });
  mind.subscribe<Number>("felt", serial, [&](const Message<Number>& m) { felt.add(m->value); });
  const auto see = eye.publisher<Number>("seen");
  const auto feel = eye.publisher<Number>("felt");
  ASSERT_TRUE(eventually([&] { return see.listeners() == 1 && feel.listeners() == 1; }));
  for (std::int64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(see.publish({i}));
    ASSERT_TRUE(feel.publish({10 * i}));
  }
  ASSERT_TRUE(seen.wait_for(3));
  ASSERT_TRUE(felt.wait_for(3));
  EXPECT_EQ(seen.values(), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(felt.values(), (std::vector<std::int64_t>{10, 20, 30}));
  // The transport of a channel may be reported after its first messages.
  const auto uses = [&](const std::string& channel, bool publisher, const std::string& transport) {
    return eventually([&] { return carried_by(domain, channel, publisher) == transport; });
  };
  EXPECT_TRUE(uses("seen", true, "sample"));
  EXPECT_TRUE(uses("seen", false, "sample"));
  EXPECT_TRUE(uses("felt", true, "shm"));
}

TEST(NewTransport, it_is_known_wherever_plans_are_read) {
  const Plan plan = parse_plan(kPlan, "robot.yaml").or_throw();
  EXPECT_EQ(route(plan, *plan.channel("seen"), "body", "brain"), "sample");
  EXPECT_NE(to_json(plan).find("\"transport\": \"sample\""), std::string::npos) << to_json(plan);
  EXPECT_NE(to_text(plan).find("sample"), std::string::npos);
  std::string wrong = kPlan;
  wrong.replace(wrong.find("transport: sample"), 17, "transport: sampel");
  const auto refused = parse_plan(wrong, "robot.yaml");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("did you mean 'sample'"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace hyphos::test
