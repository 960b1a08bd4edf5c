#include <gtest/gtest.h>

#include <cstring>
#include <future>

#include "hyphos/future.hpp"
#include "hyphos/wire/head.pb.h"
#include "tests/node/service_pair.hpp"

namespace hyphos::test {
namespace {

TEST(Service, a_call_in_one_process_passes_pointers) {
  const Node node = Node::open("node", offline_options()).or_throw();
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

TEST(Service, calls_cross_processes_in_every_mode) {
  for (const Mode mode : {serial, concurrent, inline_}) {
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

TEST(Service, a_client_that_starts_first_waits_for_its_server) {
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

TEST(Service, every_channel_type_can_be_a_request_and_a_reply) {
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

TEST(Service, many_calls_in_flight_each_get_their_own_reply) {
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
  for (auto at = kept.rbegin(); at != kept.rend(); ++at) {  // the last request is replied to first
    EXPECT_TRUE(at->second.reply({at->first * at->first}).ok());
  }
  for (std::int64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(replies[static_cast<std::size_t>(i)].get().or_throw().value, i * i);
  }
}

TEST(Service, a_refusal_arrives_with_its_code_and_message) {
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

TEST(Service, a_reply_may_be_sent_later_from_another_thread_once) {
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

TEST(Service, a_request_dropped_without_a_reply_fails_at_once) {
  Two two;
  two.server.service<Number, Number>("lazy",
                                     [](const Message<Number>&, const Responder<Number>&) {});
  const auto reply = two.client.client<Number, Number>("lazy").call({1}, kForEver);
  ASSERT_FALSE(reply.ok());
  EXPECT_NE(reply.error().message.find("without a reply"), std::string::npos);
}

TEST(Service, no_server_and_no_reply_are_different_errors) {
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
  // Longer than the machine may stall before the request is sent.
  auto silent = client.call_async({2}, Duration::from_ms(5'000));
  ASSERT_TRUE(came.wait_for(1));
  const auto timeout = silent.get();
  ASSERT_FALSE(timeout.ok());
  EXPECT_EQ(timeout.error().code, Code::timeout);
  // The server is notified. A late reply is counted and does no harm.
  EXPECT_TRUE(eventually([&] { return kept.front().canceled(); }));
  EXPECT_EQ(service.pending(), 1U);
  EXPECT_TRUE(kept.front().reply({1}).ok());
  EXPECT_EQ(service.pending(), 0U);
  EXPECT_TRUE(eventually(
      [&] { return counter(two.domain, "hyphos/service/never/request", "drop.call.stale") == 1; }));
  EXPECT_EQ(counter(two.domain, "hyphos/service/never/request", "drop.call.timeout"), 2U);
}

TEST(Service, other_types_are_refused_by_name_on_both_sides) {
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
  // In one process, the client is refused when it is created.
  EXPECT_THROW((two.server.client<Words, Number>("s")), Exception);
}

TEST(Service, one_name_has_one_server) {
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

TEST(Service, bad_names_and_bounds_are_refused) {
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

/// Two hosts in the plan. Different domains, so that they do not connect through shared memory.
TEST(Service, the_plan_connects_services_and_actions_between_machines) {
  Arrivals feedback;
  const int port = own_port();
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
  // A node to which the plan assigns no service is refused, and so is a wrong name.
  try {
    planner.service<Number, Number>("square", square);
    FAIL();
  } catch (const Exception& error) {
    EXPECT_EQ(error.error().code, Code::invalid_config);
    EXPECT_NE(error.error().message.find("'driver'"), std::string::npos);
  }
  // The other machine disconnects: its calls and goals end at once.
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

}  // namespace
}  // namespace hyphos::test
