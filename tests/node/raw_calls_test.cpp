// Services and actions of types known only by name: bytes on both sides, and together with typed
// clients and servers.
#include <gtest/gtest.h>

#include <cstring>
#include <future>
#include <mutex>
#include <vector>

#include "tests/node/child.hpp"
#include "tests/node/service_pair.hpp"

namespace hyphos::test {
namespace {

const TypeId kBytes = type_support<Buffer>().id;
const TypeId kNumber = type_support<Number>().id;
const TypeId kWords = type_support<Words>().id;

RawMessage raw(const std::string& text) { return {Buffer::copy_of(text)}; }

RawMessage raw(const Number& number, const CallMemory& memory) {
  WritableBuffer bytes = memory.loan_bytes(sizeof(number));
  std::memcpy(bytes.data(), &number, sizeof(number));
  return {std::move(bytes).freeze()};
}

std::string text_of(const MessageRef& message) {
  return std::string(message.encoded()->payload.text());
}

std::int64_t number_of(const MessageRef& message) {
  Number number;
  std::memcpy(&number, message.encoded()->payload.data(), sizeof(number));
  return number.value;
}

/// Requests that a test answers itself, or goals that it ends itself.
template <typename T>
class Collected {
 public:
  void operator()(const T& one) {
    const std::lock_guard lock(mutex_);
    all_.push_back(one);
    came_.add();
  }
  T wait(std::size_t index) {
    EXPECT_TRUE(came_.wait_for(index + 1));
    const std::lock_guard lock(mutex_);
    return all_.at(index);
  }
  void drop() {
    const std::lock_guard lock(mutex_);
    all_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<T> all_;
  Arrivals came_;
};
using Requests = Collected<RawRequest>;
using Goals = Collected<RawGoalHandle>;

TEST(RawCalls, a_request_of_bytes_gets_a_reply_of_bytes) {
  for (const bool in_one_process : {true, false}) {
    Two two;
    const CallType type = service_type(kBytes, kBytes);
    const Service service =
        two.server
            .raw_service("echo", type, {},
                         [](const RawRequest& request) {
                           const Envelope& got = *request.message().encoded();
                           RawMessage reply{Buffer::copy_of(std::string(got.payload.text()) + "!")};
                           for (const Buffer& one : got.buffers) reply.buffers.push_back(one);
                           EXPECT_TRUE(request.reply(std::move(reply)).ok());
                           EXPECT_TRUE(request.answered());
                         })
            .or_throw();
    const Node& node = in_one_process ? two.server : two.client;
    const RawClient client = node.raw_client("echo", type).or_throw();
    ASSERT_TRUE(client.wait_for_server(kForEver).ok());
    RawMessage request = raw("hello");
    WritableBuffer attached = client.memory().loan_bytes(100'000);
    std::memset(attached.data(), 7, attached.size());
    request.buffers.push_back(std::move(attached).freeze());
    const auto reply = client.call(std::move(request), kForEver);
    ASSERT_TRUE(reply.ok()) << reply.error().to_string();
    const Envelope& got = *reply->encoded();
    EXPECT_EQ(got.payload.text(), "hello!");
    ASSERT_EQ(got.buffers.size(), 1U);
    EXPECT_EQ(got.buffers[0].size(), 100'000U);
    EXPECT_EQ(got.buffers[0].data()[99'999], std::byte{7});
    EXPECT_EQ(client.name(), "echo");
    EXPECT_EQ(service.pending(), 0U);
  }
}

TEST(RawCalls, raw_and_typed_sides_are_one_service) {
  for (const bool in_one_process : {true, false}) {
    Two two;
    const Node& node = in_one_process ? two.server : two.client;
    const CallType type = service_type(kNumber, kNumber);
    two.server.service<Number, Number>("typed", square);
    const RawClient raw_client = node.raw_client("typed", type).or_throw();
    const auto reply = raw_client.call(raw(Number{5}, raw_client.memory()), kForEver);
    ASSERT_TRUE(reply.ok()) << reply.error().to_string();
    EXPECT_EQ(number_of(*reply), 25);

    two.server
        .raw_service("raw", type, {},
                     [](const RawRequest& request) {
                       const std::int64_t value = number_of(request.message());
                       (void)request.reply(raw(Number{value + 1}, request.memory()));
                     })
        .or_throw();
    const auto typed = node.client<Number, Number>("raw");
    EXPECT_EQ(typed.call({5}, kForEver).or_throw().value, 6);
  }
}

TEST(RawCalls, a_refusal_is_the_error_of_the_call) {
  Two two;
  const CallType type = service_type(kBytes, kBytes);
  Requests requests;
  two.server.raw_service("s", type, {}, std::ref(requests)).or_throw();
  const RawClient client = two.client.raw_client("s", type).or_throw();
  std::promise<Result<MessageRef>> first;
  client.call_async(raw("1"), kForEver,
                    [&](const Result<MessageRef>& end) { first.set_value(end); });
  EXPECT_TRUE(requests.wait(0).refuse(Code::unsupported, "not today").ok());
  EXPECT_EQ(requests.wait(0).reply(raw("late")).error().code, Code::already_exists);
  const auto refused = first.get_future().get();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_EQ(refused.error().message, "not today");

  std::promise<Result<MessageRef>> second;
  client.call_async(raw("2"), kForEver,
                    [&](const Result<MessageRef>& end) { second.set_value(end); });
  (void)requests.wait(1);
  requests.drop();
  EXPECT_FALSE(second.get_future().get().ok());
}

TEST(RawCalls, other_types_are_refused_by_name) {
  Two two;
  two.server.raw_service("s", service_type(kBytes, kNumber), {}, [](const RawRequest&) {})
      .or_throw();
  const RawClient client = two.client.raw_client("s", service_type(kBytes, kWords)).or_throw();
  const auto reply = client.call(raw("1"), Duration::from_seconds(20));
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::type_mismatch);
  EXPECT_NE(reply.error().message.find("test.Number"), std::string::npos) << reply.error().message;
  EXPECT_EQ(two.server.raw_client("s", service_type(kBytes, kWords)).error().code,
            Code::type_mismatch);
}

TEST(RawCalls, a_deadline_ends_a_call) {
  Two two;
  const CallType type = service_type(kBytes, kBytes);
  const RawClient unserved = two.client.raw_client("unserved", type).or_throw();
  EXPECT_FALSE(unserved.ready());
  EXPECT_EQ(unserved.call(raw("1"), Duration::from_ms(1)).error().code, Code::not_found);
  Requests requests;
  two.server.raw_service("slow", type, {}, std::ref(requests)).or_throw();
  const RawClient client = two.client.raw_client("slow", type).or_throw();
  ASSERT_TRUE(client.wait_for_server(kForEver).ok());
  EXPECT_EQ(client.call(raw("1"), Duration::from_ms(20)).error().code, Code::timeout);
}

TEST(RawCalls, a_client_that_gives_up_cancels_its_request) {
  Two two;
  const CallType type = service_type(kBytes, kBytes);
  Requests requests;
  two.server.raw_service("s", type, {}, std::ref(requests)).or_throw();
  const RawClient client = two.client.raw_client("s", type).or_throw();
  std::promise<Code> ended;
  const std::uint64_t id =
      client.call_async(raw("1"), kForEver,
                        [&](const Result<MessageRef>& end) { ended.set_value(end.error().code); });
  const RawRequest request = requests.wait(0);
  EXPECT_FALSE(request.canceled());
  client.give_up(id);
  EXPECT_EQ(ended.get_future().get(), Code::timeout);
  EXPECT_TRUE(eventually([&] { return request.canceled(); }));
  client.give_up(id);
  client.give_up(0);
}

TEST(RawCalls, the_loss_of_the_server_ends_a_call) {
  const std::string domain = fresh_domain();
  const Node node = open_runtime(domain).node("client").or_throw();
  const RawClient client = node.raw_client("never", service_type(kNumber, kNumber)).or_throw();
  Child server({TEST_SERVICE_PEER, "server", domain});
  ASSERT_TRUE(server.started());
  ASSERT_TRUE(client.wait_for_server(kForEver).ok());
  std::promise<Code> ended;
  client.call_async(raw(Number{1}, client.memory()), kForEver,
                    [&](const Result<MessageRef>& end) { ended.set_value(end.error().code); });
  ASSERT_TRUE(
      eventually([&] { return counter(domain, "hyphos/service/never/request", "received") == 1; }));
  server.stop(SIGKILL);
  EXPECT_EQ(ended.get_future().get(), Code::disconnected);
}

TEST(RawCalls, an_inlined_callback_may_keep_the_message) {
  Two two;
  const CallType type = service_type(kBytes, kBytes);
  two.server
      .raw_service("s", type, {},
                   [](const RawRequest& request) {
                     (void)request.reply(raw(text_of(request.message()) + "!"));
                   })
      .or_throw();
  std::promise<Result<MessageRef>> ended;
  {
    const RawClient client = two.client.raw_client("s", type).or_throw();
    client.call_inline(raw("a"), kForEver,
                       [&](Result<MessageRef> end) { ended.set_value(std::move(end)); });
  }
  auto kept = ended.get_future().get();
  ASSERT_TRUE(kept.ok()) << kept.error().to_string();
  EXPECT_EQ(text_of(*kept), "a!");
  EXPECT_GT(kept->arrived_ns(), 0);

  // The same message behind a pointer, as C keeps it.
  void* const handle = kept->release();
  EXPECT_FALSE(static_cast<bool>(*kept));
  const MessageRef shared = MessageRef::share(handle);
  {
    const MessageRef ended_here = MessageRef::adopt(handle);
  }
  EXPECT_EQ(text_of(shared), "a!");
  EXPECT_EQ(shared.handle(), handle);
  EXPECT_FALSE(static_cast<bool>(MessageRef::share(nullptr)));
}

TEST(RawActions, a_goal_gets_feedback_and_a_result) {
  Two two;
  const CallType type = action_type(kBytes, kBytes, kBytes);
  Goals goals;
  two.server.raw_action("a", type, {}, std::ref(goals)).or_throw();
  const RawActionClient client(two.client.raw_client("a", type).or_throw());
  std::mutex mutex;
  std::vector<std::string> progress;
  const RawSentGoal sent = client.send(
      raw("go"),
      [&](const MessageRef& message) {
        const std::lock_guard lock(mutex);
        progress.push_back(text_of(message));
      },
      kForEver);
  std::promise<GoalState> state;
  sent.on_result([&](const Result<GoalResult<MessageRef>>& end) { state.set_value(end->state); });
  EXPECT_TRUE(sent.accepted(kForEver).ok());
  const RawGoalHandle goal = goals.wait(0);
  EXPECT_EQ(text_of(goal.message()), "go");
  EXPECT_EQ(goal.state(), GoalState::executing);
  EXPECT_TRUE(goal.feedback(raw("1")).ok());
  EXPECT_TRUE(goal.feedback(raw("2")).ok());
  EXPECT_EQ(sent.result(Duration::from_ms(1)).error().code, Code::timeout);
  EXPECT_TRUE(goal.finish(GoalState::succeeded, raw("done")).ok());
  const auto end = sent.result(kForEver);
  ASSERT_TRUE(end.ok()) << end.error().to_string();
  EXPECT_TRUE(end->succeeded());
  EXPECT_EQ(text_of(end->value), "done");
  EXPECT_EQ(state.get_future().get(), GoalState::succeeded);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(progress, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(sent.feedback_dropped(), 0U);
}

TEST(RawActions, a_goal_can_be_canceled) {
  Two two;
  const CallType type = action_type(kBytes, kBytes, kBytes);
  two.server
      .raw_action("a", type, {},
                  [](const RawGoalHandle& goal) {
                    while (!goal.wait_for(kForEver)) continue;
                    EXPECT_TRUE(goal.cancel_requested());
                    (void)goal.finish(GoalState::canceled, raw("half"));
                  })
      .or_throw();
  const RawActionClient client(two.client.raw_client("a", type).or_throw());
  const RawSentGoal sent = client.send(raw("go"), kForEver);
  ASSERT_TRUE(sent.accepted(kForEver).ok());
  sent.cancel();
  const auto end = sent.result(kForEver);
  ASSERT_TRUE(end.ok()) << end.error().to_string();
  EXPECT_EQ(end->state, GoalState::canceled);
  EXPECT_EQ(text_of(end->value), "half");
}

TEST(RawActions, a_goal_can_be_rejected_and_aborted) {
  Two two;
  const CallType type = action_type(kBytes, kBytes, kBytes);
  Goals goals;
  two.server
      .raw_action("a", type, {}, std::ref(goals),
                  [](const RawRequest& request) -> Result<void> {
                    const std::string goal = text_of(request.message());
                    if (goal == "own") (void)request.refuse(Code::permission, "by the request");
                    if (goal == "go") return success();
                    return Error{Code::invalid_config, "by the result", ""};
                  })
      .or_throw();
  const RawActionClient client(two.client.raw_client("a", type).or_throw());
  EXPECT_EQ(client.send(raw("bad"), kForEver).accepted(kForEver).error().message, "by the result");
  EXPECT_EQ(client.send(raw("own"), kForEver).accepted(kForEver).error().message, "by the request");
  const RawSentGoal sent = client.send(raw("go"), kForEver);
  EXPECT_TRUE(goals.wait(0).abort({Code::io, "the wheel is off", ""}).ok());
  EXPECT_EQ(sent.result(kForEver).error().message, "the wheel is off");
  EXPECT_EQ(sent.state(), GoalState::aborted);
}

TEST(RawActions, the_loss_of_the_server_ends_a_goal) {
  const std::string domain = fresh_domain();
  const Node node = open_runtime(domain).node("client").or_throw();
  const RawActionClient client(
      node.raw_client("count", action_type(kNumber, kWords, kNumber)).or_throw());
  Child server({TEST_SERVICE_PEER, "server", domain});
  ASSERT_TRUE(server.started());
  ASSERT_TRUE(client.wait_for_server(kForEver).ok());
  const RawSentGoal sent = client.send(raw(Number{1}, client.memory()), kForEver);
  ASSERT_TRUE(sent.accepted(kForEver).ok());
  server.stop(SIGKILL);
  EXPECT_EQ(sent.result(kForEver).error().code, Code::disconnected);
}

TEST(RawActions, raw_and_typed_sides_are_one_action) {
  Two two;
  two.server.action<Number, Words, Number>(
      "typed", {},
      [](const GoalHandle<Number, Words, Number>& goal) { return Number{goal->value * 2}; });
  const CallType type = action_type(kNumber, kWords, kNumber);
  const RawActionClient client(two.client.raw_client("typed", type).or_throw());
  const auto end = client.send(raw(Number{4}, client.memory()), kForEver).result(kForEver);
  ASSERT_TRUE(end.ok()) << end.error().to_string();
  EXPECT_EQ(number_of(end->value), 8);
  // call() of an action waits for the result.
  EXPECT_EQ(number_of(client.call(raw(Number{5}, client.memory()), kForEver).or_throw()), 10);
}

TEST(AnyParam, reads_the_value_of_each_type) {
  Runtime runtime = Runtime::open(offline_options()).or_throw();
  const Node node = runtime.node("n").or_throw();
  const std::vector<ParamVariant> values = {true, std::int64_t{-3}, 2.5, std::string("text"),
                                            std::vector<double>{1, 2}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    ParamInfo info;
    info.name = "p" + std::to_string(i);
    info.standard = values[i];
    const AnyParam param = node.params().declare_any(info, {});
    EXPECT_EQ(param.name(), info.name);
    EXPECT_EQ(param.type(), type_of(values[i]));
    EXPECT_EQ(param.get(), values[i]);
  }
  ParamInfo gait;
  gait.name = "gait";
  gait.standard = std::string("walk");
  gait.choices = {"walk", "trot"};
  const AnyParam param = node.params().declare_any(gait, {});
  ASSERT_TRUE(node.params().set("gait", "trot").ok());
  EXPECT_EQ(param.get(), ParamVariant(std::string("trot")));
}

}  // namespace
}  // namespace hyphos::test
