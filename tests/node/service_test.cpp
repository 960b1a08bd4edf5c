#include <gtest/gtest.h>

#include <future>
#include <set>

#include "hyphos/inspect.hpp"
#include "hyphos/wire/head.pb.h"
#include "node/call_client.hpp"
#include "node/call_server.hpp"
#include "tests/node/child.hpp"
#include "tests/node/harness.hpp"
#include "transport/faulty.hpp"
#include "transport/shm.hpp"

namespace hyphos::test {
namespace {

/// No test waits for so long: whoever reports before it does not wait for its timeout.
constexpr Duration kForEver = Duration::from_seconds(3600);

Number square(const Number& n) { return {n.value * n.value}; }

/// A server and a client, in one process each.
struct Two {
  std::string domain = fresh_domain();
  Runtime a = open_runtime(domain, "a");
  Runtime b = open_runtime(domain, "b");
  Node server = a.node("server").or_throw();
  Node client = b.node("client").or_throw();
};

std::uint64_t counter(const std::string& domain, const std::string& channel,
                      const std::string& name) {
  std::uint64_t sum = 0;
  for (const ProcessInfo& process : inspect(domain).or_throw()) {
    for (const EndpointInfo& end : process.endpoints) {
      if (end.channel == channel) sum += end.counter(name);
    }
  }
  return sum;
}

TEST(Service, AnswersInOneProcessByPointer) {
  RuntimeOptions offline;
  offline.offline = true;
  const Node node = Node::open("node", offline).or_throw();
  const Number* seen = nullptr;
  node.service<Number, Number>("square", [&](const Message<Number>& n) {
    EXPECT_FALSE(n.block()->has_encoded());
    seen = n.get();
    return square(*n);
  });
  const auto client = node.client<Number, Number>("square");
  EXPECT_TRUE(client.ready());
  const auto reply = client.call_message({12});
  ASSERT_TRUE(reply.ok()) << reply.error().to_string();
  EXPECT_EQ((*reply)->value, 144);
  EXPECT_FALSE(reply->block()->has_encoded());
  EXPECT_NE(seen, nullptr);
}

TEST(Service, AnswersAcrossProcessesInEveryMode) {
  for (const Mode mode : {serial, concurrent, inlined}) {
    Two two;
    ServiceOptions options;
    options.mode = mode;
    two.server.service<Number, Number>("square", options, square);
    const auto client = two.client.client<Number, Number>("square");
    for (std::int64_t i = 0; i < 200; ++i) {
      const auto reply = client.call({i}, kForEver);
      ASSERT_TRUE(reply.ok()) << reply.error().to_string();
      EXPECT_EQ(reply->value, i * i);
    }
  }
}

TEST(Service, AClientThatComesFirstWaitsForItsServer) {
  Two two;
  const auto client = two.client.client<Number, Number>("square");
  EXPECT_FALSE(client.ready());
  auto first = client.call_async({5}, kForEver);
  two.server.service<Number, Number>("square", square);
  EXPECT_EQ(first.get().or_throw().value, 25);
  EXPECT_TRUE(client.wait_for_server(kForEver).ok());
}

struct Text {
  static constexpr std::string_view hyphos_type = "test.Text";
  std::string text;
  [[nodiscard]] std::size_t serialized_size() const { return text.size(); }
  void serialize(std::span<std::byte> out) const {
    std::memcpy(out.data(), text.data(), out.size());
  }
  static bool parse(std::span<const std::byte> in, Text& out) {
    out.text.assign(reinterpret_cast<const char*>(in.data()), in.size());
    return out.text != "bad";
  }
};

TEST(Service, AnyTypeOfAChannelMayAskAndAnswer) {
  Two two;
  using Head = wire::v1::Head;
  two.server.service<Head, Text>("to_text", [](const Head& h) { return Text{h.channel()}; });
  two.server.service<Text, Head>("to_head", [](const Text& t) {
    Head head;
    head.set_channel(t.text);
    return head;
  });
  two.server.service<Buffer, Buffer>(
      "reverse", [](const Message<Buffer>& in, const Responder<Buffer>& responder) {
        WritableBuffer out = responder.loan_bytes(in->size());
        std::reverse_copy(in->bytes().begin(), in->bytes().end(), out.bytes().begin());
        ASSERT_TRUE(responder.reply(std::move(out).freeze()).ok());
      });
  two.server.service<Number, Attached<Head>>("attached", [](const Number& n) {
    Attached<Head> reply;
    reply.head.set_sequence(7);
    for (std::int64_t i = 0; i < n.value; ++i) reply.buffers.push_back(Buffer::copy_of("xyz"));
    return reply;
  });
  Head head;
  head.set_channel("scan");
  EXPECT_EQ((two.client.client<Head, Text>("to_text").call(head, kForEver).or_throw().text),
            "scan");
  EXPECT_EQ((two.client.client<Text, Head>("to_head").call({"map"}, kForEver).or_throw().channel()),
            "map");
  const auto reverse = two.client.client<Buffer, Buffer>("reverse");
  const Buffer large = Buffer::copy_of(std::string(1 << 20, 'a') + "b");
  const Buffer back = reverse.call(large, kForEver).or_throw();
  ASSERT_EQ(back.size(), large.size());
  EXPECT_EQ(back.text().substr(0, 3), "baa");
  EXPECT_TRUE(reverse.call(Buffer(), kForEver).or_throw().empty());
  const auto attached = two.client.client<Number, Attached<Head>>("attached").call({8}, kForEver);
  ASSERT_TRUE(attached.ok());
  ASSERT_EQ(attached->buffers.size(), 8U);
  EXPECT_EQ(attached->buffers[7].text(), "xyz");
}

TEST(Service, ManyCallsAreUnderWayAtOnceAndEachGetsItsOwnReply) {
  graph::test::Gate gate;
  Arrivals came;
  Two two;
  ServiceOptions options;
  options.mode = concurrent;
  std::mutex mutex;
  std::vector<std::pair<std::int64_t, Responder<Number>>> kept;
  two.server.service<Number, Number>(
      "square", options, [&](const Message<Number>& n, const Responder<Number>& responder) {
        const std::lock_guard lock(mutex);
        kept.emplace_back(n->value, responder);
        came.add();
      });
  const auto client = two.client.client<Number, Number>("square");
  std::vector<std::future<Result<Number>>> replies;
  for (std::int64_t i = 0; i < 64; ++i) replies.push_back(client.call_async({i}, kForEver));
  ASSERT_TRUE(came.wait_for(64));
  for (auto at = kept.rbegin(); at != kept.rend(); ++at) {  // the last asked is answered first
    EXPECT_TRUE(at->second.reply({at->first * at->first}).ok());
  }
  for (std::int64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(replies[static_cast<std::size_t>(i)].get().or_throw().value, i * i);
  }
}

TEST(Service, ARefusalArrivesWithItsCodeAndWords) {
  Two two;
  two.server.service<Number, Number>("root", [](const Number& n) -> Result<Number> {
    if (n.value < 0) return Error{Code::unsupported, "no root of a negative number:\nuse abs", "n"};
    return Number{1};
  });
  two.server.service<Number, Number>(
      "throwing", [](const Number&) -> Number { throw std::runtime_error("out of paper"); });
  const auto root = two.client.client<Number, Number>("root");
  EXPECT_TRUE(root.call({4}, kForEver).ok());
  const auto refused = root.call({-4}, kForEver);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_EQ(refused.error().message, "no root of a negative number:\nuse abs");
  EXPECT_EQ(refused.error().where, "n");
  const auto thrown = two.client.client<Number, Number>("throwing").call({1}, kForEver);
  ASSERT_FALSE(thrown.ok());
  EXPECT_NE(thrown.error().message.find("out of paper"), std::string::npos);
  EXPECT_EQ(thrown.error().where, "throwing");
}

TEST(Service, AnAnswerMayComeLaterFromAnotherThreadAndOnlyOnce) {
  Two two;
  std::promise<Responder<Number>> asked;
  two.server.service<Number, Number>(
      "later", [&](const Message<Number>&, const Responder<Number>& responder) {
        asked.set_value(responder);
      });
  auto reply = two.client.client<Number, Number>("later").call_async({1}, kForEver);
  const Responder<Number> responder = asked.get_future().get();
  std::thread([&] { EXPECT_TRUE(responder.reply({42}).ok()); }).join();
  EXPECT_EQ(reply.get().or_throw().value, 42);
  EXPECT_EQ(responder.reply({43}).error().code, Code::already_exists);
  EXPECT_EQ(responder.refuse(Code::io, "x").error().code, Code::already_exists);
}

TEST(Service, ARequestDroppedWithoutAnAnswerFailsAtOnce) {
  Two two;
  two.server.service<Number, Number>("lazy",
                                     [](const Message<Number>&, const Responder<Number>&) {});
  const auto reply = two.client.client<Number, Number>("lazy").call({1}, kForEver);
  ASSERT_FALSE(reply.ok());
  EXPECT_NE(reply.error().message.find("without an answer"), std::string::npos);
}

TEST(Service, NobodyThereAndNoAnswerAreDifferentErrors) {
  Arrivals came;
  Two two;
  std::vector<Responder<Number>> kept;
  const auto client = two.client.client<Number, Number>("never");
  const auto nobody = client.call({1}, Duration::from_ms(1));
  ASSERT_FALSE(nobody.ok());
  EXPECT_EQ(nobody.error().code, Code::not_found);
  EXPECT_NE(nobody.error().message.find("'never'"), std::string::npos);
  EXPECT_EQ(client.wait_for_server(Duration::from_ms(1)).error().code, Code::not_found);
  Service service = two.server.service<Number, Number>(
      "never", [&](const Message<Number>&, const Responder<Number>& responder) {
        kept.push_back(responder);
        came.add();
      });
  ASSERT_TRUE(client.wait_for_server(kForEver).ok());
  auto silent = client.call_async({2}, Duration::from_ms(20));
  ASSERT_TRUE(came.wait_for(1));
  const auto timeout = silent.get();
  ASSERT_FALSE(timeout.ok());
  EXPECT_EQ(timeout.error().code, Code::timeout);
  // The server hears of it, and an answer that is late is counted and hurts nobody.
  EXPECT_TRUE(eventually([&] { return kept.front().canceled(); }));
  EXPECT_EQ(service.pending(), 1U);
  EXPECT_TRUE(kept.front().reply({1}).ok());
  EXPECT_EQ(service.pending(), 0U);
  EXPECT_TRUE(eventually(
      [&] { return counter(two.domain, "hyphos/service/never/request", "drop.call.stale") == 1; }));
  EXPECT_EQ(counter(two.domain, "hyphos/service/never/request", "drop.call.timeout"), 2U);
}

TEST(Service, AClosedServerFailsItsCallsAtOnceAndAnotherMayTakeOver) {
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

TEST(Service, AKilledServerIsNoticedAtOnceAndItsSuccessorIsUsed) {
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
  }
}

TEST(Service, AKilledClientLeavesNothingPending) {
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

TEST(Service, OtherTypesAreRefusedByNameOnBothSides) {
  Two two;
  two.server.service<Number, Number>("s", square);
  const auto wrong = two.client.client<Number, Words>("s");
  const auto reply = wrong.call({1}, kForEver);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::type_mismatch);
  EXPECT_NE(reply.error().message.find("test.Number(struct) -> test.Words(struct)"),
            std::string::npos)
      << reply.error().message;
  EXPECT_NE(reply.error().message.find("test.Number(struct) -> test.Number(struct)"),
            std::string::npos);
  // In one process it is refused when it is made.
  EXPECT_THROW((two.server.client<Words, Number>("s")), Exception);
}

TEST(Service, BoundsAreKeptAndToldOnBothSides) {
  Arrivals came;  // what callbacks use outlives the nodes
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

TEST(Service, RequestsBeyondTheDepthAreRefused) {
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

TEST(Service, OneNameHasOneServer) {
  Two two;
  const Service service = two.server.service<Number, Number>("s", square);
  const auto refused = [](const Node& node) {
    try {
      node.service<Number, Number>("s", square);
    } catch (const Exception& error) {
      return error.error();
    }
    return Error{Code::io, "was not refused", ""};
  };
  EXPECT_EQ(refused(two.server).code, Code::already_exists);
  const Error other = refused(two.client);
  EXPECT_EQ(other.code, Code::already_exists);
  EXPECT_NE(other.message.find("process 'a'"), std::string::npos) << other.message;
  service.close();
  two.client.service<Number, Number>("s", square);
}

/// One thread, and a chain of callbacks that each wait for the next: none may keep the others from
/// running.
TEST(Service, ACallInsideACallbackDoesNotStarveThePool) {
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
  // A subscription's callback may call, too, and messages go on meanwhile.
  node.subscribe<Number>("n", serial, [&](const Message<Number>& n) {
    got.add(first.call({n->value}, kForEver).or_throw().value);
  });
  const auto pub = node.publisher<Number>("n");
  for (int i = 0; i < 5; ++i) pub.publish({i});
  ASSERT_TRUE(got.wait_for(5));
}

TEST(Service, MoreCallbacksThanMayWaitAreRefusedAndNotStuck) {
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

TEST(Service, AnInlinedCallbackMayNotWait) {
  Two two;
  two.server.service<Number, Number>("s", square);
  const auto client = two.client.client<Number, Number>("s");
  ASSERT_TRUE(client.wait_for_server(kForEver).ok());
  std::promise<Error> told;
  two.client.subscribe<Number>("n", inlined, [&](const Message<Number>&) {
    const auto reply = client.call({1}, kForEver);
    told.set_value(reply.ok() ? Error{Code::io, "was let through", ""} : reply.error());
  });
  const auto pub = two.server.publisher<Number>("n");
  ASSERT_TRUE(eventually([&] { return pub.listeners() == 1; }));
  pub.publish({1});
  EXPECT_EQ(told.get_future().get().code, Code::unsupported);
}

TEST(Service, ADroppedClientEndsItsCallsAndTellsTheServer) {
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
  EXPECT_EQ(ended.count(), 0U);  // a call goes on without the handle
  two.client.close();
  ASSERT_TRUE(ended.wait_for(1));
  EXPECT_TRUE(eventually([&] { return responder.canceled(); }));
}

TEST(Service, AHundredClientsEachGetTheirReplies) {
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

TEST(Service, BadNamesAndBoundsAreRefused) {
  Two two;
  const auto code = [&](auto&& make) {
    try {
      make();
    } catch (const Exception& error) {
      return error.error().code;
    }
    return Code::io;
  };
  EXPECT_EQ(code([&] { two.server.service<Number, Number>("1st", square); }), Code::invalid_config);
  EXPECT_EQ(code([&] { two.server.service<Number, Number>("hyphos/x", square); }),
            Code::invalid_config);
  EXPECT_EQ(code([&] { two.server.client<Number, Number>(std::string(97, 'a')); }),
            Code::invalid_config);
  ServiceOptions none;
  none.depth = 0;
  EXPECT_EQ(code([&] { two.server.service<Number, Number>("s", none, square); }),
            Code::invalid_config);
}

/// Two hosts as the plan sees them. Different domains, so that they do not meet in shared memory.
TEST(Service, ThePlanTakesServicesAndActionsBetweenMachines) {
  Arrivals feedback;
  const int port = 20000 + getpid() % 20000;
  const std::string domain = fresh_domain();
  const PlanFile file("hyphos: 1\nrobot: test\n" + std::string(R"(
hosts:
  ugv: {address: 127.0.0.1}
  base: {address: 127.0.0.2}
processes:
  drive: {host: ugv, endpoint: "tcp://127.0.0.1:)") +
                      std::to_string(port) + R"("}
  think: {host: base, endpoint: "tcp://127.0.0.2:)" +
                      std::to_string(port + 1) + R"("}
nodes:
  driver: {process: drive, services: [square], actions: [count]}
  planner: {process: think, calls: [square], goals: [count]}
)");
  const auto open = [&](const std::string& process) {
    RuntimeOptions options = file.options(process);
    options.domain = domain + process;
    return Runtime::open(options).or_throw();
  };
  auto a = std::make_unique<Runtime>(open("drive"));
  Runtime b = open("think");
  auto driver = std::make_unique<Node>(a->node("driver").or_throw());
  const Node planner = b.node("planner").or_throw();
  driver->service<Number, Number>("square", [](const Number& n) { return square(n); });
  std::promise<GoalHandle<Number, Number, Number>> begun;
  driver->action<Number, Number, Number>("count", {},
                                         [&](const GoalHandle<Number, Number, Number>& goal) {
                                           EXPECT_TRUE(goal.feedback({5}).ok());
                                           if (goal->value == 0) return begun.set_value(goal);
                                           EXPECT_TRUE(goal.succeed({6}).ok());
                                         });
  const auto client = planner.client<Number, Number>("square");
  for (std::int64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(client.call({i}, kForEver).or_throw().value, i * i);
  }
  const auto count = planner.action_client<Number, Number, Number>("count");
  const auto done =
      count.send({1}, [&](const Message<Number>& n) { feedback.add(n->value); }, kForEver);
  EXPECT_EQ(done.result(kForEver).or_throw().value.value, 6);
  EXPECT_TRUE(feedback.wait_for(1));
  // A node that the plan gives no service is refused, and what it names wrongly, too.
  try {
    planner.service<Number, Number>("square", square);
    FAIL();
  } catch (const Exception& error) {
    EXPECT_EQ(error.error().code, Code::invalid_config);
    EXPECT_NE(error.error().message.find("'driver'"), std::string::npos);
  }
  // The other machine goes: its calls and goals end at once.
  const auto goal = count.send({0}, kForEver);
  auto handle = begun.get_future().get();
  handle = {};
  const auto dropped = goal.result(kForEver);
  EXPECT_FALSE(dropped.ok());
  driver->close();
  driver.reset();
  a.reset();
  EXPECT_TRUE(eventually([&] { return !client.ready(); }));
}

/// Two graphs over transports that lose, repeat, delay and reorder.
struct Faulty {
  explicit Faulty(const transport::FaultConfig& faults, const std::string& domain)
      : registry(std::make_shared<trace::Registry>(std::span<std::byte>{}, nullptr, "test", 1)),
        graph(2, registry, [](const std::string&, const Policy& wish) {
          return graph::ChannelRules{wish, true, {"shm"}};
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

TEST(Service, OverAFaultyTransportACallEndsOnceAndRunsAtMostOnce) {
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
  constexpr std::int64_t kCalls = 300;
  std::size_t answered = 0;
  for (std::int64_t i = 0; i < kCalls; ++i) {
    client.call_async({i}, Duration::from_ms(100), [&, i](const Result<Number>& reply) {
      if (reply) {
        EXPECT_EQ(reply->value, i * i);
      } else {
        EXPECT_EQ(reply.error().code, Code::timeout);
      }
      ended.add(reply.ok() ? 1 : 0);
    });
    if (i % 16 == 15) {
      ASSERT_TRUE(ended.wait_for(static_cast<std::size_t>(i) - 15));
    }
  }
  ASSERT_TRUE(ended.wait_for(kCalls));
  EXPECT_EQ(ended.count(), static_cast<std::size_t>(kCalls));
  for (const std::int64_t one : ended.values()) answered += static_cast<std::size_t>(one);
  EXPECT_GT(answered, static_cast<std::size_t>(kCalls / 2));
  EXPECT_LT(answered,
            static_cast<std::size_t>(kCalls));  // something was lost, or nothing was tested
  server->close();
  core->close();
  const std::lock_guard lock(mutex);
  for (const std::int64_t value : ran) EXPECT_EQ(ran.count(value), 1U) << value;
}

}  // namespace
}  // namespace hyphos::test
