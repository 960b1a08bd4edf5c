#include "gateway/ros2/qos.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/gateway/ros2/gateway.hpp"

namespace hyphos::gateway::ros2 {
namespace {

TopicInfo info_of(const Gateway& gateway, const std::string& topic) {
  for (TopicInfo& info : gateway.facade.topics().list()) {
    if (info.topic == topic && !info.publishers.empty()) return info;
  }
  return {};
}

std::unique_ptr<ClientPublisher> publisher_with(Gateway& gateway, const std::string& topic,
                                                const ClientPublisherOptions& options) {
  return gateway.facade.topics()
      .open_publisher({"robot"}, topic, "std_msgs/msg/String", Form::cdr, options)
      .or_throw();
}

TEST(Ros2Qos, a_mismatch_names_a_matching_value) {
  const Qos most{.reliable = true, .transient_local = true, .depth = 1, .deadline_ms = 50};
  EXPECT_EQ(mismatch(most, most), "");
  EXPECT_EQ(mismatch(most, {.reliable = false, .transient_local = false}), "");
  EXPECT_EQ(mismatch({.deadline_ms = 80}, {.deadline_ms = 50}),
            "it requests a deadline of 50 ms, but 80 ms is offered. Give the channel a "
            "deadline_ms of at most 50");
  const std::string all = mismatch({.reliable = false}, most);
  for (const char* part : {"requests reliable", "requests transient local", "but none is"}) {
    EXPECT_NE(all.find(part), std::string::npos) << all;
  }
}

TEST(Ros2Qos, the_channel_has_the_qos_of_the_writers) {
  Gateway gateway;
  RosSide ros;
  ros.writer("rt/strict", kString, {.deadline_ms = 80});
  ros.writer("rt/loose", kString, {.reliable = false});
  ASSERT_TRUE(eventually([&] { return !info_of(gateway, "/strict").topic.empty(); }));
  EXPECT_TRUE(info_of(gateway, "/strict").reliable);
  EXPECT_EQ(info_of(gateway, "/strict").deadline_ms, 80);
  ASSERT_TRUE(eventually([&] { return !info_of(gateway, "/loose").topic.empty(); }));
  EXPECT_FALSE(info_of(gateway, "/loose").reliable);
  EXPECT_EQ(info_of(gateway, "/loose").deadline_ms, 0);
}

TEST(Ros2Qos, the_channel_has_the_lifespan_of_the_writers) {
  Gateway gateway;
  RosSide ros;
  ros.writer("rt/fresh", kString, {.lifespan_ms = 90});
  ros.writer("rt/mixed", kString, {.lifespan_ms = 90});
  ros.writer("rt/mixed", kString);
  ASSERT_TRUE(eventually([&] {
    return !info_of(gateway, "/fresh").topic.empty() && !info_of(gateway, "/mixed").topic.empty();
  }));
  EXPECT_EQ(info_of(gateway, "/fresh").lifespan_ms, 90);
}

TEST(Ros2Qos, a_late_reader_gets_no_message_beyond_its_lifespan) {
  Gateway gateway;
  constexpr Duration kLifespan = Duration::from_ms(500);
  const auto publisher =
      publisher_with(gateway, "/state", {.latched = true, .lifespan_ms = kLifespan.ns / 1'000'000});
  RosSide ros;
  auto& early = ros.reader("rt/state", kString, {.latched = true});
  EXPECT_TRUE(publisher->publish(bytes_of(string_cdr("old"))));
  ASSERT_TRUE(early.wait_matched(1));
  // A message may expire before the reader is known, so the last one is published again. Its
  // lifespan in DDS begins before a reader receives it.
  ASSERT_TRUE(eventually([&] {
    const Time published = monotonic_now();
    (void)publisher->publish(bytes_of(string_cdr("old")));
    return eventually(
               [&] { return early.count() > 0 || monotonic_now() - published > kLifespan * 2; }) &&
           early.count() > 0;
  }));
  // Twice the lifespan, because a thread of DDS removes the message some time after its end.
  const Time read = monotonic_now();
  ASSERT_TRUE(eventually([&] { return monotonic_now() - read > kLifespan * 2; }));
  auto& late = ros.reader("rt/state", kString, {.latched = true});
  ASSERT_TRUE(late.wait_matched(1));
  ASSERT_TRUE(eventually([&] {
    (void)publisher->publish(bytes_of(string_cdr("new")));
    return !late.texts(0).empty();
  }));
  EXPECT_EQ(late.texts(1).front(), string_cdr("new"));
  EXPECT_EQ(early.texts(1).front(), string_cdr("old"));
}

TEST(Ros2Qos, the_queue_option_is_the_depth_of_inbound_topics) {
  Options options;
  options.queue_depth = 33;
  Gateway gateway(options);
  RosSide ros;
  ros.writer("rt/scan", kString);
  ASSERT_TRUE(eventually([&] { return !info_of(gateway, "/scan").topic.empty(); }));
  EXPECT_EQ(info_of(gateway, "/scan").depth, 33U);
}

TEST(Ros2Qos, a_reliable_reader_matches_a_best_effort_channel) {
  Gateway gateway;
  const auto publisher = gateway.publisher("/scan");
  RosSide ros;
  EXPECT_TRUE(ros.reader("rt/scan", kString).wait_matched(1));
}

TEST(Ros2Qos, the_best_effort_option_skips_reliable_channels) {
  Gateway gateway(with({{"best_effort", "scan,state"}}));
  const auto scan = gateway.publisher("/scan");
  const auto state = publisher_with(gateway, "/state", {.reliable = true});
  RosSide ros;
  EXPECT_TRUE(ros.reader("rt/state", kString).wait_matched(1));
  auto& strict = ros.reader("rt/scan", kString);
  EXPECT_TRUE(ros.reader("rt/scan", kString, {.reliable = false}).wait_matched(1));
  EXPECT_TRUE(
      eventually([&] { return gateway.facade.clients().counted("incompatible_qos") == 1; }));
  EXPECT_NE(gateway.facade.clients().last("incompatible_qos").find("requests reliable"),
            std::string::npos);
  EXPECT_TRUE(strict.wait_matched(0));
}

TEST(Ros2Qos, readers_match_only_with_no_shorter_deadline) {
  Gateway gateway;
  const auto publisher = publisher_with(gateway, "/state", {.deadline_ms = 80});
  RosSide ros;
  EXPECT_TRUE(ros.reader("rt/state", kString, {.deadline_ms = 80}).wait_matched(1));
  EXPECT_EQ(gateway.facade.clients().counted("incompatible_qos"), 0U);
  auto& hasty = ros.reader("rt/state", kString, {.deadline_ms = 50});
  EXPECT_TRUE(
      eventually([&] { return gateway.facade.clients().counted("incompatible_qos") == 1; }));
  EXPECT_NE(gateway.facade.clients().last("incompatible_qos").find("but 80 ms is offered"),
            std::string::npos);
  EXPECT_TRUE(hasty.wait_matched(0));
}

}  // namespace
}  // namespace hyphos::gateway::ros2
