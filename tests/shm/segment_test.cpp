#include "shm/segment.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "tests/shm/folder.hpp"

namespace hyphos::shm {
namespace {

constexpr std::uint64_t kOwner = 1;  // ids of participants that exist only in these tests
constexpr std::uint64_t kReceiver = 2;
constexpr std::uint64_t kOther = 3;

class SegmentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    self_ = folder_.join().or_throw();
    segment_ =
        Segment::create(self_->domain(), self_->control(), 0, *segment_layout(8, 256)).or_throw();
  }
  testing::Folder folder_;
  std::shared_ptr<Participant> self_;
  std::shared_ptr<Segment> segment_;
};

TEST(SegmentLayout, impossible_layouts_are_refused) {
  EXPECT_FALSE(segment_layout(0, 256));
  EXPECT_FALSE(segment_layout(8, 0));
  EXPECT_FALSE(segment_layout(8, 100));
  EXPECT_FALSE(segment_layout(std::uint64_t{1} << 40, 256));
  EXPECT_FALSE(segment_layout(8, ~std::uint64_t{63}));
  const auto layout = segment_layout(3, 1 << 20);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->payload_offset % kPage, 0U);
  EXPECT_GE(layout->payload_offset, layout->control_offset + 3 * sizeof(SlotControl));
}

TEST_F(SegmentTest, a_slot_is_held_until_its_last_hold_is_released) {
  const HolderRef entry = segment_->claim(kReceiver, kOwner);
  ASSERT_TRUE(entry.valid());
  EXPECT_TRUE(segment_->find_free(0));
  EXPECT_TRUE(segment_->add_hold(0, entry, false));
  EXPECT_TRUE(segment_->add_hold(0, entry, false));
  EXPECT_FALSE(segment_->find_free(0));
  EXPECT_TRUE(segment_->find_free(1));
  EXPECT_TRUE(segment_->release_hold(0, entry));
  EXPECT_FALSE(segment_->find_free(0));
  EXPECT_TRUE(segment_->release_hold(0, entry));
  EXPECT_TRUE(segment_->find_free(0));
  EXPECT_FALSE(segment_->release_hold(0, entry)) << "there is no hold any more";
}

TEST_F(SegmentTest, the_same_pair_gets_the_same_entry) {
  const HolderRef first = segment_->claim(kReceiver, kOwner);
  const HolderRef again = segment_->claim(kReceiver, kOwner);
  EXPECT_EQ(first.index, again.index);
  EXPECT_NE(segment_->claim(kReceiver, kOther).index, first.index);
  EXPECT_NE(segment_->claim(kOther, kOwner).index, first.index);
  EXPECT_EQ(segment_->find(kReceiver, kOwner).index, first.index);
  EXPECT_FALSE(segment_->find(kOther, kOther).valid());
  EXPECT_EQ(segment_->holders(), 3U);
}

TEST_F(SegmentTest, revoke_ends_all_holds_at_once) {
  const HolderRef entry = segment_->claim(kReceiver, kOwner);
  for (std::uint32_t slot = 0; slot < segment_->slots(); ++slot) {
    ASSERT_TRUE(segment_->add_hold(slot, entry, false));
  }
  segment_->revoke(entry);
  for (std::uint32_t slot = 0; slot < segment_->slots(); ++slot) {
    EXPECT_TRUE(segment_->find_free(slot));
  }
  segment_->revoke(entry);  // a second revoke has no effect
  EXPECT_EQ(segment_->holders(), 0U);
}

TEST_F(SegmentTest, a_late_hold_of_a_revoked_generation_does_not_count) {
  const HolderRef old = segment_->claim(kReceiver, kOwner);
  segment_->revoke(old);
  (void)segment_->add_hold(0, old, false);
  EXPECT_TRUE(segment_->find_free(0));
  // It cannot undo a hold of the next generation of the same entry either.
  const HolderRef next = segment_->claim(kOther, kOwner);
  ASSERT_EQ(next.index, old.index);
  ASSERT_TRUE(segment_->add_hold(1, next, false));
  EXPECT_FALSE(segment_->add_hold(1, old, false));
  EXPECT_FALSE(segment_->release_hold(1, old));
  EXPECT_FALSE(segment_->find_free(1));
}

TEST_F(SegmentTest, generations_never_repeat) {
  HolderRef last;
  std::uint32_t on_first = 0;
  for (int i = 0; i < 70'000; ++i) {
    const HolderRef entry = segment_->claim(kReceiver + static_cast<std::uint64_t>(i), kOwner);
    ASSERT_TRUE(entry.valid());
    if (entry.index == last.index && last.valid()) {
      ASSERT_GT(entry.generation, last.generation);
    }
    on_first += entry.index == 0 ? 1 : 0;
    last = entry;
    segment_->revoke(entry);
  }
  EXPECT_EQ(on_first, 65'535U) << "then the entry is retired and the next one is used";
}

TEST_F(SegmentTest, a_full_table_returns_an_invalid_entry) {
  for (std::uint64_t i = 0; i < kMaxHolders; ++i) {
    ASSERT_TRUE(segment_->claim(100 + i, kOwner).valid());
  }
  EXPECT_FALSE(segment_->claim(99, kOwner).valid());
  segment_->sweep([](std::uint64_t id) { return id == 120; });
  EXPECT_TRUE(segment_->claim(99, kOwner).valid());
}

TEST_F(SegmentTest, sweep_repairs_entries_of_a_dead_claimer) {
  // It died right after it claimed the entry: H9.
  HolderEntry& entry =
      reinterpret_cast<SegmentHeader*>(reinterpret_cast<std::byte*>(&segment_->control(0)) -
                                       segment_layout(8, 256)->control_offset)
          ->holders[0];
  entry.via.store(kOther);
  EXPECT_EQ(segment_->claim(kReceiver, kOwner).index, 1U);
  segment_->sweep([](std::uint64_t) { return false; });
  EXPECT_EQ(segment_->holders(), 2U) << "a live claimer may still be about to use it";
  segment_->sweep([](std::uint64_t id) { return id == kOther; });
  EXPECT_EQ(segment_->holders(), 1U);
  EXPECT_EQ(segment_->claim(kOther, kOwner).index, 0U);
}

TEST_F(SegmentTest, a_done_entry_counts_while_held_and_is_then_reused) {
  const HolderRef entry = segment_->claim(kReceiver, kOther);
  ASSERT_TRUE(segment_->add_hold(2, entry, true));
  segment_->settle(2, entry, 0);
  EXPECT_TRUE(segment_->find_free(2)) << "the relay's hold was never sent";
  segment_->mark_done(entry);
  const HolderRef next = segment_->claim(kReceiver, kOwner);
  EXPECT_EQ(next.index, entry.index);
  EXPECT_GT(next.generation, entry.generation);
}

TEST_F(SegmentTest, the_count_saturates_instead_of_wrapping) {
  const HolderRef entry = segment_->claim(kReceiver, kOwner);
  for (int i = 0; i < 65'535; ++i) ASSERT_TRUE(segment_->add_hold(0, entry, false));
  EXPECT_FALSE(segment_->add_hold(0, entry, false));
  EXPECT_FALSE(segment_->find_free(0));
}

// Slots move through a random network of holders. Each thread is a participant that adds holds for
// others only while it has one itself, releases at random, and occasionally dies and returns. The
// owner searches for free slots all the time. A slot that it finds free must have no holder.
TEST_F(SegmentTest, random_relaying_never_frees_a_held_slot) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint64_t kMoves = 20000;
  struct Message {
    std::uint32_t slot;
    HolderRef entry;
    std::uint32_t reuse;  // how often the slot had been found free when the message was made
  };
  struct Box {
    std::mutex mutex;
    std::vector<Message> messages;
  };
  std::array<Box, kThreads> boxes;
  std::array<std::atomic<std::uint32_t>, 8> reuse{};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> moved{0};
  std::atomic<std::uint32_t> running{kThreads};
  const auto id = [](std::uint32_t thread) { return 10 + std::uint64_t{thread}; };
  std::array<std::array<HolderRef, kThreads + 1>, kThreads> entry;  // [receiver][via]
  for (std::uint32_t r = 0; r < kThreads; ++r) {
    for (std::uint32_t v = 0; v < kThreads; ++v) entry[r][v] = segment_->claim(id(r), id(v));
    entry[r][kThreads] = segment_->claim(id(r), kOwner);
  }
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::minstd_rand random(t + 1);
      while (moved.load() < kMoves) {  // no thread ends early: its box would keep slots
        Message message{};
        {
          const std::lock_guard lock(boxes[t].mutex);
          if (boxes[t].messages.empty()) {
            std::this_thread::yield();
            continue;
          }
          std::swap(boxes[t].messages[random() % boxes[t].messages.size()],
                    boxes[t].messages.back());
          message = boxes[t].messages.back();
          boxes[t].messages.pop_back();
        }
        if (reuse[message.slot].load() != message.reuse) ++wrong;
        for (std::uint32_t n = random() % 3; n > 0; --n) {
          const std::uint32_t to = random() % kThreads;
          const HolderRef ref = entry[to][t];
          if (!segment_->add_hold(message.slot, ref, true)) continue;
          const std::lock_guard lock(boxes[to].mutex);
          boxes[to].messages.push_back({message.slot, ref, message.reuse});
        }
        ++moved;
        if (reuse[message.slot].load() != message.reuse) ++wrong;
        if (!segment_->release_hold(message.slot, message.entry)) ++wrong;
      }
      --running;
    });
  }
  std::minstd_rand random(99);
  while (running.load() > 0) {
    const std::uint32_t slot = random() % 8;
    if (!segment_->find_free(slot)) continue;
    const std::uint32_t now = reuse[slot].fetch_add(1) + 1;
    const std::uint32_t to = random() % kThreads;
    ASSERT_TRUE(segment_->add_hold(slot, entry[to][kThreads], false));
    const std::lock_guard lock(boxes[to].mutex);
    boxes[to].messages.push_back({slot, entry[to][kThreads], now});
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0U);
  for (Box& box : boxes) {
    for (const Message& left : box.messages)
      EXPECT_TRUE(segment_->release_hold(left.slot, left.entry));
  }
  for (std::uint32_t slot = 0; slot < 8; ++slot) EXPECT_TRUE(segment_->find_free(slot));
}

// The same with a receiver whose generation ends at any time while others add.
TEST_F(SegmentTest, revoke_races_safely_with_adders) {
  for (int round = 0; round < 200; ++round) {
    const HolderRef entry = segment_->claim(kReceiver, kOwner);
    std::atomic<bool> go{false};
    std::vector<std::thread> adders;
    for (int t = 0; t < 2; ++t) {
      adders.emplace_back([&] {
        while (!go.load()) std::this_thread::yield();
        for (std::uint32_t slot = 0; slot < 8; ++slot) (void)segment_->add_hold(slot, entry, false);
      });
    }
    go.store(true);
    segment_->revoke(entry);
    for (std::thread& adder : adders) adder.join();
    for (std::uint32_t slot = 0; slot < 8; ++slot) ASSERT_TRUE(segment_->find_free(slot));
  }
}

TEST_F(SegmentTest, another_participant_sees_the_same_holds) {
  const auto theirs = Segment::open(self_->domain(), self_->id(), 0).or_throw();
  std::memset(segment_->payload(3), 0x5a, 256);
  EXPECT_EQ(theirs->payload(3)[255], std::byte{0x5a});
  const HolderRef entry = segment_->claim(kReceiver, self_->id());
  ASSERT_TRUE(segment_->add_hold(3, entry, false));
  const HolderRef found = theirs->find(kReceiver, self_->id());
  EXPECT_EQ(found.index, entry.index);
  EXPECT_EQ(found.generation, entry.generation);
  EXPECT_TRUE(theirs->release_hold(3, found));
  EXPECT_TRUE(segment_->find_free(3));
}

TEST_F(SegmentTest, a_file_of_another_owner_is_refused) {
  EXPECT_EQ(Segment::open(self_->domain(), self_->id(), 7).error().code, Code::not_found);
  std::filesystem::copy_file(folder_.domain() / pool_name(self_->id(), 0),
                             folder_.domain() / pool_name(self_->id(), 7));
  EXPECT_EQ(Segment::open(self_->domain(), self_->id(), 7).error().code, Code::corrupt);
  std::filesystem::resize_file(folder_.domain() / pool_name(self_->id(), 7), 100);
  EXPECT_EQ(Segment::open(self_->domain(), self_->id(), 7).error().code, Code::corrupt);
}

}  // namespace
}  // namespace hyphos::shm
