#include "trace/recorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "trace/record.hpp"

namespace hyphos::trace {
namespace {

struct FreeArea {
  void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{64}); }
};
using Memory = std::unique_ptr<std::byte, FreeArea>;

Memory zeros(std::size_t size) {
  Memory memory(static_cast<std::byte*>(::operator new(size, std::align_val_t{64})));
  std::memset(memory.get(), 0, size);
  return memory;
}

/// A recorder in memory that starts as zeros, as in an area.
struct Ring {
  Memory memory = zeros(sizeof(Recorder));
  Recorder& operator*() const { return *reinterpret_cast<Recorder*>(memory.get()); }
  Recorder* operator->() const { return &**this; }
  /// The words of the memory, for corruption.
  std::atomic<std::uint64_t>* words() const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(memory.get());
  }
};

// All words of an event are derived from its sequence, so a torn event is detected.
Meta meta_of(std::uint64_t sender, std::uint64_t sequence) {
  Meta meta;
  meta.sender = sender;
  meta.sequence = sequence;
  meta.stamps.publish = static_cast<std::int64_t>(sequence * 3);
  meta.stamps.encoded = static_cast<std::int64_t>(sequence * 5);
  meta.stamps.submitted = static_cast<std::int64_t>(sequence * 7);
  return meta;
}

void publish(const Ring& ring, std::uint64_t sender, std::uint64_t sequence) {
  ring->published(9, meta_of(sender, sequence), sequence * 11,
                  {sequence * 13, sequence * 17, sequence * 19});
}

bool whole(const MessageEvent& event) {
  const std::uint64_t n = event.sequence;
  return event.publish_ns == static_cast<std::int64_t>(n * 3) &&
         event.encoded_ns == static_cast<std::int64_t>(n * 5) &&
         event.submitted_ns == static_cast<std::int64_t>(n * 7) && event.bytes == n * 11 &&
         event.cause_sender == n * 13 && event.cause_sequence == n * 17 &&
         event.cause_endpoint == n * 19 && event.received == 0;
}

TEST(Recorder, an_event_is_read_once_with_all_its_words) {
  const Ring ring;
  publish(ring, 4, 1);
  Meta meta = meta_of(4, 1);
  meta.stamps.arrived = 40;
  meta.stamps.scheduled = 50;
  meta.stamps.decoded = 70;
  meta.stamps.callback = 80;
  ring->received(10, meta, 99, true, meta.stamps, 60, 90);
  std::uint64_t next = 0;
  std::vector<MessageEvent> events;
  EXPECT_EQ(ring->read(next, events), 0U);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(whole(events[0]));
  EXPECT_EQ(events[0].endpoint, 9U);
  const MessageEvent& got = events[1];
  EXPECT_EQ(got.received, 1);
  EXPECT_EQ(got.replayed, 1);
  EXPECT_EQ(got.endpoint, 10U);
  EXPECT_EQ(got.sender, 4U);
  EXPECT_EQ(got.bytes, 99U);
  EXPECT_EQ(got.arrived_ns, 40);
  EXPECT_EQ(got.scheduled_ns, 50);
  EXPECT_EQ(got.dequeued_ns, 60);
  EXPECT_EQ(got.decoded_ns, 70);
  EXPECT_EQ(got.callback_ns, 80);
  EXPECT_EQ(got.end_ns, 90);
  EXPECT_NE(got.thread, 0U);
  EXPECT_EQ(got.cause_sender, 0U);
  EXPECT_EQ(ring->read(next, events), 0U);
  EXPECT_EQ(events.size(), 2U);
}

TEST(Recorder, overwritten_events_are_missed_and_the_rest_is_in_order) {
  const Ring ring;
  const std::uint64_t written = Recorder::kSlots * 2 + 100;
  for (std::uint64_t i = 1; i <= written; ++i) publish(ring, 1, i);
  std::uint64_t next = 0;
  std::vector<MessageEvent> events;
  EXPECT_EQ(ring->read(next, events), written - Recorder::kSlots);
  ASSERT_EQ(events.size(), Recorder::kSlots);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].sequence, written - Recorder::kSlots + 1 + i);
  }
  EXPECT_EQ(next, written);
}

TEST(Recorder, an_unfinished_event_is_missed_and_blocks_no_thread) {
  const Ring ring;
  publish(ring, 1, 1);
  // Simulates a writer that was killed after it took its ticket and slot: 16 words per slot after
  // the first 8.
  std::atomic<std::uint64_t>* const words = ring.words();
  words[0].fetch_add(1);
  words[8 + 16].store(2 * 1 + 1);
  publish(ring, 1, 3);
  std::uint64_t next = 0;
  std::vector<MessageEvent> events;
  EXPECT_EQ(ring->read(next, events), 1U);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].sequence, 3U);
  // One round later the slot is still occupied. One event is dropped, and all others are there.
  events.clear();
  for (std::uint64_t i = 4; i <= Recorder::kSlots + 3; ++i) publish(ring, 1, i);
  EXPECT_EQ(ring->read(next, events), 1U);
  EXPECT_EQ(events.size(), Recorder::kSlots - 1);
  EXPECT_TRUE(std::all_of(events.begin(), events.end(), whole));
}

TEST(Recorder, concurrent_events_are_never_torn_and_seen_or_missed) {
  const Ring ring;
  constexpr std::uint64_t kEach = 60'000;
  std::atomic<int> running{2};
  std::vector<std::thread> writers;
  for (std::uint64_t sender = 1; sender <= 2; ++sender) {
    writers.emplace_back([&, sender] {
      for (std::uint64_t i = 1; i <= kEach; ++i) publish(ring, sender, i);
      --running;
    });
  }
  std::uint64_t next = 0;
  std::uint64_t missed = 0;
  std::vector<MessageEvent> events;
  while (running.load() > 0) missed += ring->read(next, events);
  missed += ring->read(next, events);
  for (std::thread& writer : writers) writer.join();
  std::map<std::uint64_t, std::set<std::uint64_t>> seen;
  for (const MessageEvent& event : events) {
    ASSERT_TRUE(whole(event)) << event.sequence;
    ASSERT_TRUE(seen[event.sender].insert(event.sequence).second) << "seen twice";
  }
  EXPECT_EQ(events.size() + missed, 2 * kEach);
  EXPECT_TRUE(seen[1].contains(kEach) || seen[2].contains(kEach));
}

TEST(Recorder, reading_any_bytes_terminates) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    const Ring ring;
    for (std::size_t i = 0; i < sizeof(Recorder) / 8; ++i) {
      ring.words()[i].store(round % 2 == 0 ? random() : random() % 20'000);
    }
    std::uint64_t next = random() % 10'000;
    std::vector<MessageEvent> events;
    (void)ring->read(next, events);
    EXPECT_LE(events.size(), Recorder::kSlots);
    EXPECT_EQ(next, ring.words()[0].load());
  }
}

TEST(ReadEvents, an_event_names_its_endpoint_even_in_a_reused_record) {
  const std::size_t size = Registry::kMinArea;
  const Memory area = zeros(size);
  Registry registry({area.get(), size}, nullptr, "sense", 42);
  const auto type = make_type_id("t", Encoding::bytes);
  std::uint64_t first = 0;
  {
    const auto gone = registry.add({"old", "n", type, {}, Mode::serial, true});
    first = gone->id();
    gone->published(meta_of(1, 1), 0, {});
  }
  const auto end = registry.add({"new", "m", type, {}, Mode::serial, true});
  end->published(meta_of(2, 1), 0, {});
  const auto read = read_events({area.get(), size}, 0);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  ASSERT_EQ(read->events.size(), 2U);
  EXPECT_EQ(read->events[0].endpoint, first);
  ASSERT_EQ(read->ends.size(), 1U);
  EXPECT_EQ(read->ends[0].channel, "new");
  EXPECT_EQ(read->ends[0].node, "m");
  EXPECT_EQ(read->events[1].endpoint, read->ends[0].id);
  EXPECT_NE(first, read->ends[0].id);
  EXPECT_EQ(read->process, "sense");
  EXPECT_EQ(read->next, 2U);
}

TEST(ReadEvents, random_bytes_are_refused) {
  const std::size_t size = Registry::kMinArea;
  const Memory area = zeros(size);
  EXPECT_EQ(read_events({area.get(), 100}, 0).error().code, Code::corrupt);
  EXPECT_EQ(read_events({area.get(), size}, 0).error().code, Code::corrupt);
}

TEST(Endpoint, an_endpoint_on_the_heap_records_no_events) {
  Registry heap({}, nullptr, "p", 0);
  const auto end = heap.add({"a", "n", make_type_id("t", Encoding::bytes), {}, Mode::serial, true});
  end->published(meta_of(1, 1), 0, {});
  EXPECT_EQ(end->id(), 0U);
}

}  // namespace
}  // namespace hyphos::trace
