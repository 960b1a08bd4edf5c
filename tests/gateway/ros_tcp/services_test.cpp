#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gateway/ros_tcp/requests.hpp"
#include "tests/gateway/ros_tcp/gateway.hpp"

namespace hyphos::gateway::ros_tcp {
namespace {

using Sent = std::pair<std::string, std::string>;

const std::string kSwitch = registration("/switch", "std_srvs/SetBool");

std::string id(int number) { return R"({"srv_id":)" + std::to_string(number) + "}"; }

/// Serves /switch in the graph. The reply is the reversed request.
std::unique_ptr<Server> serve(FakeGraph& facade) {
  return facade.services()
      .open_server({"graph"}, "/switch", "std_srvs/SetBool", Form::ros1,
                   [](const Buffer& request, const Answer& answer) {
                     const auto text = request.text();
                     answer(Buffer::copy_of(std::string(text.rbegin(), text.rend())));
                   })
      .or_throw();
}

TEST(RosTcpServices, a_client_calls_a_service_of_the_graph) {
  Gateway gateway;
  const auto server = serve(gateway.facade);
  auto client = gateway.client();
  client.say("__ros_service", kSwitch);
  client.say("__request", id(101));
  client.say("/switch", "abc");
  EXPECT_EQ(client.next(), Sent("__response", id(101)));
  EXPECT_EQ(client.next(), Sent("/switch", "cba"));
}

TEST(RosTcpServices, calls_do_not_list_all_services) {
  Gateway gateway;
  const auto server = serve(gateway.facade);
  auto client = gateway.client();
  client.say("__ros_service", kSwitch);
  const std::size_t before = gateway.facade.services().listings();
  for (int call = 0; call < 20; ++call) {
    client.say("__request", id(call));
    client.say("/switch", "abc");
    EXPECT_EQ(client.next(), Sent("__response", id(call)));
    EXPECT_EQ(client.next(), Sent("/switch", "cba"));
  }
  EXPECT_EQ(gateway.facade.services().listings(), before);
}

TEST(RosTcpServices, a_sign_of_life_before_a_request_has_no_effect) {
  Gateway gateway;
  const auto server = serve(gateway.facade);
  auto client = gateway.client();
  client.say("__ros_service", kSwitch);
  client.say("__request", id(101));
  client.send(std::string(8, '\0'));
  client.say("/switch", "abc");
  EXPECT_EQ(client.next(), Sent("__response", id(101)));
}

TEST(RosTcpServices, replies_go_to_the_calling_client) {
  Gateway gateway;
  const auto server = serve(gateway.facade);
  std::vector<FrameClient> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(gateway.client());
  for (FrameClient& client : clients) client.say("__ros_service", kSwitch);
  for (int round = 0; round < 20; ++round) {
    for (std::size_t k = 0; k < clients.size(); ++k) {
      clients[k].say("__request", id(101 + round));
      clients[k].say("/switch", std::to_string(k) + "!");
    }
  }
  for (std::size_t k = 0; k < clients.size(); ++k) {
    for (int round = 0; round < 20; ++round) {
      ASSERT_EQ(clients[k].next(), Sent("__response", id(101 + round)));
      ASSERT_EQ(clients[k].next(), Sent("/switch", "!" + std::to_string(k)));
    }
  }
}

/// The reply to a failed call of an unknown type.
std::string zeros() { return std::string(1024, '\0'); }

TEST(RosTcpServices, a_call_without_a_server_gets_an_error_and_a_blank_reply) {
  Gateway gateway;
  gateway.facade.services().blank(std::string(5, '\0'));
  auto client = gateway.client();
  client.say("__ros_service", kSwitch);
  client.say("__request", id(101));
  client.say("/switch", "abc");
  EXPECT_NE(client.next("__error").find("/switch"), std::string::npos);
  EXPECT_EQ(client.next(), Sent("__response", id(101)));
  EXPECT_EQ(client.next(), Sent("/switch", std::string(5, '\0')));
}

TEST(RosTcpServices, a_failed_call_of_an_unknown_type_gets_zeros) {
  for (const bool ros2 : {false, true}) {
    Gateway gateway(with(&Options::own, {{"ros", ros2 ? "2" : "1"}}));
    auto client = gateway.client();
    client.say("__ros_service", registration("/odd", "no_srvs/Such"));
    EXPECT_NE(client.next("__error").find("no_srvs"), std::string::npos);
    client.say("__request", id(101));
    client.say("/odd", "abc");
    EXPECT_NE(client.next("__error").find("/odd"), std::string::npos);
    EXPECT_EQ(client.next(), Sent("__response", id(101)));
    std::string expected = zeros();
    if (ros2) expected[1] = 1;  // The CDR encapsulation header, little endian.
    EXPECT_EQ(client.next(), Sent("/odd", expected));
  }
}

TEST(RosTcpServices, a_call_without_a_reply_times_out) {
  Gateway gateway(with(&Options::own, {{"service_timeout_ms", "50"}}));
  // Shared, because the call may time out before the server gets it, and the test may then end
  // first.
  const auto never = std::make_shared<std::vector<Answer>>();
  const auto server = gateway.facade.services().open_server(
      {"graph"}, "/switch", "std_srvs/SetBool", Form::ros1,
      [never](const Buffer&, Answer answer) { never->push_back(std::move(answer)); });
  auto client = gateway.client();
  client.say("__ros_service", kSwitch);
  client.say("__request", id(101));
  client.say("/switch", "abc");
  EXPECT_NE(client.next("__error").find("timeout"), std::string::npos);
  EXPECT_EQ(client.next(), Sent("__response", id(101)));
}

TEST(RosTcpServices, a_call_that_was_not_registered_gets_a_reply_too) {
  Gateway gateway;
  auto client = gateway.client();
  client.say("__request", id(101));
  client.say("/switch", "abc");
  EXPECT_NE(client.next("__error").find("__ros_service"), std::string::npos);
  EXPECT_EQ(client.next(), Sent("__response", id(101)));
  EXPECT_EQ(client.next(), Sent("/switch", zeros()));
}

/// Calls /switch from the graph and keeps the outcome.
struct Asked {
  explicit Asked(FakeGraph& facade, std::string_view request = "on") {
    facade.services().call({"graph"}, "/switch", {}, Form::ros1, std::as_bytes(std::span(request)),
                           Duration::from_seconds(20), [state = state](Result<Buffer> reply) {
                             const std::lock_guard lock(state->mutex);
                             state->text = reply ? std::string(reply->text())
                                                 : std::string(to_string(reply.error().code));
                           });
  }
  [[nodiscard]] std::string wait() const {
    (void)eventually([&] {
      const std::lock_guard lock(state->mutex);
      return state->text.has_value();
    });
    const std::lock_guard lock(state->mutex);
    return state->text.value_or("nothing");
  }
  struct State {
    std::mutex mutex;
    std::optional<std::string> text;
  };
  std::shared_ptr<State> state = std::make_shared<State>();
};

TEST(RosTcpServices, the_graph_calls_a_service_of_a_client) {
  Gateway gateway;
  auto client = gateway.client();
  client.say("__unity_service", kSwitch);
  client.sync();
  for (const std::string& body : {std::string("yes"), std::string(), std::string(500'000, 'y')}) {
    const Asked asked(gateway.facade);
    const std::string request = client.next("__request");
    EXPECT_EQ(client.next(), Sent("/switch", "on"));
    client.say("__response", request);
    client.say("/switch", body);
    EXPECT_TRUE(asked.wait() == body);
  }
}

TEST(RosTcpServices, requests_to_a_client_may_be_answered_in_any_order) {
  Gateway gateway;
  auto client = gateway.client();
  client.say("__unity_service", kSwitch);
  client.sync();
  const Asked first(gateway.facade, "1");
  EXPECT_EQ(client.next(), Sent("__request", id(1001)));
  EXPECT_EQ(client.next(), Sent("/switch", "1"));
  const Asked second(gateway.facade, "2");
  EXPECT_EQ(client.next(), Sent("__request", id(1002)));
  EXPECT_EQ(client.next(), Sent("/switch", "2"));
  client.say("__response", id(1002));
  client.say("/switch", "to the second");
  client.say("__response", id(1001));
  client.say("/switch", "to the first");
  EXPECT_EQ(first.wait(), "to the first");
  EXPECT_EQ(second.wait(), "to the second");
}

TEST(RosTcpServices, a_reply_without_a_request_gives_a_warning) {
  Gateway gateway;
  auto client = gateway.client();
  client.say("__response", id(1007));
  client.say("/switch", "x");
  EXPECT_NE(client.next("__warn").find("1007"), std::string::npos);
}

TEST(RosTcpServices, a_caller_gets_an_error_when_the_serving_client_leaves) {
  Gateway gateway;
  auto client = gateway.client();
  client.say("__unity_service", kSwitch);
  client.sync();
  const Asked asked(gateway.facade);
  client.next("__request");
  client.reset();
  EXPECT_EQ(asked.wait(), "disconnected");
  EXPECT_TRUE(eventually([&] { return gateway.facade.services().list().empty(); }));
}

TEST(RosTcpServices, the_later_of_two_clients_serves) {
  Gateway gateway;
  auto first = gateway.client();
  first.say("__unity_service", kSwitch);
  first.sync();
  auto second = gateway.client();
  second.say("__unity_service", kSwitch);
  second.sync();
  EXPECT_NE(first.next("__warn").find("/switch"), std::string::npos);
  const Asked asked(gateway.facade);
  const std::string request = second.next("__request");
  second.say("__response", request);
  second.say("/switch", "mine");
  EXPECT_EQ(asked.wait(), "mine");
  // The end of the client that lost the service does not affect the new server.
  first.close();
  const Asked again(gateway.facade);
  second.say("__response", second.next("__request"));
  second.say("/switch", "still mine");
  EXPECT_EQ(again.wait(), "still mine");
}

TEST(RosTcpServices, the_first_server_stays_if_the_later_one_fails) {
  Gateway gateway;
  auto first = gateway.client();
  first.say("__unity_service", kSwitch);
  first.sync();
  auto second = gateway.client();
  for (FrameClient* client : {&second, &first}) {
    client->say("__unity_service", registration("/switch", "no_srvs/Such"));
    EXPECT_EQ(client->next().first, "__error");
  }
  const Asked asked(gateway.facade);
  const auto [kind, request] = first.next();
  EXPECT_EQ(kind, "__request") << "the first client keeps the service";
  first.say("__response", request);
  first.say("/switch", "mine");
  EXPECT_EQ(asked.wait(), "mine");
}

TEST(RosTcpServices, a_call_without_its_frame_ends_and_the_next_is_made) {
  Gateway gateway;
  const auto server = serve(gateway.facade);
  auto client = gateway.client();
  client.say("__ros_service", kSwitch);
  client.say("__request", id(101));
  client.say("__request", id(102));
  EXPECT_NE(client.next("__error").find("did not arrive"), std::string::npos);
  EXPECT_EQ(client.next(), Sent("__response", id(101)));
  EXPECT_EQ(client.next().second, zeros());
  client.say("/switch", "abc");
  EXPECT_EQ(client.next(), Sent("__response", id(102)));
  EXPECT_EQ(client.next(), Sent("/switch", "cba"));
  EXPECT_EQ(gateway.facade.clients().counted("call_failed"), 1U);
}

TEST(RosTcpServices, a_caller_gets_an_error_if_an_announced_reply_is_missing) {
  Gateway gateway;
  auto client = gateway.client();
  client.say("__unity_service", kSwitch);
  client.say("__ros_service", kSwitch);
  client.sync();
  const Asked asked(gateway.facade);
  client.say("__response", client.next("__request"));
  client.say("__request", id(101));
  EXPECT_EQ(asked.wait(), "corrupt");
}

TEST(RosTcpServices, requests_without_replies_are_bounded) {
  constexpr std::size_t kMost = 20;
  Requests requests(kMost);
  int given_up = 0;
  for (std::size_t i = 0; i < kMost + 10; ++i) {
    ASSERT_TRUE(requests.add([&](const Result<Buffer>& reply) {
      if (reply || reply.error().code != Code::timeout) return;
      EXPECT_NE(reply.error().message.find("--max-calls-per-client"), std::string::npos);
      ++given_up;
    }));
  }
  EXPECT_EQ(given_up, 10);
  EXPECT_EQ(requests.take(1001), nullptr);
  EXPECT_NE(requests.take(1011), nullptr);
}

}  // namespace
}  // namespace hyphos::gateway::ros_tcp
