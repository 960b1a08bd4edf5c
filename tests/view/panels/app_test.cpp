#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "hyphos/msgs/geometry.pb.h"
#include "hyphos/msgs/log.pb.h"
#include "hyphos/msgs/nav.pb.h"
#include "hyphos/msgs/sensor.pb.h"
#include "hyphos/msgs/tf.pb.h"
#include "tests/view/panels/harness.hpp"
#include "tests/view/panels/robot.hpp"
#include "view/report.hpp"

namespace hyphos::view {
namespace {

using Split = PanelLayout::Split;

std::size_t count_panels(const PanelLayout& node, const std::string& kind) {
  std::size_t sum = node.split == Split::none && node.kind == kind ? 1 : 0;
  for (const PanelLayout& child : node.children) sum += count_panels(child, kind);
  return sum;
}

/// The share of pixels that differ between two pictures.
double difference(const Picture& a, const Picture& b) {
  std::size_t changed = 0;
  for (std::size_t i = 0; i < a.rgba.size(); i += 4) {
    for (std::size_t c = 0; c < 3; ++c) {
      if (std::abs(int{a.rgba[i + c]} - int{b.rgba[i + c]}) <= 12) continue;
      ++changed;
      break;
    }
  }
  return static_cast<double>(changed) / (static_cast<double>(a.rgba.size()) / 4);
}

TEST(App, ShowsAnUnknownRecordingWithoutALayout) {
  TestWindow window;
  window.show(robot_recording());
  const Layout layout = window.app().layout();
  EXPECT_EQ(count_panels(layout.panels, "scene"), 1U);
  EXPECT_EQ(count_panels(layout.panels, "image"), 1U);
  EXPECT_EQ(count_panels(layout.panels, "channels"), 1U);
  EXPECT_EQ(count_panels(layout.panels, "log"), 1U);
  std::set<std::string> shown;
  for (const DisplayLayout& one : layout.displays) shown.insert(one.channel);
  for (const char* channel : {"scan", "odom", "path"}) EXPECT_TRUE(shown.count(channel)) << channel;
  window.impl().seek(FakeSource::kStart + 1'500'000'000);
  window.frames(8);
  (void)window.picture("default");
}

TEST(App, DrawsNoFrameWhileNothingChanges) {
  TestWindow window;
  window.show(robot_recording());
  window.impl().seek(FakeSource::kStart + 1'000'000'000);
  for (int i = 0; i < 200 && (window.wants_frame() || !window.app().settled()); ++i) {
    window.frame(300);
  }
  ASSERT_FALSE(window.wants_frame());
  const std::uint64_t frames = window.app().frames();
  const std::uint64_t uploads = window.impl().renderer_->uploads();
  for (int i = 0; i < 100; ++i) {
    window.pump(1'000);
    ASSERT_FALSE(window.wants_frame()) << "after " << i << " s";
  }
  EXPECT_EQ(window.app().frames(), frames);
  EXPECT_EQ(window.impl().renderer_->uploads(), uploads);
  EXPECT_EQ(window.app().next_ns(window.now()), kNever) << "it wakes although nothing changes";
  window.move(640, 360);
  EXPECT_GT(window.app().frames(), frames) << "input draws";
}

TEST(App, TheReportHasTheCostsOfTheSession) {
  TestWindow window;
  window.show(robot_recording());
  window.impl().seek(FakeSource::kStart + 2'000'000'000);
  window.frames(4);
  const Report report = make_report(window.app());
  EXPECT_EQ(report.frames, window.app().frames());
  EXPECT_GT(report.messages, 0U);
  EXPECT_EQ(report.uploads, window.impl().renderer_->uploads());
  EXPECT_GT(report.points, 0U);
  EXPECT_EQ(report.budget_bytes, 512'000'000U);
  EXPECT_EQ(report.display_bytes, window.impl().scene_->bytes());
  EXPECT_GT(report.cpu_s, 0);
  EXPECT_GT(report.resident_bytes, 1'000'000U);
  EXPECT_GE(report.peak_bytes, report.resident_bytes / 2);
  const std::string folder = ::testing::TempDir();
  const std::string file = folder + "report" + std::to_string(::getpid()) + ".json";
  ASSERT_TRUE(save_report(file, report));
  std::ifstream written(file);
  const std::string text{std::istreambuf_iterator<char>(written), {}};
  EXPECT_EQ(text, to_json(report));
  EXPECT_NE(text.find("\"uploads\": " + std::to_string(report.uploads)), std::string::npos);
  std::remove(file.c_str());
  const auto refused = save_report(folder + "missing/report.json", report);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::not_found);
}

TEST(App, PlotsKeepTheBudgetAndStateTheirLoss) {
  TestWindow window;
  auto source = std::make_unique<FakeSource>();
  for (int ms = 0; ms < 20'000; ++ms) {
    msgs::Odometry odom;
    odom.mutable_pose()->mutable_pose()->mutable_position()->set_x(ms);
    source->add("odom", ms, odom);
  }
  window.show(std::move(source));
  Layout layout = parse_layout(
                      "hyphos_view: 1\npanels: {panel: plot, window_s: 100, fields: "
                      "[odom:pose.pose.position.x, odom:pose.pose.position.y]}\n",
                      "test.yaml", vocabulary())
                      .or_throw();
  window.app().set_layout(layout);
  window.impl().seek(FakeSource::kStart + 20'000'000'000);
  window.frames(4);
  const auto panels = [&window] {
    std::size_t sum = 0;
    window.impl().workspace_.for_each([&sum](Panel& panel) { sum += panel.memory(); });
    return sum;
  };
  ASSERT_GT(panels(), 600'000U) << "two lines of 20,000 samples";
  EXPECT_TRUE(window.impl().notices_.empty());
  layout.budget_mb = 1;
  window.app().set_layout(layout);
  window.frames(4);
  EXPECT_LE(panels(), 1'000'000U * 7 / 16);
  EXPECT_LE(panels() + window.impl().scene_->budget(), 1'000'000U * 7 / 8);
  ASSERT_FALSE(window.impl().notices_.empty());
  EXPECT_NE(window.impl().notices_.front().text.find("was removed"), std::string::npos);
}

TEST(App, PlaysARecordingAndStopsAtItsEnd) {
  TestWindow window;
  window.show(robot_recording());
  window.impl().seek(FakeSource::kStart);
  window.frame();
  window.key(' ');
  EXPECT_TRUE(window.impl().timeline_.playing);
  // After a pump() that took all its time, the cursor waits for the messages that it has left.
  constexpr std::chrono::milliseconds kPumpTime{12};
  bool slow = false;
  for (int moves = 0; moves < 10;) {
    const std::int64_t before = window.impl().timeline_.now_ns;
    const auto begin = std::chrono::steady_clock::now();
    window.pump(100);
    const std::int64_t moved = window.impl().timeline_.now_ns - before;
    if (moved != 0 || !slow) {
      ASSERT_EQ(moved, 100'000'000);
      ++moves;
    }
    slow = std::chrono::steady_clock::now() - begin >= kPumpTime;
  }
  for (int i = 0; i < 60; ++i) window.frame(200);
  EXPECT_FALSE(window.impl().timeline_.playing);
  EXPECT_EQ(window.impl().timeline_.now_ns, window.impl().timeline_.range.end_ns);
}

TEST(App, LoopBeginsAgainAtTheEnd) {
  TestWindow window;
  window.show(robot_recording());
  window.impl().timeline_.loop = true;
  window.impl().seek(window.impl().timeline_.range.end_ns - 50'000'000);
  window.frame();
  window.impl().play(true);
  for (int i = 0; i < 4; ++i) window.frame(100);
  EXPECT_TRUE(window.impl().timeline_.playing);
  EXPECT_LT(window.impl().timeline_.now_ns, FakeSource::kStart + 1'000'000'000);
}

TEST(App, StepsByMessageAndScrubsWithTheMouse) {
  TestWindow window;
  FakeSource& source = window.show(robot_recording());
  window.impl().seek(FakeSource::kStart);
  window.frame();
  window.key('.');
  const std::int64_t one = window.impl().timeline_.now_ns;
  EXPECT_GT(one, FakeSource::kStart);
  window.key('.');
  EXPECT_GT(window.impl().timeline_.now_ns, one);
  window.key(',');
  EXPECT_EQ(window.impl().timeline_.now_ns, one);
  const int seeks = source.seeks;
  window.click(640, 720 - 19);  // the middle of the timeline
  const double part = static_cast<double>(window.impl().timeline_.now_ns - FakeSource::kStart) /
                      static_cast<double>(source.range().end_ns - FakeSource::kStart);
  EXPECT_GT(part, 0.3);
  EXPECT_LT(part, 0.7);
  EXPECT_GT(source.seeks, seeks);
}

TEST(App, BookmarksAreSetAndVisited) {
  TestWindow window;
  window.show(robot_recording());
  window.impl().seek(FakeSource::kStart + 1'000'000'000);
  window.frames(2);
  window.key('B');
  window.impl().seek(FakeSource::kStart + 2'000'000'000);
  window.frames(2);
  window.key('B');
  ASSERT_EQ(window.impl().bookmarks_.size(), 2U);
  window.key('B', false, true);
  EXPECT_EQ(window.impl().timeline_.now_ns, FakeSource::kStart + 1'000'000'000);
}

TEST(App, SearchFindsAFieldAndPlotsIt) {
  TestWindow window;
  window.show(robot_recording());
  window.key('K', true);
  window.frames(2);
  window.type("odom linear.x");
  (void)window.picture("search");
  window.key(257);
  const Layout layout = window.app().layout();
  ASSERT_EQ(count_panels(layout.panels, "plot"), 1U) << layout_text(layout);
  EXPECT_NE(layout_text(layout).find("fields: [odom:twist.twist.linear.x]"), std::string::npos)
      << layout_text(layout);
}

TEST(App, UndoBringsAClosedPanelBack) {
  TestWindow window;
  window.show(robot_recording());
  window.set_layout("hyphos_view: 1\npanels: {columns: [{panel: scene}, {panel: channels}]}\n");
  ASSERT_EQ(count_panels(window.app().layout().panels, "channels"), 1U);
  window.click(1280 - 20, 38 + 13);  // the cross of the right panel
  ASSERT_EQ(count_panels(window.app().layout().panels, "channels"), 0U);
  window.key('Z', true);
  EXPECT_EQ(count_panels(window.app().layout().panels, "channels"), 1U);
  window.key('Z', true, true);
  EXPECT_EQ(count_panels(window.app().layout().panels, "channels"), 0U);
}

TEST(App, SplittersAreDragged) {
  TestWindow window;
  window.show(robot_recording());
  window.set_layout("hyphos_view: 1\npanels: {columns: [{panel: raw}, {panel: channels}]}\n");
  window.drag(640, 300, 340, 300);
  const PanelLayout panels = window.app().layout().panels;
  ASSERT_EQ(panels.children.size(), 2U);
  EXPECT_NEAR(panels.children[0].size / panels.children[1].size, 335.0 / 930, 0.05);
}

TEST(App, MouseTurnsAndZoomsTheCamera) {
  TestWindow window;
  window.show(robot_recording());
  window.set_layout("hyphos_view: 1\ndisplays: [{show: grid}]\npanels: {panel: scene}\n");
  const CameraState before = window.impl().scene_->camera().state();
  window.drag(500, 400, 700, 430);
  const CameraState turned = window.impl().scene_->camera().state();
  EXPECT_GT(std::abs(turned.yaw - before.yaw), 0.05);
  window.move(640, 400);
  window.wheel(3);
  EXPECT_LT(window.impl().scene_->camera().state().distance, turned.distance);
}

TEST(App, AnEditedPropertyIsKeptAndASettingThatIsRefusedIsShown) {
  TestWindow window;
  window.show(robot_recording());
  window.set_layout("hyphos_view: 1\npanels: {panel: plot, fields: [\"no colon\"], window_s: 3}\n");
  bool found = false;
  (void)window.picture("refused");
  window.impl().workspace_.for_each(
      [&](Panel& panel) { found = panel.save().count("fields") > 0; });
  EXPECT_FALSE(found);
}

TEST(App, ThemeIsChangedAndSaved) {
  TestWindow window;
  window.show(robot_recording());
  window.set_layout("hyphos_view: 1\npanels: {panel: channels}\n");
  const Picture dark = window.picture();
  window.set_layout("hyphos_view: 1\ntheme: light\npanels: {panel: channels}\n");
  EXPECT_GT(difference(dark, window.picture()), 0.9);
  EXPECT_EQ(window.app().layout().theme, "light");
}

TEST(App, HelpOpensAndCloses) {
  TestWindow window;
  window.show(robot_recording());
  window.key(290);
  EXPECT_TRUE(window.impl().show_help_);
  (void)window.picture("help");
  window.key(256);
  EXPECT_FALSE(window.impl().show_help_);
}

/// True if `part` is somewhere in `whole`, apart from a few pixels.
bool contains(const Picture& whole, const Picture& part) {
  const auto row = [](const Picture& picture, int x, int y) {
    return picture.rgba.data() +
           (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) +
            static_cast<std::size_t>(x)) *
               4;
  };
  const auto bytes = static_cast<std::size_t>(part.width) * 4;
  for (int y = 0; y + part.height <= whole.height; ++y) {
    for (int x = 0; x + part.width <= whole.width; ++x) {
      int equal = 0;
      for (int line = 0; line < part.height; ++line) {
        const std::uint8_t* const a = row(whole, x, y + line);
        const std::uint8_t* const b = row(part, 0, line);
        if (std::equal(a, a + bytes, b)) ++equal;
        if (equal + 20 < line) break;
      }
      if (equal + 20 >= part.height) return true;
    }
  }
  return false;
}

TEST(App, APlotIsSavedAsAPicture) {
  const auto before = std::filesystem::current_path();
  const auto folder =
      std::filesystem::temp_directory_path() / ("hyphos-plot-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  {
    TestWindow window;
    window.show(robot_recording());
    window.set_layout(
        "hyphos_view: 1\npanels: {panel: plot, fields: [odom:twist.twist.linear.x]}\n");
    window.impl().seek(FakeSource::kStart + 2'000'000'000);
    window.frames(6);
    // The fourth button of the bar.
    window.click(100, 82);
    window.move(900, 20);
    window.frames(3);
    std::vector<std::filesystem::path> files;
    for (const auto& file : std::filesystem::directory_iterator(folder)) files.push_back(file);
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].extension(), ".png");
    const auto saved = read_png(files[0].string());
    ASSERT_TRUE(saved) << saved.error().to_string();
    EXPECT_GT(saved->width, 1000);
    EXPECT_GT(saved->height, 400);
    EXPECT_LT(saved->height, 700);
    window.frame(7000);  // until the notice has gone
    window.frames(3);
    Picture whole = window.picture("plot_saved");
    for (std::size_t i = 3; i < whole.rgba.size(); i += 4) whole.rgba[i] = 255;
    EXPECT_TRUE(contains(whole, *saved));
  }
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

TEST(App, PlotShowsSamplesAndSavesThem) {
  TestWindow window;
  window.show(robot_recording());
  window.set_layout(
      "hyphos_view: 1\npanels: {panel: plot, fields: [odom:twist.twist.linear.x, "
      "odom:pose.pose.position.y, odom:no_such]}\n");
  window.impl().seek(FakeSource::kStart + 2'500'000'000);
  window.frames(4);
  const Picture plot = window.picture("plot");
  window.set_layout("hyphos_view: 1\npanels: {panel: plot}\n");
  EXPECT_GT(difference(plot, window.picture("plot_empty")), 0.002);
}

TEST(App, EveryPanelDrawsWithAndWithoutData) {
  for (const char* theme : {"dark", "light"}) {
    TestWindow window;
    window.show(robot_recording());
    window.impl().seek(FakeSource::kStart + 2'000'000'000);
    for (const PanelKind& kind : panel_kinds()) {
      std::string settings;
      if (kind.name == "raw") settings = ", channel: odom";
      if (kind.name == "image") settings = ", channel: camera";
      if (kind.name == "transforms") settings = ", target: map, source: base";
      window.set_layout(std::string("hyphos_view: 1\ntheme: ") + theme +
                        "\ndisplays: [{show: grid}]\npanels: {panel: " + std::string(kind.name) +
                        settings + "}\n");
      window.frames(6);
      const Picture picture = window.picture(std::string(kind.name) + "_" + theme);
      std::set<std::uint32_t> colors;
      for (std::size_t i = 0; i < picture.rgba.size(); i += 4) {
        colors.insert(std::uint32_t{picture.rgba[i]} << 16U |
                      std::uint32_t{picture.rgba[i + 1]} << 8U | picture.rgba[i + 2]);
      }
      EXPECT_GT(colors.size(), 20U) << kind.name;
    }
  }
}

TEST(App, AnotherRecordingReplacesTheFirst) {
  TestWindow window;
  window.show(robot_recording());
  window.set_layout(
      "hyphos_view: 1\npanels: {columns: [{panel: raw, channel: odom}, {panel: plot, "
      "fields: [odom:twist.twist.linear.x]}]}\n");
  window.show(robot_recording());
  window.impl().seek(FakeSource::kStart + 1'000'000'000);
  window.frames(3);
  EXPECT_EQ(count_panels(window.app().layout().panels, "plot"), 1U);
}

}  // namespace
}  // namespace hyphos::view
