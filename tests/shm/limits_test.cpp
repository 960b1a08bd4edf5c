// Every fixed limit of shared memory: one below it, at it and one beyond it. Beyond it, both sides
// get an error that names the limit, a counter is incremented, and the existing users continue.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <vector>

#include "shm/descriptor_ring.hpp"
#include "shm/tools.hpp"
#include "tests/shm/folder.hpp"
#include "tests/transport/harness.hpp"
#include "transport/shm/shm.hpp"

namespace hyphos::transport::testing {
namespace {

using shm::kGroupHolders;
using shm::kMaxEndpoints;
using shm::kMaxHolders;
using shm::kMaxReceivers;
using shm::kMaxRings;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The shared memory of a process with one subscription, without its threads.
class LightReceiver {
 public:
  LightReceiver(const shm::testing::Folder& folder, std::uint64_t publisher,
                const shm::EndpointRecord& publication)
      : self_(folder.join(1 << 20).or_throw()), publisher_(publisher) {
    shm::EndpointRecord record = publication;
    record.serial = 1;
    record.is_publisher = 0;
    self_->control().set_endpoint(0, record).or_throw();
    ring_ = shm::DescriptorRing::create(self_->domain(), self_->id(), 2, publisher, 4, 0,
                                        publication.type_hash, shm::get_text(publication.channel))
                .or_throw();
    self_->control().set_ring(0, {2, publisher, publication.serial, 1, 0}).or_throw();
    self_->domain().notify(self_->socket(), publisher);
  }
  [[nodiscard]] bool refused() const { return ring_.header().refused.load() != 0; }
  [[nodiscard]] std::uint64_t waiting() const { return ring_.waiting(); }
  /// Takes one message and returns its slot. True if the bytes are those of sample(number).
  [[nodiscard]] bool takes(std::uint64_t number) {
    shm::Descriptor next;
    if (ring_.pop(next) != shm::DescriptorRing::Outcome::ok) return false;
    auto& segment = segments_[next.segment];
    if (!segment)
      segment = shm::Segment::open(self_->domain(), publisher_, next.segment).or_throw();
    const shm::HolderRef entry = segment->find(self_->id(), publisher_);
    shm::MessageHeader header;
    const Buffer want = sample(number).payload;
    const bool good = entry.valid() && shm::read_message(segment->message(next.slot), header) &&
                      header.sequence == number && header.simple_size == want.size() &&
                      std::memcmp(segment->payload(next.slot), want.data(), want.size()) == 0;
    return segment->release_hold(next.slot, entry) && good;
  }

 private:
  std::shared_ptr<shm::Participant> self_;
  std::uint64_t publisher_;
  shm::DescriptorRing ring_;
  std::map<std::uint32_t, std::shared_ptr<shm::Segment>> segments_;
};

class ShmLimits : public ::testing::Test {
 protected:
  // Each light receiver has some descriptors, and the publisher has two for each.
  void SetUp() override {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    enough_files_ = limit.rlim_cur >= 8000;
  }
  std::unique_ptr<ShmTransport> join(const std::string& name, std::uint64_t pool = 64 << 20,
                                     std::uint32_t receivers = kMaxReceivers) {
    ShmConfig config;
    config.base_dir = folder_.path();
    config.process_name = name;
    config.pool_limit_bytes = pool;
    config.max_receivers = receivers;
    auto made = make_shm(std::move(config));
    made->start().or_throw();
    return made;
  }
  // The record of the only publication of `of`.
  shm::EndpointRecord publication(const ShmTransport& of) {
    const auto domain = shm::Domain::open(folder_.path(), "0").or_throw();
    auto control = shm::Control::open(domain, of.participant_id()).or_throw();
    return control.endpoints()->at(0);
  }
  static bool eventually(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  shm::testing::Folder folder_;
  Events events_;
  bool enough_files_ = false;
};

TEST_F(ShmLimits, three_hundred_processes_receive_every_message) {
  if (!enough_files_) GTEST_SKIP() << "needs 8,000 file descriptors";
  constexpr std::uint32_t kReceivers = 300;
  TestSendEvents send_events(events_);
  auto publisher = join("publisher");
  const PortId out =
      publisher->open(spec("c", reliable_policy(4)), nullptr, &send_events).or_throw();
  const auto record = publication(*publisher);
  std::vector<std::unique_ptr<LightReceiver>> all;
  for (std::uint32_t i = 0; i < kReceivers; ++i) {
    all.push_back(std::make_unique<LightReceiver>(folder_, publisher->participant_id(), record));
  }
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == kReceivers; }));
  for (std::uint64_t number = 1; number <= 150; ++number) {  // slots are reused: there are 128
    const SendReport report = publisher->send(out, sample(number));
    ASSERT_EQ(report.accepted, kReceivers);
    ASSERT_EQ(report.dropped, 0U);
    ASSERT_FALSE(report.failure);
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_TRUE(all[i]->takes(number)) << i;
  }
  EXPECT_EQ(events_.read([&] { return send_events.lost(); }), 0U);
  std::uint32_t used = 0;
  std::uint32_t holders = 0;
  for (const auto& segment : shm::list("0", folder_.path()).or_throw().segments) {
    used += segment.used;
    holders = std::max(holders, segment.holders);
  }
  EXPECT_EQ(used, 0U);
  EXPECT_EQ(holders, kReceivers);
}

TEST_F(ShmLimits, seventy_real_processes_receive_every_message) {
  constexpr std::uint32_t kProcesses = 70;
  constexpr std::size_t kMessages = 20;
  std::vector<pid_t> children;
  for (std::uint32_t i = 0; i < kProcesses; ++i) {  // before this process has threads
    children.push_back(::fork());
    if (children.back() != 0) continue;
    TestSink sink(events_);
    auto subscriber = join("subscriber");
    (void)subscriber->open(spec("c", reliable_policy(64)), &sink, nullptr).or_throw();
    const bool all = events_.wait([&] { return sink.messages.size() == kMessages; });
    ::_exit(
        all && std::ranges::all_of(sink.messages, [](const Envelope& got) { return intact(got); })
            ? 0
            : 1);
  }
  TestSendEvents send_events(events_);
  auto publisher = join("publisher");
  const PortId out =
      publisher->open(spec("c", reliable_policy(64)), nullptr, &send_events).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == kProcesses; }));
  for (std::uint64_t number = 1; number <= kMessages; ++number) {
    EXPECT_EQ(publisher->send(out, sample(number)).accepted, kProcesses);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(events_.read([&] { return send_events.errors.empty(); }));
}

TEST_F(ShmLimits, a_receiver_beyond_the_limit_is_refused_on_both_sides) {
  constexpr std::uint32_t kPlaces = 8;  // the real limit needs too many processes
  TestSendEvents send_events(events_);
  auto publisher = join("publisher", 64 << 20, kPlaces);
  const PortId out =
      publisher->open(spec("c", reliable_policy(4)), nullptr, &send_events).or_throw();
  const auto record = publication(*publisher);
  std::vector<std::unique_ptr<LightReceiver>> all;
  for (std::uint32_t i = 0; i < kPlaces - 1; ++i) {
    all.push_back(std::make_unique<LightReceiver>(folder_, publisher->participant_id(), record));
  }
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == kPlaces - 1; }));
  all.push_back(std::make_unique<LightReceiver>(folder_, publisher->participant_id(), record));
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == kPlaces; }));
  EXPECT_TRUE(events_.read([&] { return send_events.errors.empty(); }));

  TestSink sink(events_);
  auto late = join("late");
  (void)late->open(spec("c", reliable_policy(4)), &sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return !sink.errors.empty() && !send_events.errors.empty(); }));
  events_.read([&] {
    for (const Error& error : {sink.errors.front(), send_events.errors.front()}) {
      EXPECT_EQ(error.code, Code::exhausted);
      EXPECT_TRUE(has(error.message, std::to_string(kPlaces))) << error.message;
      EXPECT_TRUE(has(error.message, "limit")) << error.message;
      EXPECT_TRUE(has(error.message, "End some")) << error.message;
    }
    EXPECT_EQ(sink.publishers, 0) << "it receives from no publisher";
    return 0;
  });
  EXPECT_EQ(send_events.receivers, kPlaces) << "the refused one is not counted";
  const SendReport report = publisher->send(out, sample(1));
  EXPECT_EQ(report.accepted, kPlaces);
  EXPECT_FALSE(report.failure);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_TRUE(all[i]->takes(1)) << i;

  all.pop_back();  // its place goes to the waiting receiver
  ASSERT_TRUE(events_.wait([&] { return sink.publishers == 1; }));
  ASSERT_TRUE(eventually([&] {
    (void)publisher->send(out, sample(2));
    // The channel is reliable, so a receiver with a full ring would make the publisher wait.
    for (const auto& receiver : all) (void)receiver->takes(2);
    return events_.read([&] { return !sink.messages.empty(); });
  }));
  EXPECT_TRUE(events_.read([&] { return intact(sink.messages.front()); }));
}

TEST_F(ShmLimits, a_message_without_a_holder_entry_has_its_own_counter) {
  TestSendEvents send_events(events_);
  TestSink sink(events_);
  auto publisher = join("publisher");
  auto subscriber = join("subscriber");
  const PortId out =
      publisher->open(spec("c", reliable_policy(4)), nullptr, &send_events).or_throw();
  (void)subscriber->open(spec("c", reliable_policy(4)), &sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1; }));
  ASSERT_FALSE(publisher->send(out, sample(1)).failure);
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 1; }));
  // Other processes take all entries of the next pool file before it is used, as relays would.
  const auto domain = shm::Domain::open(folder_.path(), "0").or_throw();
  WritableBuffer loan = publisher->loan(out, 3000);
  const auto segments = shm::list("0", folder_.path()).or_throw().segments;
  const auto number = static_cast<std::uint32_t>(segments.size() - 1);
  auto segment = shm::Segment::open(domain, publisher->participant_id(), number).or_throw();
  for (std::uint64_t i = 0; i < kMaxHolders; ++i) {
    ASSERT_TRUE(segment->claim(subscriber->participant_id(), 1000 + i).valid()) << i;
  }
  Envelope message = sample(2, 3000);
  std::memcpy(loan.data(), message.payload.data(), 3000);
  message.payload = std::move(loan).freeze();
  const SendReport report = publisher->send(out, message);
  EXPECT_EQ(report.dropped, 1U);
  EXPECT_EQ(report.failure, Code::exhausted);
  ASSERT_TRUE(events_.wait([&] { return send_events.drops[Drop::too_many] == 1; }));
  EXPECT_EQ(events_.read([&] { return send_events.drops[Drop::no_memory]; }), 0U);
  // Messages of other sizes still work.
  EXPECT_FALSE(publisher->send(out, sample(3)).failure);
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 2; }));
}

TEST_F(ShmLimits, a_process_can_open_endpoints_up_to_the_limit) {
  TestSendEvents send_events(events_);
  TestSink sink(events_);
  auto process = join("many");
  std::vector<PortId> ports;
  for (std::uint32_t i = 0; i < kMaxEndpoints; ++i) {
    auto opened = process->open(spec("c" + std::to_string(i)), nullptr, &send_events);
    ASSERT_TRUE(opened) << i << ": " << opened.error().to_string();
    ports.push_back(*opened);
  }
  const auto refused = process->open(spec("one more"), nullptr, &send_events);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::exhausted);
  EXPECT_TRUE(has(refused.error().message, std::to_string(kMaxEndpoints)));
  EXPECT_TRUE(has(refused.error().message, "scope: local"));
  // The existing receivers continue, and a late receiver takes a free place.
  auto other = join("other");
  const std::string last = "c" + std::to_string(kMaxEndpoints - 1);
  (void)other->open(spec(last), &sink, nullptr).or_throw();
  ASSERT_TRUE(events_.wait([&] { return sink.publishers == 1 && send_events.receivers == 1; }));
  EXPECT_EQ(process->send(ports.back(), sample(1)).accepted, 1U);
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 1; }));
  // A closed endpoint frees its place.
  process->close(ports.front());
  EXPECT_TRUE(process->open(spec("one more"), nullptr, &send_events));
}

TEST_F(ShmLimits, endpoints_for_tools_leave_room_for_endpoints_of_the_plan) {
  TestSendEvents send_events(events_);
  auto process = join("many");
  ChannelSpec guests = spec("g");
  guests.tools_only = true;
  for (std::uint32_t i = 0; i < shm::kMaxToolsOnly; ++i) {
    guests.name = "g" + std::to_string(i);
    ASSERT_TRUE(process->open(guests, nullptr, &send_events)) << i;
  }
  guests.name = "g";
  const auto refused = process->open(guests, nullptr, &send_events);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::exhausted);
  EXPECT_TRUE(has(refused.error().message, std::to_string(shm::kMaxToolsOnly)));
  EXPECT_TRUE(process->open(spec("own"), nullptr, &send_events));
}

TEST_F(ShmLimits, a_queue_beyond_the_limit_is_refused_on_both_sides) {
  TestSendEvents send_events(events_);
  TestSink sink(events_);
  Policy policy;
  policy.depth = 1;
  auto subscriber = join("subscriber");
  (void)subscriber->open(spec("c", policy), &sink, nullptr).or_throw();
  // A raw participant with so many publishers that only one queue is left.
  const auto record = publication(*subscriber);
  auto crowd = folder_.join(1 << 20).or_throw();
  for (std::uint32_t i = 0; i < kMaxRings - 1; ++i) {
    shm::EndpointRecord one = record;
    one.serial = 10 + i;
    one.is_publisher = 1;
    crowd->control().set_endpoint(i, one).or_throw();
  }
  crowd->domain().notify(crowd->socket(), subscriber->participant_id());
  auto theirs = shm::Control::open(crowd->domain(), subscriber->participant_id()).or_throw();
  ASSERT_TRUE(eventually([&] {
    const auto rings = theirs.rings();
    return rings && rings->size() == kMaxRings - 1;
  }));
  EXPECT_EQ(events_.read([&] { return sink.publishers; }), 0) << "none has attached its queue";
  auto last = join("last");
  const PortId out = last->open(spec("c", policy), nullptr, &send_events).or_throw();
  ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1; }));
  EXPECT_TRUE(events_.read([&] { return sink.errors.empty(); }));

  TestSendEvents late_send_events(events_);
  auto late = join("late");
  const PortId late_out = late->open(spec("c", policy), nullptr, &late_send_events).or_throw();
  ASSERT_TRUE(
      events_.wait([&] { return !sink.errors.empty() && !late_send_events.errors.empty(); }));
  events_.read([&] {
    for (const Error& error : {sink.errors.front(), late_send_events.errors.front()}) {
      EXPECT_EQ(error.code, Code::exhausted);
      EXPECT_TRUE(has(error.message, std::to_string(kMaxRings) + " queues")) << error.message;
      EXPECT_TRUE(has(error.message, "split")) << error.message;
    }
    return 0;
  });
  EXPECT_EQ(late->send(late_out, sample(1)).accepted, 0U);
  EXPECT_EQ(last->send(out, sample(2)).accepted, 1U);
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 1; }));

  last.reset();  // its queue goes to the waiting publisher
  ASSERT_TRUE(events_.wait([&] { return late_send_events.receivers == 1; }));
  EXPECT_EQ(late->send(late_out, sample(3)).accepted, 1U);
  ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == 2; }));
}

TEST_F(ShmLimits, a_message_that_can_never_fit_fails_at_once) {
  TestSendEvents send_events(events_);
  TestSink sink(events_);
  auto publisher = join("publisher", 4 << 20);
  auto subscriber = join("subscriber");
  for (const Overflow overflow : {Overflow::drop_oldest, Overflow::drop_newest, Overflow::block}) {
    for (const bool latched : {false, true}) {
      Policy policy = with_overflow(overflow, 4);
      policy.block_timeout_ms = 0;  // no timeout
      policy.latched = latched;
      const std::string name =
          "c" + std::to_string(static_cast<int>(overflow)) + (latched ? "latched" : "");
      const PortId out = publisher->open(spec(name, policy), nullptr, &send_events).or_throw();
      const PortId in = subscriber->open(spec(name, policy), &sink, nullptr).or_throw();
      ASSERT_TRUE(events_.wait([&] { return send_events.receivers == 1; }));
      const auto before = events_.read([&] { return send_events.drops[Drop::too_large]; });
      const SendReport report = publisher->send(out, sample(1, 5 << 20));
      EXPECT_EQ(report.failure, Code::too_large) << name;
      EXPECT_EQ(report.dropped, 1U);
      EXPECT_EQ(events_.read([&] { return send_events.drops[Drop::too_large]; }), before + 1);
      EXPECT_TRUE(publisher->loan(out, 5 << 20).empty());
      const auto got = events_.read([&] { return sink.messages.size(); });
      EXPECT_FALSE(publisher->send(out, sample(2)).failure);
      ASSERT_TRUE(events_.wait([&] { return sink.messages.size() == got + 1; }));
      publisher->close(out);
      subscriber->close(in);
    }
  }
  EXPECT_EQ(events_.read([&] { return send_events.drops[Drop::no_memory]; }), 0U);
}

TEST_F(ShmLimits, a_notice_arrives_although_stopped_processes_read_none) {
  const auto self = folder_.join(1 << 20).or_throw();
  std::vector<std::shared_ptr<shm::Participant>> stopped;
  for (int i = 0; i < 60; ++i) stopped.push_back(folder_.join(1 << 20).or_throw());
  const auto reader = folder_.join(1 << 20).or_throw();
  for (int i = 0; i < 300; ++i) {  // as many as each of them accepts
    for (const auto& each : stopped) self->domain().notify(self->socket(), each->id());
  }
  char byte = 0;
  self->domain().notify(self->socket(), reader->id());
  EXPECT_EQ(::recv(reader->socket().get(), &byte, 1, MSG_DONTWAIT), 1);
}

TEST_F(ShmLimits, a_grown_table_is_read_by_processes_that_mapped_it_before) {
  const auto self = folder_.join().or_throw();
  auto reader = shm::Control::open(self->domain(), self->id()).or_throw();
  const auto file = folder_.domain() / shm::control_name(self->id());
  EXPECT_EQ(std::filesystem::file_size(file), shm::control_size(1));
  EXPECT_TRUE(reader.endpoints()->empty());
  for (std::uint32_t i = 0; i < 3 * shm::kChunkRecords; ++i) {
    shm::EndpointRecord record{};
    record.serial = i + 1;
    self->control().set_endpoint(i, record).or_throw();
    ASSERT_EQ(std::filesystem::file_size(file), shm::control_size(i / shm::kChunkRecords + 1));
    ASSERT_EQ(reader.endpoints()->size(), i + 1);
  }
  const auto late = shm::Control::open(self->domain(), self->id()).or_throw().endpoints();
  ASSERT_EQ(late->size(), 3 * shm::kChunkRecords);
  EXPECT_EQ(late->back().serial, 3 * shm::kChunkRecords);
}

TEST_F(ShmLimits, a_table_size_beyond_the_file_size_is_ignored) {
  const auto self = folder_.join().or_throw();
  auto reader = shm::Control::open(self->domain(), self->id()).or_throw();
  for (const std::uint32_t claim : {shm::kChunkRecords + 1, kMaxEndpoints, ~std::uint32_t{0}}) {
    self->control().header().endpoints.store(claim);
    EXPECT_FALSE(reader.endpoints()) << claim;
  }
}

}  // namespace
}  // namespace hyphos::transport::testing

namespace hyphos::shm {
namespace {

constexpr std::uint64_t kOwner = 1;

class HolderGroups : public ::testing::Test {
 protected:
  [[nodiscard]] std::uint64_t file_size() const {
    return std::filesystem::file_size(folder_.domain() / pool_name(self_->id(), 0));
  }
  testing::Folder folder_;
  std::shared_ptr<Participant> self_ = folder_.join().or_throw();
  const SegmentLayout layout_ = *segment_layout(8, 256);
  std::shared_ptr<Segment> segment_ =
      Segment::create(self_->domain(), self_->control(), 0, layout_).or_throw();
};

TEST_F(HolderGroups, a_file_grows_by_a_group_when_all_entries_are_used) {
  const auto theirs = Segment::open(self_->domain(), self_->id(), 0).or_throw();
  for (std::uint64_t i = 0; i < kMaxHolders; ++i) {
    ASSERT_EQ(segment_->claim(100 + i, kOwner).index, i);
    ASSERT_EQ(file_size(), layout_.size + i / kGroupHolders * layout_.group_size);
  }
  EXPECT_FALSE(segment_->claim(99, kOwner).valid());
  EXPECT_EQ(theirs->holders(), kMaxHolders) << "opened before there were groups";
  const auto late = Segment::open(self_->domain(), self_->id(), 0).or_throw();
  EXPECT_EQ(late->find(100 + kMaxHolders - 1, kOwner).index, kMaxHolders - 1);
}

TEST_F(HolderGroups, two_concurrent_claimers_create_one_group) {
  const auto theirs = Segment::open(self_->domain(), self_->id(), 0).or_throw();
  std::vector<std::uint32_t> indices;
  for (std::uint64_t i = 0; i < 2 * kGroupHolders; ++i) {
    indices.push_back((i % 2 == 0 ? segment_ : theirs)->claim(100 + i, kOwner + i % 2).index);
  }
  std::ranges::sort(indices);
  EXPECT_EQ(std::ranges::adjacent_find(indices), indices.end());
  EXPECT_EQ(file_size(), layout_.size + layout_.group_size);
}

TEST_F(HolderGroups, without_its_file_no_group_is_added_and_the_first_works) {
  HolderRef first;
  for (std::uint64_t i = 0; i < kGroupHolders; ++i) first = segment_->claim(100 + i, kOwner);
  std::filesystem::remove(folder_.domain() / pool_name(self_->id(), 0));
  EXPECT_FALSE(segment_->claim(99, kOwner).valid());
  EXPECT_TRUE(segment_->add_hold(0, first, false));
  EXPECT_FALSE(segment_->find_free(0));
  EXPECT_TRUE(segment_->release_hold(0, first));
  EXPECT_TRUE(segment_->find_free(0));
}

TEST_F(HolderGroups, a_file_with_part_of_a_group_is_refused) {
  for (std::uint64_t i = 0; i <= kGroupHolders; ++i) (void)segment_->claim(100 + i, kOwner);
  const auto path = folder_.domain() / pool_name(self_->id(), 0);
  EXPECT_TRUE(Segment::open(self_->domain(), self_->id(), 0));
  std::filesystem::resize_file(path, file_size() - kPage);
  EXPECT_EQ(Segment::open(self_->domain(), self_->id(), 0).error().code, Code::corrupt);
}

// Random claims, holds, releases and deaths through two mappings, compared with a plain model.
TEST_F(HolderGroups, any_sequence_agrees_with_a_model) {
  const auto theirs = Segment::open(self_->domain(), self_->id(), 0).or_throw();
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    std::minstd_rand random(seed);
    std::vector<HolderRef> alive;
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> held;  // slot and entry
    std::uint64_t next = seed * 100'000;
    for (int step = 0; step < 20'000; ++step) {
      Segment& at = random() % 2 == 0 ? *segment_ : *theirs;
      const std::uint32_t slot = random() % 8;
      const auto what = random() % 16;
      if (what < 4 && alive.size() < 400) {
        alive.push_back(at.claim(next++, kOwner));
        ASSERT_TRUE(alive.back().valid());
      } else if (what == 4 && !alive.empty()) {
        std::swap(alive[random() % alive.size()], alive.back());
        at.revoke(alive.back());
        for (std::uint32_t i = 0; i < 8; ++i) held.erase({i, alive.back().index});
        alive.pop_back();
      } else if (what < 10 && !alive.empty()) {
        const HolderRef entry = alive[random() % alive.size()];
        ASSERT_TRUE(at.add_hold(slot, entry, true));
        ++held[{slot, entry.index}];
      } else if (what < 15 && !alive.empty()) {
        const HolderRef entry = alive[random() % alive.size()];
        const auto found = held.find({slot, entry.index});
        ASSERT_EQ(at.release_hold(slot, entry), found != held.end());
        if (found != held.end() && --found->second == 0) held.erase(found);
      } else {
        const bool free =
            std::ranges::none_of(held, [&](const auto& one) { return one.first.first == slot; });
        ASSERT_EQ(segment_->find_free(slot), free) << "seed " << seed << ", step " << step;
      }
    }
    for (const HolderRef& entry : alive) segment_->revoke(entry);
    for (std::uint32_t slot = 0; slot < 8; ++slot) ASSERT_TRUE(segment_->find_free(slot));
  }
}

}  // namespace
}  // namespace hyphos::shm
