#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "gateway/facade/hyphos_graph.hpp"
#include "hyphos/hyphos.hpp"
#include "tests/gateway/convert/sample.hpp"
#include "tests/gateway/heard.hpp"

namespace hyphos::gateway {
namespace {

const std::string kPart = "made/msg/Part";
const std::string kFive("\0\1\0\0\5\0\0\0\0\0\0\0", 12);
const std::string kBigEndian("\0\0\0\0\0\0\0\0\0\0\0\5", 12);

/// Records the messages of a node that knows only the name of the channel type.
std::function<void(const Message<RawMessage>&)> into(Heard& heard) {
  return [take = heard.take()](const Message<RawMessage>& message) {
    take({EncodedMessage(message->payload), 0, false});
  };
}

class RawTest : public testing::Test {
 protected:
  static RuntimeOptions alone() {
    static int count = 0;
    RuntimeOptions options;
    options.domain = "raw" + std::to_string(getpid()) + "_" + std::to_string(++count);
    return options;
  }
  std::unique_ptr<ClientPublisher> publisher(Form form = Form::cdr) {
    return facade_.topics().open_publisher(client_, "/part", kPart, form, {.raw = true}).or_throw();
  }
  std::unique_ptr<ClientSubscription> subscription(Form form, Heard& heard) {
    return facade_.topics()
        .open_subscription(client_, "/part", "", form, {}, heard.take())
        .or_throw();
  }

  Node robot_ = Node::open("robot", alone()).or_throw();
  HyphosGraph facade_{robot_.runtime().node("gateway").or_throw(), sample_types(), {}};
  const Client client_{"test"};
};

TEST_F(RawTest, cdr_passes_unchanged_in_both_byte_orders) {
  const auto in = publisher();
  Heard cdr;
  Heard node;
  const auto out = subscription(Form::cdr, cdr);
  const auto subscription =
      robot_.raw_subscribe("part", raw_type(kPart), {}, into(node)).or_throw();
  for (const std::string& message : {kFive, kBigEndian})
    ASSERT_TRUE(in->publish(bytes_of(message)));
  EXPECT_EQ(cdr.wait(2), (std::vector<std::string>{kFive, kBigEndian}));
  EXPECT_EQ(node.wait(2), (std::vector<std::string>{kFive, kBigEndian}));
  EXPECT_EQ(out->type().name, kPart);
}

TEST_F(RawTest, a_message_stays_in_its_receive_memory) {
  const auto in = publisher();
  WritableBuffer memory = in->loan(kFive.size());
  ASSERT_FALSE(memory.empty());
  std::ranges::copy(bytes_of(kFive), memory.data());
  const Buffer within = std::move(memory).freeze(kFive.size());
  Heard heard;
  const std::byte* where = nullptr;
  const auto out = facade_.topics()
                       .open_subscription(client_, "/part", "", Form::cdr, {},
                                          [&, take = heard.take()](const OutgoingMessage& message) {
                                            where = message.bytes.parts()[0].data();
                                            take(message);
                                          })
                       .or_throw();
  ASSERT_TRUE(in->publish(within.bytes(), within));
  EXPECT_EQ(heard.wait(1).at(0), kFive);
  EXPECT_EQ(where, within.data());
}

TEST_F(RawTest, other_encodings_are_converted_both_ways) {
  const auto in = publisher();
  const auto page = publisher(Form::json);
  Heard json;
  Heard cdr;
  const auto first = subscription(Form::json, json);
  const auto second = subscription(Form::cdr, cdr);
  ASSERT_TRUE(in->publish(bytes_of(kFive)));
  EXPECT_EQ(json.wait(1).at(0), R"({"x":5})");
  EXPECT_EQ(cdr.wait(1).at(0), kFive);
  ASSERT_TRUE(page->publish(bytes_of(R"({"x":5})")));
  EXPECT_EQ(cdr.wait(2).at(1), kFive);
}

TEST_F(RawTest, invalid_cdr_is_refused_and_counted) {
  const auto in = publisher();
  for (const std::string& message : {std::string("\0\1", 2), std::string("\0\7\0\0\5\0\0\0", 8)}) {
    const auto told = in->publish(bytes_of(message));
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().code, Code::corrupt);
  }
  EXPECT_EQ(facade_.counters().at("drop.gateway.corrupt"), 2U);
}

TEST_F(RawTest, latched_messages_reach_late_subscribers) {
  const auto in =
      facade_.topics()
          .open_publisher(client_, "/part", kPart, Form::cdr, {.latched = true, .raw = true})
          .or_throw();
  ASSERT_TRUE(in->publish(bytes_of(kFive)));
  Heard late;
  Heard later;
  const auto first = subscription(Form::cdr, late);
  EXPECT_EQ(late.wait(1).at(0), kFive);
  const auto second = subscription(Form::cdr, later);
  EXPECT_EQ(later.wait(1).at(0), kFive);
}

TEST_F(RawTest, the_encoding_of_the_channel_wins) {
  const auto plain =
      facade_.topics().open_publisher(client_, "/part", kPart, Form::json, {}).or_throw();
  const auto in = publisher();
  Heard node;
  const auto known = facade_.topics().list();
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].type, "made/Part");
  // A raw endpoint is refused, and the error names both types.
  const auto refused = robot_.raw_subscribe("part", raw_type(kPart), {}, into(node));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::type_mismatch);
  EXPECT_NE(refused.error().to_string().find("cdr:made/msg/Part"), std::string::npos);
  Heard json;
  const auto out = subscription(Form::json, json);
  ASSERT_TRUE(in->publish(bytes_of(kFive)));
  EXPECT_EQ(json.wait(1).at(0), R"({"x":5})");
}

TEST_F(RawTest, the_error_of_another_type_names_both) {
  const auto in = publisher();
  const auto refused = facade_.topics().open_subscription(client_, "/part", "made/msg/Nothing",
                                                          Form::cdr, {}, Heard().take());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::type_mismatch);
  EXPECT_NE(refused.error().message.find("cdr:made/msg/Part"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::gateway
