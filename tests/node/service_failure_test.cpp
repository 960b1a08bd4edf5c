#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <set>

#include "hyphos/future.hpp"
#include "node/calls/call_client.hpp"
#include "node/calls/call_server.hpp"
#include "tests/node/child.hpp"
#include "tests/node/service_pair.hpp"
#include "transport/faulty.hpp"
#include "transport/shm/shm.hpp"

namespace hyphos::test {
namespace {

TEST(Service, a_closed_server_fails_its_calls_and_another_takes_over) {
  for (const bool in_one_process : {true, false}) {
    Two two;
    const Node& asking = in_one_process ? two.server : two.client;
    Arrivals came;
    std::vector<Responder<Number>> kept;
    const Service service = two.server.service<Number, Number>(
        "s", [&](const Message<Number>&, const Responder<Number>& responder) {
          kept.push_back(responder);
          came.add();
        });
    const auto client = asking.client<Number, Number>("s");
    auto reply = client.call_async({1}, kForEver);
    ASSERT_TRUE(came.wait_for(1));
    service.close();
    EXPECT_EQ(reply.get().error().code, Code::disconnected);
    ASSERT_TRUE(eventually([&] { return !client.ready(); }));
    EXPECT_FALSE(kept.front().reply({1}).ok());
    two.server.service<Number, Number>("s", square);
    EXPECT_EQ(client.call({3}, kForEver).or_throw().value, 9);
  }
}

TEST(Service, a_killed_server_is_noticed_and_its_successor_is_used) {
  const std::string domain = fresh_domain();
  const Node node = open_runtime(domain).node("client").or_throw();
  const auto square = node.client<Number, Number>("square");
  const auto never = node.client<Number, Number>("never");
  for (int round = 0; round < 3; ++round) {
    Child server({TEST_SERVICE_PEER, "server", domain});
    ASSERT_TRUE(server.started());
    EXPECT_EQ(square.call({round}, kForEver).or_throw().value, round * round);
    std::vector<std::future<Result<Number>>> replies;
    for (int i = 0; i < 10; ++i) replies.push_back(never.call_async({i}, kForEver));
    ASSERT_TRUE(eventually(
        [&] { return counter(domain, "hyphos/service/never/request", "received") == 10; }));
    server.stop(SIGKILL);
    for (auto& reply : replies) {
      const auto end = reply.get();
      ASSERT_FALSE(end.ok());
      EXPECT_EQ(end.error().code, Code::disconnected);
    }
    // The clients notice it one after the other.
    ASSERT_TRUE(eventually([&] { return !square.ready() && !never.ready(); }));
  }
}

TEST(Service, a_killed_client_leaves_nothing_pending) {
  Arrivals came;
  const std::string domain = fresh_domain();
  const Node node = open_runtime(domain).node("server").or_throw();
  std::mutex mutex;
  std::vector<Responder<Number>> kept;
  const Service service = node.service<Number, Number>(
      "never", [&](const Message<Number>&, const Responder<Number>& responder) {
        const std::lock_guard lock(mutex);
        kept.push_back(responder);
        came.add();
      });
  Child client({TEST_SERVICE_PEER, "client", domain});
  ASSERT_TRUE(client.started());
  ASSERT_TRUE(came.wait_for(1));
  EXPECT_EQ(service.pending(), 1U);
  client.stop(SIGKILL);
  EXPECT_TRUE(eventually([&] { return service.pending() == 0; }));
  const std::lock_guard lock(mutex);
  EXPECT_TRUE(eventually([&] { return kept.front().canceled(); }));
  EXPECT_EQ(kept.front().reply({1}).error().code, Code::disconnected);
}

TEST(Service, a_dropped_client_ends_its_calls_and_notifies_the_server) {
  Arrivals ended;
  Two two;
  std::promise<Responder<Number>> asked;
  two.server.service<Number, Number>(
      "s", [&](const Message<Number>&, const Responder<Number>& responder) {
        asked.set_value(responder);
      });
  two.client.client<Number, Number>("s").call_async(
      {1}, kForEver, [&](const Result<Number>& reply) {
        EXPECT_EQ(reply.error().code, Code::disconnected);
        ended.add();
      });
  const Responder<Number> responder = asked.get_future().get();
  EXPECT_EQ(ended.count(), 0U);  // a call continues without the handle
  two.client.close();
  ASSERT_TRUE(ended.wait_for(1));
  EXPECT_TRUE(eventually([&] { return responder.canceled(); }));
}

/// Two graphs over transports that lose, duplicate, delay and reorder messages.
struct Faulty {
  explicit Faulty(const transport::FaultConfig& faults, const std::string& domain)
      : registry(std::make_shared<trace::Registry>(std::span<std::byte>{}, nullptr, "test", 1)),
        graph(2, registry, [](const std::string&, const Policy& wish) {
          return graph::ChannelRules{wish, Where::both, {"shm"}};
        }) {
    transport::ShmConfig config;
    config.domain = domain;
    config.process_name = "faulty";
    std::shared_ptr<transport::Transport> made =
        transport::make_faulty(transport::make_shm(std::move(config)), faults);
    made->start().or_throw();
    graph.add_transport(std::move(made));
  }
  std::shared_ptr<trace::Registry> registry;
  graph::Graph graph;
};

TEST(Service, a_known_server_without_its_queue_is_a_timeout) {
  const std::string domain = fresh_domain();
  Faulty here({}, domain);
  Faulty there({}, domain);
  const auto types = detail::service_types(type_support<Number>(), type_support<Number>());
  // A server between its two steps: its replies can leave, but it receives no requests yet.
  const calls::Channels half = calls::open_channels(there.graph, "s", types).or_throw();
  const auto replies = half.reply->add_publisher(types.reply, true, "server").or_throw();
  auto core = std::make_shared<calls::ClientCore>(
      here.graph, calls::open_channels(here.graph, "s", types).or_throw(),
      calls::ClientCore::Settings{"client"});
  core->open(types).or_throw();
  const Client<Number, Number> client(std::make_shared<calls::ClientHandle>(core));
  ASSERT_TRUE(client.wait_for_server(kForEver).ok());
  EXPECT_EQ(client.call({1}, Duration::from_ms(1)).error().code, Code::timeout);
  core->close();
}

TEST(Service, over_a_faulty_transport_a_call_ends_once) {
  Arrivals ended;
  transport::FaultConfig faults;
  faults.loss = 0.1;
  faults.duplicate = 0.3;
  faults.reorder = 0.2;
  faults.jitter_us = 200;
  faults.seed = 7;
  const std::string domain = fresh_domain();
  Faulty here(faults, domain);
  Faulty there(faults, domain);
  const auto types = detail::service_types(type_support<Number>(), type_support<Number>());
  std::mutex mutex;
  std::multiset<std::int64_t> ran;
  auto server = std::make_shared<calls::ServerCore>(
      there.graph, calls::open_channels(there.graph, "s", types).or_throw(),
      calls::ServerCore::Settings{"server"},
      detail::service_callback<Number, Number>(
          [&](const Number& n) {
            const std::lock_guard lock(mutex);
            ran.insert(n.value);
            return square(n);
          },
          "s"));
  server->open(types).or_throw();
  auto core = std::make_shared<calls::ClientCore>(
      here.graph, calls::open_channels(here.graph, "s", types).or_throw(),
      calls::ClientCore::Settings{"client"});
  core->open(types).or_throw();
  const Client<Number, Number> client(std::make_shared<calls::ClientHandle>(core));
  ASSERT_TRUE(client.wait_for_server(kForEver).ok());
  constexpr std::size_t kCalls = 300;
  std::size_t all = 0;
  std::size_t answered = 0;
  // On a stalled machine, calls time out although nothing was lost. Then repeat.
  for (int round = 0; round < 20 && answered <= kCalls / 2; ++round) {
    for (std::size_t i = 0; i < kCalls; ++i) {
      const auto n = static_cast<std::int64_t>(all++);
      client.call_async({n}, Duration::from_ms(300), [&, n](const Result<Number>& reply) {
        if (reply) {
          EXPECT_EQ(reply->value, n * n);
        } else {
          EXPECT_EQ(reply.error().code, Code::timeout);
        }
        ended.add(reply.ok() ? 1 : 0);
      });
      if (all % 16 == 0) {
        ASSERT_TRUE(ended.wait_for(all - 16));
      }
    }
    ASSERT_TRUE(ended.wait_for(all));
    const std::vector<std::int64_t> ends = ended.values();
    ASSERT_EQ(ends.size(), all);
    answered = static_cast<std::size_t>(std::count(ends.end() - kCalls, ends.end(), 1));
  }
  EXPECT_GT(answered, kCalls / 2);
  EXPECT_LT(answered, kCalls);  // some messages were lost, otherwise the test shows nothing
  server->close();
  core->close();
  const std::lock_guard lock(mutex);
  for (const std::int64_t value : ran) EXPECT_EQ(ran.count(value), 1U) << value;
}

}  // namespace
}  // namespace hyphos::test
