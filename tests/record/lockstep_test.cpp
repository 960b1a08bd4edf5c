// Lock-step: the same inputs give the same outputs in the same order, with any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hyphos/hyphos.hpp"
#include "hyphos/inspect.hpp"
#include "tests/node/harness.hpp"

namespace hyphos {
namespace {

std::string text_of(const Message<Buffer>& message) { return std::string(message->text()); }

/// A graph full of races: two nodes react to the same input on one channel, one of them in
/// parallel. A third node combines the messages in the order of arrival.
class Race {
 public:
  explicit Race(int threads, bool lockstep) {
    RuntimeOptions options;
    options.threads = threads;
    options.lockstep = lockstep;
    options.offline = true;
    runtime_ = Runtime::open(options).or_throw();
    const Node left = runtime_->node("left").or_throw();
    const Node right = runtime_->node("right").or_throw();
    const Node sum = runtime_->node("sum").or_throw();
    input_ = left.publisher<Buffer>("in");
    const auto from_left = left.publisher<Buffer>("both", deep());
    const auto from_right = right.publisher<Buffer>("both", deep());
    left.subscribe<Buffer>("in", serial, [=](const Message<Buffer>& message) {
      from_left.publish(Buffer::copy_of("l" + text_of(message)));
    });
    right.subscribe<Buffer>("in", concurrent, [=](const Message<Buffer>& message) {
      for (int i = 0; i < 3; ++i) from_right.publish(Buffer::copy_of("r" + text_of(message)));
    });
    sum.subscribe<Buffer>("both", serial, [this](const Message<Buffer>& message) {
      seen_ += text_of(message) + " ";
    });
    nodes_ = {left, right, sum};
  }
  void send(const std::string& text) {
    runtime_->settle([&] { input_.publish(Buffer::copy_of(text)); });
  }
  [[nodiscard]] Runtime& runtime() { return *runtime_; }
  /// Call it only between settle() and the next message.
  [[nodiscard]] const std::string& seen() const { return seen_; }

 private:
  static PublisherOptions deep() {
    PublisherOptions options;
    options.policy = Policy{.depth = 1000};
    return options;
  }
  std::string seen_;
  std::optional<Runtime> runtime_;
  std::vector<Node> nodes_;
  Publisher<Buffer> input_;
};

std::string run(int threads) {
  Race race(threads, true);
  for (int i = 0; i < 50; ++i) race.send(std::to_string(i));
  return race.seen();
}

TEST(LockstepTest, twenty_runs_with_any_number_of_threads_agree) {
  const std::string first = run(1);
  EXPECT_NE(first.find("r49 "), std::string::npos);
  for (int i = 1; i < 20; ++i) EXPECT_EQ(run(1 + i % 8), first) << "run " << i;
}

TEST(LockstepTest, settle_waits_for_all_consequences_of_a_message) {
  Race race(4, false);  // in parallel, too
  race.send("x");
  std::size_t words = 0;
  for (const char c : race.seen()) words += c == ' ' ? 1 : 0;
  EXPECT_EQ(words, 4U);
}

TEST(LockstepTest, one_callback_runs_at_a_time) {
  RuntimeOptions options;
  options.threads = 4;
  options.lockstep = true;
  Runtime runtime = Runtime::open(options).or_throw();
  const Node node = runtime.node("n").or_throw();
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> calls{0};
  const auto publisher = node.publisher<Buffer>("a");
  for (int i = 0; i < 4; ++i) {
    node.subscribe<Buffer>("a", concurrent, [&](const Message<Buffer>&) {
      most = std::max(most.load(), ++inside);
      std::this_thread::yield();
      --inside;
      ++calls;
    });
  }
  for (int i = 0; i < 100; ++i) {
    runtime.settle([&] { publisher.publish(Buffer::copy_of("x")); });
  }
  EXPECT_EQ(most.load(), 1);
  EXPECT_EQ(calls.load(), 400);
}

TEST(LockstepTest, settle_rethrows_exceptions_of_the_work) {
  Runtime runtime = Runtime::open(test::offline_options()).or_throw();
  EXPECT_THROW(runtime.settle([] { throw std::runtime_error("no"); }), std::runtime_error);
  runtime.settle();
}

TEST(LockstepTest, the_channels_of_a_process_are_listed_with_their_types) {
  Runtime runtime = Runtime::open(test::offline_options()).or_throw();
  const Node node = runtime.node("n").or_throw();
  const auto publisher = node.publisher<Buffer>("a");
  const auto channels = runtime.channels();
  ASSERT_EQ(channels.size(), 1U);
  EXPECT_EQ(channels[0].name, "a");
  EXPECT_EQ(channels[0].type, type_support<Buffer>().id);
  EXPECT_EQ(channels[0].publishers, 1U);
}

/// A process with manual time, which advances one instant at a time.
class Stepped {
 public:
  Stepped() {
    RuntimeOptions options;
    options.lockstep = true;
    options.clock = ClockMode::sim;
    runtime.emplace(Runtime::open(options).or_throw());
    SimTimeOptions time_options;
    time_options.start = Time{0};
    time_options.manual = true;
    time.emplace(SimTime::open(runtime->node("time").or_throw(), time_options).or_throw());
    node.emplace(runtime->node("n").or_throw());
  }
  std::optional<Runtime> runtime;
  std::optional<SimTime> time;
  std::optional<Node> node;
};

TEST(LockstepTest, next_timer_returns_the_next_due_instant) {
  Stepped s;
  EXPECT_EQ(s.runtime->next_timer(), std::nullopt);
  int calls = 0;
  s.node->every(Duration::from_ms(7), [&] { ++calls; });
  s.node->every(Duration::from_ms(10), [&] { ++calls; });
  std::vector<std::int64_t> instants;
  while (instants.size() < 6) {
    const auto due = s.runtime->next_timer();
    ASSERT_TRUE(due.has_value());
    instants.push_back(due->ns / 1'000'000);
    const int before = calls;
    s.runtime->settle([&] { s.time->advance(*due - s.time->now()); });
    EXPECT_EQ(calls, before + 1);
  }
  EXPECT_EQ(instants, (std::vector<std::int64_t>{7, 10, 14, 20, 21, 28}));
}

TEST(LockstepTest, messages_come_before_timers_of_the_same_instant) {
  Stepped s;
  std::string seen;
  const auto note = [&](const std::string& who) {
    seen += who + std::to_string(s.node->clock().now().ns / 1'000'000) + " ";
  };
  const auto publisher = s.node->publisher<Buffer>("a");
  s.node->subscribe<Buffer>("a", serial, [&](const Message<Buffer>&) { note("message"); });
  s.node->subscribe<Buffer>("a", inline_, [&](const Message<Buffer>&) { note("inline"); });
  s.node->every(Duration::from_ms(10), [&] { note("timer"); });
  s.runtime->settle([&] {
    s.time->advance(Duration::from_ms(10));
    publisher.publish(Buffer::copy_of("x"));
  });
  EXPECT_EQ(seen, "inline10 message10 timer10 ");
}

TEST(LockstepTest, callback_exceptions_are_counted_and_the_first_is_named) {
  Stepped s;
  const auto publisher = s.node->publisher<Buffer>("a");
  s.node->subscribe<Buffer>("a", serial,
                            [](const Message<Buffer>&) { throw std::runtime_error("no map"); });
  s.node->every(Duration::from_ms(10), [] { throw std::runtime_error("late"); });
  EXPECT_EQ(s.runtime->callback_errors().count, 0U);
  s.runtime->settle([&] { publisher.publish(Buffer::copy_of("x")); });
  s.runtime->settle([&] { s.time->advance(Duration::from_ms(10)); });
  EXPECT_EQ(s.runtime->callback_errors().count, 2U);
  EXPECT_EQ(s.runtime->callback_errors().first, "node 'n': callback of channel 'a' threw: no map");
}

TEST(LockstepTest, an_injected_message_keeps_its_sender_and_sequence) {
  Stepped s;
  const auto own = s.node->raw_publisher("a", type_support<Buffer>().id).or_throw();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  s.node->subscribe<Buffer>("a", serial, [&](const Message<Buffer>& message) {
    seen.emplace_back(message.sender(), message.sequence());
  });
  Envelope message;
  message.meta.sender = 77;
  message.meta.sequence = 5;
  message.payload = Buffer::copy_of("x");
  s.runtime->settle([&] {
    own.publish(message.payload);
    own.bring(message);
    own.publish(message.payload);
  });
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> right{
      {own.sender(), 1}, {77, 5}, {own.sender(), 2}};
  EXPECT_EQ(seen, right);
}

}  // namespace
}  // namespace hyphos
