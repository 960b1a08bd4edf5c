#include "record/recorder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <latch>
#include <thread>

#include "hyphos/hyphos.hpp"
#include "reader.hpp"
#include "record/mcap_writer.hpp"

namespace hyphos::record {
namespace {

using testing::read_file;
using testing::ReadFile;

class RecorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hyphos-record-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] Options options(const std::string& file = "run.mcap") const {
    Options options;
    if (!file.empty()) options.path = folder_ / file;
    options.compression = Compression::none;
    options.clock = [this] { return time_.load(); };
    options.flush_ns = 3'600'000'000'000;  // chunks end by the actions of a test, not by time
    return options;
  }
  static std::uint16_t add(Recorder& recorder, const std::string& name,
                           std::uint32_t latched_depth = 0) {
    ChannelSpec spec;
    spec.name = name;
    spec.message_encoding = "hyphos.bytes";
    spec.latched_depth = latched_depth;
    return recorder.add_channel(std::move(spec)).or_throw();
  }
  void send(Recorder& recorder, std::uint16_t id, std::uint64_t sequence, std::string_view text,
            std::uint64_t sender = 1) {
    recorder.accept(id, sender, sequence, time_.load(), Buffer::copy_of(text), {});
  }

  std::filesystem::path folder_;
  std::atomic<std::int64_t> time_{1'000};
};

TEST_F(RecorderTest, messages_are_written_with_times_and_sequence_numbers) {
  auto recorder = Recorder::open(options()).or_throw();
  const auto a = add(*recorder, "a");
  const auto b = add(*recorder, "b");
  send(*recorder, a, 1, "first");
  time_ = 2'000;
  send(*recorder, b, 7, "");
  send(*recorder, a, 2, std::string(100'000, 'x'));  // too large to be copied
  ASSERT_TRUE(recorder->close().ok());
  const ReadFile file = read_file(folder_ / "run.mcap");
  EXPECT_TRUE(file.complete);
  ASSERT_EQ(file.messages.size(), 3U);
  EXPECT_EQ(file.messages[0].data, "first");
  EXPECT_EQ(file.messages[0].log_time, 1'000U);
  EXPECT_EQ(file.messages[1].data, "");
  EXPECT_EQ(file.messages[1].sequence, 7U);
  EXPECT_EQ(file.messages[1].log_time, 2'000U);
  EXPECT_EQ(file.messages[2].data, std::string(100'000, 'x'));
  EXPECT_EQ(file.topics.at(a), "a");
  EXPECT_NE(file.metadata.at("hyphos.recording").at("a").find("\"written\": 2"), std::string::npos);
}

TEST_F(RecorderTest, attached_buffers_are_fields_after_the_head) {
  auto recorder = Recorder::open(options()).or_throw();
  const auto id = add(*recorder, "image");
  BufferList buffers;
  buffers.push_back(Buffer::copy_of("pq"));
  buffers.push_back(Buffer::copy_of(std::string(300, 'z')));
  recorder->accept(id, 1, 1, 0, Buffer::copy_of("HEAD"), buffers);
  ASSERT_TRUE(recorder->close().ok());
  const ReadFile file = read_file(folder_ / "run.mcap");
  ASSERT_EQ(file.messages.size(), 1U);
  const std::string tag = "\x82\xea\x30";
  EXPECT_EQ(file.messages[0].data,
            "HEAD" + tag + "\x02pq" + tag + "\xac\x02" + std::string(300, 'z'));
}

TEST_F(RecorderTest, everything_received_is_written_or_counted) {
  Options tight = options();
  tight.chunk_bytes = 4 << 10;
  tight.queue_bytes = 16 << 10;
  auto recorder = Recorder::open(tight).or_throw();
  constexpr int kThreads = 4;
  constexpr int kEach = 5'000;
  std::vector<std::uint16_t> ids;
  for (int i = 0; i < kThreads; ++i) ids.push_back(add(*recorder, "c" + std::to_string(i)));
  std::latch together(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      together.arrive_and_wait();
      const std::string text(200 + i, 'm');
      for (int n = 1; n <= kEach; ++n) send(*recorder, ids[i], n, text, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(recorder->close().ok());
  const Status status = recorder->status();
  const ReadFile file = read_file(folder_ / "run.mcap");
  std::uint64_t dropped = 0;
  for (int i = 0; i < kThreads; ++i) {
    const Tally& tally = status.channels.at("c" + std::to_string(i));
    EXPECT_EQ(tally.received, static_cast<std::uint64_t>(kEach));
    EXPECT_EQ(tally.received, tally.written + tally.drop_queue);
    EXPECT_EQ(file.count(ids[i]), tally.written);
    EXPECT_EQ(tally.bytes, tally.written * (200 + static_cast<std::uint64_t>(i)));
    dropped += tally.drop_queue;
  }
  EXPECT_GT(dropped, 0U) << "the queue was never full: nothing was tried";
  EXPECT_EQ(status.waiting_bytes, 0U);
  EXPECT_EQ(status.held_bytes, 0U);
}

TEST_F(RecorderTest, gaps_in_the_numbers_count_as_missing_and_repeats_do_not) {
  auto recorder = Recorder::open(options()).or_throw();
  const auto id = add(*recorder, "a");
  for (const std::uint64_t number : {5, 6, 9, 9, 4, 10}) send(*recorder, id, number, "x", 1);
  for (const std::uint64_t number : {100, 102}) send(*recorder, id, number, "x", 2);
  ASSERT_TRUE(recorder->close().ok());
  EXPECT_EQ(recorder->status().channels.at("a").missing, 3U);
}

TEST_F(RecorderTest, a_message_is_in_the_file_after_flush) {
  auto recorder = Recorder::open(options()).or_throw();
  const auto id = add(*recorder, "a");
  send(*recorder, id, 1, "here");
  ASSERT_TRUE(recorder->flush().ok());
  const ReadFile cut = read_file(folder_ / "run.mcap");
  EXPECT_FALSE(cut.complete);
  ASSERT_EQ(cut.messages.size(), 1U);
  EXPECT_EQ(cut.messages[0].data, "here");
}

TEST_F(RecorderTest, splits_by_size_and_repeats_latched_values) {
  Options split = options();
  split.split_bytes = 20'000;
  split.chunk_bytes = 1'000;
  auto recorder = Recorder::open(split).or_throw();
  const auto map = add(*recorder, "map", 1);
  const auto scan = add(*recorder, "scan");
  send(*recorder, map, 1, "old", 1);
  send(*recorder, map, 2, "the map", 1);
  send(*recorder, map, 1, "other map", 2);
  for (int i = 1; i <= 60; ++i) {
    time_ += 10;
    send(*recorder, scan, i, std::string(1'000, 's'));
  }
  ASSERT_TRUE(recorder->close().ok());
  const Status status = recorder->status();
  ASSERT_GE(status.files.size(), 3U);
  std::size_t scans = 0;
  for (std::size_t i = 0; i < status.files.size(); ++i) {
    SCOPED_TRACE(status.files[i]);
    EXPECT_EQ(status.files[i].filename(), "run_00" + std::to_string(i) + ".mcap");
    const ReadFile file = read_file(status.files[i]);
    EXPECT_TRUE(file.complete);
    EXPECT_LE(file.bytes.size(), 22'000U);
    scans += file.count(scan);
    ASSERT_EQ(file.count(map), i == 0 ? 3U : 2U);
    if (i == 0) continue;
    EXPECT_EQ(file.messages[0].data, "the map");
    EXPECT_EQ(file.messages[1].data, "other map");
    EXPECT_EQ(file.messages[0].log_time, file.messages[2].log_time);
    EXPECT_NE(file.metadata.at("hyphos.recording").at("map").find("\"repeated\": 2"),
              std::string::npos);
  }
  EXPECT_EQ(scans, 60U);
}

TEST_F(RecorderTest, a_new_file_repeats_as_many_latched_values_as_the_channel_keeps) {
  Options split = options();
  split.split_ns = 3'600'000'000'000;
  split.chunk_bytes = 60;  // so that values of one publisher are in several chunks
  auto recorder = Recorder::open(split).or_throw();
  const auto goals = add(*recorder, "goals", 3);
  const auto scan = add(*recorder, "scan");
  for (int i = 1; i <= 5; ++i) send(*recorder, goals, i, "goal " + std::to_string(i), 1);
  send(*recorder, goals, 4, "goal 4", 1);  // a value that was sent again
  for (int i = 1; i <= 2; ++i) send(*recorder, goals, i, "other " + std::to_string(i), 2);
  send(*recorder, scan, 1, "s");
  ASSERT_TRUE(recorder->split().ok());
  send(*recorder, scan, 2, "s");
  ASSERT_TRUE(recorder->close().ok());
  const ReadFile file = read_file(recorder->status().files.at(1));
  std::vector<std::string> values;
  for (const auto& message : file.messages) values.push_back(message.data);
  EXPECT_EQ(values,
            (std::vector<std::string>{"goal 3", "goal 4", "goal 5", "other 1", "other 2", "s"}));
}

TEST_F(RecorderTest, only_the_last_files_are_kept) {
  Options split = options();
  split.split_bytes = 5'000;
  split.chunk_bytes = 1'000;
  split.keep_files = 2;
  auto recorder = Recorder::open(split).or_throw();
  const auto id = add(*recorder, "a");
  for (int i = 1; i <= 40; ++i) send(*recorder, id, i, std::string(1'000, 's'));
  ASSERT_TRUE(recorder->close().ok());
  const Status status = recorder->status();
  EXPECT_EQ(status.files.size(), 2U);
  std::size_t there = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    there += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(there, 2U);
  EXPECT_EQ(read_file(status.files.back()).messages.back().sequence, 40U);
}

TEST_F(RecorderTest, a_requested_split_starts_a_new_file) {
  auto recorder = Recorder::open(options()).or_throw();
  const auto id = add(*recorder, "a");
  send(*recorder, id, 1, "one");
  ASSERT_TRUE(recorder->split().ok());
  send(*recorder, id, 2, "two");
  ASSERT_TRUE(recorder->close().ok());
  const Status status = recorder->status();
  ASSERT_EQ(status.files.size(), 2U);
  EXPECT_EQ(read_file(status.files[0]).messages.at(0).data, "one");
  EXPECT_EQ(read_file(status.files[1]).messages.at(0).data, "two");
}

TEST_F(RecorderTest, a_ring_keeps_the_last_seconds_and_older_latched_values) {
  Options ring = options("");
  ring.ring_ns = 1'000;
  ring.chunk_bytes = 100;
  auto recorder = Recorder::open(ring).or_throw();
  const auto map = add(*recorder, "map", 1);
  const auto scan = add(*recorder, "scan");
  time_ = 0;
  send(*recorder, map, 1, "the map");
  for (int i = 1; i <= 100; ++i) {
    time_ = i * 100;
    send(*recorder, scan, i, std::string(200, 's'));
  }
  const Written written = recorder->snapshot(folder_ / "snap.mcap", false).or_throw();
  const ReadFile file = read_file(folder_ / "snap.mcap");
  EXPECT_TRUE(file.complete);
  EXPECT_EQ(written.messages, file.messages.size());
  EXPECT_EQ(file.messages.front().data, "the map");
  EXPECT_EQ(file.messages.back().sequence, 100U);
  EXPECT_GE(file.count(scan), 10U);
  EXPECT_LE(file.count(scan), 12U);
  EXPECT_EQ(file.metadata.at("hyphos.recording").at("scan").find("\"received\": 100"),
            std::string::npos)
      << "the counters of a snapshot are those of its messages";
  // Recording continues, and an existing file is not replaced.
  send(*recorder, scan, 101, "later");
  EXPECT_FALSE(recorder->snapshot(folder_ / "snap.mcap", false).ok());
  ASSERT_TRUE(recorder->snapshot(folder_ / "second.mcap", false).ok());
  EXPECT_EQ(read_file(folder_ / "second.mcap").messages.back().data, "later");
  EXPECT_FALSE(recorder->split().ok());
  ASSERT_TRUE(recorder->close().ok());
}

TEST_F(RecorderTest, a_ring_is_bounded_in_bytes) {
  Options ring = options("");
  ring.ring_bytes = 50'000;
  ring.chunk_bytes = 1'000;
  auto recorder = Recorder::open(ring).or_throw();
  const auto id = add(*recorder, "a");
  for (int i = 1; i <= 500; ++i) {
    send(*recorder, id, i, std::string(1'000, 's'));
    if (i % 20 != 0) continue;
    ASSERT_TRUE(recorder->flush().ok());
  }
  const Status status = recorder->status();
  EXPECT_LE(status.ring_bytes, 50'000U);
  EXPECT_GE(status.ring_bytes, 40'000U);
  EXPECT_EQ(status.channels.at("a").drop_queue, 0U);
}

TEST_F(RecorderTest, a_snapshot_of_a_file_recording_is_refused) {
  auto recorder = Recorder::open(options()).or_throw();
  const auto written = recorder->snapshot(folder_ / "s.mcap", false);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, Code::unsupported);
}

TEST_F(RecorderTest, an_existing_file_is_replaced_only_on_request) {
  std::ofstream(folder_ / "run.mcap") << "precious";
  auto refused = Recorder::open(options());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::already_exists);
  Options overwrite = options();
  overwrite.overwrite = true;
  ASSERT_TRUE(Recorder::open(overwrite).ok());
  EXPECT_FALSE(Recorder::open(options("no/such/folder.mcap")).ok());
}

TEST_F(RecorderTest, the_same_messages_give_the_same_file_with_any_threads) {
  std::string first;
  for (const int packers : {1, 2, 4}) {
    Options same = options("run" + std::to_string(packers) + ".mcap");
    same.deterministic = true;
    same.compression = Compression::zstd;
    same.packers = packers;
    same.chunk_bytes = 10'000;
    time_ = 5;
    auto recorder = Recorder::open(same).or_throw();
    const auto id = add(*recorder, "a");
    for (int i = 1; i <= 500; ++i) {
      time_ += i;
      send(*recorder, id, i, std::string(static_cast<std::size_t>(i), static_cast<char>(i)));
    }
    ASSERT_TRUE(recorder->close().ok());
    std::ifstream file(same.path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    if (first.empty()) first = bytes;
    EXPECT_EQ(bytes, first);
  }
  EXPECT_GT(first.size(), 1'000U);
}

TEST_F(RecorderTest, records_a_channel_of_a_node) {
  RuntimeOptions alone;
  alone.offline = true;
  const Node node = Node::open("robot", alone).or_throw();
  Options real = options();
  real.clock = nullptr;
  auto recorder = Recorder::open(real).or_throw();
  const auto id = add(*recorder, "raw");
  const auto publisher = node.publisher<Buffer>("raw");
  ASSERT_TRUE(recorder->subscribe(node, id, "raw", type_support<Buffer>().id, Policy{}).ok());
  const std::int64_t before = wall_now().ns;
  for (int i = 0; i < 10; ++i) publisher.publish(Buffer::copy_of("n" + std::to_string(i)));
  ASSERT_TRUE(recorder->close().ok());
  const ReadFile file = read_file(folder_ / "run.mcap");
  ASSERT_EQ(file.messages.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(file.messages[i].data, "n" + std::to_string(i));
    EXPECT_EQ(file.messages[i].sequence, i + 1);
    EXPECT_GE(file.messages[i].log_time, static_cast<std::uint64_t>(before));
    EXPECT_LE(file.messages[i].publish_time, file.messages[i].log_time);
  }
}

TEST_F(RecorderTest, memory_of_large_messages_is_held_up_to_the_limit) {
  Options limited = options();
  limited.hold_bytes = 100'000;
  auto recorder = Recorder::open(limited).or_throw();
  const auto id = add(*recorder, "a");
  const Buffer large = Buffer::copy_of(std::string(60'000, 'x'));
  recorder->accept(id, 1, 1, 0, large, {});
  EXPECT_FALSE(large.owner()->unique());
  recorder->accept(id, 1, 2, 0, Buffer::copy_of(std::string(60'000, 'y')), {});
  EXPECT_EQ(recorder->status().held_bytes, 60'000U) << "the second was copied";
  ASSERT_TRUE(recorder->close().ok());
  EXPECT_TRUE(large.owner()->unique());
  const ReadFile file = read_file(folder_ / "run.mcap");
  EXPECT_EQ(file.messages.at(0).data, std::string(60'000, 'x'));
  EXPECT_EQ(file.messages.at(1).data, std::string(60'000, 'y'));
}

TEST_F(RecorderTest, the_writer_refuses_an_unknown_channel) {
  McapWriter::Options to;
  to.path = folder_ / "w.mcap";
  auto writer = McapWriter::create(to).or_throw();
  EXPECT_FALSE(writer.write({1, 0, 0, 0}, {}).ok());
  ASSERT_TRUE(writer.close().ok());
}

TEST_F(RecorderTest, a_time_before_1970_becomes_0) {
  time_ = -5'000'000'000;
  auto recorder = Recorder::open(options()).or_throw();
  send(*recorder, add(*recorder, "a"), 1, "early");
  ASSERT_TRUE(recorder->close().ok());
  const ReadFile file = read_file(folder_ / "run.mcap");
  ASSERT_EQ(file.messages.size(), 1U);
  EXPECT_EQ(file.messages[0].log_time, 0U);
}

TEST_F(RecorderTest, the_writer_keeps_64_bit_times) {
  McapWriter::Options to;
  to.path = folder_ / "w.mcap";
  to.compression = Compression::none;
  auto writer = McapWriter::create(to).or_throw();
  const auto id = writer.add_channel("a", "bytes", 0, {}).or_throw();
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  for (const std::uint64_t time : {kSign, std::uint64_t{5}, ~std::uint64_t{0}, kSign - 1}) {
    ASSERT_TRUE(writer.write({id, 0, time, time}, {}).ok());
  }
  ASSERT_TRUE(writer.close().ok());
  const ReadFile file = read_file(to.path);
  std::vector<std::uint64_t> times;
  for (const auto& message : file.messages) times.push_back(message.log_time);
  EXPECT_EQ(times, (std::vector<std::uint64_t>{kSign, 5, ~std::uint64_t{0}, kSign - 1}));
}

}  // namespace
}  // namespace hyphos::record
