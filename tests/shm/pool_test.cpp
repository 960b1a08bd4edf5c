#include "shm/pool.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "hyphos/time.hpp"
#include "tests/shm/folder.hpp"

namespace hyphos::shm {
namespace {

class PoolTest : public ::testing::Test {
 protected:
  void join(std::uint64_t limit) { self_ = folder_.join(limit).or_throw(); }
  OwnedSlot* take(std::size_t size) { return self_->pool().take(size, self_); }
  testing::Folder folder_;
  std::shared_ptr<Participant> self_;
};

TEST_F(PoolTest, slots_fit_and_waste_little) {
  for (std::size_t size = 1; size < 5'000'000; size += size / 3 + 1) {
    const std::uint64_t slot = Pool::slot_size_for(size);
    EXPECT_GE(slot, size);
    EXPECT_TRUE(slot == 256 || slot <= size * 3 / 2 + 64) << size << " in " << slot;
    EXPECT_EQ(slot % kCacheLine, 0U);
    if (size >= 65536) {
      EXPECT_EQ(slot % kPage, 0U);
    }
  }
  EXPECT_EQ(Pool::slot_size_for(32 << 20), 32U << 20);
  EXPECT_EQ(Pool::slot_size_for(std::size_t{1} << 50), 0U);
}

TEST_F(PoolTest, payloads_are_aligned) {
  join(64 << 20);
  for (const std::size_t size : {1, 300, 5000, 65536, 1 << 20}) {
    OwnedSlot* slot = take(size);
    ASSERT_NE(slot, nullptr);
    const auto address = reinterpret_cast<std::uintptr_t>(slot->segment().payload(slot->slot()));
    EXPECT_EQ(address % (size >= 65536 ? kPage : kCacheLine), 0U);
    slot->drop_ref();
  }
}

TEST_F(PoolTest, a_returned_slot_is_the_next_one_taken) {
  join(64 << 20);
  OwnedSlot* first = take(1000);
  first->drop_ref();
  EXPECT_EQ(take(1000), first) << "its memory is still cached";
  first->drop_ref();
}

TEST_F(PoolTest, a_slot_is_not_taken_while_a_receiver_holds_it) {
  join(64 << 20);
  OwnedSlot* sent = take(1000);
  const HolderRef entry = sent->segment().claim(42, self_->id());
  ASSERT_TRUE(sent->segment().add_hold(sent->slot(), entry, false));
  Segment& segment = sent->segment();
  const std::uint32_t number = sent->slot();
  sent->drop_ref();
  std::set<OwnedSlot*> others;
  for (int i = 0; i < 1000; ++i) {
    others.insert(take(1000));
    ASSERT_FALSE(others.contains(sent));
  }
  for (OwnedSlot* slot : others) slot->drop_ref();
  ASSERT_TRUE(segment.release_hold(number, entry));
  std::set<OwnedSlot*> again;
  for (int i = 0; i < 1000; ++i) again.insert(take(1000));
  EXPECT_TRUE(again.contains(sent)) << "found without a message from the receiver";
  for (OwnedSlot* slot : again) slot->drop_ref();
}

TEST_F(PoolTest, at_the_limit_larger_slots_are_used) {
  join(8 << 20);
  std::vector<OwnedSlot*> taken;
  while (OwnedSlot* slot = take(1 << 20)) taken.push_back(slot);
  EXPECT_GE(taken.size(), 3U);
  EXPECT_LE(self_->pool().bytes(), 8U << 20);
  taken.back()->drop_ref();
  taken.pop_back();
  OwnedSlot* smaller = nullptr;
  std::vector<OwnedSlot*> small;
  while ((smaller = take(700'000)) != nullptr) small.push_back(smaller);
  EXPECT_FALSE(small.empty()) << "the free 1 MiB slot is used for 700 kB";
  EXPECT_EQ(take(16 << 20), nullptr);
  for (OwnedSlot* slot : small) slot->drop_ref();
  for (OwnedSlot* slot : taken) slot->drop_ref();
}

TEST_F(PoolTest, a_release_wakes_a_waiting_thread) {
  join(4 << 20);
  std::vector<OwnedSlot*> taken;
  while (OwnedSlot* slot = take(1 << 20)) taken.push_back(slot);
  const std::atomic<bool> never{false};
  EXPECT_EQ(self_->pool().wait(1 << 20, self_, monotonic_now().ns + 1'000'000, never), nullptr);
  OwnedSlot* sent = taken.back();
  const HolderRef entry = sent->segment().claim(42, self_->id());
  ASSERT_TRUE(sent->segment().add_hold(sent->slot(), entry, false));
  const auto theirs =
      Segment::open(self_->domain(), self_->id(), sent->segment().number()).or_throw();
  sent->drop_ref();
  std::thread waiter([&] {
    OwnedSlot* slot = self_->pool().wait(1 << 20, self_, 0, never);
    EXPECT_EQ(slot, sent);
    slot->drop_ref();
  });
  while (self_->control().header().pool_waiters.load() == 0) std::this_thread::yield();
  EXPECT_TRUE(theirs->release_hold(sent->slot(), entry));
  theirs->wake_owner();
  waiter.join();
  taken.pop_back();
  for (OwnedSlot* slot : taken) slot->drop_ref();
}

TEST_F(PoolTest, the_first_caller_claims_the_header) {
  join(4 << 20);
  OwnedSlot* slot = take(100);
  EXPECT_TRUE(slot->claim_header());
  EXPECT_FALSE(slot->claim_header());
  slot->drop_ref();
  EXPECT_EQ(take(100), slot);
  EXPECT_TRUE(slot->claim_header());
  slot->drop_ref();
}

TEST_F(PoolTest, buffers_outlive_the_owner_of_the_participant) {
  join(4 << 20);
  OwnedSlot* slot = take(100);
  std::memset(slot->segment().payload(slot->slot()), 7, 100);
  Buffer buffer(slot->segment().payload(slot->slot()), 100, slot);
  self_.reset();
  EXPECT_EQ(buffer.bytes()[99], std::byte{7});
  EXPECT_GT(folder_.files(), 0U) << "still locked: its holds count while it is in use";
  buffer = {};
  EXPECT_EQ(folder_.files(), 0U);
}

TEST_F(PoolTest, many_threads_take_and_return_slots) {
  join(64 << 20);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5000; ++i) {
        OwnedSlot* slot = take(1000);
        ASSERT_NE(slot, nullptr);
        std::byte* at = slot->segment().payload(slot->slot());
        std::memset(at, static_cast<int>(t), 1000);
        for (int k = 0; k < 1000; ++k) ASSERT_EQ(at[k], static_cast<std::byte>(t));
        slot->drop_ref();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hyphos::shm
