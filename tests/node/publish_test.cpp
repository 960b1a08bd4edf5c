#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include "hyphos/plan.hpp"
#include "tests/node/harness.hpp"

// try_publish(), loans that come back, wait_for(), plans in code, and buffers as values.
namespace hyphos {
namespace {

using graph::test::Gate;
using test::Arrivals;
using test::eventually;
using test::fresh_domain;
using test::offline_options;

Policy blocking(std::uint32_t depth) { return reliable_policy(depth); }

RuntimeOptions in_domain(const std::string& domain, const std::string& process) {
  RuntimeOptions options;
  options.domain = domain;
  options.process = process;
  return options;
}

/// A subscription whose first callback waits at a gate, so that its queue fills.
class Stuck {
 public:
  Stuck(const Node& node, const Policy& policy) {
    SubscriptionOptions options;
    options.policy = policy;
    subscription_ = node.subscribe<Number>("n", options, [this](const Message<Number>& m) {
      gate_.pass();
      got_.add(m->value);
    });
  }
  Stuck(const Stuck&) = delete;
  Stuck& operator=(const Stuck&) = delete;
  ~Stuck() {
    open();
    subscription_.close();
  }
  /// Returns once a callback runs.
  void wait() { gate_.wait_for_waiting(1); }
  void open() { gate_.open(); }
  Arrivals& got() { return got_; }

 private:
  Gate gate_;
  Arrivals got_;
  Subscription subscription_;
};

TEST(TryPublish, a_full_local_queue_refuses_and_later_accepts) {
  const Node node = Node::open("node", offline_options()).or_throw();
  Stuck stuck(node, blocking(1));
  const auto publisher = node.publisher<Number>("n", {.policy = blocking(1)});
  ASSERT_TRUE(publisher.try_publish(Number{1}));
  stuck.wait();
  ASSERT_TRUE(publisher.try_publish(Number{2}));  // waits in the queue
  const Published refused = publisher.try_publish(Number{3});
  EXPECT_EQ(refused.failure, Code::overloaded);
  EXPECT_EQ(refused.accepted, 0U);
  EXPECT_EQ(refused.dropped, 0U);
  stuck.open();
  EXPECT_TRUE(eventually([&] { return bool(publisher.try_publish(Number{4})); }));
  ASSERT_TRUE(stuck.got().wait_for(3));
  EXPECT_EQ(stuck.got().values(), (std::vector<std::int64_t>{1, 2, 4}));
}

TEST(TryPublish, another_overflow_rule_publishes) {
  const Node node = Node::open("node", offline_options()).or_throw();
  Policy policy;
  policy.depth = 1;
  Stuck stuck(node, policy);
  const auto publisher = node.publisher<Number>("n", {.policy = policy});
  ASSERT_TRUE(publisher.try_publish(Number{1}));
  stuck.wait();
  ASSERT_TRUE(publisher.try_publish(Number{2}));
  const Published third = publisher.try_publish(Number{3});
  EXPECT_TRUE(third);
  EXPECT_EQ(third.dropped, 1U);
  stuck.open();
}

class TryPublishBetween : public testing::TestWithParam<const char*> {};

TEST_P(TryPublishBetween, a_full_queue_refuses_all_kinds_of_values) {
  const std::string domain = fresh_domain();
  const auto plan =
      parse_plan("hyphos: 1\ntransport: " + std::string(GetParam()) + "\ndomain: " + domain +
                     "\nprocesses: {a: {nodes: [from]}, b: {nodes: [to]}}\n"
                     "nodes: {from: , to: }\n"
                     "channels: {n: {reliability: reliable, depth: 1}}\n",
                 "test")
          .or_throw();
  RuntimeOptions options;
  options.plan = plan;
  options.process = "b";
  const Node to = Node::open("to", options).or_throw();
  options.process = "a";
  const Node from = Node::open("from", options).or_throw();
  Stuck stuck(to, blocking(1));
  const auto publisher = from.publisher<Number>("n");
  publisher.wait_for(1).or_throw();
  // Fills the queues on the way: try_publish() returns, although publish() would wait. A message
  // that moves on makes room for another one, so each kind of value fills them again.
  std::int64_t sent = 0;
  const auto refusal = [&](const auto& publish) {
    Published result = publish();
    while (result && ++sent < 1'000'000) result = publish();
    return result.failure;
  };
  EXPECT_EQ(refusal([&] { return publisher.try_publish(Number{sent}); }), Code::overloaded);
  ASSERT_GE(sent, 1);
  EXPECT_EQ(
      refusal([&] { return publisher.try_publish(std::make_shared<const Number>(Number{sent})); }),
      Code::overloaded);
  Loan<Number> loan(WritableBuffer{});
  EXPECT_EQ(refusal([&] {
              loan = Loan<Number>(WritableBuffer::on_heap(sizeof(Number)));
              loan->value = sent;
              return publisher.try_publish(std::move(loan));
            }),
            Code::overloaded);
  ASSERT_TRUE(loan) << "a refused loan comes back";  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(loan->value, sent);
  stuck.open();
  ASSERT_TRUE(eventually([&] { return bool(publisher.try_publish(std::move(loan))); }));
  EXPECT_FALSE(loan);  // NOLINT(bugprone-use-after-move)
  ASSERT_TRUE(stuck.got().wait_for(static_cast<std::size_t>(sent) + 1));
  std::vector<std::int64_t> all(static_cast<std::size_t>(sent) + 1);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  EXPECT_EQ(stuck.got().values(), all);
}

INSTANTIATE_TEST_SUITE_P(Transports, TryPublishBetween, testing::Values("shm", "zmq"),
                         [](const auto& info) { return std::string(info.param); });

TEST(LoanBack, a_closed_channel_gives_the_loan_back) {
  const std::string domain = fresh_domain();
  const Node to = Node::open("to", in_domain(domain, "b")).or_throw();
  Arrivals got;
  to.subscribe<Number>("n", serial, [&](const Message<Number>& m) { got.add(m->value); });
  const Node from = Node::open("from", in_domain(domain, "a")).or_throw();
  const auto publisher = from.publisher<Number>("n");
  publisher.wait_for(1).or_throw();
  Loan<Number> loan = publisher.loan();
  loan->value = 7;
  const Number* const place = loan.get();
  from.runtime().set_channel_open("n", false).or_throw();
  EXPECT_EQ(publisher.publish(std::move(loan)).failure, Code::disconnected);
  ASSERT_TRUE(loan);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(loan.get(), place);
  EXPECT_EQ(loan->value, 7);
  from.runtime().set_channel_open("n", true).or_throw();
  EXPECT_TRUE(publisher.publish(std::move(loan)));
  EXPECT_FALSE(loan);  // NOLINT(bugprone-use-after-move)
  ASSERT_TRUE(got.wait_for(1));
  EXPECT_EQ(got.values().front(), 7);
}

TEST(LoanBack, a_timeout_gives_the_loan_back) {
  const Node node = Node::open("node", offline_options()).or_throw();
  Policy policy = blocking(1);
  policy.block_timeout_ms = 1;
  Stuck stuck(node, policy);
  const auto publisher = node.publisher<Number>("n", {.policy = policy});
  ASSERT_TRUE(publisher.publish(Number{1}));
  stuck.wait();
  ASSERT_TRUE(publisher.publish(Number{2}));
  Loan<Number> loan = publisher.loan();
  loan->value = 3;
  EXPECT_EQ(publisher.publish(std::move(loan)).failure, Code::timeout);
  ASSERT_TRUE(loan);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(loan->value, 3);
  stuck.open();
}

TEST(LoanBack, a_receiver_keeps_the_loan_that_it_got) {
  const Node node = Node::open("node", offline_options()).or_throw();
  Policy policy = blocking(1);
  policy.block_timeout_ms = 1;
  std::vector<Message<Number>> kept;
  const SubscriptionOptions options{.mode = inline_, .policy = policy};
  node.subscribe<Number>("n", options, [&](const Message<Number>& m) { kept.push_back(m); });
  Stuck stuck(node, policy);
  const auto publisher = node.publisher<Number>("n", {.policy = policy});
  ASSERT_TRUE(publisher.publish(Number{1}));
  stuck.wait();
  ASSERT_TRUE(publisher.publish(Number{2}));
  Loan<Number> loan = publisher.loan();
  loan->value = 3;
  const Published result = publisher.publish(std::move(loan));
  EXPECT_EQ(result.failure, Code::timeout);
  EXPECT_EQ(result.accepted, 1U);
  EXPECT_FALSE(loan) << "a reader has it";  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(kept.back()->value, 3);
  stuck.open();
}

TEST(WaitFor, counts_the_subscribers_that_get_messages) {
  const std::string domain = fresh_domain();
  const Node from = Node::open("from", in_domain(domain, "a")).or_throw();
  const auto publisher = from.publisher<Number>("n");
  EXPECT_EQ(publisher.wait_for(1, Duration::from_ms(1)).error().code, Code::timeout);
  publisher.wait_for(0, Duration::from_ms(0)).or_throw();
  Result<void> waited = success();
  std::thread waiter([&] { waited = publisher.wait_for(2, Duration::from_ms(60'000)); });
  from.subscribe<Number>("n", serial, [](const Message<Number>&) {});
  const Node to = Node::open("to", in_domain(domain, "b")).or_throw();
  Arrivals got;
  to.subscribe<Number>("n", serial, [&](const Message<Number>& m) { got.add(m->value); });
  waiter.join();
  EXPECT_TRUE(waited);
  EXPECT_EQ(publisher.publish(Number{5}).accepted, 2U);
  EXPECT_TRUE(got.wait_for(1));
}

TEST(WaitFor, a_closed_channel_has_no_subscriber) {
  const Node node = Node::open("node", offline_options()).or_throw();
  node.subscribe<Number>("n", serial, [](const Message<Number>&) {});
  const auto publisher = node.publisher<Number>("n");
  node.runtime().set_channel_open("n", false).or_throw();
  const auto closed = publisher.wait_for(1, Duration::from_ms(1));
  ASSERT_FALSE(closed);
  EXPECT_NE(closed.error().message.find("the channel is open nowhere. Open it"), std::string::npos);
  Result<void> waited = success();
  std::thread waiter([&] { waited = publisher.wait_for(1, Duration::from_ms(60'000)); });
  node.runtime().set_channel_open("n", true).or_throw();
  waiter.join();
  EXPECT_TRUE(waited);
}

TEST(WaitFor, a_refused_subscriber_is_the_reason) {
  const std::string domain = fresh_domain();
  const Node from = Node::open("from", in_domain(domain, "a")).or_throw();
  const auto publisher = from.publisher<Number>("n");
  const Node to = Node::open("to", in_domain(domain, "b")).or_throw();
  to.subscribe<Buffer>("n", serial, [](const Message<Buffer>&) {});
  EXPECT_TRUE(eventually([&] {
    return publisher.wait_for(1, Duration::from_ms(1)).error().code == Code::type_mismatch;
  }));
}

TEST(WaitFor, a_mismatch_over_the_network_names_the_nodes) {
  const std::string domain = fresh_domain();
  RuntimeOptions options;
  options.plan = parse_plan("hyphos: 1\ntransport: zmq\ndomain: " + domain +
                                "\nprocesses: {a: {nodes: [from]}, b: {nodes: [to]}}\n"
                                "nodes: {from: , to: }\nchannels: {n: }\n",
                            "test")
                     .or_throw();
  options.process = "b";
  const Node to = Node::open("to", options).or_throw();
  options.process = "a";
  const Node from = Node::open("from", options).or_throw();
  const auto publisher = from.publisher<Number>("n");
  to.subscribe<Words>("n", serial, [](const Message<Words>&) {});
  std::string message;
  EXPECT_TRUE(eventually([&] {
    message = publisher.wait_for(1, Duration::from_ms(1)).error().message;
    return message.find("node 'to' of process 'b' subscribes") != std::string::npos;
  })) << message;
  EXPECT_NE(message.find("node 'from' of process 'a' publishes"), std::string::npos) << message;
}

TEST(WaitFor, the_end_of_the_node_ends_the_wait) {
  const Node node = Node::open("node", offline_options()).or_throw();
  const auto publisher = node.publisher<Number>("n");
  Arrivals begun;
  Arrivals ended;
  const auto trigger = node.publisher<Number>("go");
  node.subscribe<Number>("go", serial, [&](const Message<Number>&) {
    begun.add();
    const auto waited = publisher.wait_for(1, Duration::from_seconds(3600));
    ended.add(waited ? -1 : static_cast<std::int64_t>(waited.error().code));
  });
  trigger.publish(Number{});
  ASSERT_TRUE(begun.wait_for(1));
  node.close();
  ASSERT_TRUE(ended.wait_for(1));
  EXPECT_EQ(ended.values().front(), static_cast<std::int64_t>(Code::disconnected));
  EXPECT_EQ(publisher.wait_for(1).error().code, Code::disconnected);
}

TEST(WaitFor, an_inline_callback_cannot_wait_for_its_own_transport) {
  const std::string domain = fresh_domain();
  const Node to = Node::open("to", in_domain(domain, "b")).or_throw();
  const auto other = to.publisher<Number>("other");
  Arrivals codes;
  to.subscribe<Number>("n", inline_, [&](const Message<Number>&) {
    codes.add(static_cast<std::int64_t>(other.wait_for(1).error().code));
  });
  const Node from = Node::open("from", in_domain(domain, "a")).or_throw();
  const auto publisher = from.publisher<Number>("n");
  publisher.wait_for(1).or_throw();
  publisher.publish(Number{});
  ASSERT_TRUE(codes.wait_for(1));
  EXPECT_EQ(codes.values().front(), static_cast<std::int64_t>(Code::unsupported));
}

TEST(PlanInCode, a_text_is_the_plan) {
  RuntimeOptions options = offline_options();
  options.plan = "hyphos: 1\nchannels: {n: {depth: 3}}\n";
  options.domain = "other";
  const Node node = Node::open("any", options).or_throw();
  ASSERT_NE(node.runtime().plan(), nullptr);
  EXPECT_EQ(node.runtime().plan()->channel("n")->policy.depth, 3U);
  EXPECT_EQ(node.runtime().domain(), "other");
}

TEST(PlanInCode, a_made_plan_is_used_as_it_is) {
  RuntimeOptions options = offline_options();
  options.plan = parse_plan("hyphos: 1\ndomain: mine\n", "made").or_throw();
  const Node node = Node::open("any", options).or_throw();
  EXPECT_EQ(node.runtime().domain(), "mine");
  EXPECT_EQ(node.runtime().plan()->file, "made");
  options.overrides = {"domain=other"};
  const auto refused = Node::open("any", options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("Pass them to parse_plan()"), std::string::npos);
}

TEST(PlanInCode, a_domain_replaces_that_of_a_made_plan) {
  RuntimeOptions options = offline_options();
  options.plan = parse_plan("hyphos: 1\ndomain: mine\n", "made").or_throw();
  options.domain = "other";
  EXPECT_EQ(Node::open("any", options).or_throw().runtime().domain(), "other");
}

TEST(PlanInCode, overrides_alone_change_an_empty_plan) {
  RuntimeOptions options = offline_options();
  options.overrides = {"channels.n.depth=4"};
  const Node node = Node::open("any", options).or_throw();
  EXPECT_EQ(node.runtime().plan()->channel("n")->policy.depth, 4U);
}

TEST(PlanInCode, a_mistake_names_the_line_in_the_text) {
  RuntimeOptions options = offline_options();
  options.plan = "hyphos: 1\nchannels: {n: {dept: 3}}\n";
  const auto refused = Node::open("any", options);
  ASSERT_FALSE(refused);
  const std::string text = refused.error().to_string();
  EXPECT_NE(text.find("plan in code:2:"), std::string::npos) << text;
  EXPECT_NE(text.find("channels.n.dept: unknown key"), std::string::npos) << text;
}

TEST(PlanInCode, a_file_and_a_plan_are_too_many) {
  RuntimeOptions options = offline_options();
  options.plan_file = "robot.yaml";
  options.plan = "hyphos: 1";
  EXPECT_EQ(Node::open("any", options).error().code, Code::invalid_config);
}

struct Point {
  float x, y;
};

TEST(BufferAs, bytes_are_values_without_a_copy) {
  const std::vector<std::uint8_t> pixels{1, 2, 3};
  const Buffer buffer = Buffer::copy_of(std::span(pixels));
  const std::span<const std::uint8_t> read = buffer.as<std::uint8_t>();
  EXPECT_EQ(std::vector<std::uint8_t>(read.begin(), read.end()), pixels);
  EXPECT_EQ(static_cast<const void*>(read.data()), buffer.data());
  const std::array<Point, 2> points{{{1, 2}, {3, 4}}};
  const Buffer cloud = Buffer::copy_of(std::span(points));
  ASSERT_EQ(cloud.as<Point>().size(), 2U);
  EXPECT_EQ(cloud.as<Point>()[1].y, 4);
  const Buffer adopted = Buffer::adopt(std::vector<std::uint8_t>{7, 8});
  EXPECT_EQ(adopted.as<std::uint8_t>()[1], 8);
}

TEST(BufferAs, a_wrong_size_or_alignment_gives_nothing) {
  const Buffer buffer = Buffer::copy_of(std::string_view("123456789"));
  EXPECT_TRUE(buffer.as<float>().empty());
  EXPECT_EQ(buffer.slice(0, 8).as<float>().size(), 2U);
  EXPECT_TRUE(buffer.slice(1, 8).as<float>().empty());
}

TEST(BufferAs, a_loan_is_written_as_values) {
  WritableBuffer loan = WritableBuffer::on_heap(3 * sizeof(float));
  const std::span<float> values = loan.as<float>();
  ASSERT_EQ(values.size(), 3U);
  std::ranges::fill(values, 2.5F);
  EXPECT_EQ(std::move(loan).freeze().as<float>()[2], 2.5F);
}

}  // namespace
}  // namespace hyphos
