#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include "record/mcap_writer.hpp"
#include "source_sink.hpp"
#include "tests/view/panels/fake_source.hpp"
#include "view/core/graph_state.hpp"
#include "view/sources/open.hpp"
#include <hyphos/msgs/std.pb.h>

namespace hyphos::view {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kBegin = FakeSource::kStart;

msgs::Int32 number(int value) {
  msgs::Int32 made;
  made.set_data(value);
  return made;
}

/// `scan` at 0, 10, 20 … ms after `begin_ms`, with the values `first`, `first + 1`, …
std::unique_ptr<FakeSource> run(const std::string& name, int begin_ms, int first,
                                const std::string& channel = "scan") {
  auto source = std::make_unique<FakeSource>();
  source->file = name;
  for (int i = 0; i < 10; ++i) source->add(channel, begin_ms + i * 10, number(first + i));
  return source;
}

struct Pair {
  std::unique_ptr<Source> source;
  FakeSource* a = nullptr;
  FakeSource* b = nullptr;
};

Pair two(std::unique_ptr<FakeSource> a, std::unique_ptr<FakeSource> b,
         Alignment align = Alignment::start) {
  Pair made;
  made.a = a.get();
  made.b = b.get();
  made.source = std::move(a);
  join_source(made.source, std::move(b), align).or_throw();
  return made;
}

std::vector<int> values(const Collector& sink, const Source& source, const std::string& channel) {
  std::vector<int> all;
  for (const Sample& sample : sink.samples) {
    if (source.channels()[sample.channel].name != channel) continue;
    msgs::Int32 read;
    EXPECT_TRUE(
        read.ParseFromArray(sample.payload.data(), static_cast<int>(sample.payload.size())));
    all.push_back(read.data());
  }
  return all;
}

TEST(Joined, channels_of_the_second_source_have_a_prefix_and_begin_with_the_first) {
  Pair both = two(run("a.mcap", 0, 100), run("b.mcap", 500'000, 200));
  EXPECT_EQ(both.source->title(), "a.mcap, b: b.mcap");
  ASSERT_EQ(both.source->channels().size(), 2U);
  EXPECT_EQ(both.source->channels()[0].name, "scan");
  EXPECT_EQ(both.source->channels()[1].name, "b/scan");
  EXPECT_EQ(both.source->channels()[1].part, 1U);
  EXPECT_EQ(both.source->channels()[1].type, "hyphos.msgs.Int32");
  EXPECT_EQ(both.source->range().begin_ns, kBegin);
  EXPECT_EQ(both.source->range().end_ns, kBegin + 90 * kMs);
  both.source->select({"scan", "b/scan"});
  Collector sink;
  both.source->seek(kBegin + 20 * kMs, 15 * kMs, sink).or_throw();
  EXPECT_EQ(sink.clears, 1);
  EXPECT_EQ(values(sink, *both.source, "scan"), (std::vector<int>{101, 102}));
  EXPECT_EQ(values(sink, *both.source, "b/scan"), (std::vector<int>{201, 202}));
  for (const Sample& sample : sink.samples) EXPECT_LE(sample.time_ns, kBegin + 20 * kMs);
  sink.samples.clear();
  EXPECT_EQ(both.source->advance(kBegin + 40 * kMs, sink), 4U);
  EXPECT_EQ(values(sink, *both.source, "b/scan"), (std::vector<int>{203, 204}));
}

TEST(Joined, only_selected_channels_of_a_source_are_passed) {
  Pair both = two(run("a.mcap", 0, 100), run("b.mcap", 0, 200));
  both.source->select({"b/scan"});
  EXPECT_TRUE(both.a->selected().empty());
  EXPECT_TRUE(both.b->selected().contains("scan"));
  Collector sink;
  EXPECT_EQ(both.source->advance(kBegin + 1'000 * kMs, sink), 10U);
  EXPECT_TRUE(values(sink, *both.source, "scan").empty());
}

TEST(Joined, a_shift_and_the_clock_time_align_otherwise) {
  Pair both = two(run("a.mcap", 0, 100), run("b.mcap", 30, 200), Alignment::time);
  both.source->select({"scan", "b/scan"});
  EXPECT_EQ(both.source->range().end_ns, kBegin + 120 * kMs);
  Collector sink;
  both.source->seek(kBegin + 30 * kMs, 0, sink).or_throw();
  EXPECT_EQ(values(sink, *both.source, "scan"), std::vector<int>{103});
  EXPECT_EQ(values(sink, *both.source, "b/scan"), std::vector<int>{200});
  const auto offset = aligned_offset(both.source->parts(), 1, Alignment::start, 10 * kMs);
  EXPECT_EQ(offset, -20 * kMs);
  both.source->set_offset(1, offset);
  both.source->seek(kBegin + 30 * kMs, 0, sink).or_throw();
  EXPECT_EQ(values(sink, *both.source, "b/scan"), std::vector<int>{202});
  EXPECT_EQ(both.source->parts()[1].range.begin_ns, kBegin + 10 * kMs);
  both.source->set_offset(0, 5);
  EXPECT_EQ(both.source->parts()[0].offset_ns, 0) << "the first one is the reference";
}

TEST(Joined, steps_go_to_the_nearest_message_of_all) {
  Pair both = two(run("a.mcap", 0, 100), run("b.mcap", 0, 200));
  both.source->select({"scan", "b/scan"});
  both.source->set_offset(1, 3 * kMs);
  EXPECT_EQ(both.source->step(kBegin, 1), kBegin + 3 * kMs);
  EXPECT_EQ(both.source->step(kBegin + 3 * kMs, 1), kBegin + 10 * kMs);
  EXPECT_EQ(both.source->step(kBegin + 10 * kMs, -1), kBegin + 3 * kMs);
  EXPECT_EQ(both.source->step(kBegin, -1), kBegin);
}

TEST(Joined, the_first_picture_waits_for_the_channels_of_both) {
  auto late = run("b.mcap", 0, 200);
  late->add("map", 80, number(1));
  late->add("rare", 60'000, number(1));
  Pair both = two(run("a.mcap", 0, 100), std::move(late));
  both.source->select({"scan", "b/scan", "b/map", "b/rare"});
  EXPECT_EQ(both.source->first_complete_ns(5'000 * kMs), kBegin + 80 * kMs);
}

TEST(Joined, names_of_ros_and_names_that_look_like_a_prefix) {
  Pair both = two(run("a.mcap", 0, 100, "b/scan"), run("b.mcap", 0, 200, "/scan"));
  ASSERT_EQ(both.source->channels().size(), 2U);
  EXPECT_EQ(both.source->channels()[0].name, "b/scan");
  EXPECT_EQ(both.source->channels()[1].name, "c/scan");
  both.source->select({"c/scan"});
  EXPECT_TRUE(both.b->selected().contains("/scan"));
  EXPECT_TRUE(both.a->selected().empty());
}

TEST(Joined, at_most_four_sources_are_shown) {
  Pair both = two(run("a.mcap", 0, 100), run("b.mcap", 0, 200));
  join_source(both.source, run("c.mcap", 0, 300)).or_throw();
  join_source(both.source, run("d.mcap", 0, 400)).or_throw();
  EXPECT_EQ(both.source->parts()[3].label, "d");
  const auto fifth = join_source(both.source, run("e.mcap", 0, 500));
  ASSERT_FALSE(fifth);
  EXPECT_EQ(fifth.error().code, Code::exhausted);
  EXPECT_EQ(both.source->channels().size(), 4U);
}

TEST(Joined, problems_losses_and_counters_name_their_source) {
  auto b = run("b.mcap", 0, 200);
  b->faults = {"byte 12: corrupt"};
  b->recorded["hyphos.recording"]["scan"] = R"({"received": 9, "bytes": 900, "drop_queue": 4})";
  auto a = run("a.mcap", 0, 100);
  a->recorded["hyphos.recording"]["scan"] = R"({"received": 10})";
  Pair both = two(std::move(a), std::move(b));
  EXPECT_EQ(both.source->problems(), std::vector<std::string>{"b: byte 12: corrupt"});
  GraphState state(*both.source);
  ASSERT_TRUE(state.sample());
  ASSERT_EQ(state.snapshot().channels.size(), 2U);
  EXPECT_EQ(state.snapshot().channels[0].dropped, 0U);
  EXPECT_EQ(state.snapshot().channels[1].name, "b/scan");
  EXPECT_EQ(state.snapshot().channels[1].dropped, 4U);
  // In the 90 ms of this source, and not in the time of both together.
  both.source->set_offset(1, 1'000 * kMs);
  EXPECT_NEAR(make_snapshot(*both.source).channels[1].bytes_per_s, 900 / 0.09, 1);
}

TEST(Joined, a_robot_is_the_clock_of_a_recording) {
  auto robot = run("robot", 0, 100);
  robot->is_live = true;
  Pair both = two(run("b.mcap", 0, 200), std::move(robot));
  EXPECT_TRUE(both.source->live());
  EXPECT_EQ(both.source->channels()[0].name, "scan") << "the robot keeps its names";
  EXPECT_TRUE(both.source->parts()[0].live);
  EXPECT_EQ(both.source->parts()[1].title, "b.mcap");
  both.source->select({"scan", "b/scan"});
  Collector sink;
  both.source->advance(0, sink);
  // The recording began when it was opened, and goes on with the clock.
  EXPECT_TRUE(both.source->ticks());
  EXPECT_GE(both.a->last_until, kBegin);
  EXPECT_LT(both.a->last_until, kBegin + 3'600'000 * kMs);
  both.source->set_offset(1, wall_now().ns - kBegin - 10'000 * kMs);
  EXPECT_FALSE(both.source->ticks()) << "it has ended";
  both.source->seek(kBegin, 0, sink).or_throw();
  EXPECT_FALSE(both.source->ticks()) << "it is paused";
}

TEST(Joined, two_versions_of_a_type_are_not_mixed) {
  const Folder folder;
  const auto write = [&](const std::string& name, const std::string& field) {
    google::protobuf::FileDescriptorSet set;
    auto& file = *set.add_file();
    file.set_name("pkg/state.proto");
    file.set_package("pkg");
    file.set_syntax("proto3");
    auto& message = *file.add_message_type();
    message.set_name("State");
    auto& made = *message.add_field();
    made.set_name(field);
    made.set_number(1);
    made.set_type(google::protobuf::FieldDescriptorProto::TYPE_INT32);
    made.set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
    record::McapWriter::Options options;
    options.path = folder / name;
    options.profile = "hyphos";
    auto out = record::McapWriter::create(options).or_throw();
    const auto schema = out.add_schema("pkg.State", "protobuf", set.SerializeAsString()).or_throw();
    const auto id = out.add_channel("state", "protobuf", schema,
                                    {{"hyphos.type", "pkg.State"}, {"hyphos.encoding", "protobuf"}})
                        .or_throw();
    out.write({id, 1, 10, 10}, std::as_bytes(std::span("\x08\x01", 2))).or_throw();
    out.close().or_throw();
    return open_source(folder / name).or_throw();
  };
  auto source = write("a.mcap", "battery");
  join_source(source, write("same.mcap", "battery")).or_throw();
  join_source(source, write("other.mcap", "temperature")).or_throw();
  EXPECT_NE(source->types().FindMessageTypeByName("pkg.State"), nullptr);
  EXPECT_EQ(find(*source, "state")->problem, "");
  EXPECT_EQ(find(*source, "b/state")->problem, "");
  EXPECT_NE(find(*source, "c/state")->problem.find("different versions of pkg.State"),
            std::string::npos);
}

}  // namespace
}  // namespace hyphos::view
