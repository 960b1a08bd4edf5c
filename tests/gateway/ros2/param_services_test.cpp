#include <gtest/gtest.h>

#include "gateway/ros2/cdr.hpp"
#include "tests/gateway/ros2/gateway.hpp"

namespace hyphos::gateway::ros2 {
namespace {

std::string text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A ROS tool that calls the parameter services of /hyphos.
class PooledCallClient {
 public:
  explicit PooledCallClient(RosSide& ros) : ros_(ros) {}

  std::string ask(const std::string& name, const std::string& type, const std::string& request) {
    const std::string types = "rcl_interfaces::srv::dds_::" + type;
    auto& replies = ros_.reader("rr/hyphos/" + name + "Reply", types + "_Response_");
    auto& requests = ros_.writer("rq/hyphos/" + name + "Request", types + "_Request_");
    EXPECT_TRUE(requests.wait_matched(1));
    EXPECT_TRUE(replies.wait_matched(1));
    rtps::SampleIdentity related;
    related.writer_guid(replies.guid());
    requests.write(request, related);
    const auto got = replies.wait(1);
    return got.empty() ? "" : got[0].bytes;
  }

 private:
  RosSide& ros_;
};

std::string names(const std::vector<std::string>& all) {
  CdrWriter writer;
  writer.count(all.size());
  for (const std::string& one : all) writer.text(one);
  return text(writer.take());
}

/// A request that sets integers.
std::string numbers(const std::vector<std::pair<std::string, std::int64_t>>& all) {
  CdrWriter writer;
  writer.count(all.size());
  for (const auto& [name, value] : all) {
    writer.text(name);
    writer.number<std::uint8_t>(2);
    writer.flag(false);
    writer.number(value);
    writer.number(0.0);
    writer.text("");
    for (int list = 0; list < 5; ++list) writer.count(0);
  }
  return text(writer.take());
}

TEST(Ros2ParamServices, a_tool_lists_and_gets_parameters_of_the_robot) {
  Gateway gateway;
  gateway.facade.parameters().nodes().put("laser", "rate_hz", std::int64_t{40});
  gateway.facade.parameters().nodes().put("base", "name", std::string("x"));
  RosSide ros;
  PooledCallClient call_client(ros);
  CdrWriter all;
  all.count(0);
  all.number<std::uint64_t>(0);
  const std::string list = call_client.ask("list_parameters", "ListParameters", text(all.take()));
  EXPECT_NE(list.find("laser.rate_hz"), std::string::npos);
  EXPECT_NE(list.find("base.name"), std::string::npos);
  const std::string types = call_client.ask("get_parameter_types", "GetParameterTypes",
                                            names({"laser.rate_hz", "base.name", "no.such"}));
  EXPECT_EQ(types.substr(4, 7), std::string("\3\0\0\0\2\4\0", 7));
  const std::string values =
      call_client.ask("get_parameters", "GetParameters", names({"laser.rate_hz"}));
  EXPECT_EQ(values.at(8), '\2');
  EXPECT_EQ(values.at(12), '\50');
  const std::string about =
      call_client.ask("describe_parameters", "DescribeParameters", names({"base.name"}));
  EXPECT_NE(about.find("base.name"), std::string::npos);
}

TEST(Ros2ParamServices, a_tool_sets_parameters_one_by_one) {
  Gateway gateway;
  gateway.facade.parameters().nodes().put("laser", "rate_hz", std::int64_t{40});
  RosSide ros;
  PooledCallClient call_client(ros);
  const std::string outcomes = call_client.ask("set_parameters", "SetParameters",
                                               numbers({{"laser.rate_hz", 50}, {"laser.none", 1}}));
  EXPECT_EQ(outcomes.substr(4, 5), std::string("\2\0\0\0\1", 5));
  EXPECT_NE(outcomes.find("the robot has no parameter 'laser.none'"), std::string::npos);
  EXPECT_EQ(gateway.facade.parameters().nodes().value("laser", "rate_hz"),
            ParamVariant(std::int64_t{50}));
  const std::string outcome =
      call_client.ask("set_parameters_atomically", "SetParametersAtomically",
                      numbers({{"laser.rate_hz", 60}, {"laser.rate_hz", 70}}));
  EXPECT_NE(outcome.find("one by one"), std::string::npos);
  EXPECT_EQ(gateway.facade.parameters().nodes().value("laser", "rate_hz"),
            ParamVariant(std::int64_t{50}));
}

TEST(Ros2ParamServices, a_node_without_parameters_returns_none) {
  Gateway gateway(with({{"params", ""}}));
  gateway.facade.parameters().nodes().put("laser", "rate_hz", std::int64_t{40});
  RosSide ros;
  PooledCallClient call_client(ros);
  const std::string values =
      call_client.ask("get_parameters", "GetParameters", names({"laser.rate_hz"}));
  EXPECT_EQ(values.substr(4, 5), std::string("\1\0\0\0\0", 5));  // one value, not set
  const std::string outcomes =
      call_client.ask("set_parameters", "SetParameters", numbers({{"laser.rate_hz", 50}}));
  EXPECT_EQ(outcomes.substr(4, 5), std::string("\1\0\0\0\0", 5));
  EXPECT_EQ(gateway.facade.parameters().nodes().value("laser", "rate_hz"),
            ParamVariant(std::int64_t{40}));
}

TEST(Ros2ParamServices, invalid_requests_are_counted) {
  Gateway gateway;
  RosSide ros;
  auto& requests = ros.writer("rq/hyphos/list_parametersRequest",
                              "rcl_interfaces::srv::dds_::ListParameters_Request_");
  ASSERT_TRUE(requests.wait_matched(1));
  requests.write(std::string("\0\1\0\0\xFF\xFF\xFF\xFF", 8));
  EXPECT_TRUE(eventually([&] { return gateway.facade.clients().counted("call_failed") == 1; }));
}

}  // namespace
}  // namespace hyphos::gateway::ros2
