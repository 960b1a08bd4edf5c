#include "tests/clients/c_harness.hpp"

namespace hyphos::test {
namespace {

CClient open_client(hyphos_node* node, const char* name) {
  CClient client;
  hyphos_error error;
  EXPECT_EQ(hyphos_client_open(node, name, &kNumber, &kNumber, nullptr, client.out(), &error),
            HYPHOS_OK)
      << error.message;
  return client;
}
CService serve(hyphos_node* node, const char* name, hyphos_request_callback callback, void* user,
               std::int32_t mode = HYPHOS_POLLED) {
  hyphos_service_options options{sizeof options, mode, 0, 0, 0};
  CService service;
  hyphos_error error;
  EXPECT_EQ(
      hyphos_serve(node, name, &kNumber, &kNumber, &options, callback, user, service.out(), &error),
      HYPHOS_OK)
      << error.message;
  return service;
}
hyphos_code call(hyphos_client* client, std::int64_t value, std::int64_t* answer,
                 hyphos_error* error, std::int64_t timeout_ns = kLong) {
  hyphos_message reply{};
  const hyphos_code code =
      hyphos_call(client, &value, sizeof value, nullptr, 0, timeout_ns, &reply, error);
  if (code == HYPHOS_OK) std::memcpy(answer, reply.payload.data, sizeof *answer);
  hyphos_message_release(&reply);
  return code;
}

/// The outcome of an asynchronous call.
struct Answer {
  int calls = 0;
  std::int64_t value = 0;
  hyphos_code code = HYPHOS_OK;
  static void hear(void* user, const hyphos_message* reply, const hyphos_error* error) {
    auto& answer = *static_cast<Answer*>(user);
    ++answer.calls;
    if (reply != nullptr) std::memcpy(&answer.value, reply->payload.data, sizeof answer.value);
    if (error != nullptr) answer.code = error->code;
  }
};

TEST(CCall, a_c99_program_replies_and_refuses) {
  const std::string domain = fresh_domain();
  const CNode node = open_node(domain);
  const CClient client = open_client(node, "half");
  Child robot({TEST_C_ROBOT, domain});
  ASSERT_EQ(hyphos_client_wait(client, kLong, nullptr), HYPHOS_OK);
  std::int64_t answer = 0;
  hyphos_error error;
  EXPECT_EQ(call(client, 42, &answer, &error), HYPHOS_OK) << error.message;
  EXPECT_EQ(answer, 21);
  EXPECT_EQ(call(client, 3, &answer, &error), HYPHOS_OUT_OF_RANGE);
  EXPECT_NE(std::string(error.message).find("send an even number"), std::string::npos);
  Answer later;
  const std::int64_t value = 10;
  ASSERT_EQ(hyphos_call_async(client, &value, sizeof value, nullptr, 0, kLong, Answer::hear, &later,
                              nullptr),
            HYPHOS_OK);
  while (later.calls == 0) hyphos_poll(node, kLong, 0, nullptr, nullptr);
  EXPECT_EQ(later.value, 5);
}

TEST(CCall, c_and_cpp_nodes_call_services_of_each_other) {
  const std::string domain = fresh_domain();
  Runtime runtime = open_runtime(domain, "cpp");
  const Node cpp = runtime.node("cpp").or_throw();
  cpp.service<Number, Number>("square", [](const Number& n) { return Number{n.value * n.value}; });
  const CNode node = open_node(domain);
  const CService twice = serve(
      node, "twice",
      [](void*, hyphos_request* request, const hyphos_message* message) {
        std::int64_t value = 0;
        std::memcpy(&value, message->payload.data, sizeof value);
        value *= 2;
        EXPECT_EQ(hyphos_request_canceled(request), 0);
        EXPECT_EQ(hyphos_reply(request, &value, sizeof value, nullptr, 0, nullptr), HYPHOS_OK);
      },
      nullptr, HYPHOS_SERIAL);
  const CClient square = open_client(node, "square");
  std::int64_t answer = 0;
  EXPECT_EQ(call(square, 7, &answer, nullptr), HYPHOS_OK);
  EXPECT_EQ(answer, 49);
  const auto asked = cpp.client<Number, Number>("twice");
  EXPECT_EQ(asked.call({8}, Duration{kLong}).or_throw().value, 16);
}

TEST(CCall, a_reply_may_come_later_and_a_dropped_request_is_an_error) {
  const CNode node = open_node(fresh_domain());
  std::vector<hyphos_request*> kept;
  const CService service = serve(
      node, "later",
      [](void* user, hyphos_request* request, const hyphos_message*) {
        static_cast<std::vector<hyphos_request*>*>(user)->push_back(request);
      },
      &kept);
  const CClient client = open_client(node, "later");
  Answer first;
  Answer second;
  const std::int64_t value = 6;
  for (Answer* answer : {&first, &second}) {
    ASSERT_EQ(hyphos_call_async(client, &value, sizeof value, nullptr, 0, kLong, Answer::hear,
                                answer, nullptr),
              HYPHOS_OK);
  }
  while (kept.size() < 2) hyphos_poll(node, kLong, 0, nullptr, nullptr);
  EXPECT_EQ(first.calls + second.calls, 0);
  EXPECT_EQ(hyphos_reply(kept[0], &value, sizeof value, nullptr, 0, nullptr), HYPHOS_OK);
  hyphos_request_drop(kept[1]);
  while (first.calls + second.calls < 2) hyphos_poll(node, kLong, 0, nullptr, nullptr);
  EXPECT_EQ(first.value, 6);
  EXPECT_NE(second.code, HYPHOS_OK);
}

TEST(CCall, closing_the_node_ends_a_call_in_flight_once) {
  CNode node = open_node(fresh_domain());
  const CClient client = open_client(node, "nobody");
  Answer answer;
  const std::int64_t value = 1;
  ASSERT_EQ(hyphos_call_async(client, &value, sizeof value, nullptr, 0, kLong, Answer::hear,
                              &answer, nullptr),
            HYPHOS_OK);
  node.reset();
  EXPECT_EQ(answer.calls, 1);
  EXPECT_NE(answer.code, HYPHOS_OK);
}

TEST(CCall, a_call_without_a_server_returns_not_found) {
  const CNode node = open_node(fresh_domain());
  const CClient client = open_client(node, "nobody");
  std::int64_t answer = 0;
  hyphos_error error;
  EXPECT_EQ(call(client, 1, &answer, &error, 1'000'000), HYPHOS_NOT_FOUND);
  EXPECT_NE(std::string(error.message), "");
}

TEST(CCall, a_client_of_another_type_is_refused_with_the_type_name) {
  const CNode node = open_node(fresh_domain());
  const CService service = serve(
      node, "typed",
      [](void*, hyphos_request* request, const hyphos_message*) { hyphos_request_drop(request); },
      nullptr);
  hyphos_client* client = nullptr;
  hyphos_error error;
  EXPECT_EQ(hyphos_client_open(node, "typed", &kBytes, &kNumber, nullptr, &client, &error),
            HYPHOS_TYPE_MISMATCH);
  EXPECT_NE(std::string(error.message).find("test.Number"), std::string::npos) << error.message;
}

TEST(CCall, a_reply_after_the_node_closed_is_an_error) {
  CNode node = open_node(fresh_domain());
  hyphos_request* kept = nullptr;
  const CService service = serve(
      node, "late",
      [](void* user, hyphos_request* request, const hyphos_message*) {
        *static_cast<hyphos_request**>(user) = request;
      },
      &kept);
  const CClient client = open_client(node, "late");
  Answer answer;
  const std::int64_t value = 1;
  ASSERT_EQ(hyphos_call_async(client, &value, sizeof value, nullptr, 0, kLong, Answer::hear,
                              &answer, nullptr),
            HYPHOS_OK);
  while (kept == nullptr) hyphos_poll(node, kLong, 0, nullptr, nullptr);
  node.reset();
  EXPECT_EQ(hyphos_reply(kept, &value, sizeof value, nullptr, 0, nullptr), HYPHOS_DISCONNECTED);
  EXPECT_EQ(answer.calls, 1);
}

}  // namespace
}  // namespace hyphos::test
