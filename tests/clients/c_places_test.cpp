// Opening and closing channels at a place, and towards one peer.
#include "tests/clients/c_harness.hpp"

namespace hyphos::test {
namespace {

class CPlaces : public testing::Test {
 protected:
  hyphos_where open_at() {
    hyphos_where where = HYPHOS_NOWHERE;
    EXPECT_EQ(hyphos_channel_open(here_, "c", &where, nullptr), HYPHOS_OK);
    return where;
  }
  hyphos_code set(std::int32_t open, hyphos_where where, const char* channel = "c",
                  const char* peer = nullptr) {
    error_ = {};
    return hyphos_set_channel_open(here_, channel, open, where, peer, &error_);
  }
  /// Publishes, and takes a message of each subscription that should get it.
  void expect_at(bool inside, bool outside) {
    const std::string text = std::to_string(++count_);
    (void)publish(publisher_, text);
    for (const auto& [subscription, expected] :
         {std::pair{&inside_, inside}, std::pair{&outside_, outside}}) {
      hyphos_message message{};
      if (expected) {
        ASSERT_EQ(hyphos_take(*subscription, kLong, &message, nullptr), HYPHOS_OK);
        EXPECT_EQ(text_of(message.payload), text) << "an earlier message came";
        hyphos_message_release(&message);
      }
    }
  }

  const std::string domain_ = fresh_domain();
  CNode here_ = open_node(domain_, "here");
  CNode there_ = open_node(domain_, "there");
  CPublisher publisher_ = open_publisher(here_, "c");
  CSubscription inside_ = subscribe(here_, "c", nullptr, nullptr);
  CSubscription outside_ = subscribe(there_, "c", nullptr, nullptr);
  hyphos_error error_{};
  int count_ = 0;
};

TEST_F(CPlaces, a_channel_opens_and_closes_at_each_place) {
  ASSERT_TRUE(connected(publisher_, 2));
  EXPECT_EQ(open_at(), HYPHOS_BOTH);
  expect_at(true, true);
  EXPECT_EQ(set(0, HYPHOS_INSIDE), HYPHOS_OK);
  EXPECT_EQ(open_at(), HYPHOS_OUTSIDE);
  expect_at(false, true);
  EXPECT_EQ(hyphos_open_channel_only(here_, "c", HYPHOS_INSIDE, nullptr), HYPHOS_OK);
  EXPECT_EQ(open_at(), HYPHOS_INSIDE);
  expect_at(true, false);
  EXPECT_EQ(set(0, HYPHOS_BOTH), HYPHOS_OK);
  EXPECT_EQ(open_at(), HYPHOS_NOWHERE);
  EXPECT_NE(publish(publisher_, "lost"), HYPHOS_OK);
  EXPECT_EQ(set(1, HYPHOS_BOTH), HYPHOS_OK);
  EXPECT_EQ(open_at(), HYPHOS_BOTH);
  expect_at(true, true);
}

TEST_F(CPlaces, mistakes_are_errors_that_change_nothing) {
  EXPECT_EQ(set(0, HYPHOS_BOTH, "absent"), HYPHOS_NOT_FOUND);
  EXPECT_NE(std::string(error_.message).find("absent"), std::string::npos) << error_.message;
  EXPECT_EQ(set(0, HYPHOS_OUTSIDE, "c", "tcp://127.0.0.1:1"), HYPHOS_UNSUPPORTED);
  EXPECT_NE(std::string(error_.message).find("no network peers"), std::string::npos);
  EXPECT_EQ(set(0, HYPHOS_INSIDE, "c", "there"), HYPHOS_INVALID_CONFIG);
  EXPECT_NE(std::string(error_.message).find("HYPHOS_OUTSIDE"), std::string::npos);
  EXPECT_EQ(set(0, static_cast<hyphos_where>(9)), HYPHOS_INVALID_CONFIG);
  EXPECT_EQ(set(0, HYPHOS_BOTH, nullptr), HYPHOS_INVALID_CONFIG);
  EXPECT_EQ(hyphos_open_channel_only(here_, "absent", HYPHOS_INSIDE, nullptr), HYPHOS_NOT_FOUND);
  hyphos_where where = HYPHOS_NOWHERE;
  EXPECT_EQ(hyphos_channel_open(here_, "absent", &where, nullptr), HYPHOS_NOT_FOUND);
  EXPECT_EQ(hyphos_channel_open(here_, "c", nullptr, nullptr), HYPHOS_INVALID_CONFIG);
  EXPECT_EQ(open_at(), HYPHOS_BOTH);
}

/// A robot with the paper's listing, on a machine of its own: it shares the network alone.
CNode open_robot(const PlanFile& plan) {
  const std::string domain = fresh_domain();
  const std::string path = plan.path();
  hyphos_node_options options{};
  options.struct_size = sizeof options;
  options.plan_file = path.c_str();
  options.domain = domain.c_str();
  CNode node;
  hyphos_error error;
  EXPECT_EQ(hyphos_node_open("robot", &options, node.out(), &error), HYPHOS_OK) << error.message;
  return node;
}

TEST(CPlacesPeer, a_channel_closes_towards_one_of_two_robots) {
  const int port = own_port();
  const auto at = [&](int robot) { return "tcp://127.0.0.1:" + std::to_string(port + robot); };
  const auto listing = [&](int own, const std::string& offered, const std::string& subscribers) {
    return PlanFile("network:\n  publisher: {ip: '" + at(own) + "', channels: [" + offered +
                    "]}\n  subscribers: [" + subscribers + "]\n");
  };
  const auto from = [&](int robot, const std::string& channel) {
    return "{ip: '" + at(robot) + "', channels: [" + channel + "]}";
  };
  const PlanFile of_hub = listing(0, "there", from(1, "back") + ", " + from(2, "back"));
  const PlanFile of_one = listing(1, "back", from(0, "there"));
  const PlanFile of_two = listing(2, "back", from(0, "there"));
  const CNode hub = open_robot(of_hub);
  const CNode robots[] = {open_robot(of_one), open_robot(of_two)};
  const CPublisher there = open_publisher(hub, "there");
  const CSubscription back = subscribe(hub, "back", nullptr, nullptr);
  const CSubscription heard[] = {subscribe(robots[0], "there", nullptr, nullptr),
                                 subscribe(robots[1], "there", nullptr, nullptr)};
  const CPublisher backs[] = {open_publisher(robots[0], "back"), open_publisher(robots[1], "back")};
  ASSERT_TRUE(connected(there, 2) && connected(backs[0]) && connected(backs[1]));
  hyphos_error error{};
  for (const std::size_t closed : {0U, 1U}) {
    const std::string peer = at(1 + static_cast<int>(closed));
    ASSERT_EQ(hyphos_set_channel_open(hub, "there", 0, HYPHOS_OUTSIDE, peer.c_str(), &error),
              HYPHOS_OK)
        << error.message;
    ASSERT_TRUE(connected(there, 1));
    ASSERT_EQ(publish(there, peer), HYPHOS_OK);
    hyphos_message message{};
    ASSERT_EQ(hyphos_take(heard[1 - closed], kLong, &message, nullptr), HYPHOS_OK);
    EXPECT_EQ(text_of(message.payload), peer);
    hyphos_message_release(&message);
    ASSERT_EQ(hyphos_set_channel_open(hub, "there", 1, HYPHOS_OUTSIDE, peer.c_str(), nullptr),
              HYPHOS_OK);
    ASSERT_TRUE(connected(there, 2));
    ASSERT_EQ(publish(there, "both"), HYPHOS_OK);
    for (const CSubscription& one : heard) {
      ASSERT_EQ(hyphos_take(one, kLong, &message, nullptr), HYPHOS_OK);
      EXPECT_EQ(text_of(message.payload), "both") << "a message passed while it was closed";
      hyphos_message_release(&message);
    }
  }
  EXPECT_EQ(hyphos_set_channel_open(hub, "there", 0, HYPHOS_OUTSIDE, "nobody", &error),
            HYPHOS_NOT_FOUND);
  EXPECT_NE(std::string(error.message).find("Known peers: main, " + at(1)), std::string::npos)
      << error.message;
}

}  // namespace
}  // namespace hyphos::test
