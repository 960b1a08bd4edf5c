#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <limits>
#include <thread>

#include "tests/clients/c_harness.hpp"

namespace hyphos::test {
namespace {

TEST(C, the_library_exports_only_hyphos_names) {
  FILE* const pipe = popen("nm -D --defined-only " TEST_C_LIBRARY, "r");
  ASSERT_NE(pipe, nullptr);
  std::array<char, 512> line{};
  int ours = 0;
  while (fgets(line.data(), line.size(), pipe) != nullptr) {
    const std::string text(line.data());
    EXPECT_NE(text.find(" T hyphos_"), std::string::npos) << text;
    ++ours;
  }
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_GT(ours, 30);
  EXPECT_EQ(hyphos_abi(), HYPHOS_ABI);
  EXPECT_STREQ(hyphos_code_name(HYPHOS_TYPE_MISMATCH), "type_mismatch");
  EXPECT_EQ(hyphos_code_name(99), nullptr);
}

TEST(C, a_c99_program_exchanges_messages_with_another_process) {
  const std::string domain = fresh_domain();
  const CNode node = open_node(domain);
  const CPublisher forth = open_publisher(node, "forth");
  const CPublisher end = open_publisher(node, "end");
  Inbox inbox;
  const CSubscription back = subscribe(node, "back", Inbox::hear, &inbox);
  Child robot({TEST_C_ROBOT, domain});
  ASSERT_TRUE(robot.started());
  ASSERT_TRUE(connected(forth) && connected(end));
  ASSERT_TRUE(eventually([&] { return hyphos_subscription_publishers(back) == 1; }));
  EXPECT_TRUE(eventually([&] {
    const auto processes = inspect(domain).or_throw();
    return std::any_of(processes.begin(), processes.end(), [](const ProcessInfo& process) {
      // This process finds the publisher before the publisher finds this process.
      const bool is_heard = std::any_of(process.endpoints.begin(), process.endpoints.end(),
                                        [](const EndpointInfo& one) {
                                          return one.channel == "back" && one.is_publisher &&
                                                 one.transports.find("shm") != std::string::npos;
                                        });
      return process.name == "robot" && process.state == ProcessState::ready && is_heard;
    });
  }));
  for (std::size_t i = 0; i < 20; ++i) {
    std::string text(1'000'000, static_cast<char>('a' + i));
    text.front() = '<';
    ASSERT_EQ(publish(forth, text), HYPHOS_OK);
    while (inbox.texts.size() == i) {
      ASSERT_EQ(hyphos_poll(node, kLong, 0, nullptr, nullptr), HYPHOS_OK);
    }
    EXPECT_EQ(inbox.texts.back(), std::string(text.rbegin(), text.rend()));
  }
  EXPECT_EQ(inbox.thread, std::this_thread::get_id());
  ASSERT_EQ(publish(end, "."), HYPHOS_OK);
  EXPECT_EQ(robot.wait(), 0);
}

TEST(C, a_held_message_outlives_its_node) {
  const std::string domain = fresh_domain();
  hyphos_message held{};
  {
    const CNode from = open_node(domain, "from");
    const CNode to = open_node(domain, "to");
    const CPublisher publisher = open_publisher(from, "c");
    const CSubscription subscription = subscribe(to, "c", nullptr, nullptr);
    ASSERT_TRUE(connected(publisher));
    hyphos_loan loan{};
    ASSERT_EQ(hyphos_loan_bytes(publisher, 100'000, &loan, nullptr), HYPHOS_OK);
    std::memset(loan.data, 'x', 100'000);
    ASSERT_EQ(hyphos_publish_loan(publisher, &loan, 99'999, nullptr, nullptr), HYPHOS_OK);
    EXPECT_EQ(loan.data, nullptr);
    ASSERT_EQ(hyphos_take(subscription, kLong, &held, nullptr), HYPHOS_OK);
    EXPECT_EQ(held.sequence, 1U);
    EXPECT_GT(held.arrived_ns, held.published_ns);
  }
  EXPECT_EQ(text_of(held.payload), std::string(99'999, 'x'));
  hyphos_message_release(&held);
  EXPECT_EQ(held.payload.data, nullptr);
  hyphos_message_release(&held);
}

TEST(C, take_waits_no_longer_than_its_timeout) {
  const CNode node = open_node(fresh_domain());
  const CPublisher publisher = open_publisher(node, "c");
  const CSubscription subscription = subscribe(node, "c", nullptr, nullptr);
  hyphos_message message{};
  hyphos_error error;
  EXPECT_EQ(hyphos_take(subscription, 0, &message, &error), HYPHOS_TIMEOUT);
  EXPECT_EQ(hyphos_take(subscription, 1'000'000, &message, &error), HYPHOS_TIMEOUT);
  EXPECT_STREQ(error.where, "c");
  ASSERT_EQ(publish(publisher, "one"), HYPHOS_OK);
  ASSERT_EQ(publish(publisher, "two"), HYPHOS_OK);
  for (const char* expected : {"one", "two"}) {
    ASSERT_EQ(hyphos_take(subscription, -1, &message, &error), HYPHOS_OK);
    EXPECT_EQ(text_of(message.payload), expected);
    hyphos_message_release(&message);
  }
  std::thread late([&] { publish(publisher, "three"); });
  EXPECT_EQ(hyphos_take(subscription, kLong, &message, &error), HYPHOS_OK);
  late.join();
  hyphos_message_release(&message);
}

TEST(C, the_longest_timeouts_wait) {
  constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
  const CNode node = open_node(fresh_domain());
  const CPublisher publisher = open_publisher(node, "c");
  const CSubscription subscription = subscribe(node, "c", nullptr, nullptr);
  for (const std::int64_t timeout_ns : {kLongest, kLongest - 1, kLongest / 2}) {
    hyphos_code taken = HYPHOS_ALREADY_EXISTS;
    std::atomic<bool> done = false;
    std::thread taker([&] {
      hyphos_message message{};
      while (taken == HYPHOS_ALREADY_EXISTS) {  // the other thread is taking
        taken = hyphos_take(subscription, timeout_ns, &message, nullptr);
      }
      hyphos_message_release(&message);
      done = true;
    });
    // Until the other thread waits. Then only a message may end its wait.
    hyphos_message none{};
    while (!done && hyphos_take(subscription, 0, &none, nullptr) != HYPHOS_ALREADY_EXISTS) {
    }
    EXPECT_EQ(publish(publisher, "late"), HYPHOS_OK);
    taker.join();
    EXPECT_EQ(taken, HYPHOS_OK) << timeout_ns;
    std::thread waker([&] { hyphos_wake(node); });
    std::uint32_t ran = 1;
    EXPECT_EQ(hyphos_poll(node, timeout_ns, 1, &ran, nullptr), HYPHOS_OK);
    waker.join();
  }
}

TEST(C, attached_buffers_arrive_and_are_published_again) {
  const std::string domain = fresh_domain();
  const CNode from = open_node(domain, "from");
  const CNode to = open_node(domain, "to");
  const CPublisher publisher = open_publisher(from, "image", kImage);
  const CPublisher again = open_publisher(to, "again", kImage);
  const CSubscription second = subscribe(from, "again", nullptr, nullptr, HYPHOS_POLLED, kImage);
  const CSubscription first = subscribe(to, "image", nullptr, nullptr, HYPHOS_POLLED, kImage);
  ASSERT_TRUE(connected(publisher) && connected(again));
  hyphos_loan pixels{};
  ASSERT_EQ(hyphos_loan_bytes(publisher, 300'000, &pixels, nullptr), HYPHOS_OK);
  std::memset(pixels.data, 7, 300'000);
  hyphos_published sent{};
  ASSERT_EQ(hyphos_publish_attached(publisher, "head", 4, &pixels, 1, &sent, nullptr), HYPHOS_OK);
  EXPECT_EQ(sent.taken, 1U);
  hyphos_message message{};
  ASSERT_EQ(hyphos_take(first, kLong, &message, nullptr), HYPHOS_OK);
  ASSERT_EQ(hyphos_publish_message(again, &message, &sent, nullptr), HYPHOS_OK);
  hyphos_message_release(&message);
  ASSERT_EQ(hyphos_take(second, kLong, &message, nullptr), HYPHOS_OK);
  EXPECT_EQ(text_of(message.payload), "head");
  ASSERT_EQ(message.buffer_count, 1U);
  EXPECT_EQ(text_of(message.buffers[0]), std::string(300'000, '\7'));
  hyphos_message_release(&message);
}

TEST(C, the_descriptor_is_readable_while_a_callback_waits) {
  const CNode node = open_node(fresh_domain());
  const CPublisher publisher = open_publisher(node, "c");
  Inbox inbox;
  const CSubscription subscription = subscribe(node, "c", Inbox::hear, &inbox);
  pollfd event{hyphos_poll_fd(node), POLLIN, 0};
  EXPECT_EQ(hyphos_poll(node, 0, 0, nullptr, nullptr), HYPHOS_OK);
  EXPECT_EQ(::poll(&event, 1, 0), 0);
  for (const char* text : {"1", "2", "3"}) publish(publisher, text);
  EXPECT_EQ(::poll(&event, 1, 10'000), 1);
  std::uint32_t ran = 0;
  EXPECT_EQ(hyphos_poll(node, 0, 2, &ran, nullptr), HYPHOS_OK);
  EXPECT_EQ(ran, 2U);
  EXPECT_EQ(::poll(&event, 1, 0), 1);
  EXPECT_EQ(hyphos_poll(node, 0, 2, &ran, nullptr), HYPHOS_OK);
  EXPECT_EQ(ran, 1U);
  EXPECT_EQ(::poll(&event, 1, 0), 0);
  EXPECT_EQ(inbox.texts, (std::vector<std::string>{"1", "2", "3"}));
}

TEST(C, wake_ends_a_poll_in_another_thread) {
  const CNode node = open_node(fresh_domain());
  std::thread other([&] { hyphos_wake(node); });
  std::uint32_t ran = 9;
  EXPECT_EQ(hyphos_poll(node, -1, 0, &ran, nullptr), HYPHOS_OK);
  EXPECT_EQ(ran, 0U);
  other.join();
}

TEST(C, a_poll_inside_a_callback_is_refused) {
  const CNode node = open_node(fresh_domain());
  struct Case {
    hyphos_node* node;
    hyphos_code code;
  } seen{node, HYPHOS_OK};
  const CPublisher publisher = open_publisher(node, "c");
  const CSubscription subscription = subscribe(
      node, "c",
      [](void* user, const hyphos_message*) {
        auto& it = *static_cast<Case*>(user);
        it.code = hyphos_poll(it.node, 0, 0, nullptr, nullptr);
      },
      &seen);
  publish(publisher, ".");
  EXPECT_EQ(hyphos_poll(node, kLong, 0, nullptr, nullptr), HYPHOS_OK);
  EXPECT_EQ(seen.code, HYPHOS_ALREADY_EXISTS);
}

TEST(C, callbacks_of_other_modes_need_no_poll) {
  const CNode node = open_node(fresh_domain());
  const CPublisher publisher = open_publisher(node, "c");
  for (const std::int32_t mode : {HYPHOS_SERIAL, HYPHOS_CONCURRENT, HYPHOS_INLINE}) {
    std::atomic<int> heard{0};
    const CSubscription subscription = subscribe(
        node, "c",
        [](void* user, const hyphos_message*) { ++*static_cast<std::atomic<int>*>(user); }, &heard,
        mode);
    publish(publisher, ".");
    EXPECT_TRUE(eventually([&] { return heard == 1; })) << mode;
  }
}

TEST(C, drops_of_a_full_queue_are_counted) {
  const CNode node = open_node(fresh_domain());
  hyphos_policy policy{};
  policy.struct_size = sizeof policy;
  policy.depth = 2;
  const CPublisher publisher = open_publisher(node, "c", kBytes, &policy);
  const CSubscription subscription =
      subscribe(node, "c", nullptr, nullptr, HYPHOS_POLLED, kBytes, &policy);
  for (int i = 0; i < 5; ++i) publish(publisher, ".");
  std::uint64_t value = 0;
  ASSERT_EQ(hyphos_subscription_counter(subscription, "drop.queue.overflow", &value, nullptr),
            HYPHOS_OK);
  EXPECT_EQ(value, 3U);
  ASSERT_EQ(hyphos_publisher_counter(publisher, "sent", &value, nullptr), HYPHOS_OK);
  EXPECT_EQ(value, 5U);
}

TEST(C, the_plan_sets_the_policy_of_a_channel) {
  const PlanFile plan(
      "hyphos: 1\nprocesses: {p: {}}\nnodes: {tester: {process: p}}\n"
      "channels: {c: {publishers: [tester], subscribers: [tester], depth: 5}}\n");
  const std::string file = plan.path().string();
  const char* const overrides[] = {"channels.c.depth=3"};
  hyphos_node_options options{};
  options.struct_size = sizeof options;
  options.plan_file = file.c_str();
  options.process = "p";
  options.overrides = overrides;
  options.override_count = 1;
  options.offline = 1;
  CNode node;
  hyphos_error error;
  ASSERT_EQ(hyphos_node_open("tester", &options, node.out(), &error), HYPHOS_OK) << error.message;
  const CPublisher publisher = open_publisher(node, "c");
  const CSubscription subscription = subscribe(node, "c", nullptr, nullptr);
  for (int i = 0; i < 5; ++i) publish(publisher, ".");
  std::uint64_t dropped = 0;
  ASSERT_EQ(hyphos_subscription_counter(subscription, "drop.queue.overflow", &dropped, nullptr),
            HYPHOS_OK);
  EXPECT_EQ(dropped, 2U);

  options.plan_file = "/nonexistent/robot.yaml";
  CNode other;
  EXPECT_NE(hyphos_node_open("tester", &options, other.out(), &error), HYPHOS_OK);
  EXPECT_NE(std::string(error.where).find("/nonexistent/robot.yaml"), std::string::npos)
      << error.where;
}

TEST(C, errors_name_the_wrong_argument) {
  const CNode node = open_node(fresh_domain());
  CPublisher publisher = open_publisher(node, "n", kNumber);
  hyphos_error error;
  EXPECT_EQ(hyphos_publish(publisher, "abc", 3, nullptr, 0, nullptr, &error),
            HYPHOS_INVALID_CONFIG);
  EXPECT_STREQ(error.message, "a test.Number has 8 bytes, not 3");
  const hyphos_bytes buffer{"x", 1};
  std::int64_t number = 1;
  EXPECT_EQ(hyphos_publish(publisher, &number, 8, &buffer, 1, nullptr, &error),
            HYPHOS_INVALID_CONFIG);
  EXPECT_EQ(hyphos_publish(nullptr, &number, 8, nullptr, 0, nullptr, &error),
            HYPHOS_INVALID_CONFIG);
  EXPECT_STREQ(error.message, "publisher is NULL");
  EXPECT_EQ(hyphos_publish(publisher, nullptr, 8, nullptr, 0, nullptr, &error),
            HYPHOS_INVALID_CONFIG);
  hyphos_publisher* other = nullptr;
  EXPECT_EQ(hyphos_publisher_open(node, "n", &kBytes, nullptr, &other, &error),
            HYPHOS_TYPE_MISMATCH);
  EXPECT_NE(std::string(error.message).find("test.Number"), std::string::npos);
  EXPECT_NE(std::string(error.advice), "");
  hyphos_subscription_options options{4, nullptr, 0, 0};
  hyphos_subscription* subscription = nullptr;
  EXPECT_EQ(
      hyphos_subscribe(node, "m", &kBytes, &options, Inbox::hear, nullptr, &subscription, &error),
      HYPHOS_INVALID_CONFIG);
  EXPECT_NE(std::string(error.message).find("struct_size"), std::string::npos);
  struct Later {
    hyphos_subscription_options known;
    std::uint64_t added;
  } later{{sizeof(Later), nullptr, HYPHOS_POLLED, 0}, 0};
  EXPECT_EQ(hyphos_subscribe(node, "m", &kBytes, &later.known, Inbox::hear, nullptr, &subscription,
                             &error),
            HYPHOS_OK);
  hyphos_subscription_close(subscription);
  later.added = 1;
  EXPECT_EQ(hyphos_subscribe(node, "m", &kBytes, &later.known, Inbox::hear, nullptr, &subscription,
                             &error),
            HYPHOS_UNSUPPORTED);
  options = {sizeof options, nullptr, 17, 0};
  EXPECT_EQ(
      hyphos_subscribe(node, "m", &kBytes, &options, Inbox::hear, nullptr, &subscription, nullptr),
      HYPHOS_INVALID_CONFIG);
  hyphos_loan loan{};
  ASSERT_EQ(hyphos_loan_bytes(publisher, 8, &loan, nullptr), HYPHOS_OK);
  EXPECT_EQ(hyphos_publish_loan(publisher, &loan, 9, nullptr, &error), HYPHOS_OUT_OF_RANGE);
  EXPECT_EQ(loan.owner, nullptr);
  EXPECT_EQ(hyphos_node_open("tester", nullptr, nullptr, &error), HYPHOS_INVALID_CONFIG);
}

TEST(C, a_long_error_text_is_cut_at_a_character_boundary) {
  const CNode node = open_node(fresh_domain());
  std::string name(200, 'n');
  for (int i = 0; i < 300; ++i) name += "ὕ";
  hyphos_publisher* publisher = nullptr;
  hyphos_error error;
  EXPECT_EQ(hyphos_publisher_open(node, name.c_str(), &kBytes, nullptr, &publisher, &error),
            HYPHOS_INVALID_CONFIG);
  const std::string text(error.where);
  EXPECT_EQ(text.size(), 509U);  // The limit is 511, and each character has 3 bytes.
  EXPECT_EQ(text.substr(text.size() - 3), "ὕ");
}

TEST(C, endpoints_of_a_closed_node_return_disconnected) {
  CNode node = open_node(fresh_domain());
  const CPublisher publisher = open_publisher(node, "c");
  const CSubscription subscription = subscribe(node, "c", nullptr, nullptr);
  node.reset();
  std::uint64_t value = 0;
  hyphos_message message{};
  EXPECT_EQ(hyphos_publisher_counter(publisher, "sent", &value, nullptr), HYPHOS_DISCONNECTED);
  EXPECT_EQ(hyphos_take(subscription, 0, &message, nullptr), HYPHOS_DISCONNECTED);
  EXPECT_EQ(publish(publisher, "lost"), HYPHOS_DISCONNECTED);
  EXPECT_EQ(hyphos_publisher_listeners(publisher), 0U);
}

TEST(C, a_node_may_close_while_another_thread_publishes) {
  for (int round = 0; round < 20; ++round) {
    CNode node = open_node(fresh_domain());
    const CPublisher publisher = open_publisher(node, "c");
    std::atomic<int> sent{0};
    std::thread other([&] {
      while (publish(publisher, "again and again") == HYPHOS_OK) ++sent;
    });
    EXPECT_TRUE(eventually([&] { return sent > 100; }));
    node.reset();
    other.join();
  }
}

TEST(C, announced_types_reach_the_tools) {
  const std::string domain = fresh_domain();
  const CNode node = open_node(domain);
  const std::string set = "\x0a\x0c\x0a\x0amine.proto";  // one file with only a name
  hyphos_error error;
  EXPECT_EQ(hyphos_announce_types(node, "\xff\xff", 2, &error), HYPHOS_CORRUPT);
  EXPECT_EQ(hyphos_announce_types(node, nullptr, 2, &error), HYPHOS_INVALID_CONFIG);
  EXPECT_EQ(hyphos_announce_types(nullptr, set.data(), set.size(), &error), HYPHOS_INVALID_CONFIG);
  ASSERT_EQ(hyphos_announce_types(node, set.data(), set.size(), &error), HYPHOS_OK)
      << error.message;
  const auto found = announced_types(domain).or_throw();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].process, "tester");
  EXPECT_EQ(found[0].descriptors, set);
}

TEST(C, a_late_subscriber_gets_as_many_latched_messages_as_asked) {
  const CNode node = open_node(fresh_domain());
  hyphos_policy policy{};
  policy.struct_size = sizeof policy;
  policy.latched_depth = 2;
  policy.lifespan_ms = 60'000;
  hyphos_publisher_options options{sizeof options, &policy, 0, 0};
  CPublisher refused;
  hyphos_error error;
  EXPECT_EQ(hyphos_publisher_open(node, "c", &kBytes, &options, refused.out(), &error),
            HYPHOS_INVALID_CONFIG);
  EXPECT_STREQ(error.message, "policy.latched_depth is 2. It must be 0 without policy.latched");
  policy.latched = 1;
  policy.latched_depth = 257;
  EXPECT_EQ(hyphos_publisher_open(node, "c", &kBytes, &options, refused.out(), &error),
            HYPHOS_INVALID_CONFIG);
  policy.latched_depth = 2;
  const CPublisher publisher = open_publisher(node, "c", kBytes, &policy);
  for (const char* text : {"one", "two", "three"}) EXPECT_EQ(publish(publisher, text), HYPHOS_OK);
  const CSubscription late = subscribe(node, "c", nullptr, nullptr, HYPHOS_POLLED, kBytes, &policy);
  for (const char* text : {"two", "three"}) {
    hyphos_message message{};
    ASSERT_EQ(hyphos_take(late, kLong, &message, &error), HYPHOS_OK) << error.message;
    EXPECT_EQ(text_of(message.payload), text);
    EXPECT_EQ(message.replayed, 1);
    hyphos_message_release(&message);
  }
}

TEST(C, a_message_beyond_its_lifespan_is_dropped_and_counted) {
  const CNode node = open_node(fresh_domain());
  hyphos_policy policy{};
  policy.struct_size = sizeof policy;
  policy.lifespan_ms = 1;
  const CPublisher publisher = open_publisher(node, "c", kBytes, &policy);
  const CSubscription subscription =
      subscribe(node, "c", nullptr, nullptr, HYPHOS_POLLED, kBytes, &policy);
  EXPECT_EQ(publish(publisher, "old"), HYPHOS_OK);
  const std::int64_t sent_ns = hyphos_monotonic_now();
  EXPECT_TRUE(eventually([&] { return hyphos_monotonic_now() - sent_ns > 2'000'000; }));
  hyphos_message message{};
  hyphos_error error;
  EXPECT_EQ(hyphos_take(subscription, 0, &message, &error), HYPHOS_TIMEOUT);
  std::uint64_t expired = 0;
  EXPECT_EQ(hyphos_subscription_counter(subscription, "drop.queue.expired", &expired, &error),
            HYPHOS_OK);
  EXPECT_EQ(expired, 1U);
}

TEST(C, parameters_are_declared_checked_and_set) {
  const CNode node = open_node(fresh_domain());
  hyphos_param_options options{};
  options.struct_size = sizeof options;
  options.unit = "m/s";
  options.most = 2;
  hyphos_value value{HYPHOS_REAL, 0, 0, 0.5, nullptr};
  hyphos_error error;
  ASSERT_EQ(hyphos_param_declare(node, "speed", &value, &options, &error), HYPHOS_OK)
      << error.message;
  value = {HYPHOS_TEXT, 0, 0, 0, "odom"};
  ASSERT_EQ(hyphos_param_declare(node, "frame", &value, nullptr, &error), HYPHOS_OK);
  const std::uint64_t version = hyphos_params_version(node);

  value = {HYPHOS_INTEGER, 0, 1, 0, nullptr};
  EXPECT_EQ(hyphos_param_set(node, "speed", &value, &error), HYPHOS_OK) << error.message;
  value = {HYPHOS_REAL, 0, 0, 3, nullptr};
  EXPECT_EQ(hyphos_param_set(node, "speed", &value, &error), HYPHOS_INVALID_CONFIG);
  EXPECT_NE(std::string(error.message).find("speed"), std::string::npos);
  EXPECT_GT(hyphos_params_version(node), version);

  hyphos_value got{};
  ASSERT_EQ(hyphos_param_get(node, "speed", &got, nullptr, 0, &error), HYPHOS_OK);
  EXPECT_EQ(got.type, HYPHOS_REAL);
  EXPECT_EQ(got.real, 1.0);
  std::array<char, 5> text{};
  ASSERT_EQ(hyphos_param_get(node, "frame", &got, text.data(), text.size(), &error), HYPHOS_OK);
  EXPECT_STREQ(got.text, "odom");
  EXPECT_EQ(hyphos_param_get(node, "frame", &got, text.data(), 4, &error), HYPHOS_OUT_OF_RANGE);
  EXPECT_EQ(hyphos_param_get(node, "sped", &got, nullptr, 0, &error), HYPHOS_NOT_FOUND);
  EXPECT_NE(std::string(error.message).find("speed"), std::string::npos);
}

TEST(C, the_shared_tree_is_read_and_set_as_yaml) {
  const std::string domain = fresh_domain();
  const CNode node = open_node(domain);
  hyphos_error error;
  ASSERT_EQ(hyphos_shared_param_set(node, "profile", "{name: rover, rows: [[1], [2, 3]]}", &error),
            HYPHOS_OK)
      << error.message;
  std::array<char, 16> yaml{};
  std::size_t length = 0;
  ASSERT_EQ(
      hyphos_shared_param_get(node, "profile.rows", yaml.data(), yaml.size(), &length, &error),
      HYPHOS_OK)
      << error.message;
  EXPECT_STREQ(yaml.data(), "[[1], [2, 3]]");
  EXPECT_EQ(length, 13U);
  EXPECT_EQ(hyphos_shared_param_get(node, "profile.rows", yaml.data(), 13, &length, &error),
            HYPHOS_OUT_OF_RANGE);
  EXPECT_EQ(length, 13U);
  EXPECT_EQ(hyphos_shared_param_get(node, "profile.nam", yaml.data(), 16, nullptr, &error),
            HYPHOS_NOT_FOUND);
  EXPECT_EQ(hyphos_shared_param_set(node, "profile.name", "[1, 2", &error), HYPHOS_INVALID_CONFIG);
  EXPECT_EQ(hyphos_shared_param_set(node, "profile.name.x", "1", &error), HYPHOS_INVALID_CONFIG);
  EXPECT_NE(hyphos_shared_param_set(node, nullptr, "1", &error), HYPHOS_OK);
}

}  // namespace
}  // namespace hyphos::test
