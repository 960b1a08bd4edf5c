#include "shm/descriptor_ring.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "hyphos/time.hpp"
#include "tests/shm/folder.hpp"

namespace hyphos::shm {
namespace {

class DescriptorRingTest : public ::testing::Test {
 protected:
  void SetUp() override { self_ = folder_.join().or_throw(); }
  [[nodiscard]] DescriptorRing make(std::uint32_t depth) {
    return DescriptorRing::create(self_->domain(), self_->id(), ++serial_, 77, depth, 5, 123,
                                  "scan")
        .or_throw();
  }
  [[nodiscard]] DescriptorRing other_side() {
    return DescriptorRing::open(self_->domain(), self_->id(), serial_, 77).or_throw();
  }
  testing::Folder folder_;
  std::shared_ptr<Participant> self_;
  std::uint64_t serial_ = 0;
};

TEST_F(DescriptorRingTest, the_depth_is_exact) {
  for (const std::uint32_t depth : {1U, 3U, 10U}) {
    DescriptorRing receiver = make(depth);
    DescriptorRing sender = other_side();
    EXPECT_EQ(sender.depth(), depth);
    EXPECT_EQ(sender.index(), 5U);
    for (std::uint32_t i = 0; i < depth; ++i) {
      EXPECT_FALSE(sender.full());
      EXPECT_EQ(sender.push({i, i + 1, i % 2 == 1}), DescriptorRing::Outcome::ok);
    }
    EXPECT_TRUE(sender.full());
    EXPECT_EQ(sender.push({}), DescriptorRing::Outcome::full);
    EXPECT_EQ(receiver.waiting(), depth);
    for (std::uint32_t i = 0; i < depth; ++i) {
      Descriptor got;
      ASSERT_EQ(receiver.pop(got), DescriptorRing::Outcome::ok);
      EXPECT_EQ(got.segment, i);
      EXPECT_EQ(got.slot, i + 1);
      EXPECT_EQ(got.replayed, i % 2 == 1);
    }
    Descriptor got;
    EXPECT_EQ(receiver.pop(got), DescriptorRing::Outcome::empty);
  }
}

TEST_F(DescriptorRingTest, impossible_indices_are_reported_as_corrupt) {
  DescriptorRing receiver = make(4);
  DescriptorRing sender = other_side();
  Descriptor got;
  receiver.header().tail.store(100);
  EXPECT_EQ(receiver.pop(got), DescriptorRing::Outcome::corrupt);
  EXPECT_EQ(sender.push({}), DescriptorRing::Outcome::corrupt);
  receiver.header().tail.store(0);
  receiver.header().head.store(1);
  EXPECT_EQ(receiver.pop(got), DescriptorRing::Outcome::corrupt);
  EXPECT_EQ(sender.push({}), DescriptorRing::Outcome::corrupt);
}

// A sender that leaves once its rings are empty also removes its memory.
TEST_F(DescriptorRingTest, resources_are_prepared_before_a_message_is_taken) {
  DescriptorRing receiver = make(4);
  DescriptorRing sender = other_side();
  ASSERT_EQ(sender.push({7, 8, true}), DescriptorRing::Outcome::ok);
  int prepared = 0;
  Descriptor got;
  const auto prepare = [&](const Descriptor& message) {
    ++prepared;
    EXPECT_EQ(message.segment, 7U);
    EXPECT_EQ(message.slot, 8U);
    EXPECT_TRUE(message.replayed);
    EXPECT_FALSE(sender.empty());
  };
  EXPECT_EQ(receiver.pop(got, prepare), DescriptorRing::Outcome::ok);
  EXPECT_EQ(prepared, 1);
  EXPECT_EQ(got.slot, 8U);
  EXPECT_TRUE(sender.empty());
  EXPECT_EQ(receiver.pop(got, prepare), DescriptorRing::Outcome::empty);
  EXPECT_EQ(prepared, 1);
}

TEST_F(DescriptorRingTest, a_ring_of_another_sender_is_refused) {
  DescriptorRing receiver = make(4);
  EXPECT_EQ(DescriptorRing::open(self_->domain(), self_->id(), serial_, 78).error().code,
            Code::corrupt);
  EXPECT_EQ(DescriptorRing::open(self_->domain(), self_->id(), serial_ + 1, 77).error().code,
            Code::not_found);
  receiver.header().depth = 1 << 30;
  EXPECT_EQ(DescriptorRing::open(self_->domain(), self_->id(), serial_, 77).error().code,
            Code::corrupt);
}

// The producer discards the oldest while the consumer takes: each message goes to one of them.
TEST_F(DescriptorRingTest, drop_oldest_takes_every_message_exactly_once) {
  constexpr std::uint32_t kMessages = 200'000;
  DescriptorRing receiver = make(3);
  DescriptorRing sender = other_side();
  std::vector<std::uint8_t> taken(kMessages, 0);
  std::vector<std::uint8_t> thrown(kMessages, 0);
  std::atomic<bool> done{false};
  std::thread producer([&] {
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      while (sender.full()) {
        Descriptor oldest;
        if (sender.pop(oldest) == DescriptorRing::Outcome::ok) ++thrown[oldest.slot];
      }
      ASSERT_EQ(sender.push({~i, i, false}), DescriptorRing::Outcome::ok);
    }
    done.store(true);
  });
  std::uint32_t last = 0;
  for (;;) {
    const bool finished = done.load();
    Descriptor got;
    const DescriptorRing::Outcome outcome = receiver.pop(got);
    ASSERT_NE(outcome, DescriptorRing::Outcome::corrupt);
    if (outcome == DescriptorRing::Outcome::ok) {
      ASSERT_EQ(got.segment, ~got.slot) << "torn";
      ASSERT_TRUE(got.slot == 0 || got.slot > last) << "out of order";
      last = got.slot;
      ++taken[got.slot];
    } else if (finished) {
      break;
    }
  }
  producer.join();
  for (std::uint32_t i = 0; i < kMessages; ++i) ASSERT_EQ(taken[i] + thrown[i], 1) << i;
}

TEST_F(DescriptorRingTest, a_waiting_sender_is_woken) {
  constexpr std::uint32_t kMessages = 20'000;
  DescriptorRing receiver = make(2);
  DescriptorRing sender = other_side();
  std::thread producer([&] {
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      while (sender.push({0, i, false}) == DescriptorRing::Outcome::full) {
        sender.header().space_waiters.store(1);
        if (sender.full()) futex_wait(sender.header().space_waiters, 1, 0);
      }
    }
  });
  for (std::uint32_t next = 0; next < kMessages;) {
    Descriptor got;
    if (receiver.pop(got) != DescriptorRing::Outcome::ok) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(got.slot, next++);
    receiver.made_room();
  }
  producer.join();
}

TEST_F(DescriptorRingTest, futex_wait_ends_at_its_deadline) {
  std::atomic<std::uint32_t> word{1};
  const std::int64_t deadline = monotonic_now().ns + 2'000'000;
  while (monotonic_now().ns < deadline) futex_wait(word, 1, deadline);
  EXPECT_GE(monotonic_now().ns, deadline);
}

}  // namespace
}  // namespace hyphos::shm
