#include "base/call_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "hyphos/time.hpp"

namespace hyphos {
namespace {

TEST(CallGate, an_open_gate_admits_nested_calls) {
  CallGate gate;
  const CallGate::Entry outer(gate);
  const CallGate::Entry inner(gate);
  EXPECT_TRUE(outer);
  EXPECT_TRUE(inner);
  EXPECT_FALSE(gate.idle());
}

TEST(CallGate, a_closed_gate_admits_no_call) {
  CallGate gate;
  EXPECT_FALSE(gate.closed());
  EXPECT_TRUE(gate.close());
  EXPECT_FALSE(gate.close());
  EXPECT_TRUE(gate.closed());
  const CallGate::Entry late(gate);
  EXPECT_FALSE(late);
  EXPECT_TRUE(gate.idle());
}

TEST(CallGate, a_moved_entry_leaves_once) {
  CallGate gate;
  std::optional<CallGate::Entry> first(std::in_place, gate);
  std::optional<CallGate::Entry> second(std::move(*first));
  first.reset();
  EXPECT_TRUE(*second);
  EXPECT_FALSE(gate.idle());
  second.reset();
  EXPECT_TRUE(gate.idle());
}

TEST(CallGate, close_waits_for_the_calls_inside) {
  CallGate gate;
  std::atomic<bool> left{false};
  std::optional<CallGate::Entry> entry(std::in_place, gate);
  std::thread closer([&] {
    gate.close();
    EXPECT_TRUE(left.load());
  });
  while (!gate.closed()) std::this_thread::yield();
  EXPECT_FALSE(CallGate::Entry(gate));
  left.store(true);
  entry.reset();
  closer.join();
}

TEST(CallGate, close_until_ends_at_its_deadline) {
  CallGate gate;
  std::optional<CallGate::Entry> entry(std::in_place, gate);
  const Time deadline = monotonic_now() + Duration::from_ms(20);
  EXPECT_FALSE(gate.close_until(deadline.ns));
  EXPECT_GE(monotonic_now(), deadline);
  EXPECT_FALSE(CallGate::Entry(gate));
  entry.reset();
  EXPECT_TRUE(gate.close_until(deadline.ns));
}

TEST(CallGate, no_call_runs_after_close_returns) {
  for (int round = 0; round < 30; ++round) {
    CallGate gate;
    std::atomic<bool> alive{true};
    std::atomic<int> started{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; ++i) {
      callers.emplace_back([&] {
        started.fetch_add(1);
        for (;;) {
          const CallGate::Entry entry(gate);
          if (!entry) return;
          EXPECT_TRUE(alive.load());
        }
      });
    }
    while (started.load() < 3) std::this_thread::yield();
    gate.close();
    alive.store(false);
    for (std::thread& caller : callers) caller.join();
  }
}

// The sanitizers report an access of the freed gate.
TEST(CallGate, a_gate_may_be_destroyed_once_close_has_returned) {
  for (int round = 0; round < 300; ++round) {
    auto gate = std::make_unique<CallGate>();
    std::atomic<bool> inside{false};
    std::thread caller([&inside, at = gate.get()] {
      const CallGate::Entry entry(*at);
      inside.store(true);
    });
    while (!inside.load()) std::this_thread::yield();
    gate->close();
    gate.reset();
    caller.join();
  }
}

}  // namespace
}  // namespace hyphos
