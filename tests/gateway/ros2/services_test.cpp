#include <gtest/gtest.h>

#include <future>
#include <string>

#include "tests/gateway/ros2/gateway.hpp"

namespace hyphos::gateway::ros2 {
namespace {

const std::string kRequest = "std_srvs::srv::dds_::SetBool_Request_";
const std::string kResponse = "std_srvs::srv::dds_::SetBool_Response_";
const std::string kSetBool = "std_srvs/srv/SetBool";

/// A ROS server that replies to each request with "re: " and the text of the request. It first
/// waits until it has found the client, as Fast DDS servers do.
struct RosServer {
  explicit RosServer(RosSide& ros)
      : requests(ros.reader("rq/setRequest", kRequest)),
        replies(ros.writer("rr/setReply", kResponse)) {}
  void answer(std::size_t nth) {
    const auto got = requests.wait(nth + 1).at(nth);
    ASSERT_TRUE(replies.wait_matched(1));
    rtps::SampleIdentity call = got.info.sample_identity;
    const auto& reader = got.info.related_sample_identity.writer_guid();
    if (reader != rtps::GUID_t::unknown()) call.writer_guid(reader);
    replies.write(string_cdr("re: " + text_of(got.bytes)), call);
  }
  RosReader& requests;
  RosWriter& replies;
};

/// A ROS client with the behaviour of Fast DDS.
struct RosClient {
  explicit RosClient(RosSide& ros)
      : requests(ros.writer("rq/setRequest", kRequest)),
        replies(ros.reader("rr/setReply", kResponse)) {}
  rtps::SampleIdentity ask(const std::string& text) {
    rtps::SampleIdentity related;
    related.writer_guid(replies.guid());
    return requests.write(string_cdr(text), related);
  }
  RosWriter& requests;
  RosReader& replies;
};

std::future<Result<Buffer>> call(FakeGraph& facade, const std::string& text,
                                 Duration timeout = Duration::from_seconds(30)) {
  auto promise = std::make_shared<std::promise<Result<Buffer>>>();
  auto future = promise->get_future();
  facade.services().call({"robot"}, "/set", kSetBool, Form::cdr, bytes_of(string_cdr(text)),
                         timeout,
                         [promise](Result<Buffer> reply) { promise->set_value(std::move(reply)); });
  return future;
}

bool is_served(const FakeGraph& facade) { return !facade.services().list().empty(); }

std::unique_ptr<Server> serve(FakeGraph& facade) {
  return facade.services()
      .open_server({"robot"}, "/set", kSetBool, Form::cdr,
                   [](const Buffer& request, const Answer& answer) {
                     const std::string reply = string_cdr("re: " + text_of(request.text()));
                     answer(Buffer::copy_of(std::string_view(reply)));
                   })
      .or_throw();
}

TEST(Ros2Services, the_robot_calls_a_service_of_ros) {
  Gateway gateway;
  RosSide ros;
  RosServer server(ros);
  ASSERT_TRUE(eventually([&] { return is_served(gateway.facade); }));
  auto first = call(gateway.facade, "one");
  auto second = call(gateway.facade, "two");
  server.answer(1);
  server.answer(0);
  EXPECT_EQ(first.get().or_throw().text(), string_cdr("re: one"));
  EXPECT_EQ(second.get().or_throw().text(), string_cdr("re: two"));
}

TEST(Ros2Services, a_known_participant_gets_time_to_discover_a_client) {
  Gateway gateway;
  RosSide ros;
  const RosServer first(ros);
  const auto& services = gateway.facade.services();
  ASSERT_TRUE(eventually([&] { return services.list().size() == 1; }));
  const Time begin = monotonic_now();
  ros.reader("rq/otherRequest", kRequest);
  ros.writer("rr/otherReply", kResponse);
  ASSERT_TRUE(eventually([&] { return services.list().size() == 2; }));
  EXPECT_GE(monotonic_now() - begin, Duration::from_ms(300));
}

TEST(Ros2Services, ros_calls_a_service_of_the_robot) {
  Gateway gateway;
  const auto server = serve(gateway.facade);
  RosSide ros;
  RosClient client(ros);
  ASSERT_TRUE(client.requests.wait_matched(1));
  const auto first = client.ask("one");
  const auto got = client.replies.wait(1).at(0);
  EXPECT_EQ(got.bytes, string_cdr("re: one"));
  EXPECT_EQ(got.info.related_sample_identity.sequence_number(), first.sequence_number());
  EXPECT_EQ(got.info.related_sample_identity.writer_guid(), client.replies.guid());
}

TEST(Ros2Services, two_clients_of_ros_each_get_their_replies) {
  Gateway gateway;
  const auto server = serve(gateway.facade);
  RosSide ros;
  RosSide other_ros;
  RosClient client(ros);
  RosClient other(other_ros);
  ASSERT_TRUE(client.requests.wait_matched(1));
  ASSERT_TRUE(other.requests.wait_matched(1));
  for (int i = 0; i < 20; ++i) {
    client.ask("a");
    other.ask("b");
  }
  for (RosClient* one : {&client, &other}) {
    // Besides, it gets the replies to the other client that are sent after its match.
    const auto own = [&] {
      auto all = one->replies.wait(0);
      std::erase_if(all, [&](const RosReader::Got& got) {
        return got.info.related_sample_identity.writer_guid() != one->replies.guid();
      });
      return all;
    };
    EXPECT_TRUE(eventually([&] { return own().size() == 20; }));
    for (const RosReader::Got& got : own()) {
      EXPECT_EQ(got.bytes, string_cdr(one == &client ? "re: a" : "re: b"));
    }
  }
}

TEST(Ros2Services, calls_end_at_once_when_the_server_leaves) {
  Gateway gateway;
  std::future<Result<Buffer>> asked;
  {
    RosSide ros;
    RosServer server(ros);
    ASSERT_TRUE(eventually([&] { return is_served(gateway.facade); }));
    asked = call(gateway.facade, "anyone?");
    EXPECT_EQ(server.requests.wait(1).size(), 1U);
  }
  const auto answer = asked.get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::disconnected);
  EXPECT_TRUE(eventually([&] { return !is_served(gateway.facade); }));
}

TEST(Ros2Services, a_service_found_during_shutdown_is_not_reported) {
  Gateway gateway;
  gateway.facade.services().close_node();
  RosSide ros;
  const RosServer server(ros);
  ASSERT_TRUE(eventually([&] { return gateway.facade.services().refused() > 0; }));
  gateway.protocol.reset();
  EXPECT_EQ(gateway.facade.clients().counted("disconnected"), 0U);
}

TEST(Ros2Services, a_call_without_a_reply_times_out) {
  Gateway gateway(with({{"call_timeout_s", "0.1"}}));
  RosSide ros;
  RosServer server(ros);
  ASSERT_TRUE(eventually([&] { return is_served(gateway.facade); }));
  const auto answer = call(gateway.facade, "anyone?").get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::timeout);
}

TEST(Ros2Services, a_service_of_ros_is_not_offered_to_ros_again) {
  Gateway gateway;
  RosSide ros;
  RosServer server(ros);
  ASSERT_TRUE(eventually([&] { return is_served(gateway.facade); }));
  // A later channel is visible, so the gateway has scanned the graph once more.
  const auto publisher = gateway.publisher("/other");
  ASSERT_TRUE(ros.reader("rt/other", kString).wait_matched(1));
  EXPECT_TRUE(server.replies.wait_matched(1));
  EXPECT_TRUE(server.requests.wait_matched(1));
}

TEST(Ros2Services, a_failed_call_is_counted) {
  Gateway gateway;
  const auto server = gateway.facade.services()
                          .open_server({"robot"}, "/set", kSetBool, Form::cdr,
                                       [](const Buffer&, const Answer& answer) {
                                         answer(Error{Code::overloaded, "not now", {}});
                                       })
                          .or_throw();
  RosSide ros;
  RosClient client(ros);
  ASSERT_TRUE(client.requests.wait_matched(1));
  client.ask("one");
  EXPECT_TRUE(eventually([&] { return gateway.facade.clients().counted("call_failed") == 1; }));
}

}  // namespace
}  // namespace hyphos::gateway::ros2
