#include <gtest/gtest.h>

#include "tests/gateway/rosbridge/fake_client.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

class SessionTest : public Robot {};

std::string error(const std::string& text, const std::string& id = "") {
  return R"({"op":"status","level":"error","msg":")" + text + "\"" +
         (id.empty() ? "" : R"(,"id":)" + id) + "}";
}

TEST_F(SessionTest, an_unknown_operation_gets_an_error_with_its_id) {
  FakeClient client(facade);
  client.say(R"({"op":"dance","id":"g"})");
  EXPECT_EQ(
      client.on_message(),
      error("dance: unknown operation. Known are: publish, advertise, "
            "unadvertise, subscribe, unsubscribe, call_service, service_response, "
            "advertise_service, unadvertise_service, send_action_goal, cancel_action_goal, "
            "advertise_action, unadvertise_action, action_feedback, action_result, set_level, "
            "auth, fragment, png",
            R"("g")"));
}

TEST_F(SessionTest, faulty_texts_get_an_error_and_the_next_is_read) {
  FakeClient client(facade);
  client.say("{\"op\":");
  EXPECT_TRUE(client.on_message().starts_with(
      R"({"op":"status","level":"error","msg":"the message is not a JSON)"));
  client.say(R"({"id":"a","op":7})");
  EXPECT_EQ(client.on_message(), error("'op' must be a string", R"("a")"));
  client.say(R"({"id":[1],"op":"publish"})");
  EXPECT_EQ(client.on_message(), error("publish: 'id' must be a string or a number"));
  client.say(R"({"id":2,"op":")" + std::string(5000, 'x') + R"("})");
  EXPECT_EQ(client.on_message(), error("'op' must be 4096 bytes at most", "2"));
  client.say(R"({"topic":"/x"} {})");
  EXPECT_EQ(client.on_message(), error("more text follows after the object"));
  client.say(R"({"topic":"/x"})");
  EXPECT_EQ(client.on_message(), error("'op' is missing"));
  client.say("[1,2]");
  EXPECT_TRUE(client.on_message().starts_with(
      R"({"op":"status","level":"error","msg":"the message is not a JSON)"));
  client.say("{\"op\":\"publish\xff\"}");
  EXPECT_TRUE(client.on_message().starts_with(
      R"({"op":"status","level":"error","msg":"the message is not a JSON)"));
  client.say_bytes("\xa1\x62op");
  EXPECT_TRUE(
      client.on_message().starts_with(R"({"op":"status","level":"error","msg":"invalid CBOR)"));
  EXPECT_TRUE(client.hears_nothing());
  EXPECT_EQ(facade.clients().counted("corrupt"), 9U);
}

TEST_F(SessionTest, cbor_of_a_client_is_read) {
  FakeClient client(facade);
  client.say(R"({"op":"subscribe","topic":"/a","type":"std_msgs/String"})");
  // {op: "publish", topic: "/a", msg: {data: uint8 typed array 1 2 3, x: float32 1.5 in a list}}
  client.say_bytes(std::string("\xa3\x62op\x67publish\x65topic\x62/a\x63msg\xa2\x64") + "data" +
                   std::string("\xd8\x40\x43\x01\x02\x03\x61x\xd8\x55\x44\x00\x00\xc0\x3f", 15));
  EXPECT_EQ(client.on_message(),
            R"({"op":"publish","topic":"/a","msg":{"data":"AQID","x":[1.5]}})");
}

TEST_F(SessionTest, the_level_selects_the_status_messages) {
  FakeClient client(facade);
  client.say(R"({"op":"unadvertise","topic":"/x"})");
  EXPECT_TRUE(client.hears_nothing()) << "a warning at level error";
  client.say(R"({"op":"set_level","level":"warning"})");
  client.say(R"({"op":"unadvertise","topic":"/x","id":"u"})");
  EXPECT_EQ(client.on_message(), R"({"op":"status","level":"warning",)"
                                 R"("msg":"unadvertise: /x is not advertised","id":"u"})");
  client.say(R"({"op":"set_level","level":"loud"})");
  EXPECT_EQ(client.on_message(), error("set_level: 'level' must be none, error, warning or info"));
  client.say(R"({"op":"set_level","level":"none"})");
  client.say(R"({"op":"what"})");
  EXPECT_TRUE(client.hears_nothing());
}

TEST_F(SessionTest, fragments_are_joined_in_any_order) {
  FakeClient client(facade);
  client.say(R"({"op":"fragment","id":"f","num":2,"total":3,"data":"tring\"}"})");
  client.say(
      R"({"op":"fragment","id":"f","num":0,"total":3.0,"data":"{\"op\":\"advertise\",\"topic"})");
  EXPECT_EQ(facade.open(), 0U);
  client.say(
      R"({"op":"fragment","id":"f","num":1,"total":3,"data":"\":\"/a\",\"type\":\"std_msgs/S"})");
  EXPECT_EQ(facade.open(), 1U);
  client.say(R"({"op":"fragment","id":"g","num":0,"total":1,"data":"{\"op\":\"fragment\"}"})");
  EXPECT_EQ(client.on_message(), error("fragment: a fragment inside fragments"));
  client.say(R"({"op":"fragment","id":"h","num":3,"total":3,"data":""})");
  EXPECT_EQ(client.on_message(),
            error("fragment: 'num' of a fragment must be 0 to total - 1", R"("h")"));
}

TEST_F(SessionTest, without_a_token_only_auth_is_accepted) {
  Options options;
  options.tokens = {{"old"}, {"secret"}};
  FakeClient client(facade, options, false);
  client.say(R"({"op":"advertise","id":1,"topic":"/a","type":"std_msgs/String"})");
  EXPECT_EQ(client.on_message(),
            error(R"(advertise: send a token first: {\"op\":\"auth\",\"token\":…})", "1"));
  EXPECT_EQ(facade.open(), 0U);
  client.say(R"({"op":"auth","mac":"3f","client":"10.0.0.1","dest":"10.0.0.2","rand":"r","t":1,)"
             R"("level":"admin","end":2})");
  EXPECT_EQ(client.on_message(), error("auth: rosauth MACs are not supported. Send a token: "
                                       R"({\"op\":\"auth\",\"token\":…})"));
  client.say(R"({"op":"auth","token":"secret"})");
  EXPECT_TRUE(client.session.authorized());
  client.say(R"({"op":"advertise","topic":"/a","type":"std_msgs/String"})");
  EXPECT_EQ(facade.open(), 1U);
  EXPECT_TRUE(client.hears_nothing());
}

TEST_F(SessionTest, the_token_of_a_client_selects_its_rules) {
  Options options;
  options.tokens = {{"look", "viewers"}, {"see", "viewers"}, {"drive", "drivers"}, {"any"}};
  facade.clients().let(
      [](const Client& client, Use, std::string_view) { return client.token == "drivers"; });
  FakeClient talker(facade);
  talker.say(R"({"op":"advertise","topic":"/a","type":"std_msgs/String"})");
  const auto shown = [](FakeClient& client) {
    client.say(R"({"op":"call_service","service":"/rosapi/topics"})");
    return client.on_message().find(R"("topics":["/a"])") != std::string::npos;
  };
  const auto shows = [&](const std::string& token) {
    FakeClient client(facade, options, false);
    client.say(R"({"op":"auth","token":")" + token + R"("})");
    return shown(client);
  };
  EXPECT_TRUE(shows("drive"));
  EXPECT_FALSE(shows("look"));
  EXPECT_FALSE(shows("any"));
  FakeClient viewer(facade, options, false);
  viewer.say(R"({"op":"auth","token":"look"})");
  viewer.say(R"({"op":"auth","token":"see"})");
  viewer.say(R"({"op":"auth","token":"drive","id":1})");
  EXPECT_EQ(viewer.on_message(), error("auth: a token with other rules was sent before. Reconnect "
                                       "to use this one",
                                       "1"));
  EXPECT_FALSE(shown(viewer));
  viewer.say(R"({"op":"auth","token":"guess"})");
  EXPECT_EQ(viewer.on_message(),
            error("auth: unknown token. Use a token from the file of --tokens"));
  EXPECT_EQ(viewer.sink.closed(), net::CloseCode::policy);
}

TEST_F(SessionTest, tokens_of_every_length_are_found) {
  const std::vector<Token> tokens = {{"secret"}, {"secrets", "file"}, {"x"}};
  EXPECT_EQ(find_token(tokens, "secret"), tokens.data());
  EXPECT_EQ(find_token(tokens, "secrets"), &tokens[1]);
  EXPECT_EQ(find_token(tokens, "x"), &tokens[2]);
  for (const char* const wrong : {"", "secre", "Secret", "xx"}) {
    EXPECT_EQ(find_token(tokens, wrong), nullptr) << wrong;
  }
  EXPECT_EQ(find_token({}, ""), nullptr);
}

TEST_F(SessionTest, a_wrong_token_ends_the_connection) {
  Options options;
  options.tokens = {{"secret"}};
  FakeClient client(facade, options, false);
  client.say(R"({"op":"auth","token":"Secret","id":"a"})");
  EXPECT_EQ(client.on_message(),
            error("auth: unknown token. Use a token from the file of --tokens", R"("a")"));
  EXPECT_EQ(client.sink.closed(), net::CloseCode::policy);
  EXPECT_FALSE(client.session.authorized());
  EXPECT_EQ(facade.clients().counted("permission"), 1U);
}

}  // namespace
}  // namespace hyphos::gateway::rosbridge
