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

/// Serves /switch in the graph: the reply is the request, reversed.
std::unique_ptr<Server> serve(FakeGraph& facade) {
  return facade
      .open_server({"graph"}, "/switch", "std_srvs/SetBool", Form::ros1,
                   [](const Buffer& request, const Answer& answer) {
                     const auto text = request.text();
                     answer(Buffer::copy_of(std::string(text.rbegin(), text.rend())));
                   })
      .or_throw();
}

TEST(RosTcpServices, test_a_client_calls_a_service_of_the_graph) {
  Gateway gateway;
  const auto server = serve(gateway.facade);
  auto client = gateway.client();
  client.say("__ros_service", kSwitch);
  client.say("__request", id(101));
  client.say("/switch", "abc");
  EXPECT_EQ(client.next(), Sent("__response", id(101)));
  EXPECT_EQ(client.next(), Sent("/switch", "cba"));
}

TEST(RosTcpServices, test_a_sign_of_life_between_announcement_and_request_changes_nothing) {
  Gateway gateway;
  const auto server = serve(gateway.facade);
  auto client = gateway.client();
  client.say("__ros_service", kSwitch);
  client.say("__request", id(101));
  client.send(std::string(8, '\0'));
  client.say("/switch", "abc");
  EXPECT_EQ(client.next(), Sent("__response", id(101)));
}

TEST(RosTcpServices, test_answers_go_to_the_client_that_asked) {
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

/// The reply to a call that failed, of a type that is not known.
std::string zeros() { return std::string(1024, '\0'); }

TEST(RosTcpServices, test_a_service_without_server_ends_with_an_error_and_a_blank_answer) {
  Gateway gateway;
  gateway.facade.blank(std::string(5, '\0'));
  auto client = gateway.client();
  client.say("__ros_service", kSwitch);
  client.say("__request", id(101));
  client.say("/switch", "abc");
  EXPECT_NE(client.next("__error").find("/switch"), std::string::npos);
  EXPECT_EQ(client.next(), Sent("__response", id(101)));
  EXPECT_EQ(client.next(), Sent("/switch", std::string(5, '\0')));
}

TEST(RosTcpServices, test_a_failed_call_of_no_known_type_is_answered_with_zeros) {
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
    if (ros2) expected[1] = 1;  // the encapsulation of CDR, little endian
    EXPECT_EQ(client.next(), Sent("/odd", expected));
  }
}

TEST(RosTcpServices, test_a_server_that_does_not_answer_is_given_up) {
  Gateway gateway(with(&Options::own, {{"service_timeout_ms", "50"}}));
  // Shared: the call may be given up before the server has got it, and the test end before that.
  const auto never = std::make_shared<std::vector<Answer>>();
  const auto server = gateway.facade.open_server(
      {"graph"}, "/switch", "std_srvs/SetBool", Form::ros1,
      [never](const Buffer&, Answer answer) { never->push_back(std::move(answer)); });
  auto client = gateway.client();
  client.say("__ros_service", kSwitch);
  client.say("__request", id(101));
  client.say("/switch", "abc");
  EXPECT_NE(client.next("__error").find("timeout"), std::string::npos);
  EXPECT_EQ(client.next(), Sent("__response", id(101)));
}

TEST(RosTcpServices, test_a_call_that_was_not_registered_is_answered_too) {
  Gateway gateway;
  auto client = gateway.client();
  client.say("__request", id(101));
  client.say("/switch", "abc");
  EXPECT_NE(client.next("__error").find("__ros_service"), std::string::npos);
  EXPECT_EQ(client.next(), Sent("__response", id(101)));
  EXPECT_EQ(client.next(), Sent("/switch", zeros()));
}

/// Calls /switch from the graph and keeps what came of it.
struct Asked {
  explicit Asked(FakeGraph& facade, std::string_view request = "on") {
    facade.call({"graph"}, "/switch", {}, Form::ros1, std::as_bytes(std::span(request)),
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

TEST(RosTcpServices, test_the_graph_calls_a_service_of_a_client) {
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

TEST(RosTcpServices, test_requests_to_a_client_begin_at_1001_and_are_answered_in_any_order) {
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

TEST(RosTcpServices, test_an_answer_that_nobody_waits_for_is_said) {
  Gateway gateway;
  auto client = gateway.client();
  client.say("__response", id(1007));
  client.say("/switch", "x");
  EXPECT_NE(client.next("__warn").find("1007"), std::string::npos);
}

TEST(RosTcpServices, test_a_caller_is_told_when_the_client_that_serves_goes) {
  Gateway gateway;
  auto client = gateway.client();
  client.say("__unity_service", kSwitch);
  client.sync();
  const Asked asked(gateway.facade);
  client.next("__request");
  client.reset();
  EXPECT_EQ(asked.wait(), "disconnected");
  EXPECT_TRUE(eventually([&] { return gateway.facade.services().empty(); }));
}

TEST(RosTcpServices, test_the_later_of_two_clients_serves_and_the_other_is_told) {
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
  // The end of the one that has lost it takes nothing from the other.
  first.close();
  const Asked again(gateway.facade);
  second.say("__response", second.next("__request"));
  second.say("/switch", "still mine");
  EXPECT_EQ(again.wait(), "still mine");
}

TEST(RosTcpServices, test_who_serves_goes_on_if_the_later_one_cannot) {
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
  EXPECT_EQ(kind, "__request") << "not even told that it had lost it";
  first.say("__response", request);
  first.say("/switch", "mine");
  EXPECT_EQ(asked.wait(), "mine");
}

TEST(RosTcpServices, test_a_call_whose_frame_did_not_come_ends_and_the_next_is_made) {
  Gateway gateway;
  const auto server = serve(gateway.facade);
  auto client = gateway.client();
  client.say("__ros_service", kSwitch);
  client.say("__request", id(101));
  client.say("__request", id(102));
  EXPECT_NE(client.next("__error").find("did not come"), std::string::npos);
  EXPECT_EQ(client.next(), Sent("__response", id(101)));
  EXPECT_EQ(client.next().second, zeros());
  client.say("/switch", "abc");
  EXPECT_EQ(client.next(), Sent("__response", id(102)));
  EXPECT_EQ(client.next(), Sent("/switch", "cba"));
  EXPECT_EQ(gateway.facade.counted("call_failed"), 1U);
}

TEST(RosTcpServices, test_a_caller_is_told_if_the_answer_that_was_announced_does_not_come) {
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

TEST(RosTcpServices, test_requests_that_are_never_answered_do_not_pile_up) {
  Requests requests;
  int given_up = 0;
  for (std::size_t i = 0; i < Requests::kMost + 10; ++i) {
    ASSERT_TRUE(requests.add([&](const Result<Buffer>& reply) {
      if (!reply && reply.error().code == Code::timeout) ++given_up;
    }));
  }
  EXPECT_EQ(given_up, 10);
  EXPECT_EQ(requests.take(1001), nullptr);
  EXPECT_NE(requests.take(1011), nullptr);
}

}  // namespace
}  // namespace hyphos::gateway::ros_tcp
