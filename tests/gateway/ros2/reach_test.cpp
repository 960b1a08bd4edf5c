#include "gateway/ros2/reach.hpp"

#include <gtest/gtest.h>

#include "gateway/ros2/transport.hpp"

namespace hyphos::gateway::ros2 {
namespace {

TEST(Ros2Reach, the_loopback_network_reaches_only_this_machine) {
  EXPECT_EQ(reach_of(""), Reach::all);
  for (const char* host : {"127.0.0.1", "127.0.0.2", "127.255.255.254"}) {
    EXPECT_EQ(reach_of(host), Reach::machine) << host;
  }
  for (const char* host : {"192.0.2.2", "10.0.0.1", "128.0.0.1", "no address"}) {
    EXPECT_EQ(reach_of(host), Reach::address) << host;
  }
}

TEST(Ros2Reach, own_addresses_are_those_of_the_interfaces) {
  OwnAddresses own;
  EXPECT_TRUE(own.contains({127, 0, 0, 1}));
  EXPECT_TRUE(own.contains({127, 9, 9, 9}));
  EXPECT_FALSE(own.contains({203, 0, 113, 77}));  // RFC 5737: a documentation address of no machine
  for (const Address& address : own.list()) {
    EXPECT_FALSE(is_loopback(address));
    EXPECT_TRUE(own.contains(address));
  }
}

TEST(Ros2Reach, multicast_addresses_are_recognised) {
  EXPECT_FALSE(is_multicast({223, 255, 255, 255}));
  EXPECT_TRUE(is_multicast({224, 0, 0, 0}));
  EXPECT_TRUE(is_multicast({239, 255, 0, 1}));
  EXPECT_FALSE(is_multicast({240, 0, 0, 0}));
}

TEST(Ros2Reach, a_paced_thread_takes_at_least_its_time) {
  constexpr std::uint64_t kRate = 100'000'000;
  const auto begin = std::chrono::steady_clock::now();
  {
    const Pace pace(kRate);
    for (int i = 0; i < 80; ++i) Pace::wait_for(64'000);
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  const std::chrono::duration<double> all(80 * 64'000.0 / kRate);
  const std::chrono::duration<double> burst(static_cast<double>(Pace::kBurst) / kRate);
  EXPECT_GE(took, all - burst);
}

TEST(Ros2Reach, a_pace_applies_to_its_thread_and_scope) {
  {
    const Pace slow(1);
  }
  Pace::wait_for(1U << 30U);  // Returns at once, because this thread has no pace.
}

}  // namespace
}  // namespace hyphos::gateway::ros2
