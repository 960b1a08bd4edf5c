// The places at which a channel is open: inside its process, and between it and others.
#include <gtest/gtest.h>

#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

RuntimeOptions in(const std::string& domain, const std::string& process) {
  RuntimeOptions options;
  options.domain = domain;
  options.process = process;
  return options;
}

std::uint64_t closed_count(const Runtime& runtime, bool publisher) {
  std::uint64_t count = 0;
  for (const EndpointInfo& end : runtime.endpoints()) {
    if (end.is_publisher == publisher) count += end.counter("drop.closed");
  }
  return count;
}

class Places : public testing::Test {
 protected:
  const std::string domain_ = fresh_domain();
  const Node here_ = Node::open("here", in(domain_, "a")).or_throw();
  const Node there_ = Node::open("there", in(domain_, "b")).or_throw();
  Runtime runtime_ = here_.runtime();
  Arrivals inside_;
  Arrivals outside_;
  Subscription one_ = here_.subscribe<Number>(
      "n", inline_, [this](const Message<Number>& m) { inside_.add(m->value); });
  Subscription other_ = there_.subscribe<Number>(
      "n", serial, [this](const Message<Number>& m) { outside_.add(m->value); });
  Publisher<Number> publisher_ = here_.publisher<Number>("n");

  void SetUp() override { publisher_.wait_for(2).or_throw(); }
};

TEST_F(Places, a_channel_closed_inside_reaches_others) {
  runtime_.set_channel_open("n", false, Where::inside).or_throw();
  EXPECT_EQ(runtime_.channel_open("n").or_throw(), Where::outside);
  EXPECT_EQ(publisher_.listeners(), 1U);
  EXPECT_TRUE(publisher_.publish({1}));
  ASSERT_TRUE(outside_.wait_for(1));
  EXPECT_EQ(inside_.count(), 0U);
  EXPECT_EQ(closed_count(runtime_, false), 1U);
}

TEST_F(Places, a_channel_closed_inside_still_receives_from_others) {
  runtime_.set_channel_open("n", false, Where::inside).or_throw();
  const auto back = there_.publisher<Number>("n");
  back.wait_for(2).or_throw();
  EXPECT_TRUE(back.publish({7}));
  ASSERT_TRUE(inside_.wait_for(1));
  EXPECT_EQ(inside_.values().front(), 7);
}

TEST_F(Places, a_channel_closed_outside_passes_inside_alone) {
  runtime_.set_channel_open("n", false, Where::outside).or_throw();
  EXPECT_EQ(runtime_.channel_open("n").or_throw(), Where::inside);
  EXPECT_EQ(publisher_.listeners(), 1U);
  EXPECT_TRUE(publisher_.publish({1}));
  EXPECT_EQ(inside_.count(), 1U);
  EXPECT_EQ(closed_count(runtime_, true), 1U);
  const auto back = there_.publisher<Number>("n");
  back.wait_for(2).or_throw();  // the other process does not know of the closed side
  EXPECT_TRUE(back.publish({7}));
  ASSERT_TRUE(eventually([&] { return closed_count(runtime_, false) == 1; }));
  EXPECT_EQ(inside_.count(), 1U);
  ASSERT_TRUE(outside_.wait_for(1));
  runtime_.set_channel_open("n", true, Where::outside).or_throw();
  EXPECT_EQ(outside_.count(), 1U) << "the message of the other process alone";
  EXPECT_TRUE(publisher_.publish({2}));
  ASSERT_TRUE(outside_.wait_for(2));
}

TEST_F(Places, closing_both_one_by_one_closes_the_channel) {
  runtime_.set_channel_open("n", false, Where::inside).or_throw();
  runtime_.set_channel_open("n", false, Where::outside).or_throw();
  EXPECT_EQ(runtime_.channel_open("n").or_throw(), Where::nowhere);
  EXPECT_EQ(publisher_.publish({1}).failure, Code::disconnected);
  EXPECT_EQ(publisher_.listeners(), 0U);
  runtime_.set_channel_open("n", true, Where::inside).or_throw();
  EXPECT_EQ(runtime_.channel_open("n").or_throw(), Where::inside);
  EXPECT_TRUE(publisher_.publish({2}));
  EXPECT_EQ(inside_.count(), 1U);
}

TEST_F(Places, a_move_loses_and_doubles_nothing) {
  // Each message goes to exactly one of the two subscribers while the channel moves to and fro.
  const Policy policy = reliable_policy(64);
  const auto node = runtime_.node("mover").or_throw();
  std::atomic<int> near{0};
  std::atomic<int> far{0};
  node.subscribe<Number>("moved", {.mode = serial, .policy = policy},
                         [&](const Message<Number>&) { ++near; });
  there_.subscribe<Number>("moved", {.mode = serial, .policy = policy},
                           [&](const Message<Number>&) { ++far; });
  const auto publisher = node.publisher<Number>("moved", {.policy = policy});
  publisher.wait_for(2).or_throw();
  runtime_.open_channel_only("moved", Where::inside).or_throw();
  std::atomic<bool> ended{false};
  std::atomic<int> moves{0};
  std::thread mover([&] {
    for (bool out = true; !ended; out = !out, ++moves) {
      runtime_.open_channel_only("moved", out ? Where::outside : Where::inside).or_throw();
    }
  });
  constexpr int kCount = 2000;
  for (int i = 0; i < kCount || moves < 100; ++i) {
    if (i >= kCount) {
      std::this_thread::yield();
      continue;
    }
    const Published published = publisher.publish({i});
    EXPECT_TRUE(published);
    EXPECT_EQ(published.accepted, 1U);
  }
  ended = true;
  mover.join();
  EXPECT_TRUE(eventually([&] { return near + far == kCount; })) << near << " + " << far;
  node.close();
}

TEST_F(Places, a_latched_value_of_a_closed_place_is_not_kept_for_it) {
  Policy policy;
  policy.latched = true;
  const auto publisher = here_.publisher<Number>("state", {.policy = policy});
  runtime_.open_channel_only("state", Where::outside).or_throw();
  EXPECT_TRUE(publisher.publish({5}));
  Arrivals late;
  there_.subscribe<Number>("state", {.mode = serial, .policy = policy},
                           [&](const Message<Number>& m) { late.add(m->value); });
  ASSERT_TRUE(late.wait_for(1));
  Arrivals own;
  const auto subscription =
      here_.subscribe<Number>("state", {.mode = inline_, .policy = policy},
                              [&](const Message<Number>& m) { own.add(m->value); });
  runtime_.open_channel_only("state", Where::both).or_throw();
  EXPECT_EQ(own.count(), 0U);
  EXPECT_TRUE(publisher.publish({6}));
  EXPECT_EQ(own.count(), 1U);
  EXPECT_TRUE(late.wait_for(2));  // or its callback could outlive it
}

TEST_F(Places, an_unknown_channel_is_an_error) {
  EXPECT_EQ(runtime_.set_channel_open("m", false, Where::inside).error().code, Code::not_found);
  EXPECT_EQ(runtime_.open_channel_only("m", Where::inside).error().code, Code::not_found);
  EXPECT_EQ(runtime_.channel_open("m").error().code, Code::not_found);
}

}  // namespace
}  // namespace hyphos::test
