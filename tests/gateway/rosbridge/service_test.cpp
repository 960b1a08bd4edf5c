#include <gtest/gtest.h>

#include <thread>

#include "tests/gateway/rosbridge/fake_client.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

class Service : public Robot {
 protected:
  Service() : server(facade), client(facade) {}
  void serve() {
    server.say(
        R"({"op":"advertise_service","service":"/add","type":"rospy_tutorials/AddTwoInts"})");
  }
  FakeClient server;
  FakeClient client;
};

TEST_F(Service, a_client_calls_another_and_gets_the_reply) {
  serve();
  client.say(R"({"op":"call_service","id":"c:1","service":"/add","args":{"a":1,"b":2}})");
  EXPECT_EQ(server.on_message(),
            R"({"op":"call_service","id":"service_request:0","service":"/add",)"
            R"("args":{"a":1,"b":2}})");
  server.say(R"({"op":"service_response","id":"service_request:0","service":"/add",)"
             R"("values":{"sum":3},"result":true})");
  EXPECT_EQ(client.on_message(), R"({"op":"service_response","service":"/add","values":{"sum":3},)"
                                 R"("result":true,"id":"c:1"})");
  EXPECT_TRUE(server.hears_nothing());
}

TEST_F(Service, calls_do_not_list_all_services) {
  serve();
  const std::size_t before = facade.services().listings();
  for (int call = 0; call < 20; ++call) {
    client.say(R"({"op":"call_service","id":"c","service":"/add","args":{"a":1,"b":2}})");
    const std::string id = "service_request:" + std::to_string(call);
    EXPECT_NE(server.on_message().find(id), std::string::npos);
    server.say(R"({"op":"service_response","id":")" + id +
               R"(","service":"/add","values":{"sum":3},"result":true})");
    EXPECT_NE(client.on_message().find(R"("sum":3)"), std::string::npos);
  }
  EXPECT_EQ(facade.services().listings(), before);
}

TEST_F(Service, arguments_in_a_list_get_their_names_from_the_type) {
  serve();
  client.say(R"({"op":"call_service","service":"add","args":[1, NaN],"id":5})");
  EXPECT_EQ(server.on_message(),
            R"({"op":"call_service","id":"service_request:0","service":"/add",)"
            R"("args":{"a":1,"b":"NaN"}})");
  client.say(R"({"op":"call_service","service":"/add","args":[1,2,3],"id":6})");
  EXPECT_EQ(client.on_message(),
            R"({"op":"service_response","service":"/add","values":"'args' has 3 items, but )"
            R"j(rospy_tutorials/AddTwoIntsRequest has 2 fields (/add)","result":false,"id":6})j");
  client.say(R"({"op":"call_service","service":"/add","args":[]})");
  EXPECT_EQ(server.on_message(),
            R"({"op":"call_service","id":"service_request:1","service":"/add",)"
            R"("args":{}})");
}

TEST_F(Service, a_failure_is_reported_with_its_text) {
  serve();
  client.say(R"({"op":"call_service","id":"c","service":"/add"})");
  EXPECT_EQ(server.on_message(),
            R"({"op":"call_service","id":"service_request:0","service":"/add","args":{}})");
  server.say(R"({"op":"service_response","id":"service_request:0","service":"/add",)"
             R"("values":"arm is \"off\"","result":false})");
  EXPECT_EQ(client.on_message(),
            R"({"op":"service_response","service":"/add","values":"the service failed: arm is )"
            R"j(\"off\" (/add)","result":false,"id":"c"})j");
}

TEST_F(Service, a_call_without_a_server_gets_an_error) {
  client.say(
      R"({"op":"call_service","id":"c","service":"/add","type":"rospy_tutorials/AddTwoInts"})");
  EXPECT_EQ(client.on_message(),
            R"({"op":"service_response","service":"/add","values":"service /add has no server )"
            R"j((/add)","result":false,"id":"c"})j");
}

TEST_F(Service, a_call_ends_at_its_timeout) {
  serve();
  client.say(R"({"op":"call_service","id":"c","service":"/add","timeout":0.02})");
  EXPECT_EQ(client.on_message(),
            R"({"op":"service_response","service":"/add","values":"service /add has not answered )"
            R"j((/add)","result":false,"id":"c"})j");
  (void)server.on_message();
  server.say(R"({"op":"service_response","id":"service_request:0","values":{},"result":true})");
  EXPECT_TRUE(client.hears_nothing()) << "a late reply is dropped";
}

TEST_F(Service, calls_end_when_the_service_is_unadvertised) {
  serve();
  client.say(R"({"op":"call_service","id":"c","service":"/add"})");
  (void)server.on_message();
  server.say(R"({"op":"unadvertise_service","service":"/add"})");
  EXPECT_TRUE(client.on_message().ends_with(R"("result":false,"id":"c"})"));
  EXPECT_EQ(facade.open(), 0U);
}

TEST_F(Service, calls_end_when_the_serving_client_leaves) {
  auto gone = std::make_unique<FakeClient>(facade);
  gone->say(R"({"op":"advertise_service","service":"/add","type":"rospy_tutorials/AddTwoInts"})");
  client.say(R"({"op":"call_service","id":"c","service":"/add"})");
  (void)gone->on_message();
  gone.reset();
  EXPECT_TRUE(client.on_message().ends_with(R"("result":false,"id":"c"})"));
}

TEST_F(Service, a_reply_without_a_call_is_an_error) {
  server.say(R"({"op":"service_response","id":"x","service":"/add","values":{},"result":true})");
  EXPECT_EQ(server.on_message(),
            R"({"op":"status","level":"error","msg":"service_response: no call with this id )"
            R"j(waits for a reply (/add)","id":"x"})j");
}

TEST_F(Service, calls_without_a_reply_are_limited) {
  serve();
  for (std::size_t i = 0; i < Options().limits.client_calls; ++i) {
    client.say(R"({"op":"call_service","service":"/add"})");
    (void)server.on_message();
  }
  client.say(R"({"op":"call_service","id":"one too many","service":"/add"})");
  EXPECT_EQ(client.on_message(),
            R"({"op":"service_response","service":"/add","values":"this client )"
            R"j(already has 256 calls in flight, the maximum. Start the gateway with a )j"
            R"j(larger --max-calls-per-client (/add)","result":false,"id":"one too many"})j");
  FakeClient other(facade);
  other.say(R"({"op":"call_service","id":"o","service":"/add"})");
  (void)server.on_message();
  EXPECT_TRUE(client.on_message().starts_with(
      R"({"op":"service_response","service":"/add","values":"the client that serves it has not)"));
}

TEST_F(Service, replies_may_be_in_fragments_or_png) {
  client.say(
      R"({"op":"call_service","id":"c","service":"/rosapi/get_param_names","fragment_size":50})");
  EXPECT_TRUE(client.on_message().starts_with(R"({"op":"fragment","id":"fragments 0","data":")"));
  while (!client.sink.empty()) (void)client.on_message();
  client.say(R"({"op":"call_service","service":"/rosapi/get_param_names","compression":"png"})");
  EXPECT_TRUE(client.on_message().starts_with(R"({"op":"png","data":"iVBORw0KGgo)"));
  client.say(R"({"op":"call_service","service":"/rosapi/nodes","compression":"cbor","id":1})");
  EXPECT_EQ(client.on_message(),
            R"({"op":"status","level":"error","msg":"call_service: 'compression' of a )"
            R"(reply must be png or none, not 'cbor'","id":1})");
}

class RosapiTest : public Robot {
 protected:
  RosapiTest() : client(facade), other(facade, {}, true, "/other") {
    other.say(R"({"op":"advertise","topic":"/chatter","type":"std_msgs/String"})");
    client.say(R"({"op":"subscribe","topic":"/chatter"})");
    other.say(R"({"op":"advertise_service","service":"/add","type":"rospy_tutorials/AddTwoInts"})");
  }
  /// Returns the values of the reply.
  std::string ask(const std::string& service, const std::string& args = "{}") {
    client.say(R"({"op":"call_service","service":"rosapi/)" + service + R"(","args":)" + args +
               "}");
    const std::string answer = client.on_message();
    const std::string before =
        R"({"op":"service_response","service":"rosapi/)" + service + R"(","values":)";
    EXPECT_TRUE(answer.starts_with(before)) << answer;
    const std::string rest = answer.substr(before.size());
    return rest.substr(0, rest.rfind(R"(,"result":)"));
  }
  FakeClient client;
  FakeClient other;
};

TEST_F(RosapiTest, topics_and_their_users_are_listed) {
  EXPECT_EQ(ask("topics"), R"({"topics":["/chatter"],"types":["std_msgs/String"]})");
  EXPECT_EQ(ask("topics_for_type", R"({"type":"std_msgs/msg/String"})"),
            R"({"topics":["/chatter"]})");
  EXPECT_EQ(ask("topics_for_type", R"(["std_msgs/Int8"])"), R"({"topics":[]})");
  EXPECT_EQ(ask("topic_type", R"({"topic":"chatter"})"), R"({"type":"std_msgs/String"})");
  EXPECT_EQ(ask("topic_type", R"({"topic":"/other"})"), R"({"type":""})");
  EXPECT_EQ(ask("publishers", R"({"topic":"/chatter"})"), R"({"publishers":["/other"]})");
  EXPECT_EQ(ask("subscribers", R"({"topic":"/chatter"})"), R"({"subscribers":["rosbridge test"]})");
  EXPECT_EQ(ask("topics_and_raw_types"), R"({"topics":["/chatter"],"types":["std_msgs/String"],)"
                                         R"("typedefs_full_text":["string data\n"]})");
}

TEST_F(RosapiTest, services_and_nodes_are_listed) {
  EXPECT_TRUE(ask("services").starts_with(R"({"services":["/add","/rosapi/topics",)"));
  EXPECT_EQ(ask("services_for_type", R"({"type":"rospy_tutorials/AddTwoInts"})"),
            R"({"services":["/add"]})");
  EXPECT_EQ(ask("service_type", R"({"service":"/add"})"),
            R"({"type":"rospy_tutorials/AddTwoInts"})");
  EXPECT_EQ(ask("service_type", R"({"service":"/rosapi/nodes"})"), R"({"type":"rosapi/Nodes"})");
  EXPECT_EQ(ask("service_node", R"({"service":"/add"})"), R"({"node":"/other"})");
  EXPECT_EQ(ask("nodes"), R"({"nodes":["/other","rosbridge test"]})");
  EXPECT_EQ(ask("node_details", R"({"node":"/other"})"),
            R"({"subscribing":[],"publishing":["/chatter"],"services":["/add"]})");
}

TEST_F(RosapiTest, details_of_types_are_returned) {
  EXPECT_EQ(ask("message_details", R"({"type":"std_msgs/String"})"),
            R"({"typedefs":[{"type":"std_msgs/String","fieldnames":["data"],)"
            R"("fieldtypes":["string"],"fieldarraylen":[-1],"examples":[""],)"
            R"("constnames":[],"constvalues":[]}]})");
  EXPECT_EQ(ask("service_request_details", R"({"type":"rospy_tutorials/AddTwoInts"})"),
            R"({"typedefs":[{"type":"rospy_tutorials/AddTwoIntsRequest","fieldnames":["a","b"],)"
            R"("fieldtypes":["int64","int64"],"fieldarraylen":[-1,-1],"examples":["0","0"],)"
            R"("constnames":[],"constvalues":[]}]})");
  EXPECT_TRUE(ask("service_response_details", R"({"type":"rospy_tutorials/AddTwoInts"})")
                  .starts_with(R"({"typedefs":[{"type":"rospy_tutorials/AddTwoIntsResponse",)"));
  facade.types().add_message(
      {"pkg/msg/Stamped", "", "RIHS01_", "builtin_interfaces/msg/Time at\n"});
  EXPECT_EQ(ask("message_details", R"({"type":"pkg/msg/Stamped"})"),
            R"({"typedefs":[{"type":"pkg/msg/Stamped","fieldnames":["at"],)"
            R"("fieldtypes":["builtin_interfaces/msg/Time"],"fieldarraylen":[-1],)"
            R"("examples":["{}"],"constnames":[],"constvalues":[]},)"
            R"({"type":"builtin_interfaces/msg/Time","fieldnames":["sec","nanosec"],)"
            R"("fieldtypes":["int32","uint32"],"fieldarraylen":[-1,-1],"examples":["0","0"],)"
            R"("constnames":[],"constvalues":[]}]})");
  EXPECT_EQ(ask("message_details", R"({"type":"no/Such"})"),
            R"j("unknown type 'no/Such' (no/Such)")j");
}

TEST_F(RosapiTest, each_nested_type_is_listed_once) {
  facade.types().add_message(
      {"pkg/Log", "", "",
       "Line[] lines\nLine last\nLost lost\n====\nMSG: pkg/Line\nduration age\nLog all\n"});
  const std::string details = ask("message_details", R"({"type":"pkg/Log"})");
  std::vector<std::string> types;
  constexpr std::string_view kType = R"({"type":")";
  for (std::size_t at = 0; (at = details.find(kType, at)) != std::string::npos;) {
    at += kType.size();
    types.push_back(details.substr(at, details.find('"', at) - at));
  }
  EXPECT_EQ(types, (std::vector<std::string>{"pkg/Log", "pkg/Line", "duration"}));
}

TEST_F(RosapiTest, actions_and_their_types_are_listed) {
  EXPECT_EQ(ask("action_servers"), R"({"action_servers":[]})");
  facade.types().add_message({"made/CountGoal", "", "", "int32 to\nduration limit\n"});
  facade.types().add_message({"made/CountFeedback", "", "", "int32 at\n"});
  facade.types().add_message({"made/CountResult", "", "", "int32[] all\n"});
  facade.types().add_action(
      {"made/Count", "made/CountGoal", "made/CountFeedback", "made/CountResult"});
  other.say(R"({"op":"advertise_action","action":"/count","type":"made/Count"})");
  client.say(R"({"op":"advertise_action","action":"/own","type":"made/Count"})");
  EXPECT_EQ(ask("action_servers"), R"({"action_servers":["/count","/own"]})");
  EXPECT_EQ(ask("action_type", R"({"action":"/count"})"), R"({"type":"made/Count"})");
  EXPECT_EQ(ask("action_type", R"(["own"])"), R"({"type":"made/Count"})");
  EXPECT_EQ(ask("action_type", R"({"action":"/add"})"), R"({"type":""})") << "a service";
  EXPECT_EQ(ask("action_goal_details", R"({"type":"made/Count"})"),
            R"({"typedefs":[{"type":"made/CountGoal","fieldnames":["to","limit"],)"
            R"("fieldtypes":["int32","duration"],"fieldarraylen":[-1,-1],"examples":["0","{}"],)"
            R"("constnames":[],"constvalues":[]},)"
            R"({"type":"duration","fieldnames":["secs","nsecs"],"fieldtypes":["int32","int32"],)"
            R"("fieldarraylen":[-1,-1],"examples":["0","0"],"constnames":[],"constvalues":[]}]})");
  EXPECT_TRUE(ask("action_feedback_details", R"({"type":"made/Count"})")
                  .starts_with(R"({"typedefs":[{"type":"made/CountFeedback","fieldnames":["at"])"));
  EXPECT_TRUE(ask("action_result_details", R"(["made/Count"])")
                  .starts_with(R"({"typedefs":[{"type":"made/CountResult","fieldnames":["all"])"));
  EXPECT_EQ(ask("action_goal_details", R"({"type":"no/Such"})"),
            R"j("unknown type 'no/Such' (no/Such)")j");
  other.say(R"({"op":"unadvertise_action","action":"/count"})");
  EXPECT_EQ(ask("action_servers"), R"({"action_servers":["/own"]})");
}

TEST_F(RosapiTest, actions_of_ros_1_are_found_by_their_topics) {
  facade.types().add_message({"actionlib_msgs/GoalStatusArray", "", "", "int32 x\n"});
  facade.types().add_message({"made/DockActionGoal", "", "", "int32 x\n"});
  other.say(R"({"op":"advertise","topic":"/dock/status","type":"actionlib_msgs/GoalStatusArray"})");
  other.say(R"({"op":"advertise","topic":"/power/status","type":"std_msgs/String"})");
  EXPECT_EQ(ask("action_servers"), R"({"action_servers":["/dock"]})");
  EXPECT_EQ(ask("action_type", R"({"action":"/dock"})"), R"({"type":""})");
  other.say(R"({"op":"subscribe","topic":"/dock/goal","type":"made/DockActionGoal"})");
  EXPECT_EQ(ask("action_type", R"({"action":"/dock"})"), R"({"type":"made/Dock"})");
}

TEST_F(RosapiTest, names_that_a_client_may_not_use_are_hidden) {
  facade.types().add_action(
      {"made/Count", "made/CountGoal", "made/CountFeedback", "made/CountResult"});
  other.say(R"({"op":"advertise_action","action":"/count","type":"made/Count"})");
  other.say(R"({"op":"advertise_action","action":"/open","type":"made/Count"})");
  other.say(R"({"op":"advertise","topic":"/dock/status","type":"std_msgs/String"})");
  for (const char* const name : {"/chatter", "/add", "/count"}) facade.clients().deny(name);
  EXPECT_EQ(ask("action_servers"), R"({"action_servers":["/open"]})");
  EXPECT_EQ(ask("action_type", R"({"action":"/count"})"), R"({"type":""})");
  EXPECT_EQ(ask("topics"), R"({"topics":["/dock/status"],"types":["std_msgs/String"]})");
  EXPECT_EQ(ask("topic_type", R"({"topic":"/chatter"})"), R"({"type":""})");
  EXPECT_EQ(ask("publishers", R"({"topic":"/chatter"})"), R"({"publishers":[]})");
  EXPECT_TRUE(ask("services").starts_with(R"({"services":["/rosapi/topics",)"));
  EXPECT_EQ(ask("service_type", R"({"service":"/add"})"), R"({"type":""})");
  EXPECT_EQ(ask("service_node", R"({"service":"/add"})"), R"({"node":""})");
  EXPECT_EQ(ask("node_details", R"({"node":"/other"})"),
            R"({"subscribing":[],"publishing":["/dock/status"],"services":[]})");
}

TEST_F(RosapiTest, interfaces_and_the_ros_version_are_returned) {
  EXPECT_EQ(ask("interfaces"),
            R"({"interfaces":["rospy_tutorials/AddTwoIntsRequest",)"
            R"("rospy_tutorials/AddTwoIntsResponse","std_msgs/Float64","std_msgs/String",)"
            R"("rospy_tutorials/AddTwoInts"]})");
  EXPECT_EQ(ask("get_ros_version"), R"({"version":1,"distro":"hyphos"})");
  EXPECT_EQ(ask("service_type", R"({"service":"/rosapi/get_ros_version"})"),
            R"({"type":"rosapi/GetROSVersion"})");
}

TEST_F(RosapiTest, the_time_is_returned) {
  EXPECT_TRUE(ask("get_time").starts_with(R"({"time":{"secs":)"));
}

TEST_F(RosapiTest, parameters_have_the_names_of_ros) {
  EXPECT_EQ(ask("get_param_names"), R"({"names":[]})");
  facade.parameters().nodes().put("left-arm", "laser.rate_hz", 40.5);
  facade.parameters().nodes().put("left-arm", "laser.frame", std::string("a \"b\""));
  facade.parameters().nodes().put("left-arm", "on", true);
  facade.parameters().nodes().put("walk", "gait", std::vector<std::int64_t>{1, -2});
  EXPECT_EQ(ask("get_param_names"), R"({"names":["/left_arm/laser/frame",)"
                                    R"("/left_arm/laser/rate_hz","/left_arm/on","/walk/gait"]})");
  const auto value = [&](const std::string& name) {
    return ask("get_param", R"({"name":")" + name + R"("})");
  };
  EXPECT_EQ(value("/left_arm/laser/rate_hz"), R"({"value":"40.5"})");
  EXPECT_EQ(value("left-arm:laser.rate_hz"), R"({"value":"40.5"})") << "the ROS 2 form of the name";
  EXPECT_EQ(value("left_arm/on"), R"({"value":"true"})");
  EXPECT_EQ(value("/left_arm/laser/frame"), R"({"value":"\"a \\\"b\\\"\""})");
  EXPECT_EQ(value("/walk/gait"), R"({"value":"[1,-2]"})");
  EXPECT_EQ(value("/walk/"), R"({"value":"{\"gait\":[1,-2]}"})") << "a namespace";
  EXPECT_EQ(value("/left_arm"),
            R"({"value":"{\"laser\":{\"frame\":\"a \\\"b\\\"\",\"rate_hz\":40.5},)"
            R"(\"on\":true}"})");
  EXPECT_EQ(value("/x"), R"({"value":"null"})");
  EXPECT_EQ(ask("get_param", R"({"name":"/x","default":"7"})"), R"({"value":"7"})");
  EXPECT_EQ(ask("get_param", R"(["/x","7"])"), R"({"value":"7"})");
  EXPECT_EQ(ask("has_param", R"({"name":"/walk/gait"})"), R"({"exists":true})");
  EXPECT_EQ(ask("has_param", R"({"name":"/walk/gai"})"), R"({"exists":false})");
  EXPECT_EQ(ask("search_param", R"({"name":"walk/gait"})"), R"({"global_name":"/walk/gait"})");
  EXPECT_EQ(ask("search_param", R"({"name":"trot"})"), R"({"global_name":""})");
}

TEST_F(RosapiTest, parameters_are_set_by_their_nodes) {
  facade.parameters().nodes().put("walk", "speed", 0.5);
  facade.parameters().nodes().put("walk", "frame", std::string("odom"));
  facade.parameters().nodes().check("walk", [](const ParamVariant& value) {
    const auto* speed = std::get_if<double>(&value);
    return speed != nullptr && *speed > 2 ? "is at most 2" : "";
  });
  const auto set = [&](const std::string& name, const std::string& value) {
    return ask("set_param", R"({"name":")" + name + R"(","value":)" + value + "}");
  };
  EXPECT_EQ(set("/walk/speed", R"("2")"), "{}");
  EXPECT_EQ(facade.parameters().nodes().value("walk", "speed"), ParamVariant(2.0));
  EXPECT_EQ(ask("get_param", R"({"name":"/walk/speed"})"), R"({"value":"2"})");
  EXPECT_EQ(ask("set_param", R"(["/walk/frame","\"map\""])"), "{}");
  EXPECT_EQ(facade.parameters().nodes().value("walk", "frame"), ParamVariant(std::string("map")));
  EXPECT_NE(set("/walk/speed", R"("3")").find("is at most 2"), std::string::npos);
  EXPECT_TRUE(set("/walk/speed", R"("fast")").starts_with("\"")) << "the value has another type";
  EXPECT_NE(set("/walk/speed", "1").find("a string of JSON"), std::string::npos);
  EXPECT_NE(set("/walk/height", R"("1")").find("no node has"), std::string::npos);
  EXPECT_EQ(facade.parameters().nodes().value("walk", "speed"), ParamVariant(2.0));
  EXPECT_NE(ask("delete_param", R"({"name":"/walk/speed"})").find("while a node declares it"),
            std::string::npos);
}

TEST_F(RosapiTest, a_parameter_of_ros_1_has_its_own_name) {
  auto& nodes = facade.parameters().nodes();
  nodes.put("ros1", "mine.gain", 3.5);
  nodes.describe("ros1", "mine.gain", "Parameter of ROS 1: /mine/gain");
  nodes.put("ros1", "walk.speed", 9.0);
  nodes.describe("ros1", "walk.speed", "Parameter of ROS 1: /walk/speed");
  nodes.put("walk", "speed", 0.5);
  EXPECT_EQ(ask("get_param_names"), R"({"names":["/mine/gain","/walk/speed"]})");
  EXPECT_EQ(ask("get_param", R"({"name":"/mine/gain"})"), R"({"value":"3.5"})");
  EXPECT_EQ(ask("get_param", R"({"name":"/mine"})"), R"({"value":"{\"gain\":3.5}"})");
  EXPECT_EQ(ask("get_param", R"({"name":"/ros1/mine/gain"})"), R"({"value":"3.5"})")
      << "the name below the gateway's node, as before";
  EXPECT_EQ(ask("get_param", R"({"name":"/walk/speed"})"), R"({"value":"0.5"})")
      << "a node of the robot takes precedence";
  EXPECT_EQ(ask("set_param", R"({"name":"/mine/gain","value":"4"})"), "{}");
  EXPECT_EQ(nodes.value("ros1", "mine.gain"), ParamVariant(4.0));
}

TEST_F(RosapiTest, a_new_name_is_set_in_the_tree_that_all_nodes_share) {
  auto& nodes = facade.parameters().nodes();
  nodes.put("walk", "speed", 0.5);
  EXPECT_EQ(
      ask("set_param", R"({"name":"/mine/rows","value":"[[1, 2.5], [\"a\"], {\"b\": true}]"})"),
      "{}");
  EXPECT_EQ(nodes.shared().find("mine.rows")->items.size(), 3U);
  EXPECT_EQ(ask("get_param_names"), R"({"names":["/mine/rows","/walk/speed"]})");
  EXPECT_EQ(ask("get_param", R"({"name":"/mine/rows"})"),
            R"({"value":"[[1,2.5],[\"a\"],{\"b\":true}]"})");
  EXPECT_EQ(ask("set_param", R"({"name":"/mine/rows","value":"7"})"), "{}");
  EXPECT_EQ(ask("get_param", R"({"name":"/mine"})"), R"({"value":"{\"rows\":7}"})");
  EXPECT_NE(ask("set_param", R"({"name":"/walk/height","value":"1"})").find("no node has"),
            std::string::npos)
      << "a node declares its parameters itself";
  EXPECT_EQ(ask("delete_param", R"({"name":"/mine/rows"})"), "{}");
  EXPECT_EQ(ask("has_param", R"({"name":"/mine/rows"})"), R"({"exists":false})");
  facade.clients().deny("_params/shared");
  EXPECT_NE(ask("set_param", R"({"name":"/mine/rows","value":"1"})")
                .find("do not allow this client to publish _params/shared"),
            std::string::npos);
}

TEST_F(RosapiTest, parameters_are_channels_and_services_of_the_rules) {
  for (const char* const node : {"walk", "left-arm", "hidden"}) {
    facade.parameters().nodes().put(node, "speed", 0.5);
  }
  facade.clients().deny("hidden/_params");
  facade.clients().deny("left_arm/_set_params");
  EXPECT_EQ(ask("get_param_names"), R"({"names":["/left_arm/speed","/walk/speed"]})");
  EXPECT_EQ(ask("get_param", R"({"name":"/hidden/speed"})"), R"({"value":"null"})");
  EXPECT_EQ(ask("set_param", R"({"name":"/walk/speed","value":"1"})"), "{}");
  for (const char* const name : {"/left_arm/speed", "/hidden/speed"}) {
    EXPECT_TRUE(ask("set_param", R"({"name":")" + std::string(name) + R"(","value":"1"})")
                    .starts_with("\""));
  }
  EXPECT_NE(
      ask("set_param", R"({"name":"/left_arm/speed","value":"1"})")
          .find("the rules of the gateway do not allow this client to call left_arm/_set_params"),
      std::string::npos);
  EXPECT_EQ(facade.parameters().nodes().value("left-arm", "speed"), ParamVariant(0.5));
  EXPECT_EQ(facade.parameters().nodes().value("hidden", "speed"), ParamVariant(0.5));
}

}  // namespace
}  // namespace hyphos::gateway::rosbridge
