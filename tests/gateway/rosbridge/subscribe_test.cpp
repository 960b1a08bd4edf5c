#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <thread>
#include <vector>

#include "gateway/convert/base64.hpp"
#include "tests/gateway/rosbridge/fake_client.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

class Subscribe : public Robot {
 protected:
  Subscribe() : talker(facade) {
    talker.say(R"({"op":"advertise","topic":"/chatter","type":"std_msgs/String"})");
  }
  void publish(const std::string& msg) {
    talker.say(R"({"op":"publish","topic":"/chatter","msg":)" + msg + "}");
  }
  static std::string subscribe(const std::string& more) {
    return R"({"op":"subscribe","topic":"/chatter","type":"std_msgs/String",)" + more + "}";
  }
  FakeClient talker;
};

// Extracts the JSON of a png message according to the PNG standard, independently of the encoder of
// the gateway.
std::string json_of_png(const std::string& message) {
  const std::string before = R"({"op":"png","data":")";
  EXPECT_TRUE(message.starts_with(before));
  const std::string text = message.substr(before.size(), message.size() - before.size() - 2);
  std::string file(base64_size(text), '\0');
  EXPECT_TRUE(decode_base64(text, reinterpret_cast<std::byte*>(file.data())));
  const auto u32 = [&](std::size_t at) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = value << 8 | static_cast<unsigned char>(file[at + i]);
    return value;
  };
  const std::size_t width = u32(16);
  const std::size_t height = u32(20);
  EXPECT_EQ(file.substr(24, 5), std::string("\x08\x02\x00\x00\x00", 5));
  const std::size_t row = 3 * width + 1;
  std::string rows(row * height, '\0');
  uLongf size = rows.size();
  const std::size_t data = 33;
  EXPECT_EQ(file.substr(data + 4, 4), "IDAT");
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                       reinterpret_cast<const Bytef*>(file.data() + data + 8), u32(data)),
            Z_OK);
  EXPECT_EQ(crc32(0, reinterpret_cast<const Bytef*>(file.data() + data + 4), u32(data) + 4),
            u32(data + 8 + u32(data)));
  std::string json;
  for (std::size_t y = 0; y < height; ++y) json += rows.substr(y * row + 1, row - 1);
  return json.substr(0, json.find_last_not_of('\n') + 1);
}

TEST_F(Subscribe, png_holds_the_same_json_in_ascii) {
  FakeClient listener(facade);
  listener.say(subscribe(R"("compression":"png")"));
  publish(R"({"data":"gr\u00fcn"})");
  EXPECT_EQ(json_of_png(listener.on_message()),
            R"({"op":"publish","topic":"/chatter","msg":{"data":"gr\u00fcn"}})");
  publish("{\"data\":\"gr\xc3\xbcn \xf0\x9f\xa4\x96\"}");
  EXPECT_EQ(json_of_png(listener.on_message()),
            R"({"op":"publish","topic":"/chatter","msg":{"data":"gr\u00fcn \ud83e\udd16"}})");
}

TEST_F(Subscribe, cbor_wraps_the_message_in_a_map) {
  FakeClient listener(facade);
  listener.say(subscribe(R"("compression":"cbor")"));
  publish("{}");  // The graph facade of this test passes bytes through in every encoding.
  const auto sent = listener.sink.next();
  EXPECT_TRUE(sent.binary);
  EXPECT_EQ(sent.bytes, "\xa3\x62op\x67publish\x65topic\x68/chatter\x63msg{}");
}

TEST_F(Subscribe, cbor_raw_has_the_time_and_the_bytes) {
  FakeClient listener(facade);
  listener.say(subscribe(R"("compression":"cbor-raw")"));
  publish(R"({"data":"0123456789012345678"})");
  const auto sent = listener.sink.next();
  EXPECT_TRUE(sent.binary);
  const std::string head = "\xa3\x62op\x67publish\x65topic\x68/chatter\x63msg\xa3\x64secs\x1a";
  ASSERT_EQ(sent.bytes.substr(0, head.size()), head);
  std::int64_t seconds = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    seconds = seconds << 8 | static_cast<unsigned char>(sent.bytes[head.size() + i]);
  }
  const std::int64_t now = wall_now().ns / 1'000'000'000;
  EXPECT_GE(now, seconds);
  EXPECT_LE(now - seconds, 60);
  const std::string tail =
      "\x65"
      "bytes\x58\x1e"
      R"({"data":"0123456789012345678"})";
  EXPECT_TRUE(sent.bytes.ends_with(tail)) << sent.bytes;
}

TEST_F(Subscribe, a_large_message_is_sent_in_fragments) {
  FakeClient listener(facade);
  listener.say(subscribe(R"("fragment_size":20)"));
  publish("{\"data\":\"\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\"}");
  const auto [whole, count] = joined_fragments(listener, 1000, 20);
  EXPECT_EQ(whole,
            "{\"op\":\"publish\",\"topic\":\"/"
            "chatter\",\"msg\":{\"data\":\"\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\"}}");
  EXPECT_EQ(count, 4);
}

TEST_F(Subscribe, without_a_queue_messages_above_the_rate_are_left_out) {
  FakeClient listener(facade);
  listener.say(subscribe(R"("throttle_rate":3600000)"));
  for (int i = 0; i < 3; ++i) publish("{\"data\":" + std::to_string(i) + "}");
  EXPECT_EQ(listener.on_message(), R"({"op":"publish","topic":"/chatter","msg":{"data":0}})");
  FakeClient witness(facade);
  witness.say(subscribe(R"("id":"w")"));
  publish(R"({"data":"end"})");
  (void)witness.on_message();
  EXPECT_TRUE(listener.hears_nothing());
  EXPECT_EQ(facade.clients().counted("throttled"), 0U) << "the client requested this rate";
}

TEST_F(Subscribe, a_queue_sends_the_newest_messages_at_the_rate) {
  FakeClient listener(facade);
  constexpr Duration kRate = Duration::from_ms(200);
  listener.say(subscribe(R"("throttle_rate":200,"queue_length":2)"));
  FakeClient witness(facade);
  witness.say(subscribe(R"("id":"w")"));
  const Time begin = monotonic_now();
  for (int i = 0; i < 5; ++i) publish("{\"data\":" + std::to_string(i) + "}");
  for (int i = 0; i < 5; ++i) (void)witness.on_message();
  // If the machine published slowly, more messages may have been sent.
  const bool all_too_soon = monotonic_now() - begin < kRate;
  const auto message = [](int i) {
    return R"({"op":"publish","topic":"/chatter","msg":{"data":)" + std::to_string(i) + "}}";
  };
  std::vector<std::string> heard{listener.on_message()};
  if (all_too_soon) {
    EXPECT_TRUE(listener.sink.wait_for_wake());
  }
  while (heard.back() != message(4) && heard.size() < 5) {
    while (listener.sink.empty()) {
      listener.session.tick();
      std::this_thread::yield();
    }
    heard.push_back(listener.on_message());
  }
  if (all_too_soon) {
    EXPECT_EQ(heard, (std::vector<std::string>{message(0), message(3), message(4)}));
  }
  EXPECT_EQ(heard.front(), message(0));
  EXPECT_EQ(heard.back(), message(4));
  EXPECT_TRUE(std::is_sorted(heard.begin(), heard.end()));
  EXPECT_GE(heard.size(), 3U);
  EXPECT_EQ(facade.clients().counted("throttled"), 5 - heard.size());
  EXPECT_GE(monotonic_now() - begin, kRate * (static_cast<std::int64_t>(heard.size()) - 1));
}

TEST_F(Subscribe, throttled_messages_are_limited_in_bytes_over_all_topics) {
  Options options;
  options.queue_bytes = 4096;
  FakeClient listener(facade, options);
  talker.say(R"({"op":"advertise","topic":"/other","type":"std_msgs/String"})");
  const std::string text(1100, 'x');  // The JSON of four exceeds the bound, that of three does not.
  const std::string slow = R"("throttle_rate":3600000,"queue_length":10000)";
  FakeClient witness(
      facade);  // It receives each message after the listener, which subscribed first.
  const auto publish_on = [&](const std::string& topic, int count) {
    for (int i = 0; i < count; ++i) {
      talker.say(R"({"op":"publish","topic":")" + topic + R"(","msg":{"data":")" + text + "\"}}");
      (void)witness.on_message();  // Keeps every queue from filling up.
    }
  };
  listener.say(subscribe(slow));
  witness.say(subscribe(R"("id":"w")"));
  publish_on("/chatter", 11);  // The first is sent at once.
  EXPECT_NE(listener.on_message().find(text), std::string::npos);
  EXPECT_EQ(facade.clients().counted("throttled"), 7U);
  listener.say(R"({"op":"subscribe","topic":"/other","type":"std_msgs/String",)" + slow + "}");
  witness.say(R"({"op":"subscribe","topic":"/other","type":"std_msgs/String"})");
  publish_on("/other", 3);
  EXPECT_NE(listener.on_message().find("/other"), std::string::npos);
  EXPECT_EQ(facade.clients().counted("throttled"), 9U)
      << "the other topic uses the rest of the bound";
  listener.say(R"({"op":"unsubscribe","topic":"/chatter"})");
  publish_on("/other", 3);
  EXPECT_EQ(facade.clients().counted("throttled"), 9U)
      << "the bytes of the other topic are free again";
}

TEST_F(Subscribe, several_ids_get_each_message_once) {
  FakeClient listener(facade);
  listener.say(subscribe(R"("id":"a")"));
  listener.say(subscribe(R"("id":"b","queue_length":5)"));
  publish("{}");
  EXPECT_EQ(listener.sink.next().depth, 5U);
  EXPECT_TRUE(listener.hears_nothing());
  listener.say(R"({"op":"unsubscribe","id":"b","topic":"/chatter"})");
  publish("{}");
  EXPECT_EQ(listener.sink.next().depth, Options().queue_depth);
  listener.say(R"({"op":"unsubscribe","id":"a","topic":"/chatter"})");
  EXPECT_EQ(facade.open(), 1U) << "the publisher";
}

TEST_F(Subscribe, the_strongest_option_of_several_ids_wins) {
  FakeClient listener(facade);
  listener.say(subscribe(R"("id":"a")"));
  listener.say(subscribe(R"("id":"b","compression":"cbor")"));
  publish("{}");
  EXPECT_TRUE(listener.sink.next().binary);
  listener.say(R"({"op":"unsubscribe","id":"b","topic":"/chatter"})");
  publish("{}");
  EXPECT_FALSE(listener.sink.next().binary);
}

TEST_F(Subscribe, a_change_of_encoding_loses_and_repeats_nothing) {
  std::promise<void> go_on;
  const auto busy =
      facade.topics().open_subscription({"busy"}, "/busy", "std_msgs/String", Form::json, {},
                                        [&](const OutgoingMessage&) { go_on.get_future().wait(); });
  FakeClient listener(facade);
  listener.say(subscribe(R"("id":"a")"));
  talker.say(R"({"op":"publish","topic":"/busy","type":"std_msgs/String","msg":{}})");
  publish(R"({"data":"before"})");
  listener.say(R"({"op":"subscribe","topic":"/chatter","id":"b","compression":"cbor"})");
  publish(R"({"data":"in both"})");
  go_on.set_value();
  EXPECT_EQ(listener.on_message(),
            R"({"op":"publish","topic":"/chatter","msg":{"data":"before"}})");
  const auto sent = listener.sink.next();
  EXPECT_TRUE(sent.binary);
  EXPECT_TRUE(sent.bytes.ends_with(R"({"data":"in both"})"));
  EXPECT_TRUE(listener.hears_nothing());
  ASSERT_TRUE(listener.sink.wait_for_wake());
  listener.session.tick();
  EXPECT_EQ(facade.open(), 4U) << "two publishers, the busy subscription, and one of the listener";
}

TEST_F(Subscribe, latched_messages_go_only_to_new_ids) {
  talker.say(R"({"op":"advertise","topic":"/map","type":"std_msgs/String","latch":true})");
  talker.say(R"({"op":"publish","topic":"/map","msg":{"data":"m"}})");
  FakeClient listener(facade);
  listener.say(R"({"op":"subscribe","topic":"/map","id":"a"})");
  EXPECT_FALSE(listener.sink.next().binary);
  listener.say(R"({"op":"subscribe","topic":"/map","id":"b","compression":"cbor"})");
  EXPECT_TRUE(listener.sink.next().binary);
  listener.say(R"({"op":"unsubscribe","topic":"/map","id":"b"})");
  listener.say(R"({"op":"subscribe","topic":"/map","id":"a","compression":"cbor"})");
  talker.say(R"({"op":"publish","topic":"/map","msg":{"data":"n"}})");
  EXPECT_TRUE(listener.on_message().ends_with(R"({"data":"n"})"));
}

TEST_F(Subscribe, a_further_id_gets_the_latched_message_of_each_publisher) {
  FakeClient other(facade);
  for (FakeClient* const one : {&talker, &other}) {
    one->say(R"({"op":"advertise","topic":"/map","type":"std_msgs/String","latch":true})");
  }
  talker.say(R"({"op":"publish","topic":"/map","msg":{"data":"m"}})");
  other.say(R"({"op":"publish","topic":"/map","msg":{"data":"n"}})");
  FakeClient listener(facade);
  for (const char* const id : {"a", "b"}) {
    listener.say(R"({"op":"subscribe","topic":"/map","id":")" + std::string(id) + R"("})");
    EXPECT_TRUE(listener.on_message().ends_with(R"({"data":"m"}})")) << id;
    EXPECT_TRUE(listener.on_message().ends_with(R"({"data":"n"}})")) << id;
  }
}

TEST_F(Subscribe, a_topic_has_one_type_for_a_client) {
  FakeClient listener(facade);
  listener.say(subscribe(R"("id":"a")"));
  listener.say(R"({"op":"subscribe","topic":"/chatter","id":"a","type":"std_msgs/Float64"})");
  EXPECT_EQ(listener.on_message(),
            R"({"op":"status","level":"error","msg":"subscribe: this client already uses )"
            R"j(the topic with type std_msgs/String, not std_msgs/Float64 (/chatter)","id":"a"})j");
  listener.say(R"({"op":"subscribe","topic":"/chatter","id":"b","type":"none/None"})");
  EXPECT_EQ(listener.on_message(),
            R"({"op":"status","level":"error","msg":"subscribe: unknown type 'none/None' )"
            R"j((none/None)","id":"b"})j");
  listener.say(R"({"op":"subscribe","topic":"/chatter","id":"a","compression":"cbor"})");
  publish("{}");
  EXPECT_TRUE(listener.sink.next().binary);
}

StreamSwitch::Given given(std::uint64_t number, bool replayed = false,
                          std::int64_t publish_ns = 0) {
  return {Form::json, {{}, publish_ns, replayed, 1, number}};
}
std::vector<std::uint64_t> numbers(const std::vector<StreamSwitch::Given>& all) {
  std::vector<std::uint64_t> out;
  for (const auto& one : all) out.push_back(one.message.sequence);
  return out;
}
using Numbers = std::vector<std::uint64_t>;

TEST(StreamSwitchTest, the_new_subscription_waits_for_the_old_to_catch_up) {
  StreamSwitch stream_switch;
  stream_switch.begin(2);
  EXPECT_EQ(numbers(stream_switch.from_new(given(3), false)), Numbers());
  EXPECT_EQ(numbers(stream_switch.from_old(given(2), false)), Numbers{2});
  EXPECT_FALSE(stream_switch.over());
  EXPECT_EQ(numbers(stream_switch.from_old(given(3), false)), Numbers{3});
  EXPECT_TRUE(stream_switch.over());
  EXPECT_EQ(numbers(stream_switch.from_old(given(4), false)), Numbers());
  EXPECT_EQ(numbers(stream_switch.from_new(given(4), false)), Numbers{4});
}

TEST(StreamSwitchTest, later_messages_come_from_the_new_subscription) {
  StreamSwitch stream_switch;
  stream_switch.begin(2);
  stream_switch.opened(100);
  EXPECT_EQ(numbers(stream_switch.from_new(given(2, false, 100), false)), Numbers());
  EXPECT_EQ(numbers(stream_switch.from_old(given(1, false, 99), false)), Numbers{1});
  EXPECT_EQ(numbers(stream_switch.from_old(given(3, false, 101), false)), Numbers{2});
  EXPECT_TRUE(stream_switch.over());
  EXPECT_EQ(numbers(stream_switch.from_new(given(3, false, 101), false)), Numbers{3});
}

TEST(StreamSwitchTest, the_new_subscription_may_be_behind) {
  StreamSwitch stream_switch;
  stream_switch.begin(2);
  EXPECT_EQ(numbers(stream_switch.from_old(given(1), false)), Numbers{1});
  EXPECT_EQ(numbers(stream_switch.from_old(given(2), false)), Numbers{2});
  EXPECT_EQ(numbers(stream_switch.from_new(given(1), false)), Numbers());
  EXPECT_TRUE(stream_switch.over());
  EXPECT_EQ(numbers(stream_switch.from_new(given(2), false)), Numbers());
  EXPECT_EQ(numbers(stream_switch.from_new(given(3), false)), Numbers{3});
}

TEST(StreamSwitchTest, the_handover_is_tracked_per_sender) {
  const auto of_other = [](std::uint64_t number) {
    StreamSwitch::Given one = given(number);
    one.message.sender = 2;
    return one;
  };
  StreamSwitch stream_switch;
  stream_switch.begin(2);
  EXPECT_EQ(numbers(stream_switch.from_new(given(1), false)), Numbers());
  EXPECT_EQ(numbers(stream_switch.from_old(of_other(7), false)), Numbers{7});
  EXPECT_EQ(numbers(stream_switch.from_new(of_other(7), false)), Numbers{1});
  EXPECT_TRUE(stream_switch.over());
  EXPECT_EQ(numbers(stream_switch.from_old(given(1), false)), Numbers());
}

TEST(StreamSwitchTest, the_wait_for_a_silent_old_subscription_is_bounded) {
  StreamSwitch stream_switch;
  stream_switch.begin(2);
  EXPECT_EQ(numbers(stream_switch.from_new(given(1), false)), Numbers());
  EXPECT_EQ(numbers(stream_switch.from_new(given(2), false)), Numbers());
  EXPECT_EQ(numbers(stream_switch.from_new(given(3), false)), (Numbers{1, 2, 3}));
  EXPECT_TRUE(stream_switch.over());
}

TEST(StreamSwitchTest, a_replayed_message_is_repeated_only_on_request) {
  StreamSwitch stream_switch;
  EXPECT_EQ(numbers(stream_switch.from_new(given(5, true), true)), Numbers{5});
  stream_switch.begin(2);
  EXPECT_EQ(numbers(stream_switch.from_new(given(5, true), false)), Numbers());
  EXPECT_EQ(numbers(stream_switch.from_new(given(5, true), true)), Numbers{5});
  EXPECT_EQ(numbers(stream_switch.from_old(given(5), false)), Numbers());
  stream_switch.begin(2);
  EXPECT_EQ(numbers(stream_switch.from_old(given(5, true), false)), Numbers());
  (void)stream_switch.end();
  EXPECT_EQ(numbers(stream_switch.from_new(given(6, true), false)), Numbers{6});
}

TEST_F(Subscribe, unsubscribe_without_an_id_ends_all) {
  FakeClient listener(facade);
  listener.say(subscribe(R"("id":"a")"));
  listener.say(subscribe(R"("id":"b")"));
  listener.say(R"({"op":"unsubscribe","topic":"/chatter"})");
  EXPECT_EQ(facade.open(), 1U) << "the publisher";
  listener.say(R"({"op":"set_level","level":"warning"})");
  listener.say(R"({"op":"unsubscribe","id":"x","topic":"/chatter"})");
  EXPECT_EQ(listener.on_message(),
            R"({"op":"status","level":"warning",)"
            R"("msg":"unsubscribe: the client has no subscription to /chatter","id":"x"})");
}

TEST_F(Subscribe, drops_for_a_slow_client_are_counted) {
  FakeClient listener(facade);
  listener.say(subscribe(R"("id":"a")"));
  listener.sink.drop(3);
  publish("{}");
  (void)listener.on_message();
  for (int i = 0; i < 20'000 && facade.clients().counted("slow_client") < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(facade.clients().counted("slow_client"), 3U);
}

TEST_F(Subscribe, a_message_above_the_limit_is_counted_and_not_sent) {
  Options options;
  options.max_message = 100;
  FakeClient listener(facade, options);
  listener.say(subscribe(R"("id":"a")"));
  publish(R"({"data":")" + std::string(100, 'x') + R"("})");
  publish("{}");
  EXPECT_EQ(listener.on_message(), R"({"op":"publish","topic":"/chatter","msg":{}})");
  EXPECT_EQ(facade.clients().counted("too_big"), 1U);
}

TEST_F(Subscribe, wrong_options_are_refused_by_name) {
  FakeClient listener(facade);
  listener.say(subscribe(R"("compression":"zip","id":"s")"));
  EXPECT_EQ(listener.on_message(),
            R"({"op":"status","level":"error","msg":"subscribe: unknown compression 'zip'. )"
            R"(Use none, png, cbor or cbor-raw","id":"s"})");
  listener.say(subscribe(R"("throttle_rate":-1)"));
  EXPECT_EQ(listener.on_message(),
            R"({"op":"status","level":"error","msg":"subscribe: 'throttle_rate' must )"
            R"(be 0 to 86400000 milliseconds"})");
  listener.say(R"({"op":"subscribe","topic":"/nothing","id":1})");
  EXPECT_EQ(listener.on_message(),
            R"({"op":"status","level":"error","msg":"subscribe: no topic /nothing )"
            R"j((/nothing)","id":1})j");
  EXPECT_EQ(facade.open(), 1U) << "the publisher";
}

}  // namespace
}  // namespace hyphos::gateway::rosbridge
