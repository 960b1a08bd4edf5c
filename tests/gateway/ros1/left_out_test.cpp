// Whatever does not cross the gateway has one log line and one count, in both directions.
#include "gateway/ros1/left_out.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "gateway/ros1/ros1.hpp"
#include "tests/gateway/raw_client.hpp"
#include "tests/gateway/ros1/master_host.hpp"
#include "tests/gateway/ros1/rpc_harness.hpp"
#include "tests/gateway/ros1/types.hpp"

namespace hyphos::gateway::ros1 {
namespace {

class Ros1LeftOut : public testing::Test {
 protected:
  Ros1LeftOut() {
    add_types(facade_);
    options_.own = {{"master_uri", master_.uri()}, {"node", "/gateway"}};
    gateway_ = open_ros1(facade_, options_).or_throw();
  }

  static TopicInfo channel(std::string name, std::string type, std::string carries) {
    TopicInfo made;
    made.topic = std::move(name);
    made.type = std::move(type);
    made.carries = std::move(carries);
    made.publishers = {"/robot"};
    return made;
  }
  void ask(const std::string& method, std::vector<Value> params) {
    params.insert(params.begin(), "/node");
    ASSERT_TRUE(harness_.ask(master_.uri(), method, params).ok()) << method;
  }
  /// Waits until the count of `why` is `count`, and returns the text of the last one.
  std::string reported(const std::string& why, std::uint64_t count) {
    EXPECT_TRUE(eventually([&] { return facade_.clients().counted(why) >= count; })) << why;
    EXPECT_EQ(facade_.clients().counted(why), count);
    return facade_.clients().last(why);
  }
  /// The gateway compares both graphs again. A further channel shows that it has.
  void look_again() {
    const std::uint64_t before = facade_.clients().counted("no_counterpart");
    const std::string name = "/again" + std::to_string(before);
    facade_.topics().add_foreign(channel(name, "", "bytes"));
    (void)reported("no_counterpart", before + 1);
  }

  MasterHost master_;
  RpcHarness harness_;
  FakeGraph facade_;
  Options options_;
  std::unique_ptr<Protocol> gateway_;
};

TEST_F(Ros1LeftOut, channels_and_services_without_a_ros_type) {
  facade_.topics().add_foreign(channel("/raw", "", "bytes"));
  EXPECT_EQ(reported("no_counterpart", 1),
            "the channel is left out: it carries bytes, which has no corresponding ROS type");
  facade_.services().add_foreign({"/own", "", "/robot", "my.Req -> my.Rep"});
  EXPECT_EQ(reported("no_counterpart", 2),
            "the service is left out: it carries my.Req -> my.Rep, which has no corresponding ROS "
            "type");
  look_again();
  look_again();
  EXPECT_EQ(facade_.clients().counted("no_counterpart"), 4U) << "each one once";
}

TEST_F(Ros1LeftOut, names_that_ros_does_not_allow) {
  facade_.topics().add_foreign(channel("/left arm", "std_msgs/String", ""));
  EXPECT_EQ(reported("unsupported", 1),
            "the channel is left out: it carries std_msgs/String, and its name is not a valid ROS "
            "name");
  look_again();
  EXPECT_EQ(facade_.clients().counted("unsupported"), 1U);
}

TEST_F(Ros1LeftOut, channels_and_services_of_an_unknown_ros_type) {
  facade_.topics().add_foreign(channel("/tank", "tank_msgs/Level", ""));
  EXPECT_NE(reported("not_found", 1).find("the channel is left out: "), std::string::npos);
  EXPECT_NE(facade_.clients().last("not_found").find("tank_msgs/Level"), std::string::npos);
  facade_.services().add_foreign({"/fill", "tank_msgs/Fill", "/robot"});
  EXPECT_NE(reported("not_found", 2).find("the service is left out: "), std::string::npos);
  look_again();
  EXPECT_EQ(facade_.clients().counted("not_found"), 2U);
}

TEST_F(Ros1LeftOut, topics_of_ros_of_an_unknown_type) {
  const NodeStub node;
  ask("registerPublisher", {"/tank", "tank_msgs/Level", node.uri()});
  const std::string text = reported("not_found", 1);
  EXPECT_NE(text.find("the topic is left out: "), std::string::npos) << text;
  EXPECT_NE(text.find("tank_msgs/Level"), std::string::npos) << text;
  look_again();
  EXPECT_EQ(facade_.clients().counted("not_found"), 1U);
}

TEST_F(Ros1LeftOut, services_of_ros_that_cannot_be_reached) {
  const NodeStub node;
  ask("registerService", {"/fill", "rosrpc://127.0.0.1:1", node.uri()});
  const std::string text = reported("disconnected", 1);
  EXPECT_NE(text.find("the service is left out: "), std::string::npos) << text;
}

TEST_F(Ros1LeftOut, parameters_that_the_other_side_cannot_hold) {
  facade_.parameters().nodes().put("cruise", "distance", std::int64_t{1} << 40);
  EXPECT_NE(reported("unsupported", 1).find("the parameter is left out: "), std::string::npos);
  ask("setParam", {"/mixed", list_of(1, "two")});
  EXPECT_NE(reported("unsupported", 2).find("the ROS parameter is left out: "), std::string::npos);
  look_again();
  EXPECT_EQ(facade_.clients().counted("unsupported"), 2U);
}

}  // namespace
}  // namespace hyphos::gateway::ros1
