#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "record/mcap_writer.hpp"
#include "source_sink.hpp"
#include "view/core/graph_state.hpp"
#include "view/core/types.hpp"
#include "view/sources/open.hpp"
#include "view/sources/stored.hpp"
#include <hyphos/msgs/std.pb.h>

namespace hyphos::view {
namespace {

using record::McapWriter;

class RecordingTest : public ::testing::Test {
 protected:
  [[nodiscard]] McapWriter writer(const std::string& profile = "hyphos") const {
    McapWriter::Options options;
    options.path = path_;
    options.overwrite = true;
    options.profile = profile;
    options.chunk_bytes = 512;
    return McapWriter::create(options).or_throw();
  }
  static void put(McapWriter& out, std::uint16_t channel, std::uint64_t time, std::string_view text,
                  std::uint32_t sequence = 0) {
    out.write({channel, sequence, time, time - 1}, std::as_bytes(std::span(text))).or_throw();
  }
  static std::uint16_t add(McapWriter& out, const std::string& name, const std::string& encoding,
                           const std::string& type = "", std::uint16_t schema = 0,
                           bool latched = false) {
    return out
        .add_channel(name, encoding == "attached" ? "protobuf" : encoding, schema,
                     {{"hyphos.type", type},
                      {"hyphos.encoding", encoding},
                      {"hyphos.policy", latched ? R"({"latched": true})" : "{}"}})
        .or_throw();
  }
  [[nodiscard]] std::unique_ptr<Source> open() const {
    return open_source(path_, {.domain = {}, .memory_bytes = 1U << 20U, .progress = {}}).or_throw();
  }
  static std::string definition() {
    google::protobuf::FileDescriptorSet set;
    auto& file = *set.add_file();
    file.set_name("pkg/cloud.proto");
    file.set_package("pkg");
    file.set_syntax("proto3");
    auto& message = *file.add_message_type();
    message.set_name("Cloud");
    auto& field = *message.add_field();
    field.set_name("n");
    field.set_number(1);
    field.set_type(google::protobuf::FieldDescriptorProto::TYPE_INT32);
    field.set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
    return set.SerializeAsString();
  }

  Folder folder_;
  std::string path_ = folder_ / "run.mcap";
};

TEST_F(RecordingTest, samples_come_up_to_a_time_and_after_a_seek) {
  McapWriter out = writer();
  const auto a = add(out, "a", "bytes", "bytes");
  const auto b = add(out, "b", "bytes", "bytes");
  for (std::uint64_t i = 1; i <= 100; ++i) put(out, a, i * 10, "a" + std::to_string(i), 7);
  put(out, b, 5, "old");
  put(out, b, 995, "new");
  out.close().or_throw();
  const auto source = open();
  EXPECT_FALSE(source->live());
  EXPECT_EQ(source->title(), "run.mcap");
  EXPECT_EQ(source->range().begin_ns, 5);
  EXPECT_EQ(source->range().end_ns, 1'000);
  EXPECT_EQ(find(*source, "a")->messages, 100U);
  Collector sink;
  EXPECT_EQ(source->advance(1'000, sink), 0U) << "nothing is selected";
  source->select({"a", "b"});
  source->seek(105, 20, sink).or_throw();
  EXPECT_EQ(sink.clears, 1);
  EXPECT_EQ(sink.texts(), (std::vector<std::string>{"old", "a8", "a9", "a10"}));
  EXPECT_EQ(sink.samples[1].time_ns, 80);
  EXPECT_EQ(sink.samples[1].publish_ns, 79);
  EXPECT_EQ(sink.samples[1].sequence, 7U);
  sink.samples.clear();
  EXPECT_EQ(source->advance(130, sink), 3U);
  EXPECT_EQ(sink.texts(), (std::vector<std::string>{"a11", "a12", "a13"}));
  EXPECT_EQ(source->advance(130, sink), 0U);
  EXPECT_EQ(source->advance(10'000, sink), 88U);
  EXPECT_EQ(sink.texts().back(), "a100");
  sink.samples.clear();
  source->seek(5, 0, sink).or_throw();
  EXPECT_EQ(sink.texts(), std::vector<std::string>{"old"});
  source->seek(-5, 100, sink).or_throw();
  EXPECT_TRUE(sink.samples.empty());
}

TEST_F(RecordingTest, a_seek_passes_the_past_of_each_channel) {
  McapWriter out = writer();
  const auto plot = add(out, "plot", "bytes");
  const auto image = add(out, "image", "bytes");
  const auto rare = add(out, "rare", "bytes");
  put(out, rare, 3, "rare");
  for (std::uint64_t i = 1; i <= 100; ++i) {
    put(out, plot, i * 10, "p" + std::to_string(i));
    put(out, image, i * 10 + 5, "i" + std::to_string(i));
  }
  out.close().or_throw();
  const auto source = open();
  source->select({"plot", "image", "rare"});
  Lookback history;
  history.need("plot", 50);
  history.need("image", 15);
  Collector sink;
  source->seek(1'000, history, sink).or_throw();
  EXPECT_EQ(sink.texts(), (std::vector<std::string>{"rare", "p95", "i98", "p96", "p97", "p98",
                                                    "p99", "i99", "p100"}))
      << "the last values before the past of each, then the past of the plot";
  sink.samples.clear();
  EXPECT_EQ(source->advance(1'005, sink), 1U);
  EXPECT_EQ(sink.texts(), std::vector<std::string>{"i100"});
}

TEST_F(RecordingTest, the_first_picture_is_where_all_channels_have_a_value) {
  McapWriter out = writer();
  const auto early = add(out, "early", "bytes");
  const auto late = add(out, "late", "bytes");
  const auto rare = add(out, "rare", "bytes");
  for (std::uint64_t i = 1; i <= 300; ++i) put(out, early, i * 10, std::string(100, 'x'));
  put(out, late, 905, "late");
  put(out, rare, 2'905, "rare");
  out.close().or_throw();
  const auto source = open();
  EXPECT_EQ(source->first_complete_ns(1'000), 10) << "nothing is selected";
  source->select({"early", "late", "rare"});
  EXPECT_EQ(source->first_complete_ns(1'000), 905);
  EXPECT_EQ(source->first_complete_ns(100), 10) << "they begin too late";
  EXPECT_EQ(source->first_complete_ns(10'000), 2'905);
}

// Sums of such times would overflow, which the sanitizer of undefined behaviour reports.
TEST_F(RecordingTest, times_beyond_2116_are_shown_at_the_end) {
  constexpr std::int64_t kEnd = std::int64_t{1} << 62;
  for (const std::uint64_t late :
       {static_cast<std::uint64_t>(kEnd), std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    for (const bool only_late : {false, true}) {
      McapWriter out = writer();
      const auto a = add(out, "a", "bytes", "bytes");
      if (!only_late) put(out, a, 10, "now");
      put(out, a, late, "late");
      out.close().or_throw();
      const auto source = open();
      EXPECT_EQ(source->range().begin_ns, only_late ? kEnd : 10);
      EXPECT_EQ(source->range().end_ns, kEnd);
      source->select({"a"});
      EXPECT_EQ(source->first_complete_ns(1'000), source->range().begin_ns);
      EXPECT_EQ(source->step(20, 1), kEnd);
      EXPECT_EQ(source->step(kEnd, 1), kEnd);
      Collector sink;
      EXPECT_EQ(source->advance(kEnd, sink), only_late ? 1U : 2U);
      ASSERT_FALSE(sink.samples.empty());
      EXPECT_EQ(sink.texts().back(), "late");
      EXPECT_EQ(sink.samples.back().time_ns, kEnd);
      EXPECT_LE(sink.samples.back().publish_ns, kEnd);
      EXPECT_EQ(source->advance(kEnd, sink), 0U);
      sink.samples.clear();
      source->seek(kEnd, 1'000, sink).or_throw();
      EXPECT_EQ(sink.texts().back(), "late");
      sink.samples.clear();
      source->seek(20, 1'000, sink).or_throw();
      EXPECT_EQ(sink.texts(),
                only_late ? std::vector<std::string>{} : std::vector<std::string>{"now"});
    }
  }
}

TEST_F(RecordingTest, steps_go_from_message_to_message) {
  McapWriter out = writer();
  const auto a = add(out, "a", "bytes");
  const auto b = add(out, "b", "bytes");
  for (std::uint64_t i = 1; i <= 50; ++i) put(out, i % 10 == 0 ? b : a, i * 10, "m");
  out.close().or_throw();
  const auto source = open();
  source->select({"b"});
  EXPECT_EQ(source->step(0, 1), 100);
  EXPECT_EQ(source->step(100, 1), 200);
  EXPECT_EQ(source->step(500, 1), 500) << "there is none";
  EXPECT_EQ(source->step(500, -1), 400);
  EXPECT_EQ(source->step(101, -1), 100);
  EXPECT_EQ(source->step(100, -1), 100);
  EXPECT_EQ(source->step(0, -1), 0);
}

TEST_F(RecordingTest, each_publisher_of_a_latched_channel_has_its_value) {
  McapWriter out = writer();
  const auto fixed = add(out, "tf_static", "protobuf", "hyphos.msgs.TfMessage", 0, true);
  const auto other = add(out, "other", "bytes");
  put(out, fixed, 10, "one");
  put(out, fixed, 20, "two");
  for (std::uint64_t i = 3; i < 200; ++i) put(out, other, i * 10, "o");
  out.close().or_throw();
  const auto source = open();
  EXPECT_TRUE(find(*source, "tf_static")->latched);
  EXPECT_EQ(find(*source, "tf_static")->problem, "") << "the standard types are always known";
  source->select({"tf_static", "other"});
  Collector sink;
  source->seek(1'500, 5, sink).or_throw();
  EXPECT_EQ(sink.texts(), (std::vector<std::string>{"one", "two", "o", "o"}))
      << "the last values before the window, then the window";
}

TEST_F(RecordingTest, attached_buffers_are_split_from_the_head) {
  McapWriter out = writer();
  const auto schema = out.add_schema("pkg.Cloud", "protobuf", definition()).or_throw();
  const auto id = add(out, "cloud", "attached", "pkg.Cloud", schema);
  const std::string tag = "\x82\xea\x30";
  const std::string head = "\x08\x05";
  put(out, id, 10, head + tag + "\x02pq" + tag + "\xac\x02" + std::string(300, 'z'));
  put(out, id, 20, head + tag + "\x7f");   // cut off
  put(out, id, 30, tag + "\x01p" + head);  // a head after a buffer
  put(out, id, 40, head);
  put(out, id, 50, head + tag + "\xf0\xa2\x04" + std::string(70'000, 'y'));  // shares its chunk
  out.close().or_throw();
  const auto source = open();
  source->select({"cloud"});
  EXPECT_EQ(find(*source, "cloud")->problem, "");
  EXPECT_NE(source->types().FindMessageTypeByName("pkg.Cloud"), nullptr);
  Collector sink;
  EXPECT_EQ(source->advance(100, sink), 5U) << "all messages were read";
  ASSERT_EQ(sink.samples.size(), 3U);
  EXPECT_EQ(sink.samples[0].payload.text(), head);
  ASSERT_EQ(sink.samples[0].buffers.size(), 2U);
  EXPECT_EQ(sink.samples[0].buffers[0].text(), "pq");
  EXPECT_EQ(sink.samples[0].buffers[1].text(), std::string(300, 'z'));
  EXPECT_TRUE(sink.samples[1].buffers.empty());
  EXPECT_EQ(sink.samples[2].buffers[0].size(), 70'000U);
  EXPECT_EQ(source->loss(0).corrupt, 2U);
}

TEST_F(RecordingTest, a_channel_that_changes_its_type_is_offered_twice) {
  McapWriter out = writer();
  const auto before = add(out, "state", "bytes", "one");
  const auto after = add(out, "state", "struct", "Two");
  const auto again = add(out, "state", "bytes", "one");
  put(out, before, 10, "1");
  put(out, after, 20, "2");
  put(out, again, 30, "3");
  out.close().or_throw();
  const auto source = open();
  ASSERT_EQ(source->channels().size(), 2U);
  EXPECT_EQ(source->channels()[0].messages, 2U);
  EXPECT_NE(source->channels()[1].problem.find("Two is a type of C++"), std::string::npos);
  source->select({"state"});
  Collector sink;
  source->advance(100, sink);
  ASSERT_EQ(sink.samples.size(), 3U);
  EXPECT_EQ(sink.samples[0].channel, 0U);
  EXPECT_EQ(sink.samples[1].channel, 1U);
  EXPECT_EQ(sink.samples[2].channel, 0U);
}

TEST_F(RecordingTest, channels_that_cannot_be_decoded_state_the_reason) {
  McapWriter out = writer("ros2");
  const auto schema = out.add_schema("sensor_msgs/msg/Imu", "ros2idl", "module x").or_throw();
  out.add_channel("/imu", "cdr", schema, {}).or_throw();
  const auto broken = out.add_schema("pkg.B", "protobuf", "garbage").or_throw();
  out.add_channel("/b", "protobuf", broken, {}).or_throw();
  out.close().or_throw();
  const auto source = open();
  EXPECT_NE(find(*source, "/imu")->problem.find("in ros2msg"), std::string::npos);
  EXPECT_NE(find(*source, "/b")->problem.find("no definition of pkg.B"), std::string::npos);
  ASSERT_FALSE(source->problems().empty());
  EXPECT_NE(source->problems()[0].find("pkg.B"), std::string::npos);
}

TEST_F(RecordingTest, a_truncated_recording_is_shown_and_its_end_is_named) {
  McapWriter out = writer();
  const auto a = add(out, "a", "bytes");
  for (std::uint64_t i = 1; i <= 100; ++i) put(out, a, i * 10, std::string(30, 'x'));
  out.close().or_throw();
  std::string bytes;
  {
    std::ifstream file(path_, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::ofstream(path_, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size() / 2));
  const auto source = open();
  source->select({"a"});
  Collector sink;
  const std::size_t passed = source->advance(10'000, sink);
  EXPECT_GT(passed, 5U);
  EXPECT_LT(passed, 100U);
  ASSERT_FALSE(source->problems().empty());
  EXPECT_NE(source->problems().back().find("run.mcap: byte "), std::string::npos);
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << "garbage, and more of it";
  EXPECT_FALSE(open_source(path_, {}));
}

TEST_F(RecordingTest, the_counters_of_the_recorder_are_rows) {
  McapWriter out = writer();
  const auto a = add(out, "a", "bytes", "bytes");
  put(out, a, 1'000'000'000, "x");
  put(out, a, 3'000'000'000, "x");
  out.describe("hyphos.recording", {{"a", R"({"received": 4, "written": 2, "bytes": 2,
                                             "drop_queue": 2, "missing": 10})"},
                                    {"other", "not JSON"}})
      .or_throw();
  out.attach({0, 0, "robot.yaml", "text/yaml", "hyphos: 1"}).or_throw();
  out.close().or_throw();
  const auto source = open();
  EXPECT_EQ(source->attachment("robot.yaml").or_throw(), "hyphos: 1");
  GraphState state(*source);
  EXPECT_TRUE(state.sample());
  EXPECT_FALSE(state.sample()) << "twice a second at most";
  EXPECT_EQ(state.problem(), "");
  ASSERT_EQ(state.snapshot().channels.size(), 1U);
  const ChannelRow& row = state.snapshot().channels[0];
  EXPECT_EQ(row.received, 4U);
  EXPECT_EQ(row.sent, 14U);
  EXPECT_DOUBLE_EQ(row.rate_hz, 1);
  EXPECT_EQ(row.dropped, 12U);
  ASSERT_EQ(row.drops.size(), 2U);
  EXPECT_EQ(row.drops[1].place, "recorder");
  EXPECT_EQ(row.drops[1].count, 2U);
}

TEST(OpenSource, another_file_is_refused_with_a_remedy) {
  const Folder folder;
  EXPECT_EQ(open_source(folder / "none.mcap").error().code, Code::not_found);
  for (const char* name : {"a.bag", "a.db3", "a.txt"}) {
    std::ofstream(folder / name) << "x";
    const auto opened = open_source(folder / name);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::unsupported);
  }
  EXPECT_NE(open_source(folder / "a.bag").error().message.find("hyphos bag convert"),
            std::string::npos);
  std::ofstream(folder / "robot.yaml") << "hyphos: 1\nunknown_key: 2\n";
  const auto plan = open_source(folder / "robot.yaml");
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().to_string().find("unknown_key"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::view
