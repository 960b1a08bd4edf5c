// Parameters of robot nodes, and parameters that a gateway shows.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "gateway/facade/hyphos_graph.hpp"
#include "hyphos/hyphos.hpp"
#include "tests/gateway/convert/sample.hpp"

namespace hyphos::gateway {
namespace {

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 20'000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

class ParamsTest : public testing::Test {
 protected:
  static RuntimeOptions alone() {
    static int count = 0;
    RuntimeOptions options;
    options.domain = "doorp" + std::to_string(getpid()) + "_" + std::to_string(++count);
    return options;
  }
  std::unique_ptr<NodeParams> open(Rules rules = {}) {
    facade_ = std::make_unique<HyphosGraph>(gateway_, sample_types(), std::move(rules));
    return facade_->parameters().open([this] { ++changes_; });
  }
  /// The current value that a node shows.
  static std::optional<ParamVariant> value(NodeParams& params, const std::string& node,
                                           const std::string& name) {
    params.look();
    const auto all = params.all();
    const auto found = all.find(node);
    const ParamInfo* info = found == all.end() ? nullptr : found->second.find(name);
    return info == nullptr ? std::nullopt : std::optional(info->value);
  }
  static Result<void> set(NodeParams& params, const std::string& node, const std::string& name,
                          ParamVariant value) {
    auto done = std::make_shared<std::promise<Result<void>>>();
    auto answer = done->get_future();
    params.set(node, name, std::move(value),
               [done](Result<void> result) { done->set_value(std::move(result)); });
    return answer.get();
  }

  Node robot_ = Node::open("robot", alone()).or_throw();
  Node gateway_ = robot_.runtime().node("gateway").or_throw();
  std::unique_ptr<HyphosGraph> facade_;
  std::atomic<int> changes_ = 0;
};

TEST_F(ParamsTest, parameters_of_nodes_are_read_followed_and_set) {
  const auto params = open();
  const auto speed = robot_.params().declare<double>("speed", {.value = 0.5, .range = {0, 2}});
  ASSERT_TRUE(eventually([&] { return value(*params, "robot", "speed") == ParamVariant(0.5); }));
  ASSERT_TRUE(speed.set(0.75).ok());
  EXPECT_TRUE(eventually(
      [&] { return changes_ > 0 && value(*params, "robot", "speed") == ParamVariant(0.75); }));
  EXPECT_TRUE(set(*params, "robot", "speed", std::int64_t{1}).ok());
  EXPECT_EQ(*speed, 1.0);
  EXPECT_EQ(value(*params, "robot", "speed"), ParamVariant(1.0)) << "after set() returned";
  const auto refused = set(*params, "robot", "speed", 7.0);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "speed: 7.0 is not in 0.0 to 2.0");
  EXPECT_EQ(set(*params, "nobody", "speed", 1.0).error().code, Code::disconnected);
}

TEST_F(ParamsTest, a_node_that_ends_is_removed) {
  const auto params = open();
  RuntimeOptions same;
  same.domain = robot_.runtime().domain();
  {
    const Node other = Node::open("other", same).or_throw();
    const auto on = other.params().declare<bool>("on");
    ASSERT_TRUE(eventually([&] { return value(*params, "other", "on").has_value(); }));
  }
  EXPECT_TRUE(eventually([&] { return !value(*params, "other", "on"); }));
}

TEST_F(ParamsTest, a_look_after_the_end_of_the_node_does_nothing) {
  const auto params = open();
  const auto on = robot_.params().declare<bool>("on");
  ASSERT_TRUE(eventually([&] { return !nodes_with_params(robot_.runtime().domain())->empty(); }));
  gateway_.close();
  params->look();
  EXPECT_TRUE(params->all().empty());
}

TEST_F(ParamsTest, shown_values_are_parameters_of_the_gateway) {
  auto params = open();
  Node reader = robot_.runtime().node("reader").or_throw();
  EXPECT_TRUE(params->show({{"a.b", 1.5}, {"c", std::string("x")}}).empty());
  const RemoteParams seen = reader.remote_params("gateway");
  ASSERT_TRUE(eventually([&] { return seen.values().size() == 2; }));
  EXPECT_EQ(seen.values().get<double>("a.b"), 1.5);
  EXPECT_FALSE(value(*params, "gateway", "c")) << "the gateway is not a node of the robot";
  // Another type, a missing parameter, and an invalid name.
  const auto left_out = params->show(
      {{"a.b", std::string("fast")}, {"no name", true}, {"d", std::string(70'000, 'x')}});
  EXPECT_EQ(left_out.size(), 2U);
  EXPECT_NE(left_out.at("d").find("has at most 65536"), std::string::npos);
  ASSERT_TRUE(eventually([&] {
    // The values change one by one: "c" goes, then "a.b" goes, and then it comes with its new type.
    const ParamSet now = seen.values();
    const ParamInfo* const a_b = now.find("a.b");
    return now.size() == 1 && a_b != nullptr && a_b->type() == ParamType::text;
  }));
  changes_ = 0;
  EXPECT_TRUE(seen.set("a.b", "slow", Duration::from_seconds(60)).ok());
  EXPECT_TRUE(eventually([&] { return changes_ > 0; }));
  EXPECT_EQ(params->own().get<std::string>("a.b"), "slow");
  params.reset();
  EXPECT_TRUE(eventually([&] { return seen.values().size() == 0; }));
}

TEST_F(ParamsTest, a_value_set_by_the_robot_stays_until_clients_set_another) {
  const auto params = open();
  EXPECT_TRUE(params->show({{"speed", 1.0}, {"name", std::string("x")}}).empty());
  const Node reader = robot_.runtime().node("reader").or_throw();
  const RemoteParams seen = reader.remote_params("gateway");
  ASSERT_TRUE(seen.set("speed", 2.0, Duration::from_seconds(60)).ok());
  EXPECT_TRUE(params->show({{"speed", 1.0, false}, {"name", std::string("y")}}).empty());
  EXPECT_EQ(params->own().get<double>("speed"), 2.0);
  EXPECT_EQ(params->own().get<std::string>("name"), "y");
  EXPECT_TRUE(params->show({{"speed", 3.0}, {"name", std::string("y"), false}}).empty());
  EXPECT_EQ(params->own().get<double>("speed"), 3.0);
}

TEST_F(ParamsTest, a_value_set_during_the_first_show_stays) {
  const auto params = open();
  const Params own = gateway_.params();
  for (int i = 0; i < 300; ++i) {
    const std::string name = "gain" + std::to_string(i);
    std::thread robot([&] {
      while (own.values().find(name) == nullptr) {
      }
      EXPECT_TRUE(own.set({{name, 2.0}}).ok());
    });
    EXPECT_TRUE(params->show({{name, 1.0}}).empty());
    robot.join();
    ASSERT_EQ(params->own().get<double>(name), 2.0) << name;
  }
}

TEST_F(ParamsTest, rules_apply_to_parameters) {
  Rules rules;
  rules.subscribe.deny = {"hidden/_params"};
  rules.call.deny = {"*/_set_params"};
  rules.publish.allow = {"chat"};
  Node hidden = robot_.runtime().node("hidden").or_throw();
  const auto secret = hidden.params().declare<bool>("on");
  const auto on = robot_.params().declare<bool>("on");
  const auto params = open(rules);
  ASSERT_TRUE(eventually([&] { return value(*params, "robot", "on").has_value(); }));
  EXPECT_FALSE(value(*params, "hidden", "on"));
  EXPECT_EQ(set(*params, "robot", "on", true).error().code, Code::permission);
  EXPECT_FALSE(*on);
  EXPECT_TRUE(params->show({{"a", 1.0}}).empty());
  EXPECT_EQ(params->own().size(), 0U);
}

}  // namespace
}  // namespace hyphos::gateway
