#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "record/mcap_writer.hpp"
#include "tests/view/panels/harness.hpp"
#include "tests/view/panels/robot.hpp"
#include "view/sources/open.hpp"

/// Several sources in the window, and files that are dropped on it.
namespace hyphos::view {
namespace {

/// The recording of the test and one that begins 7 s later.
void show_two(TestWindow& window) {
  std::unique_ptr<Source> both = robot_recording();
  auto second = robot_recording(7'000);
  second->file = "second.mcap";
  join_source(both, std::move(second)).or_throw();
  window.impl().use_source(std::move(both));
  window.impl().timeline_.playing = false;
  window.frames(4);
}

std::set<std::string> shown_channels(TestWindow& window) {
  std::set<std::string> names;
  for (const DisplayLayout& one : window.app().layout().displays) names.insert(one.channel);
  return names;
}

/// A recording of the standard messages as a file.
void write(const std::string& path, const std::string& channel) {
  record::McapWriter::Options options;
  options.path = path;
  options.profile = "hyphos";
  auto out = record::McapWriter::create(options).or_throw();
  const auto id =
      out.add_channel(channel, "protobuf", 0,
                      {{"hyphos.type", "hyphos.msgs.Odometry"}, {"hyphos.encoding", "protobuf"}})
          .or_throw();
  msgs::Odometry odom;
  odom.mutable_header()->set_frame_id("map");
  odom.mutable_pose()->mutable_pose()->mutable_orientation()->set_w(1);
  const std::string bytes = odom.SerializeAsString();
  for (std::uint64_t i = 1; i <= 20; ++i) {
    const std::uint64_t time = 1'700'000'000'000'000'000 + i * 100'000'000;
    out.write({id, 0, time, time}, std::as_bytes(std::span(bytes))).or_throw();
  }
  out.close().or_throw();
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hyphos-view-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

TEST(Compare, TwoRecordingsAreGhostsOnOneTimeline) {
  TestWindow window;
  show_two(window);
  window.app().set_layout(window.impl().usual_layout());
  window.frames(3);
  const auto shown = shown_channels(window);
  for (const char* name : {"scan", "odom", "tf", "b/scan", "b/odom", "b/tf"})
    EXPECT_TRUE(shown.count(name)) << name;
  window.impl().seek(FakeSource::kStart + 3 * kSecond / 2);
  window.frames(6);
  EXPECT_EQ(window.impl().timeline_.range.begin_ns, FakeSource::kStart);
  EXPECT_EQ(window.impl().timeline_.range.end_ns, FakeSource::kStart + 3 * kSecond);
  for (const SceneView::Item& item : window.impl().scene_->items()) {
    if (item.channel.ends_with("odom")) {
      EXPECT_EQ(item.display->status().health, Health::good)
          << item.channel << ": " << item.display->status().text;
    }
  }
  (void)window.picture("ghost");
}

TEST(Compare, ColumnsHaveOneCameraAndTheirOwnPictures) {
  TestWindow window;
  show_two(window);
  window.set_layout(
      "hyphos_view: 1\ncompare: {arrange: columns}\ndisplays: [{show: grid}, {show: odometry, "
      "channel: odom}, {show: laser_scan, channel: scan}, {show: odometry, channel: b/odom}, "
      "{show: "
      "laser_scan, channel: b/scan}]\npanels: {panel: scene}\n");
  window.impl().seek(FakeSource::kStart + kSecond);
  window.frames(6);
  EXPECT_EQ(window.impl().scene_->panes(), 2U);
  EXPECT_NEAR(window.impl().scene_->camera().width(), (1280 - 12) / 2, 2);
  (void)window.picture("columns");
  // A drag that began in the right pane goes on in the left one.
  const double yaw = window.impl().scene_->camera().state().yaw;
  window.drag(900, 400, 500, 400);
  const double turned = window.impl().scene_->camera().state().yaw - yaw;
  EXPECT_GT(std::abs(turned), 0.5);
  window.impl().scene_->camera().set_state({});
  window.drag(500, 400, 100, 400);
  EXPECT_NEAR(window.impl().scene_->camera().state().yaw - CameraState{}.yaw, turned, 0.02);
}

TEST(Compare, ALayoutOfOneRobotShowsTheOtherInTheSameWay) {
  TestWindow window;
  show_two(window);
  TemporaryFolder folder;
  const std::string file = folder / "l.yaml";
  Layout layout = window.app().layout();
  layout.displays = {{"odometry", "odom", true, {{"shape", "arrow"}}, ""}};
  ASSERT_TRUE(save_layout(file, layout));
  window.app().open_files({file});
  window.frames(2);
  const auto& displays = window.app().layout().displays;
  ASSERT_EQ(displays.size(), 2U) << layout_text(window.app().layout());
  EXPECT_EQ(displays[1].channel, "b/odom");
  EXPECT_EQ(displays[1].settings.at("shape").word(), "arrow");
}

TEST(Compare, AShiftMovesTheSecondRecording) {
  TestWindow window;
  show_two(window);
  window.impl().set_shift(1, 1.5);
  window.impl().edited("shift a source");
  window.frames(2);
  EXPECT_EQ(window.impl().timeline_.range.end_ns, FakeSource::kStart + 9 * kSecond / 2);
  EXPECT_EQ(window.app().layout().compare.shift_s, std::vector<double>{1.5});
  Layout layout = window.app().layout();
  layout.compare.align = "time";
  layout.compare.shift_s.clear();
  window.app().set_layout(layout);
  window.frames(2);
  EXPECT_EQ(window.impl().timeline_.range.end_ns, FakeSource::kStart + 10 * kSecond);
  window.key('Z', true);
  EXPECT_EQ(window.impl().timeline_.range.end_ns, FakeSource::kStart + 9 * kSecond / 2) << "undone";
}

TEST(Compare, ThePopupChoosesTheArrangement) {
  TestWindow window;
  show_two(window);
  window.click(247, 720 - 19);  // "Compare" in the lower bar
  (void)window.picture("compare_popup");
  EXPECT_EQ(window.app().layout().compare.arrange, "ghost");
  window.click(438, 591);
  EXPECT_EQ(window.app().layout().compare.arrange, "columns");
  window.click(422, 625);
  EXPECT_EQ(window.app().layout().compare.align, "time");
  EXPECT_EQ(window.impl().timeline_.range.end_ns, FakeSource::kStart + 10 * kSecond);
  window.key('Z', true);
  EXPECT_EQ(window.app().layout().compare.align, "start");
}

TEST(Drop, SeveralRecordingsAreComparedAndOneReplacesThem) {
  TestWindow window;
  TemporaryFolder folder;
  write(folder / "one.mcap", "odom");
  write(folder / "two.mcap", "odom");
  window.app().open_files({folder / "one.mcap", folder / "two.mcap"});
  window.frames(4);
  EXPECT_EQ(window.app().title(), "one.mcap, b: two.mcap - Hyphos");
  EXPECT_TRUE(shown_channels(window).count("b/odom"));
  window.app().open_files({folder / "two.mcap"});
  window.frames(4);
  EXPECT_EQ(window.app().title(), "two.mcap - Hyphos");
  EXPECT_FALSE(shown_channels(window).count("b/odom")) << "its source has gone";
  EXPECT_TRUE(shown_channels(window).count("odom"));
}

TEST(Drop, AFileThatCannotBeOpenedIsAnErrorAndChangesNothing) {
  TestWindow window;
  window.show(robot_recording());
  TemporaryFolder folder;
  std::ofstream(folder / "bad.mcap") << "garbage";
  window.app().open_files({folder / "none.mcap", folder / "bad.mcap", folder / "a.bag"});
  window.frames(2);
  EXPECT_EQ(window.app().title(), "test.mcap - Hyphos");
  EXPECT_EQ(window.impl().notices_.size(), 3U);
  for (const Notice& one : window.impl().notices_) EXPECT_TRUE(one.error) << one.text;
}

TEST(Drop, TheFirstPictureIsWhereAllChannelsHaveAValue) {
  TestWindow window;
  TemporaryFolder folder;
  write(folder / "one.mcap", "odom");
  window.app().open_files({folder / "one.mcap"});
  window.frames(2);
  EXPECT_EQ(window.impl().timeline_.range.begin_ns, 1'700'000'000'100'000'000);
  EXPECT_GE(window.impl().timeline_.now_ns, window.impl().timeline_.range.begin_ns);
  EXPECT_TRUE(window.impl().timeline_.playing);
}

}  // namespace
}  // namespace hyphos::view
