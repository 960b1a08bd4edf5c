#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>

#include "tests/node/harness.hpp"

/// Tests the rules of docs/reference/end_of_life.md.
namespace hyphos::test {
namespace {

/// Runs in a forked child. Returns the exit code: 0 if the rule holds.
int in_child(const std::function<int()>& run) {
  const pid_t child = fork();
  if (child == 0) ::_exit(run());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

RuntimeOptions in_domain(const std::string& domain) {
  RuntimeOptions options;
  options.domain = domain;
  return options;
}

TEST(Spin, returns_at_once_once_its_node_is_closed) {
  const Node node = Node::open("n", in_domain(fresh_domain())).or_throw();
  node.close();
  EXPECT_EQ(node.spin(), 0);
  node.close();
  EXPECT_EQ(node.spin(), 0);
}

TEST(Spin, ends_when_another_thread_closes_the_node) {
  const std::string domain = fresh_domain();
  Runtime runtime = open_runtime(domain);
  const Node node = runtime.node("n").or_throw();
  const Node other = runtime.node("other").or_throw();
  std::thread closer([&] {
    EXPECT_TRUE(comes_to_spin(domain, "main"));
    node.close();
  });
  EXPECT_EQ(node.spin(), 0);
  closer.join();
  EXPECT_FALSE(runtime.stopping());
  EXPECT_TRUE(other.publisher<Number>("n").publish({1})) << "the runtime continues";
}

TEST(Spin, ends_when_a_callback_closes_the_node) {
  const Node node = Node::open("n", in_domain(fresh_domain())).or_throw();
  node.subscribe<Number>("n", serial, [&](const Message<Number>&) { node.close(); });
  const auto publisher = node.publisher<Number>("n");
  std::thread talker([&] {
    while (publisher.publish({1})) std::this_thread::yield();
  });
  EXPECT_EQ(node.spin(), 0);
  talker.join();
}

TEST(Spin, returns_at_once_after_the_runtime_has_ended) {
  Runtime runtime = open_runtime(fresh_domain());
  const Node node = runtime.node("n").or_throw();
  runtime.request_stop();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(node.spin(), 0);
    EXPECT_EQ(runtime.spin(), 0);
  }
  EXPECT_EQ(runtime.node("late").error().code, Code::disconnected);
}

TEST(Close, ends_every_use_of_the_node_with_an_error) {
  const Node node = Node::open("n", in_domain(fresh_domain())).or_throw();
  const auto publisher = node.publisher<Number>("n");
  const auto client = node.client<Number, Number>("ask");
  EXPECT_TRUE(publisher.publish({1}));
  EXPECT_FALSE(publisher.ended());
  std::vector<std::thread> closers;
  for (int number = 0; number < 4; ++number) closers.emplace_back([&] { node.close(); });
  for (std::thread& closer : closers) closer.join();
  EXPECT_EQ(publisher.publish({2}).failure, Code::disconnected);
  EXPECT_EQ(publisher.listeners(), 0U);
  ASSERT_TRUE(publisher.ended());
  EXPECT_NE(publisher.ended()->message.find("has been closed"), std::string::npos);
  EXPECT_THROW(static_cast<void>(node.publisher<Number>("n")), Exception);
  EXPECT_THROW(node.subscribe<Number>("n", serial, [](const Message<Number>&) {}), Exception);
  EXPECT_THROW(static_cast<void>(node.every(Duration::from_ms(1), [] {})), Exception);
  EXPECT_EQ(client.call({1}, Duration::from_ms(1000)).error().code, Code::disconnected);
}

TEST(Close, leaves_publishers_whose_node_only_goes_away) {
  Runtime runtime = open_runtime(fresh_domain());
  const auto publisher = runtime.node("n").or_throw().publisher<Number>("n");
  EXPECT_TRUE(publisher.publish({1}));
}

std::atomic<int> calls_of_own_handler{0};

/// SIGINT and SIGTERM with handlers of the program, before or after the runtime opens.
TEST(Signals, a_handler_of_the_program_is_called_and_spin_goes_on) {
  for (const bool before_open : {true, false}) {
    for (const int number : {SIGINT, SIGTERM}) {
      struct sigaction own{};
      own.sa_handler = [](int) { ++calls_of_own_handler; };
      struct sigaction before{};
      const std::string domain = fresh_domain();
      if (before_open) ::sigaction(number, &own, &before);
      Runtime runtime = open_runtime(domain);
      if (!before_open) ::sigaction(number, &own, &before);
      calls_of_own_handler = 0;
      std::thread sender([&] {
        EXPECT_TRUE(comes_to_spin(domain, "main"));
        ::kill(::getpid(), number);
      });
      int interruptions = 0;
      const int code = runtime.spin([&] {
        if (calls_of_own_handler == 0) return;  // the call at the start
        EXPECT_FALSE(runtime.stopping());
        ++interruptions;
        runtime.request_stop();
      });
      sender.join();
      EXPECT_EQ(code, 0);
      EXPECT_EQ(calls_of_own_handler, 1);
      EXPECT_EQ(interruptions, 1);
      struct sigaction after{};
      ::sigaction(number, &before, &after);
      EXPECT_EQ(after.sa_handler, own.sa_handler) << "it is restored after spin()";
    }
  }
}

TEST(Signals, without_a_handler_they_end_spin) {
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction usual{};  // a shell that starts a program in the background ignores SIGINT
    usual.sa_handler = SIG_DFL;
    struct sigaction before{};
    ::sigaction(number, &usual, &before);
    const std::string domain = fresh_domain();
    Runtime runtime = open_runtime(domain);
    std::thread sender([&] {
      EXPECT_TRUE(comes_to_spin(domain, "main"));
      ::kill(::getpid(), number);
    });
    EXPECT_EQ(runtime.spin(), 0);
    sender.join();
    struct sigaction after{};
    ::sigaction(number, &before, &after);
    EXPECT_EQ(after.sa_handler, SIG_DFL);
  }
}

TEST(Signals, in_another_thread_spin_leaves_them_alone) {
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  struct sigaction before{};
  ::sigaction(SIGINT, &usual, &before);
  const std::string domain = fresh_domain();
  Runtime runtime = open_runtime(domain);
  std::thread spinner([&] { EXPECT_EQ(runtime.spin(), 0); });
  EXPECT_TRUE(comes_to_spin(domain, "main"));
  struct sigaction now{};
  ::sigaction(SIGINT, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
  runtime.request_stop();
  spinner.join();
  ::sigaction(SIGINT, &before, nullptr);
}

TEST(Signals, what_an_interruption_throws_leaves_spin_and_nothing_else) {
  struct sigaction own{};
  own.sa_handler = [](int) { ++calls_of_own_handler; };
  calls_of_own_handler = 0;
  struct sigaction before{};
  ::sigaction(SIGINT, &own, &before);
  const std::string domain = fresh_domain();
  Runtime runtime = open_runtime(domain);
  std::thread sender([&] {
    EXPECT_TRUE(comes_to_spin(domain, "main"));
    ::kill(::getpid(), SIGINT);
  });
  const auto interrupted = [] {
    if (calls_of_own_handler > 0) throw std::runtime_error("enough");
  };
  EXPECT_THROW(runtime.spin(interrupted), std::runtime_error);
  sender.join();
  ::sigaction(SIGINT, &before, nullptr);
  EXPECT_FALSE(runtime.stopping());
  EXPECT_TRUE(runtime.node("n"));
}

/// All parts of one robot, used in a forked child.
TEST(Fork, a_child_can_use_nothing_that_it_inherits) {
  Arrivals got;
  const std::string domain = fresh_domain();
  Runtime runtime = open_runtime(domain, "parent");
  Runtime elsewhere = open_runtime(domain, "elsewhere");
  const Node listener = elsewhere.node("listener").or_throw();
  std::vector<Message<Buffer>> kept;
  listener.subscribe<Buffer>("n", serial, [&](const Message<Buffer>& m) {
    kept.push_back(m);
    got.add();
  });
  auto node = std::make_unique<Node>(runtime.node("n").or_throw());
  auto publisher = std::make_unique<Publisher<Buffer>>(node->publisher<Buffer>("n"));
  auto client = std::make_unique<Client<Number, Number>>(node->client<Number, Number>("ask"));
  const Subscription subscription =
      node->subscribe<Number>("m", serial, [](const Message<Number>&) {});
  ASSERT_TRUE(eventually([&] { return publisher->listeners() == 1; }));
  const auto send = [&](char fill) {
    return publisher->publish(Buffer::copy_of(std::string(100'000, fill)));
  };
  for (const char fill : {'a', 'b', 'c'}) EXPECT_TRUE(send(fill));
  ASSERT_TRUE(got.wait_for(3));
  const int code = in_child([&] {
    if (send('x').failure != Code::disconnected || !publisher->ended()) return 1;
    if (publisher->ended()->message.find("fork()") == std::string::npos) return 2;
    if (publisher->loan_bytes(100'000).size() != 100'000) return 3;
    if (node->runtime().usable() || runtime.node("child")) return 4;
    if (client->call({1}, Duration::from_ms(1000)).error().code != Code::disconnected) return 5;
    if (node->spin() != 1 || runtime.spin() != 1) return 6;
    runtime.request_stop();  // does not write the parent's event
    subscription.close();
    node->close();
    kept.clear();  // slots that the parent holds
    client.reset();
    publisher.reset();
    node.reset();
#ifndef HYPHOS_THREAD_SANITIZER  // that sanitizer allows no threads in a forked child
    // The child's own runtime works, next to the parent's.
    Arrivals own;
    Runtime fresh = open_runtime(domain, "child");
    const Node mine = fresh.node("mine").or_throw();
    mine.subscribe<Number>("own", serial, [&](const Message<Number>& m) { own.add(m->value); });
    if (!mine.publisher<Number>("own").publish({7}) || !own.wait_for(1)) return 7;
#endif
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_FALSE(runtime.stopping());
  for (const char fill : {'d', 'e', 'f'}) EXPECT_TRUE(send(fill));
  ASSERT_TRUE(got.wait_for(6)) << "the parent continues";
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(kept[i]->bytes()[99'999], static_cast<std::byte>('a' + i)) << "none is overwritten";
  }
}

/// A child may end like any program: its static and local objects are destroyed, and nothing waits
/// or is unlinked.
TEST(Fork, the_end_of_a_child_ends_nothing_of_its_parent) {
  Arrivals got;
  const std::string domain = fresh_domain();
  Runtime elsewhere = open_runtime(domain, "elsewhere");
  const Node listener = elsewhere.node("listener").or_throw();
  listener.subscribe<Number>("n", serial, [&](const Message<Number>&) { got.add(); });
  auto runtime = std::make_unique<Runtime>(open_runtime(domain, "parent"));
  auto node = std::make_unique<Node>(runtime->node("n").or_throw());
  const auto publisher = node->publisher<Number>("n");
  ASSERT_TRUE(eventually([&] { return publisher.listeners() == 1; }));
  EXPECT_EQ(in_child([&] {
              node.reset();
              runtime.reset();
              return 0;
            }),
            0);
  EXPECT_TRUE(publisher.publish({1}));
  EXPECT_TRUE(got.wait_for(1));
}

/// A child of a spinning process has the signals of any program.
TEST(Fork, a_signal_to_a_child_ends_the_child_alone) {
  const std::string domain = fresh_domain();
  Runtime runtime = open_runtime(domain);
  std::thread parent([&] {
    EXPECT_TRUE(comes_to_spin(domain, "main"));
    const pid_t child = fork();
    if (child == 0) {
      for (;;) ::pause();
    }
    ::kill(child, SIGTERM);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    EXPECT_FALSE(runtime.stopping());
    runtime.request_stop();
  });
  EXPECT_EQ(runtime.spin(), 0);
  parent.join();
}

}  // namespace
}  // namespace hyphos::test
