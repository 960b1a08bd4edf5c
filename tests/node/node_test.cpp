#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

#include "hyphos/inspect.hpp"
#include "tests/node/harness.hpp"

namespace hyphos::test {
namespace {

TEST(Node, two_processes_of_one_domain_use_shared_memory) {
  Arrivals got;
  const std::string domain = fresh_domain();
  Runtime a = open_runtime(domain, "a");
  Runtime b = open_runtime(domain, "b");
  const Node talker = a.node("talker").or_throw();
  const Node listener = b.node("listener").or_throw();
  std::atomic<bool> stamped{true};
  listener.subscribe<Number>("n", serial, [&](const Message<Number>& m) {
    const Stamps s = m.stamps();
    if (!(s.publish <= s.submitted && s.submitted <= s.arrived && s.arrived <= s.scheduled &&
          s.scheduled <= s.callback && s.publish > 0)) {
      stamped = false;
    }
    got.add(m->value);
  });
  const auto pub = talker.publisher<Number>("n");
  ASSERT_TRUE(eventually([&] { return pub.listeners() == 1; }));
  for (int i = 0; i < 10; ++i) {
    pub.publish({i});
    ASSERT_TRUE(got.wait_for(static_cast<std::size_t>(i) + 1));
  }
  EXPECT_EQ(got.values(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(stamped);
}

TEST(Node, a_message_from_another_process_can_be_kept_and_relayed) {
  Arrivals got;
  const std::string domain = fresh_domain();
  Runtime a = open_runtime(domain, "a");
  Runtime b = open_runtime(domain, "b");
  Runtime c = open_runtime(domain, "c");
  const Node source = a.node("source").or_throw();
  const Node relay = b.node("relay").or_throw();
  const Node sink = c.node("sink").or_throw();
  const auto out = relay.publisher<Buffer>("second");
  std::vector<Message<Buffer>> kept;
  relay.subscribe<Buffer>("first", serial, [out](const Message<Buffer>& m) { out.publish(*m); });
  sink.subscribe<Buffer>("second", serial, [&](const Message<Buffer>& m) {
    kept.push_back(m);
    got.add();
  });
  const auto pub = source.publisher<Buffer>("first");
  ASSERT_TRUE(eventually([&] { return pub.listeners() == 1 && out.listeners() == 1; }));
  for (std::size_t i = 0; i < 5; ++i) {
    WritableBuffer memory = pub.loan_bytes(100'000);
    std::memset(memory.data(), static_cast<int>(i), memory.size());
    pub.publish(std::move(memory).freeze());
    ASSERT_TRUE(got.wait_for(i + 1));
  }
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_EQ(kept[i]->size(), 100'000U);
    EXPECT_EQ(kept[i]->bytes()[99'999], static_cast<std::byte>(i));
  }
}

TEST(Node, latched_values_reach_a_late_process) {
  Arrivals got;
  const std::string domain = fresh_domain();
  Runtime a = open_runtime(domain, "a");
  const Node map_server = a.node("map_server").or_throw();
  PublisherOptions options;
  options.policy = Policy{};
  options.policy->latched = true;
  const auto pub = map_server.publisher<Number>("map", options);
  pub.publish({7});
  pub.publish({8});
  Runtime b = open_runtime(domain, "b");
  const Node late = b.node("late").or_throw();
  SubscriptionOptions wish;
  wish.policy = options.policy;
  std::atomic<bool> replayed{false};
  late.subscribe<Number>("map", wish, [&](const Message<Number>& m) {
    replayed = m.replayed();
    got.add(m->value);
  });
  ASSERT_TRUE(got.wait_for(1));
  EXPECT_EQ(got.values().front(), 8);
  EXPECT_TRUE(replayed);
}

TEST(Node, another_type_in_another_process_is_never_delivered) {
  Arrivals wrong;
  Arrivals right;
  const std::string domain = fresh_domain();
  Runtime a = open_runtime(domain, "a");
  Runtime b = open_runtime(domain, "b");
  const Node talker = a.node("talker").or_throw();
  const Node listener = b.node("listener").or_throw();
  listener.subscribe<Words>("n", serial, [&](const Message<Words>&) { wrong.add(); });
  listener.subscribe<Number>("ok", serial, [&](const Message<Number>&) { right.add(); });
  const auto bad = talker.publisher<Number>("n");
  const auto good = talker.publisher<Number>("ok");
  ASSERT_TRUE(eventually([&] { return good.listeners() == 1; }));
  bad.publish({1});
  good.publish({1});
  ASSERT_TRUE(right.wait_for(1));
  EXPECT_EQ(bad.listeners(), 0U);
  EXPECT_EQ(wrong.count(), 0U);
}

TEST(Node, node_names_are_checked_and_unique_in_a_process) {
  Runtime runtime = open_runtime(fresh_domain());
  const Node first = runtime.node("one").or_throw();
  EXPECT_EQ(runtime.node("one").error().code, Code::already_exists);
  EXPECT_EQ(runtime.node("no good").error().code, Code::invalid_config);
}

TEST(Node, a_closed_node_refuses_new_endpoints) {
  Runtime runtime = open_runtime(fresh_domain());
  const Node node = runtime.node("one").or_throw();
  node.close();
  EXPECT_THROW(node.subscribe<Number>("n", serial, [](const Message<Number>&) {}), Exception);
  EXPECT_THROW(node.publisher<Number>("n"), Exception);
  EXPECT_THROW(node.every(Duration::from_ms(1), [] {}), Exception);
}

TEST(Node, a_closed_subscription_is_not_listed) {
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  const Node node = runtime.node("one").or_throw();
  std::vector<Subscription> handles;  // handles of closed subscriptions may be kept
  for (int i = 0; i < 100; ++i) {
    handles.push_back(node.subscribe<Number>("n", serial, [](const Message<Number>&) {}));
    ASSERT_EQ(runtime.endpoints().size(), 1U);
    handles.back().close();
    ASSERT_TRUE(runtime.endpoints().empty());
  }
  EXPECT_EQ(handles.front().channel(), "n");
  EXPECT_EQ(handles.front().publishers(), 0U);
}

TEST(Node, a_subscription_may_close_itself_in_its_callback) {
  Arrivals calls;
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  const Node node = runtime.node("one").or_throw();
  const auto publisher = node.publisher<Number>("n");
  Subscription own;
  own = node.subscribe<Number>("n", serial, [&](const Message<Number>&) {
    own.close();
    calls.add();
  });
  publisher.publish({1});
  ASSERT_TRUE(calls.wait_for(1));
  publisher.publish({2});
  own.close();  // from outside: waits for the call
  EXPECT_EQ(calls.count(), 1U);
  // The thread of the call drops the last reference.
  EXPECT_TRUE(eventually([&] { return runtime.endpoints().size() == 1; }));
}

TEST(Node, a_subscription_closed_in_its_callback_is_not_listed) {
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  const Node node = runtime.node("one").or_throw();
  const auto publisher = node.publisher<Number>("n");
  for (const Mode mode : {Mode::serial, Mode::concurrent, Mode::inline_}) {
    Arrivals calls;
    Subscription own;
    SubscriptionOptions how;
    how.mode = mode;
    own = node.subscribe<Number>("n", how, [&](const Message<Number>&) {
      own.close();
      calls.add();
    });
    publisher.publish({1});
    publisher.publish({2});
    ASSERT_TRUE(calls.wait_for(1));
    EXPECT_TRUE(eventually([&] { return runtime.endpoints().size() == 1; }));
  }
  SubscriptionOptions polled;
  Subscription own;
  polled.ready = [] {};
  own = node.subscribe<Number>("n", polled, [&](const Message<Number>&) { own.close(); });
  publisher.publish({1});
  EXPECT_EQ(own.poll(8), 1U);
  EXPECT_EQ(runtime.endpoints().size(), 1U);
}

TEST(Node, raw_endpoints_connect_to_typed_ones) {
  Arrivals typed;
  Arrivals bytes;
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  const Node node = runtime.node("one").or_throw();
  const TypeId& id = type_support<Number>().id;
  // The raw endpoint opens the channel first, so its blocks have no room for a Number.
  const RawPublisher raw = node.raw_publisher("n", id).or_throw();
  node.subscribe<Number>("n", serial, [&](const Message<Number>& m) { typed.add(m->value); });
  node.raw_subscribe("n", id, {},
                     [&](const Message<RawMessage>& m) {
                       bytes.add(static_cast<std::int64_t>(m->payload.size()));
                     })
      .or_throw();
  const Number number{5};
  raw.publish(Buffer::copy_of(std::as_bytes(std::span(&number, 1))));
  node.publisher<Number>("n").publish({6});
  ASSERT_TRUE(typed.wait_for(2));
  ASSERT_TRUE(bytes.wait_for(2));
  EXPECT_EQ(typed.values(), (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(bytes.values(), (std::vector<std::int64_t>{8, 8}));
}

TEST(Inspect, shows_counters_and_latencies_of_a_live_process) {
  Arrivals got;
  const std::string domain = fresh_domain();
  Runtime a = open_runtime(domain, "sense");
  Runtime b = open_runtime(domain, "think");
  const Node talker = a.node("talker").or_throw();
  const Node listener = b.node("listener").or_throw();
  listener.subscribe<Number>("n", serial, [&](const Message<Number>&) { got.add(); });
  const auto pub = talker.publisher<Number>("n");
  ASSERT_TRUE(eventually([&] { return pub.listeners() == 1; }));
  for (std::size_t i = 0; i < 4; ++i) {
    pub.publish({1});
    ASSERT_TRUE(got.wait_for(i + 1));
  }
  // The duration of a callback is recorded after it. So the fourth message is not counted yet when
  // the callback has seen it. The transport of a channel may also be reported after its first
  // messages.
  std::vector<ProcessInfo> processes;
  const EndpointInfo* sender = nullptr;
  const EndpointInfo* receiver = nullptr;
  EXPECT_TRUE(eventually([&] {
    processes = inspect(domain).or_throw();
    for (const ProcessInfo& process : processes)
      for (const EndpointInfo& end : process.endpoints)
        (end.is_publisher ? sender : receiver) = &end;
    return receiver != nullptr && receiver->latency.count == 4 && !receiver->transports.empty();
  }));
  ASSERT_EQ(processes.size(), 2U);
  for (const ProcessInfo& process : processes) EXPECT_EQ(process.pid, getpid());
  ASSERT_NE(sender, nullptr);
  ASSERT_NE(receiver, nullptr);
  EXPECT_EQ(sender->node, "talker");
  EXPECT_EQ(sender->type_name, "test.Number");
  EXPECT_EQ(sender->counter("sent"), 4U);
  EXPECT_EQ(receiver->transports, "shm");
  EXPECT_EQ(receiver->counter("received"), 4U);
  EXPECT_EQ(receiver->latency.count, 4U);
  EXPECT_GT(receiver->latency.percentile_ns(0.5), 0);
}

TEST(Runtime, spin_ends_on_request_and_leaves_no_file_behind) {
  const std::string domain = fresh_domain();
  {
    Runtime runtime = open_runtime(domain);
    const Node node = runtime.node("one").or_throw();
    // A callback that captures its node must not keep the process's files alive.
    node.every(Duration::from_ms(1), [node, runtime]() mutable { runtime.request_stop(); });
    EXPECT_EQ(node.spin(), 0);
    EXPECT_TRUE(runtime.stopping());
  }
  const auto left = inspect(domain);
  EXPECT_TRUE(!left.ok() || left->empty());
}

TEST(Runtime, a_signal_ends_spin) {
  Runtime runtime = open_runtime(fresh_domain());
  const Node node = runtime.node("one").or_throw();
  // Once, and only while spin() handles it: before and after, the signal would end the test
  // program. It goes to the spinning thread, because the thread sanitizer delays a signal for a
  // thread that waits on a bare futex.
  node.every(Duration::from_ms(1), [sent = false, spinning = pthread_self()]() mutable {
    struct sigaction now{};
    sigaction(SIGTERM, nullptr, &now);
    if (sent || now.sa_handler == SIG_DFL) return;
    sent = true;
    pthread_kill(spinning, SIGTERM);
  });
  EXPECT_EQ(node.spin(), 0);
}

TEST(Runtime, unknown_options_are_named) {
  const char* argv[] = {"program", "--hyphos-paln", "x.yaml"};
  const auto opened = Runtime::open(3, const_cast<char**>(argv));
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("--hyphos-paln"), std::string::npos);
  EXPECT_NE(opened.error().message.find("--hyphos-plan"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::test
