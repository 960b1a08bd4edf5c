#include "record/mcap_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "record/mcap_writer.hpp"

namespace hyphos::record {
namespace {

class McapReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "hyphos-reader-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ / "run.mcap";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] McapWriter writer(Compression compression, std::size_t chunk_bytes = 1'024) const {
    McapWriter::Options options;
    options.path = path_;
    options.overwrite = true;
    options.profile = "hyphos";
    options.chunk_bytes = chunk_bytes;
    options.compression = compression;
    return McapWriter::create(options).or_throw();
  }

  /// 300 messages of channel "a" and 30 of channel "b" at 10, 20, … ns, in many chunks.
  void write_two_channels(Compression compression) const {
    McapWriter out = writer(compression);
    const auto schema = out.add_schema("pkg.A", "protobuf", "definition").or_throw();
    const auto a = out.add_channel("a", "protobuf", schema, {{"key", "value"}}).or_throw();
    const auto b = out.add_channel("b", "bytes", 0, {}).or_throw();
    for (std::uint32_t i = 0; i < 300; ++i) {
      put(out, a, i, (i + 1) * 10, "a" + std::to_string(i) + std::string(50, 'x'));
      if (i % 10 == 0) put(out, b, i, (i + 1) * 10 + 5, "b" + std::to_string(i));
    }
    out.close().or_throw();
  }

  static void put(McapWriter& out, std::uint16_t channel, std::uint32_t sequence,
                  std::uint64_t time, std::string_view text) {
    out.write({channel, sequence, time, time - 1}, std::as_bytes(std::span(text))).or_throw();
  }

  [[nodiscard]] std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void store(std::string_view bytes) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] std::unique_ptr<McapReader> open(McapReader::Options options = {}) const {
    return McapReader::open(path_, std::move(options)).or_throw();
  }

  static ChannelSet all(const McapReader& reader) {
    ChannelSet set;
    for (const auto& [id, channel] : reader.channels()) set.add(id);
    return set;
  }
  static std::vector<std::uint64_t> times(McapReader& reader, const ChannelSet& set,
                                          std::uint64_t from = 0,
                                          std::uint64_t until = ~std::uint64_t{0}) {
    McapCursor cursor(reader, set, from);
    std::vector<std::uint64_t> out;
    while (auto message = cursor.next(until)) out.push_back(message->log_ns);
    return out;
  }
  static bool has_problem(const McapReader& reader, std::string_view text) {
    const auto& all = reader.problems();
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& one) { return one.find(text) != std::string::npos; });
  }
  /// The position of the n-th chunk, found by its opcode and a plausible length.
  static std::size_t chunk_at(const std::string& file, int n) {
    std::size_t at = 8;
    for (;;) {
      std::uint64_t length = 0;
      std::memcpy(&length, file.data() + at + 1, sizeof(length));
      if (file[at] == 0x06 && n-- == 0) return at;
      at += 9 + length;
      if (at >= file.size()) return std::string::npos;
    }
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

TEST_F(McapReaderTest, messages_come_in_order_of_time_from_every_compression) {
  for (const Compression compression : {Compression::none, Compression::lz4, Compression::zstd}) {
    write_two_channels(compression);
    const auto reader = open();
    EXPECT_TRUE(reader->indexed());
    EXPECT_EQ(reader->profile(), "hyphos");
    EXPECT_EQ(reader->start_ns(), 10U);
    EXPECT_EQ(reader->end_ns(), 3'000U);
    EXPECT_EQ(reader->count(1), 300U);
    EXPECT_EQ(reader->count(2), 30U);
    EXPECT_EQ(reader->chunks_read(), 0U) << "open() reads the index only";
    EXPECT_EQ(reader->channels().at(1).metadata.at("key"), "value");
    EXPECT_EQ(reader->schemas().at(1).data, "definition");
    McapCursor cursor(*reader, all(*reader), 0);
    std::vector<std::string> texts;
    std::uint64_t before = 0;
    while (auto message = cursor.next(~std::uint64_t{0})) {
      EXPECT_GE(message->log_ns, before);
      EXPECT_EQ(message->publish_ns, message->log_ns - 1);
      before = message->log_ns;
      texts.emplace_back(message->data.text());
    }
    ASSERT_EQ(texts.size(), 330U);
    EXPECT_EQ(texts[0], "a0" + std::string(50, 'x'));
    EXPECT_EQ(texts[1], "b0");
    EXPECT_EQ(texts[2], "a1" + std::string(50, 'x'));
    EXPECT_TRUE(reader->problems().empty());
  }
}

TEST_F(McapReaderTest, a_cursor_reads_only_its_channels_and_times) {
  write_two_channels(Compression::zstd);
  const auto reader = open();
  ChannelSet b;
  b.add(2);
  EXPECT_EQ(times(*reader, b, 106, 305), (std::vector<std::uint64_t>{115, 215}));
  McapCursor cursor(*reader, b, 0);
  EXPECT_FALSE(cursor.next(14));
  EXPECT_EQ(cursor.next_time(), 15U);
  EXPECT_EQ(cursor.next(15)->log_ns, 15U) << "a later call goes on";
  EXPECT_FALSE(cursor.next(15));
  EXPECT_EQ(cursor.next(1'000)->log_ns, 115U);
  EXPECT_TRUE(times(*reader, ChannelSet()).empty());
}

TEST_F(McapReaderTest, chunks_that_overlap_are_merged) {
  McapWriter out = writer(Compression::none, 1U << 20U);
  const auto id = out.add_channel("a", "bytes", 0, {}).or_throw();
  for (const std::uint64_t start : {0U, 5U, 3U}) {
    for (std::uint64_t i = 0; i < 4; ++i) put(out, id, 0, 100 + start + i * 10, "m");
    out.flush().or_throw();
  }
  out.close().or_throw();
  const auto reader = open();
  EXPECT_EQ(
      times(*reader, all(*reader)),
      (std::vector<std::uint64_t>{100, 103, 105, 110, 113, 115, 120, 123, 125, 130, 133, 135}));
  EXPECT_EQ(times(*reader, all(*reader), 111, 123),
            (std::vector<std::uint64_t>{113, 115, 120, 123}));
}

TEST_F(McapReaderTest, the_last_messages_before_a_time_are_found) {
  write_two_channels(Compression::lz4);
  const auto reader = open();
  ChannelSet b;
  b.add(2);
  const auto last = reader->last(b, 214);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].data.text(), "b10");
  EXPECT_TRUE(reader->last(b, 14).empty());
  EXPECT_EQ(reader->last(b, 15).at(0).log_ns, 15U);
  const auto three = reader->last(b, 10'000, 3);
  ASSERT_EQ(three.size(), 3U);
  EXPECT_EQ(three[0].data.text(), "b270");
  EXPECT_EQ(three[2].data.text(), "b290");
  EXPECT_EQ(reader->last(b, 10'000, 1'000).size(), 30U);
}

TEST_F(McapReaderTest, equal_times_are_all_found_by_last) {
  McapWriter out = writer(Compression::none, 1U << 20U);
  const auto id = out.add_channel("tf_static", "bytes", 0, {}).or_throw();
  for (const char* text : {"one", "two", "three"}) put(out, id, 0, 50, text);
  out.flush().or_throw();
  put(out, id, 0, 50, "four");
  out.close().or_throw();
  const auto reader = open();
  EXPECT_EQ(reader->last(all(*reader), 50, 10).size(), 4U);
}

TEST_F(McapReaderTest, the_cache_is_bounded_in_bytes) {
  write_two_channels(Compression::zstd);
  McapReader::Options options;
  options.cache_bytes = 8'000;
  const auto reader = open(options);
  EXPECT_EQ(times(*reader, all(*reader)).size(), 330U);
  EXPECT_LE(reader->memory(), 8'000U);
  const auto once = reader->chunks_read();
  EXPECT_GT(once, 10U);
  (void)reader->last(all(*reader), 3'000);
  EXPECT_EQ(reader->chunks_read(), once) << "the last chunk is in the cache";
  reader->limit_memory(1);
  EXPECT_LE(reader->memory(), 4'000U) << "one chunk is kept";
}

TEST_F(McapReaderTest, data_outlives_the_cache_and_the_reader) {
  write_two_channels(Compression::none);
  Buffer kept;
  {
    const auto reader = open();
    kept = reader->last(all(*reader), 10).at(0).data;
  }
  EXPECT_EQ(kept.text(), "a0" + std::string(50, 'x'));
}

TEST_F(McapReaderTest, a_file_cut_anywhere_gives_its_complete_messages) {
  for (const Compression compression : {Compression::none, Compression::lz4, Compression::zstd}) {
    write_two_channels(compression);
    const std::string whole = bytes();
    std::size_t before = 0;
    for (std::size_t size = 0; size < whole.size(); size += 41) {
      store(whole.substr(0, size));
      const auto opened = McapReader::open(path_);
      if (size < 8) {
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code, Code::corrupt);
        continue;
      }
      ASSERT_TRUE(opened) << opened.error().to_string();
      McapReader& reader = *opened.value();
      EXPECT_FALSE(reader.indexed());
      EXPECT_TRUE(has_problem(reader, "without an index"));
      EXPECT_TRUE(has_problem(reader, "byte ")) << "with the position";
      const std::size_t count = times(reader, all(reader)).size();
      EXPECT_GE(count, before) << "at " << size;
      before = count;
    }
    EXPECT_EQ(before, 330U);
  }
}

TEST_F(McapReaderTest, a_cut_chunk_gives_the_messages_before_the_cut) {
  write_two_channels(Compression::none);
  const std::string whole = bytes();
  const std::size_t first = chunk_at(whole, 0);
  const std::size_t second = chunk_at(whole, 1);
  store(whole.substr(0, first + (second - first) / 2));
  const auto reader = open();
  EXPECT_TRUE(has_problem(
      *reader, "byte " + std::to_string(first) + ": the file ends in the middle of a chunk"));
  const auto found = times(*reader, all(*reader));
  EXPECT_GT(found.size(), 2U);
  EXPECT_LT(found.size(), 15U);
}

TEST_F(McapReaderTest, a_corrupt_chunk_costs_no_other_chunk) {
  for (const Compression compression : {Compression::none, Compression::lz4, Compression::zstd}) {
    write_two_channels(compression);
    std::string file = bytes();
    const std::size_t chunk = chunk_at(file, 3);
    file[chunk + 90] = static_cast<char>(file[chunk + 90] ^ 0x55);
    store(file);
    const auto reader = open();
    EXPECT_TRUE(reader->indexed());
    const std::size_t found = times(*reader, all(*reader)).size();
    EXPECT_GT(found, 290U);
    EXPECT_LT(found, 330U);
    EXPECT_TRUE(has_problem(*reader, "byte " + std::to_string(chunk) + ":"));
    EXPECT_EQ(reader->corrupt(1), 1U);
    (void)times(*reader, all(*reader));
    EXPECT_EQ(reader->problems().size(), 1U) << "reported once";
  }
}

TEST_F(McapReaderTest, garbage_between_chunks_is_skipped_without_an_index) {
  write_two_channels(Compression::zstd);
  const std::string file = bytes();
  const std::size_t chunk = chunk_at(file, 5);
  const std::size_t next = chunk_at(file, 6);
  std::string broken = file.substr(0, next);
  broken += std::string(100, '\xff');
  broken += file.substr(next, file.size() - next - 60);  // without the footer
  store(broken);
  const auto reader = open();
  EXPECT_FALSE(reader->indexed());
  EXPECT_EQ(times(*reader, all(*reader)).size(), 330U);
  EXPECT_TRUE(has_problem(*reader, "are corrupt"));
  // The length of a chunk that is wrong makes all later bytes unreadable, up to the next chunk.
  broken = file.substr(0, file.size() - 60);
  broken[chunk + 7] = '\x7f';
  store(broken);
  const auto other = open();
  const std::size_t found = times(*other, all(*other)).size();
  EXPECT_GT(found, 300U);
  EXPECT_LT(found, 330U);
}

TEST_F(McapReaderTest, no_size_in_the_file_is_trusted) {
  write_two_channels(Compression::zstd);
  const std::string file = bytes();
  const std::size_t chunk = chunk_at(file, 2);
  const std::uint64_t lie = std::uint64_t{1} << 60U;
  for (const std::size_t field : {1U, 9U + 16U, 9U + 28U, 9U + 28U + 4U + 4U}) {
    std::string broken = file;
    std::memcpy(broken.data() + chunk + field, &lie, field == 9U + 28U ? 4 : 8);
    if (field == 9U + 28U) broken[chunk + field + 3] = '\x7f';
    store(broken);
    const auto reader = open();
    EXPECT_GT(times(*reader, all(*reader)).size(), 290U);
    EXPECT_FALSE(reader->problems().empty()) << field;
  }
  // In the footer: the start of the summary.
  std::string broken = file;
  std::memcpy(broken.data() + broken.size() - 28, &lie, 8);
  store(broken);
  const auto reader = open();
  EXPECT_EQ(times(*reader, all(*reader)).size(), 330U);
}

TEST_F(McapReaderTest, a_file_that_shrinks_while_it_is_open_is_an_error_of_its_chunk) {
  write_two_channels(Compression::none);
  const auto reader = open();
  std::filesystem::resize_file(path_, chunk_at(bytes(), 4) + 50);
  const std::size_t found = times(*reader, all(*reader)).size();
  EXPECT_GT(found, 30U);
  EXPECT_LT(found, 100U);
  EXPECT_TRUE(has_problem(*reader, "the file ends here"));
}

TEST_F(McapReaderTest, the_messages_decide_about_the_times_of_a_chunk) {
  McapFile out = McapFile::create(path_, true, "hyphos").or_throw();
  out.put(mcap::Channel{1, 0, "a", "bytes", {}}).or_throw();
  Packer packer;
  for (std::uint64_t base : {100U, 200U}) {
    Chunk chunk;
    for (std::uint64_t i = 0; i < 3; ++i) {
      chunk.add({1, 0, base + i, base + i}, std::as_bytes(std::span("m", 1)));
      ++chunk.tally(1).written;
    }
    Packed packed = packer.pack(std::move(chunk), Compression::none, true);
    packed.start_time = 150;  // of both, and wrong
    packed.end_time = 160;
    out.write(packed).or_throw();
  }
  out.close({}, {}, false).or_throw();
  const auto reader = open();
  (void)times(*reader, all(*reader));  // reads the chunks
  EXPECT_TRUE(has_problem(*reader, "other times"));
  EXPECT_EQ(times(*reader, all(*reader)),
            (std::vector<std::uint64_t>{100, 101, 102, 200, 201, 202}));
  EXPECT_EQ(reader->start_ns(), 100U);
  EXPECT_EQ(reader->end_ns(), 202U);
}

TEST_F(McapReaderTest, messages_outside_of_chunks_are_read) {
  mcap::Bytes out;
  mcap::put_magic(out);
  mcap::put_header(out, "other", "test");
  mcap::put_channel(out, {7, 0, "a", "bytes", {}});
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::size_t at = out.size();
    out.resize(at + mcap::kMessageHead + 3, std::byte{'z'});
    mcap::write_message_head(out.data() + at, 7, 0, 1'000 - i, 0, 3);  // times decrease
  }
  mcap::put_data_end(out);
  mcap::put_footer(out, 0, 0, {});
  mcap::put_magic(out);
  store({reinterpret_cast<const char*>(out.data()), out.size()});
  const auto reader = open();
  EXPECT_FALSE(reader->indexed());
  const auto found = times(*reader, all(*reader));
  ASSERT_EQ(found.size(), 100U);
  EXPECT_EQ(found.front(), 901U);
  EXPECT_EQ(found.back(), 1'000U);
  EXPECT_EQ(reader->count(7), 100U);
  EXPECT_EQ(reader->last(all(*reader), 950).at(0).data.text(), "zzz");
}

TEST_F(McapReaderTest, attachments_and_metadata_are_read_by_name) {
  McapWriter out = writer(Compression::none);
  out.attach({1, 2, "robot.yaml", "text/yaml", "hyphos: 1"}).or_throw();
  out.describe("state", {{"a", "first"}}).or_throw();
  out.describe("state", {{"a", "second"}, {"b", ""}}).or_throw();
  out.close().or_throw();
  const std::string whole = bytes();
  for (const bool indexed : {true, false}) {
    store(indexed ? whole : whole.substr(0, whole.size() - 30));
    const auto reader = open();
    EXPECT_EQ(reader->indexed(), indexed);
    EXPECT_EQ(reader->attachment("robot.yaml").or_throw(), "hyphos: 1");
    EXPECT_EQ(reader->attachments(), std::vector<std::string>{"robot.yaml"});
    EXPECT_EQ(reader->attachment("none").error().code, Code::not_found);
    EXPECT_EQ(reader->metadata().at("state").at("a"), "second");
  }
  std::string broken = whole;
  broken[whole.find("hyphos: 1")] = 'X';
  store(broken);
  EXPECT_EQ(open()->attachment("robot.yaml").error().code, Code::corrupt);
}

TEST_F(McapReaderTest, another_file_is_refused_with_its_kind) {
  EXPECT_EQ(McapReader::open(path_).error().code, Code::not_found);
  store("#ROSBAG V2.0\n and more bytes than the magic");
  const auto bag = McapReader::open(path_);
  ASSERT_FALSE(bag);
  EXPECT_EQ(bag.error().code, Code::corrupt);
  EXPECT_NE(bag.error().message.find("byte 0"), std::string::npos);
  EXPECT_FALSE(McapReader::open(folder_));
}

TEST_F(McapReaderTest, a_file_with_a_large_gap_is_opened_by_its_index) {
  write_two_channels(Compression::zstd);
  // A private record of 10 GB, which takes no space on the disk, before the summary.
  const std::string file = bytes();
  std::uint64_t start = 0;
  std::memcpy(&start, file.data() + file.size() - 28, 8);
  constexpr std::uint64_t kGap = std::uint64_t{10} << 30U;
  mcap::Bytes head(mcap::kRecordHead);
  head[0] = std::byte{0x80};
  const std::uint64_t length = kGap - head.size();
  std::memcpy(head.data() + 1, &length, sizeof(length));
  const std::string_view summary = std::string_view(file).substr(start, file.size() - start - 37);
  mcap::Bytes end;
  mcap::put_footer(end, start + kGap, 0, std::as_bytes(std::span(summary)));
  mcap::put_magic(end);
  {
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    out.write(file.data(), static_cast<std::streamsize>(start));
    out.write(reinterpret_cast<const char*>(head.data()), 9);
    out.seekp(static_cast<std::streamoff>(start + kGap));
    out.write(summary.data(), static_cast<std::streamsize>(summary.size()));
    out.write(reinterpret_cast<const char*>(end.data()), static_cast<std::streamsize>(end.size()));
    ASSERT_TRUE(out.good());
  }
  const auto reader = open();
  EXPECT_TRUE(reader->indexed());
  EXPECT_EQ(times(*reader, all(*reader)).size(), 330U);
}

TEST_F(McapReaderTest, a_file_that_is_being_written_is_read_as_far_as_it_is_complete) {
  McapWriter out = writer(Compression::zstd, 1U << 20U);
  const auto a = out.add_channel("a", "bytes", 0, {}).or_throw();
  for (std::uint32_t i = 1; i <= 10; ++i) put(out, a, i, i * 10, "first");
  out.flush().or_throw();
  McapReader::Options options;
  options.growing = true;
  const auto reader = open(options);
  EXPECT_FALSE(reader->refresh()) << "nothing was appended";
  EXPECT_EQ(times(*reader, all(*reader)).size(), 10U);
  EXPECT_EQ(reader->end_ns(), 100U);
  EXPECT_EQ(reader->chunks_read(), 1U);
  const auto b = out.add_channel("b", "bytes", 0, {}).or_throw();
  for (std::uint32_t i = 11; i <= 20; ++i) put(out, i % 2 == 0 ? b : a, i, i * 10, "second");
  out.flush().or_throw();
  EXPECT_TRUE(reader->refresh());
  EXPECT_EQ(reader->chunks_read(), 1U) << "the index of a chunk is read, and not its messages";
  EXPECT_EQ(reader->count(a), 15U);
  EXPECT_EQ(reader->count(b), 5U);
  EXPECT_EQ(reader->end_ns(), 200U);
  EXPECT_EQ(times(*reader, all(*reader)).size(), 20U);
  ChannelSet only;
  only.add(b);
  EXPECT_EQ(reader->last(only, 150).back().log_ns, 140U);
  // A chunk that is cut off is not there yet.
  const std::string before = bytes();
  for (std::uint32_t i = 21; i <= 30; ++i) put(out, a, i, i * 10, "third");
  out.flush().or_throw();
  const std::string after = bytes();
  store(after.substr(0, before.size() + (after.size() - before.size()) / 3));
  EXPECT_FALSE(reader->refresh());
  store(after);
  EXPECT_TRUE(reader->refresh());
  EXPECT_EQ(times(*reader, all(*reader)).size(), 30U);
  EXPECT_TRUE(reader->problems().empty()) << reader->problems().front();
  out.close().or_throw();
  EXPECT_FALSE(reader->refresh()) << "the index of the file has no messages";
  EXPECT_EQ(times(*reader, all(*reader)).size(), 30U);
}

TEST_F(McapReaderTest, reading_a_file_without_an_index_can_be_stopped) {
  McapWriter out = writer(Compression::none, 1U << 20U);
  const auto id = out.add_channel("a", "bytes", 0, {}).or_throw();
  const std::string large(1U << 20U, 'x');
  for (std::uint64_t i = 0; i < 8; ++i) put(out, id, 0, i + 1, large);
  out.close().or_throw();
  store(bytes().substr(0, bytes().size() - 100));
  McapReader::Options options;
  double seen = 0;
  options.progress = [&](double part) {
    seen = part;
    return part < 0.5;
  };
  const auto reader = open(options);
  EXPECT_GE(seen, 0.5);
  EXPECT_LT(seen, 0.9);
  EXPECT_TRUE(has_problem(*reader, "reading was stopped here"));
  const std::size_t found = times(*reader, all(*reader)).size();
  EXPECT_GE(found, 3U);
  EXPECT_LT(found, 7U);
}

}  // namespace
}  // namespace hyphos::record
