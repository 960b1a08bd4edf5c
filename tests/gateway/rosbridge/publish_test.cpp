#include <gtest/gtest.h>

#include "tests/gateway/rosbridge/fake_client.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

constexpr const char* kAdvertise =
    R"({"op":"advertise","topic":"/chatter","type":"std_msgs/String"})";
constexpr const char* kSubscribe =
    R"({"op":"subscribe","topic":"/chatter","type":"std_msgs/String"})";

class Publish : public Robot {};

TEST_F(Publish, a_message_reaches_another_client_unchanged) {
  FakeClient talker(facade);
  FakeClient listener(facade);
  talker.say(kAdvertise);
  listener.say(kSubscribe);
  talker.say(R"({"op":"publish","topic":"/chatter","msg":{"data": "h\u00fc \/"}})");
  EXPECT_EQ(listener.on_message(),
            R"({"op":"publish","topic":"/chatter","msg":{"data": "h\u00fc \/"}})");
  EXPECT_TRUE(talker.hears_nothing());
}

TEST_F(Publish, a_slow_subscriber_is_reported_once_a_second) {
  FakeClient talker(facade);
  talker.say(R"({"op":"set_level","level":"warning"})");
  talker.say(kAdvertise);
  facade.topics().overrun("/chatter");
  const Time begin = monotonic_now();
  for (int i = 0; i < 3; ++i) talker.say(R"({"op":"publish","topic":"/chatter","msg":{}})");
  const std::string told = talker.on_message();
  EXPECT_NE(told.find("/chatter is too slow"), std::string::npos) << told;
  EXPECT_NE(told.find("warning"), std::string::npos) << told;
  const bool quiet = talker.hears_nothing();
  EXPECT_TRUE(quiet || monotonic_now() - begin >= Duration::from_seconds(1));
}

TEST_F(Publish, op_and_topic_may_be_last_and_in_a_binary_message) {
  FakeClient talker(facade);
  FakeClient listener(facade);
  listener.say_bytes(R"({"type":"std_msgs/String","topic":"/chatter","queue_length":1,)"
                     R"("fragment_size":2147483647,"compression":"none","throttle_rate":0,)"
                     R"("id":"/chatter","op":"subscribe"})");
  talker.say_bytes(
      R"({"topic":"/chatter","type":"std_msgs/String","op":"advertise","id":"/chatter"})");
  talker.say_bytes(R"({"topic":"/chatter","msg":{"data":"x"},"op":"publish","id":"/chatter"})");
  const auto sent = listener.sink.next();
  EXPECT_EQ(sent.bytes, R"({"op":"publish","topic":"/chatter","msg":{"data":"x"}})");
  EXPECT_EQ(sent.depth, 1U);
}

TEST_F(Publish, a_client_gets_a_topic_under_the_name_it_used) {
  FakeClient talker(facade);
  FakeClient listener(facade);
  listener.say(R"({"op":"subscribe","topic":"chatter","type":"std_msgs/String"})");
  talker.say(kAdvertise);
  talker.say(R"({"op":"publish","topic":"chatter","msg":{}})");
  EXPECT_EQ(listener.on_message(), R"({"op":"publish","topic":"chatter","msg":{}})");
}

TEST_F(Publish, numbers_unknown_to_json_are_quoted) {
  FakeClient talker(facade);
  FakeClient listener(facade);
  talker.say(kAdvertise);
  listener.say(kSubscribe);
  talker.say(
      R"({"op":"publish","topic":"/chatter","msg":{"NaN":[NaN, -Infinity,Infinity,"\"NaN"]}})");
  EXPECT_EQ(listener.on_message(), R"({"op":"publish","topic":"/chatter","msg":)"
                                   R"({"NaN":["NaN", "-Infinity","Infinity","\"NaN"]}})");
}

TEST_F(Publish, without_advertise_the_type_is_that_of_the_topic) {
  FakeClient talker(facade);
  FakeClient listener(facade);
  talker.say(R"({"op":"publish","id":"p1","topic":"/chatter","msg":{}})");
  EXPECT_EQ(talker.on_message(),
            R"({"op":"status","level":"error","msg":"publish: the type of /chatter is unknown. )"
            R"(Advertise it first","id":"p1"})");
  listener.say(kSubscribe);
  talker.say(R"({"op":"publish","topic":"/chatter","msg":{"data":"now"}})");
  EXPECT_EQ(listener.on_message(), R"({"op":"publish","topic":"/chatter","msg":{"data":"now"}})");
}

TEST_F(Publish, an_advertisement_lasts_until_its_last_id_is_removed) {
  FakeClient talker(facade);
  talker.say(R"({"op":"advertise","id":"a","topic":"/chatter","type":"std_msgs/String"})");
  talker.say(R"({"op":"advertise","id":"b","topic":"/chatter","type":"std_msgs/String"})");
  EXPECT_EQ(facade.open(), 1U);
  talker.say(R"({"op":"unadvertise","id":"a","topic":"/chatter"})");
  EXPECT_EQ(facade.open(), 1U);
  talker.say(R"({"op":"unadvertise","id":"b","topic":"/chatter"})");
  EXPECT_EQ(facade.open(), 0U);
}

TEST_F(Publish, another_type_is_refused_and_the_first_stays) {
  FakeClient talker(facade);
  talker.say(kAdvertise);
  talker.say(R"({"op":"advertise","id":7,"topic":"/chatter","type":"std_msgs/Float64"})");
  EXPECT_EQ(talker.on_message(),
            R"({"op":"status","level":"error",)"
            R"j("msg":"advertise: /chatter carries std_msgs/String (/chatter)","id":7})j");
  EXPECT_EQ(facade.open(), 1U);
  EXPECT_EQ(facade.clients().counted("type_mismatch"), 1U);
}

TEST_F(Publish, a_message_refused_by_the_graph_gets_an_error_with_its_id) {
  facade.topics().check([](const TypeInfo&, std::span<const std::byte>) -> Result<void> {
    return Error{Code::corrupt, "has the field 'dta', which std_msgs/String does not define",
                 "/chatter"};
  });
  FakeClient talker(facade);
  talker.say(kAdvertise);
  talker.say(R"({"op":"publish","id":"p","topic":"/chatter","msg":{"dta":1}})");
  EXPECT_EQ(talker.on_message(),
            R"({"op":"status","level":"error","msg":"publish: has the field 'dta', which )"
            R"j(std_msgs/String does not define (/chatter)","id":"p"})j");
  EXPECT_EQ(facade.clients().counted("corrupt"), 1U) << "counted once, by the graph facade";
}

TEST_F(Publish, latched_messages_reach_late_subscribers) {
  FakeClient talker(facade);
  talker.say(R"({"op":"advertise","topic":"/map","type":"std_msgs/String","latch":true})");
  talker.say(R"({"op":"publish","topic":"/map","msg":{"data":"rooms"}})");
  FakeClient listener(facade);
  listener.say(R"({"op":"subscribe","id":"a","topic":"/map","type":"std_msgs/String"})");
  const std::string expected = R"({"op":"publish","topic":"/map","msg":{"data":"rooms"}})";
  EXPECT_EQ(listener.on_message(), expected);
  // A second subscription of the same client has not received it either.
  listener.say(R"({"op":"subscribe","id":"b","topic":"/map","type":"std_msgs/String"})");
  EXPECT_EQ(listener.on_message(), expected);
  EXPECT_TRUE(listener.sink.wait_for_wake());
  listener.session.tick();
  EXPECT_EQ(facade.open(), 2U) << "the publisher and one subscription";
}

TEST_F(Publish, the_end_of_a_client_closes_all_its_endpoints) {
  {
    FakeClient client(facade);
    client.say(kAdvertise);
    client.say(kSubscribe);
    client.say(
        R"({"op":"advertise_service","service":"/add","type":"rospy_tutorials/AddTwoInts"})");
    EXPECT_EQ(facade.open(), 3U);
  }
  EXPECT_EQ(facade.open(), 0U);
}

TEST_F(Publish, topics_of_one_client_are_limited) {
  FakeClient client(facade);
  const std::size_t most = Options().limits.client_topics;
  for (std::size_t i = 0; i <= most; ++i) {
    client.say(R"({"op":"advertise","topic":"/t)" + std::to_string(i) +
               R"(","type":"std_msgs/String"})");
  }
  EXPECT_EQ(client.on_message(),
            R"({"op":"status","level":"error","msg":"advertise: this client already has )"
            R"j(256 published topics, the maximum. Start the gateway with a larger )j"
            R"j(--max-topics-per-client (/t256)"})j");
  EXPECT_EQ(facade.open(), most);
}

}  // namespace
}  // namespace hyphos::gateway::rosbridge
