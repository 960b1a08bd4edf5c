#include <gtest/gtest.h>

#include <future>

#include "hyphos/future.hpp"
#include "tests/node/service_pair.hpp"

namespace hyphos::test {
namespace {

TEST(Service, bounds_are_enforced_and_reported_on_both_sides) {
  Arrivals came;  // used by callbacks, so it outlives the nodes
  std::mutex mutex;
  std::vector<Responder<Number>> kept;
  Two two;
  ServiceOptions options;
  options.max_pending = 2;
  two.server.service<Number, Number>(
      "s", options, [&](const Message<Number>&, const Responder<Number>& responder) {
        const std::lock_guard lock(mutex);
        kept.push_back(responder);
        came.add();
      });
  ClientOptions three;
  three.max_pending = 3;
  const auto client = two.client.client<Number, Number>("s", three);
  auto first = client.call_async({1}, kForEver);
  auto second = client.call_async({2}, kForEver);
  ASSERT_TRUE(came.wait_for(2));
  const auto refused = client.call({3}, kForEver);
  EXPECT_EQ(refused.error().code, Code::overloaded);
  EXPECT_NE(refused.error().message.find("max_pending"), std::string::npos);
  ClientOptions one;
  one.max_pending = 1;
  const auto narrow = two.client.client<Number, Number>("nobody", one);
  auto waits = narrow.call_async({1}, kForEver);
  EXPECT_EQ(narrow.call({2}, kForEver).error().code, Code::overloaded);
  EXPECT_EQ(counter(two.domain, "hyphos/service/s/request", "drop.call.overloaded"), 1U);
  EXPECT_EQ(counter(two.domain, "hyphos/service/nobody/request", "drop.call.overloaded"), 1U);
  for (const auto& responder : kept) EXPECT_TRUE(responder.reply({0}).ok());
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.get().ok());
  EXPECT_TRUE(client.call_async({4}, kForEver).valid());
}

TEST(Service, requests_beyond_the_depth_are_refused) {
  graph::test::Gate gate;
  Two two;
  ServiceOptions options;
  options.depth = 1;
  two.server.service<Number, Number>("s", options, [&](const Number& n) {
    gate.pass();
    return n;
  });
  const auto client = two.client.client<Number, Number>("s");
  auto running = client.call_async({1}, kForEver);
  gate.wait_for_waiting(1);
  auto waiting = client.call_async({2}, kForEver);
  ASSERT_TRUE(
      eventually([&] { return counter(two.domain, "hyphos/service/s/request", "received") == 2; }));
  EXPECT_EQ(client.call({3}, kForEver).error().code, Code::overloaded);
  gate.open();
  EXPECT_TRUE(running.get().ok());
  EXPECT_TRUE(waiting.get().ok());
}

/// One thread, and a chain of callbacks that each wait for the next: none may prevent the others
/// from running.
TEST(Service, a_call_inside_a_callback_does_not_starve_the_pool) {
  Arrivals got;
  RuntimeOptions options;
  options.domain = fresh_domain();
  options.threads = 1;
  Runtime runtime = Runtime::open(options).or_throw();
  const Node node = runtime.node("node").or_throw();
  constexpr int kLinks = 20;
  for (int i = 0; i < kLinks; ++i) {
    const auto next = node.client<Number, Number>("link" + std::to_string(i + 1));
    node.service<Number, Number>("link" + std::to_string(i), [next](const Number& n) {
      const auto reply = next.call({n.value + 1}, kForEver);
      EXPECT_TRUE(reply.ok());
      return reply.ok() ? *reply : Number{};
    });
  }
  node.service<Number, Number>("link" + std::to_string(kLinks), [](const Number& n) { return n; });
  const auto first = node.client<Number, Number>("link0");
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(first.call({0}, kForEver).or_throw().value, kLinks);
  }
  // A subscription's callback may call, too, and messages continue meanwhile.
  node.subscribe<Number>("n", serial, [&](const Message<Number>& n) {
    got.add(first.call({n->value}, kForEver).or_throw().value);
  });
  const auto pub = node.publisher<Number>("n");
  for (int i = 0; i < 5; ++i) pub.publish({i});
  ASSERT_TRUE(got.wait_for(5));
}

TEST(Service, callbacks_beyond_the_wait_limit_are_refused_not_stuck) {
  Arrivals overloaded;
  Arrivals done;
  RuntimeOptions options;
  options.domain = fresh_domain();
  options.threads = 1;
  Runtime runtime = Runtime::open(options).or_throw();
  const Node node = runtime.node("node").or_throw();
  ServiceOptions many;
  many.mode = concurrent;
  many.depth = many.max_pending = 256;
  std::mutex mutex;
  std::vector<Responder<Number>> kept;
  node.service<Number, Number>("slow", many,
                               [&](const Message<Number>&, const Responder<Number>& responder) {
                                 const std::lock_guard lock(mutex);
                                 kept.push_back(responder);
                               });
  ClientOptions wide;
  wide.max_pending = 256;
  const auto slow = node.client<Number, Number>("slow", wide);
  node.service<Number, Number>(
      "outer", many, [slow](const Number& n) -> Result<Number> { return slow.call(n, kForEver); });
  const auto outer = node.client<Number, Number>("outer", wide);
  constexpr std::size_t kCalls = 100;
  for (std::size_t i = 0; i < kCalls; ++i) {
    outer.call_async({1}, kForEver, [&](const Result<Number>& reply) {
      if (!reply) overloaded.add(static_cast<std::int64_t>(reply.error().code));
      done.add();
    });
  }
  ASSERT_TRUE(overloaded.wait_for(kCalls - graph::Executor::kMaxWaiting));
  for (const std::int64_t code : overloaded.values()) {
    EXPECT_EQ(static_cast<Code>(code), Code::overloaded);
  }
  std::size_t answered = 0;
  ASSERT_TRUE(eventually([&] {
    std::vector<Responder<Number>> some;
    {
      const std::lock_guard lock(mutex);
      some.swap(kept);
    }
    for (const auto& responder : some) (void)responder.reply({0});
    answered += some.size();
    return done.count() == kCalls;
  }));
  EXPECT_GE(answered, static_cast<std::size_t>(graph::Executor::kMaxWaiting));
}

TEST(Service, an_inlined_callback_must_not_wait) {
  Two two;
  two.server.service<Number, Number>("s", square);
  const auto client = two.client.client<Number, Number>("s");
  ASSERT_TRUE(client.wait_for_server(kForEver).ok());
  std::promise<Error> told;
  two.client.subscribe<Number>("n", inline_, [&](const Message<Number>&) {
    const auto reply = client.call({1}, kForEver);
    told.set_value(reply.ok() ? Error{Code::io, "was let through", ""} : reply.error());
  });
  const auto pub = two.server.publisher<Number>("n");
  ASSERT_TRUE(eventually([&] { return pub.listeners() == 1; }));
  pub.publish({1});
  EXPECT_EQ(told.get_future().get().code, Code::unsupported);
}

TEST(Service, a_hundred_clients_each_get_their_replies) {
  Two two;
  two.server.service<Number, Number>("square", [](const Number& n) { return square(n); });
  std::vector<Client<Number, Number>> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(two.client.client<Number, Number>("square"));
  for (int i = 0; i < 50; ++i) clients.push_back(two.server.client<Number, Number>("square"));
  std::vector<std::future<Result<Number>>> replies;
  for (std::int64_t i = 0; i < 100; ++i) {
    const auto& client = clients[static_cast<std::size_t>(i)];
    replies.push_back(client.call_async({i}, kForEver));
  }
  std::size_t overloaded = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    const auto reply = replies[static_cast<std::size_t>(i)].get();
    if (reply) {
      EXPECT_EQ(reply->value, i * i);
    } else {
      EXPECT_EQ(reply.error().code, Code::overloaded);
      ++overloaded;
    }
  }
  EXPECT_EQ(counter(two.domain, "hyphos/service/square/request", "drop.call.overloaded"),
            overloaded);
}

}  // namespace
}  // namespace hyphos::test
