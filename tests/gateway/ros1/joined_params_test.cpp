// Parameters of robot nodes on the ROS parameter server, and ROS parameters in the robot.
#include <gtest/gtest.h>

#include "gateway/ros1/param_value.hpp"
#include "gateway/ros1/ros1.hpp"
#include "tests/gateway/raw_client.hpp"
#include "tests/gateway/ros1/master_host.hpp"
#include "tests/gateway/ros1/rpc_harness.hpp"
#include "tests/gateway/ros1/types.hpp"
#include "tests/own_port.hpp"

using namespace hyphos;
using namespace hyphos::gateway;
using namespace hyphos::gateway::ros1;

namespace {

ParamValue tree_of(const Value& value) { return tree_from_ros(value).or_throw(); }

class JoinedParamsTest : public ::testing::Test {
 protected:
  JoinedParamsTest() {
    facade_.parameters().nodes().check("cruise", [](const ParamVariant& value) {
      const auto* speed = std::get_if<double>(&value);
      return speed != nullptr && *speed > 2 ? "is not in 0 to 2" : "";
    });
    facade_.parameters().nodes().put("cruise", "speed", 0.5);
    facade_.parameters().nodes().put("cruise", "laser.rate_hz", std::int64_t{10});
    begin();
  }
  void begin(const std::map<std::string, std::string>& own = {}) {
    gateway_.reset();
    options_.own = {{"master_uri", master_.uri()}};
    options_.own.insert(own.begin(), own.end());
    gateway_ = open_ros1(facade_, options_).or_throw();
  }

  Result<Value> ask(const std::string& method, std::vector<Value> params) {
    params.insert(params.begin(), "/test");
    return harness_.ask(master_.uri(), method, params);
  }
  void set(const std::string& name, const Value& value) {
    ASSERT_TRUE(ask("setParam", {name, value}).ok()) << name;
  }
  [[nodiscard]] bool has(const std::string& name, const Value& value) {
    const auto now = ask("getParam", {name});
    return now.ok() && *now == value;
  }
  [[nodiscard]] bool is_set(const std::string& name) {
    return *ask("hasParam", {name}).or_throw().get_if<bool>();
  }
  [[nodiscard]] bool node_has(const std::string& name, const ParamVariant& value) const {
    return facade_.parameters().nodes().value("cruise", name) == value;
  }

  MasterHost master_;
  RpcHarness harness_;
  mutable FakeGraph facade_;
  Options options_;
  std::unique_ptr<Protocol> gateway_;
};

}  // namespace

TEST(ParamValue, shared_value_types_survive_the_round_trip) {
  const std::vector<ParamVariant> all{true,
                                      std::int64_t{-7},
                                      0.1,
                                      std::string("häß"),
                                      ParamBytes{std::byte{0}, std::byte{255}},
                                      std::vector<bool>{true, false},
                                      std::vector<std::int64_t>{1, 2},
                                      std::vector<double>{0.5, 1},
                                      std::vector<std::string>{"a", ""}};
  for (const ParamVariant& value : all) {
    const auto there = to_ros(value);
    ASSERT_TRUE(there.ok());
    EXPECT_EQ(from_ros(*there).or_throw(), value) << to_yaml(value);
  }
}

TEST(ParamValue, value_types_of_only_one_side_are_refused) {
  EXPECT_EQ(to_ros(std::int64_t{1} << 31).error().code, Code::unsupported);
  EXPECT_TRUE(to_ros(-(std::int64_t{1} << 31)).ok());
  EXPECT_EQ(to_ros(std::vector<std::int64_t>{0, std::int64_t{1} << 40}).error().code,
            Code::unsupported);
  EXPECT_EQ(from_ros(Value::Array{1, "two"}).error().code, Code::unsupported);
  EXPECT_EQ(from_ros(list_of(Value::Array{1})).error().code, Code::unsupported);
  EXPECT_EQ(from_ros(DateTime{"20261122T00:00:00"}).error().code, Code::unsupported);
  EXPECT_EQ(from_ros(Value::Array{1, 2.5}).or_throw(), ParamVariant(std::vector<double>{1, 2.5}));
}

TEST(ParamValue, names_are_translated) {
  EXPECT_EQ(ros_param("left-arm", "laser.rate-hz"), "/left_arm/laser/rate_hz");
  EXPECT_EQ(dotted("/left_arm/laser/rate_hz"), "left_arm.laser.rate_hz");
}

TEST_F(JoinedParamsTest, parameters_of_nodes_are_on_the_server_and_follow) {
  EXPECT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  EXPECT_TRUE(eventually([&] { return has("/cruise/laser/rate_hz", 10); }));
  facade_.parameters().nodes().put("cruise", "speed", 0.75);
  EXPECT_TRUE(eventually([&] { return has("/cruise/speed", 0.75); }));
  EXPECT_EQ(facade_.parameters().nodes().asked(), 0U)
      << "a value from a node is not set again at the node";
}

TEST_F(JoinedParamsTest, a_value_set_by_ros_is_set_at_the_node) {
  ASSERT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  set("/cruise/speed", 1.5);
  EXPECT_TRUE(eventually([&] { return node_has("speed", 1.5); }));
  set("/cruise", Value::Struct{{"speed", 0.25}, {"laser", Value::Struct{{"rate_hz", 20}}}});
  EXPECT_TRUE(eventually(
      [&] { return node_has("speed", 0.25) && node_has("laser.rate_hz", std::int64_t{20}); }));
  EXPECT_EQ(facade_.clients().counted("param"), 0U);
}

TEST_F(JoinedParamsTest, a_value_refused_by_the_node_is_reset_and_counted) {
  ASSERT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  set("/cruise/speed", 7.0);
  EXPECT_TRUE(eventually([&] { return facade_.clients().counted("param") == 1; }));
  EXPECT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  set("/cruise/speed", "fast");
  EXPECT_TRUE(eventually([&] { return facade_.clients().counted("param") == 2; }));
  EXPECT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  set("/cruise/speed/deep", 1);
  EXPECT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  EXPECT_TRUE(node_has("speed", 0.5));
}

TEST_F(JoinedParamsTest, an_integer_becomes_a_real_for_a_real_parameter) {
  ASSERT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  set("/cruise/speed", 1);
  EXPECT_TRUE(eventually([&] { return has("/cruise/speed", 1.0); }));
  EXPECT_TRUE(node_has("speed", 1.0));
  EXPECT_EQ(facade_.parameters().nodes().asked(), 1U);
}

TEST_F(JoinedParamsTest, deleted_parameters_of_a_node_come_back_until_it_ends) {
  set("/cruise/of_ros", 1);
  ASSERT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  ASSERT_TRUE(ask("deleteParam", {"/cruise/speed"}).ok());
  EXPECT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  facade_.parameters().nodes().end("cruise");
  EXPECT_TRUE(
      eventually([&] { return !is_set("/cruise/speed") && !is_set("/cruise/laser/rate_hz"); }));
  EXPECT_TRUE(has("/cruise/of_ros", 1)) << "the parameter is not of the node";
  facade_.parameters().nodes().put("cruise", "speed", 0.1);
  EXPECT_TRUE(eventually([&] { return has("/cruise/speed", 0.1); }));
}

TEST_F(JoinedParamsTest, the_namespace_of_a_node_is_removed_at_its_end) {
  ASSERT_TRUE(eventually([&] { return is_set("/cruise/laser/rate_hz"); }));
  facade_.parameters().nodes().end("cruise");
  EXPECT_TRUE(eventually([&] { return !is_set("/cruise"); }));
  facade_.parameters().nodes().put("walk", "gait", std::string("trot"));
  // An ending gateway does not wait forever for a stopped master. If it took too long, the test
  // repeats.
  bool in_time = false;
  for (int round = 0; round < 10 && !in_time; ++round) {
    if (!gateway_) {
      (void)ask("deleteParam", {"/walk"});
      begin();
    }
    ASSERT_TRUE(eventually([&] { return is_set("/walk/gait"); }));
    const Time asked = monotonic_now();
    gateway_.reset();
    in_time = monotonic_now() - asked < Duration::from_seconds(2);
  }
  EXPECT_TRUE(in_time);
  EXPECT_FALSE(is_set("/walk"));
}

TEST_F(JoinedParamsTest, a_restarted_master_gets_the_parameters_again) {
  gateway_.reset();
  master_.move_to(test::own_port());
  begin();
  ASSERT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  master_.move_to(master_.port());
  EXPECT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  set("/cruise/speed", 1.5);
  EXPECT_TRUE(eventually([&] { return node_has("speed", 1.5); }))
      << "the parameter is watched again";
}

TEST_F(JoinedParamsTest, the_initial_value_of_a_node_wins) {
  set("/walk/gait", "gallop");
  ASSERT_TRUE(
      eventually([&] { return facade_.parameters().nodes().shown("walk.gait").has_value(); }));
  facade_.parameters().nodes().put("walk", "gait", std::string("trot"));
  EXPECT_TRUE(eventually([&] { return has("/walk/gait", "trot"); }));
  EXPECT_EQ(facade_.parameters().nodes().asked(), 0U);
  EXPECT_TRUE(eventually([&] { return !facade_.parameters().nodes().shown("walk.gait"); }))
      << "the node now owns the parameter, so ROS alone does not";
}

TEST_F(JoinedParamsTest, concurrent_changes_end_with_one_value) {
  ASSERT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  constexpr int kRounds = 50;
  for (int round = 1; round <= kRounds; ++round) {
    facade_.parameters().nodes().put("cruise", "speed", round * 0.01);
    set("/cruise/speed", 1 + round * 0.01);
  }
  const auto agree = [&] {
    const auto server = ask("getParam", {"/cruise/speed"}).or_throw();
    const auto node = facade_.parameters().nodes().value("cruise", "speed");
    return node && from_ros(server).or_throw() == *node;
  };
  ASSERT_TRUE(eventually(agree));
  set("/cruise/speed", 1.25);
  ASSERT_TRUE(eventually([&] { return node_has("speed", 1.25) && agree(); }));
  EXPECT_LE(facade_.parameters().nodes().asked(), std::size_t{kRounds} + 1)
      << "at most once for each change in ROS";
}

TEST_F(JoinedParamsTest, parameters_of_ros_are_shown_to_the_robot_and_follow) {
  set("/move_base/speed", 1.5);
  set("/use_sim_time", true);
  set("/mixed", Value::Array{1, "two"});
  EXPECT_TRUE(eventually([&] {
    return facade_.parameters().nodes().shown("move_base.speed") == ParamVariant(1.5) &&
           facade_.parameters().nodes().shown("use_sim_time") == ParamVariant(true);
  }));
  EXPECT_FALSE(facade_.parameters().nodes().shown("mixed"));
  EXPECT_FALSE(facade_.parameters().nodes().shown("cruise.speed"))
      << "the robot itself has this parameter";
  set("/move_base/speed", "slow");
  EXPECT_TRUE(eventually([&] {
    return facade_.parameters().nodes().shown("move_base.speed") ==
           ParamVariant(std::string("slow"));
  })) << "the value has another type now";
  ASSERT_TRUE(ask("deleteParam", {"/move_base"}).ok());
  EXPECT_TRUE(eventually([&] { return !facade_.parameters().nodes().shown("move_base.speed"); }));
}

TEST_F(JoinedParamsTest, a_shown_parameter_set_by_the_robot_is_set_in_ros) {
  NodeStub watcher;
  set("/move_base/speed", 1.5);
  ASSERT_TRUE(ask("subscribeParam", {watcher.uri(), "/move_base/speed"}).ok());
  ASSERT_TRUE(eventually(
      [&] { return facade_.parameters().nodes().shown("move_base.speed").has_value(); }));
  facade_.parameters().nodes().change_shown("move_base.speed", 0.5);
  EXPECT_TRUE(eventually([&] { return has("/move_base/speed", 0.5); }));
  EXPECT_TRUE(eventually(
      [&] { return watcher.was_told("paramUpdate", {"/master", "/move_base/speed", 0.5}); }));
  set("/move_base/speed", 2.5);
  EXPECT_TRUE(eventually(
      [&] { return facade_.parameters().nodes().shown("move_base.speed") == ParamVariant(2.5); }));
}

TEST_F(JoinedParamsTest, the_shared_tree_is_on_the_server_in_both_directions) {
  auto& nodes = facade_.parameters().nodes();
  ParamValue rows;
  rows.kind = ParamValue::Kind::list;
  rows.items = {tree_of(Value::Array{1, 2.5}), tree_of(Value("a"))};
  nodes.share("profile.rows", rows);
  nodes.share("profile.name", tree_of(Value("rover")));
  EXPECT_TRUE(eventually([&] { return has("/profile/name", "rover"); }));
  EXPECT_TRUE(eventually(
      [&] { return has("/profile/rows", Value::Array{Value(Value::Array{1, 2.5}), "a"}); }));
  set("/profile/name", "scout");
  EXPECT_TRUE(eventually([&] { return nodes.shared().find("profile.name")->text == "scout"; }));
  nodes.share("profile.name", tree_of(Value(7)));
  EXPECT_TRUE(eventually([&] { return has("/profile/name", 7); }));
  EXPECT_FALSE(nodes.shown("profile.name")) << "the robot itself has it";
  nodes.remove_shared("profile.name");
  EXPECT_TRUE(eventually([&] { return !is_set("/profile/name"); }));
  EXPECT_TRUE(is_set("/profile/rows"));
}

TEST_F(JoinedParamsTest, only_selected_parameters_are_joined) {
  gateway_.reset();
  master_.end();
  master_.begin(0);  // a master without entries of the gateway
  set("/open/a", 1);
  set("/secret/a", 1);
  begin({{"params", "*,!*/laser/*"}, {"rosparams", "/open/*"}});
  EXPECT_TRUE(eventually([&] { return has("/cruise/speed", 0.5); }));
  EXPECT_TRUE(eventually([&] { return facade_.parameters().nodes().shown("open.a").has_value(); }));
  EXPECT_FALSE(is_set("/cruise/laser/rate_hz"));
  EXPECT_FALSE(facade_.parameters().nodes().shown("secret.a"));
}

TEST_F(JoinedParamsTest, two_nodes_of_the_same_name_end_with_one_value) {
  FakeGraph other;
  other.parameters().nodes().put("cruise", "speed", 0.1);
  Options options;
  options.own = {{"master_uri", master_.uri()}, {"node", "/other"}};
  const auto second = open_ros1(other, options).or_throw();
  const auto same = [&] {
    return other.parameters().nodes().value("cruise", "speed") ==
           facade_.parameters().nodes().value("cruise", "speed");
  };
  EXPECT_TRUE(eventually(same));
  facade_.parameters().nodes().put("cruise", "speed", 1.75);
  EXPECT_TRUE(eventually([&] { return same() && node_has("speed", 1.75); }));
}
