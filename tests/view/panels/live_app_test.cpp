#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <optional>

#include "hyphos/hyphos.hpp"
#include "tests/view/panels/harness.hpp"
#include "tests/view/panels/robot.hpp"
#include "view/panels/tools.hpp"

/// The window beside a robot: its past, and the tools that publish.
namespace hyphos::view {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// A robot of which the first second has arrived.
std::unique_ptr<FakeSource> robot() {
  auto source = robot_recording();
  source->is_live = true;
  source->arrived_ns = FakeSource::kStart + 1'000 * kMs;
  return source;
}

TEST(LivePast, TheCursorGoesBackWhileTheRobotGoesOn) {
  TestWindow window;
  FakeSource& source = window.show(robot());
  Timeline& time = window.impl().timeline_;
  ASSERT_TRUE(time.live);
  EXPECT_TRUE(time.follow);
  EXPECT_EQ(time.now_ns, FakeSource::kStart + 1'000 * kMs);
  window.click(640, 720 - 19);  // the middle of the timeline
  EXPECT_FALSE(time.follow);
  const std::int64_t held = time.now_ns;
  EXPECT_GT(held, FakeSource::kStart + 200 * kMs);
  EXPECT_LT(held, FakeSource::kStart + 800 * kMs);
  source.arrived_ns += 1'000 * kMs;
  window.frames(4);
  EXPECT_EQ(time.now_ns, held) << "the view holds its instant";
  EXPECT_EQ(time.range.end_ns, FakeSource::kStart + 2'000 * kMs) << "the past grows";
  window.key('.');
  EXPECT_GT(time.now_ns, held);
  EXPECT_LT(time.now_ns, held + 200 * kMs);
  window.key(',');
  EXPECT_LE(time.now_ns, held);
  (void)window.picture("live_past");
  window.key('L');
  EXPECT_TRUE(time.follow);
  EXPECT_GE(source.resumes, 1);
  EXPECT_EQ(time.now_ns, FakeSource::kStart + 2'000 * kMs);
  source.arrived_ns += 500 * kMs;
  window.frames(2);
  EXPECT_EQ(time.now_ns, FakeSource::kStart + 2'500 * kMs) << "new samples arrive again";
}

TEST(LivePast, ADragOfTheCursorScrubs) {
  TestWindow window;
  FakeSource& source = window.show(robot());
  const int seeks = source.seeks;
  window.drag(900, 720 - 19, 500, 720 - 19);
  EXPECT_GE(source.seeks - seeks, 4) << "each step of the drag is shown";
  EXPECT_FALSE(window.impl().timeline_.follow);
  window.key(' ');
  EXPECT_TRUE(window.impl().timeline_.follow) << "space returns to the newest messages";
}

TEST(LivePast, APastThatCannotBeWrittenIsAnError) {
  TestWindow window;
  window.show(robot());
  window.impl().keep_past();
  ASSERT_FALSE(window.impl().notices_.empty());
  EXPECT_TRUE(window.impl().notices_.back().error);
}

TEST(LivePicture, AStallOfTheViewerIsNoSilenceOfTheRobot) {
  TestWindow window;
  auto silent = robot();
  silent->arrived_ns = FakeSource::kStart - kMs;  // no message has arrived
  window.show(std::move(silent));
  window.frame(10'000);  // the stall
  window.frames(4);
  int frames = 0;
  for (; !window.app().settled() && frames < 200; ++frames) window.frame(100);
  EXPECT_GT(frames, 20) << "the robot has two seconds for a message";
  EXPECT_LT(frames, 200);
}

class ToolTest : public ::testing::Test {
 protected:
  ToolTest() : node(open()) {
    show(node);
    window.set_layout(
        "hyphos_view: 1\nfixed_frame: map\ncamera: {kind: top_down, distance: 10}\n"
        "displays: [{show: grid}, {show: laser_scan, channel: scan, size: 8}]\n"
        "panels: {panel: scene}\n");
    window.frames(6);
  }
  void show(const Node& guest) {
    auto source = robot();
    source->guest = &guest;
    window.show(std::move(source));
  }
  static Node open(const std::string& robot = "") {
    RuntimeOptions options;
    options.domain = "view-tools-" + std::to_string(::getpid()) + robot;
    return Node::open("view", options).or_throw();
  }
  void choose(int tool) { window.click(static_cast<float>(17 + tool * 30 + 14), 90); }
  /// The place in the window of a point on the ground.
  ImVec2 at(double x, double y) {
    const Vec3 pixel = *window.impl().scene_->camera().project({x, y, 0});
    return {6 + static_cast<float>(pixel.x()), 65 + static_cast<float>(pixel.y())};
  }

  Node node;
  TestWindow window;
};

TEST_F(ToolTest, AnInitialPoseIsPublishedWithItsCovariance) {
  std::optional<msgs::PoseWithCovarianceStamped> got;
  node.subscribe<msgs::PoseWithCovarianceStamped>(
      "initialpose", inline_,
      [&](const Message<msgs::PoseWithCovarianceStamped>& pose) { got = *pose; });
  choose(4);
  const ImVec2 from = at(1, -2);
  const ImVec2 to = at(1, 0);
  window.drag(from.x, from.y, to.x, to.y);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->header().frame_id(), "map");
  EXPECT_NEAR(got->pose().pose().position().x(), 1, 0.05);
  EXPECT_NEAR(got->pose().pose().position().y(), -2, 0.05);
  EXPECT_NEAR(got->pose().pose().orientation().z(), std::sin(M_PI / 4), 0.02);
  ASSERT_EQ(got->pose().covariance_size(), 36);
  EXPECT_DOUBLE_EQ(got->pose().covariance(0), 0.25);
  EXPECT_GT(got->pose().covariance(35), 0.06);
}

TEST_F(ToolTest, APointIsPublishedAtEachClick) {
  std::vector<msgs::PointStamped> got;
  node.subscribe<msgs::PointStamped>(
      "clicked_point", inline_,
      [&](const Message<msgs::PointStamped>& point) { got.push_back(*point); });
  choose(5);
  for (const double x : {-2.0, 0.5}) {
    const ImVec2 place = at(x, 1.5);
    window.click(place.x, place.y);
  }
  ASSERT_EQ(got.size(), 2U);
  EXPECT_NEAR(got[0].point().x(), -2, 0.05);
  EXPECT_NEAR(got[1].point().x(), 0.5, 0.05);
  EXPECT_NEAR(got[1].point().y(), 1.5, 0.05);
  EXPECT_EQ(got[1].header().frame_id(), "map");
}

TEST_F(ToolTest, AToolPublishesToTheRobotThatIsShown) {
  int first = 0;
  node.subscribe<msgs::PointStamped>("clicked_point", inline_,
                                     [&](const Message<msgs::PointStamped>&) { ++first; });
  choose(5);
  const ImVec2 place = at(1, 1);
  window.click(place.x, place.y);
  EXPECT_EQ(first, 1);
  Node other = open("-other");
  int second = 0;
  other.subscribe<msgs::PointStamped>("clicked_point", inline_,
                                      [&](const Message<msgs::PointStamped>&) { ++second; });
  show(other);
  window.frames(6);
  window.click(place.x, place.y);
  EXPECT_EQ(second, 0) << "the tool must be chosen again";
  choose(5);
  window.click(place.x, place.y);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  show(node);  // before the node ends
}

TEST_F(ToolTest, AMeasurementHasTheDistanceOfTwoClicks) {
  Tools tools;
  tools.choose(window.impl(), Tool::measure);
  const Ray down{{0, 0, 5}, {0, 0, -1}};
  tools.press(window.impl(), Vec3(0, 0, 0), down);
  tools.hover(Vec3(3, 0, 0));
  EXPECT_NEAR(*tools.measured(), 3, 1e-9);
  tools.press(window.impl(), Vec3(3, 4, 0), down);
  EXPECT_NEAR(*tools.measured(), 5, 1e-9);
  tools.hover(Vec3(9, 9, 9));
  EXPECT_NEAR(*tools.measured(), 5, 1e-9) << "the second click ends it";
  EXPECT_TRUE(tools.escape());
  // In the window the distance stands at the lower edge.
  const Picture before = window.picture();
  choose(2);
  for (const double x : {-1.0, 1.0}) {
    const ImVec2 place = at(x, -3);
    window.click(place.x, place.y);
  }
  const Picture after = window.picture("measure");
  std::size_t changed = 0;
  for (std::size_t i = 0; i < after.rgba.size(); i += 4) {
    changed += std::abs(int{after.rgba[i]} - int{before.rgba[i]}) > 40 ? 1 : 0;
  }
  EXPECT_GT(changed, 150U);
}

TEST_F(ToolTest, InspectShowsTheThingAtAClick) {
  choose(1);
  window.click(100, 600);
  ASSERT_FALSE(window.impl().notices_.empty());
  EXPECT_EQ(window.impl().notices_.back().text, "nothing is there");
  window.impl().notices_.clear();
  // A point of the scan: straight ahead of the laser.
  const auto laser = window.impl().scene_->frames().get("map", "laser", latest).or_throw();
  const double range = 3 + std::sin(200 * 0.05 + 1'000 * 0.002);
  const auto ahead = laser * Vector3{range, 0, 0};
  const ImVec2 place = at(ahead.x, ahead.y);
  const Picture before = window.picture();
  window.click(place.x, place.y);
  EXPECT_TRUE(window.impl().notices_.empty()) << window.impl().notices_.back().text;
  window.frames(2);
  const Picture after = window.picture("inspect");
  std::size_t changed = 0;
  for (std::size_t i = 0; i < after.rgba.size(); i += 4) {
    changed += after.rgba[i] != before.rgba[i] ? 1 : 0;
  }
  EXPECT_GT(changed, 500U) << "the values stand beside the point";
}

TEST(Tool, ARecordingHasNoRobotForAGoal) {
  TestWindow window;
  window.show(robot_recording());
  Tools tools;
  tools.choose(window.impl(), Tool::goal);
  EXPECT_EQ(tools.tool(), Tool::move);
  ASSERT_FALSE(window.impl().notices_.empty());
  EXPECT_TRUE(window.impl().notices_.back().error);
}

}  // namespace
}  // namespace hyphos::view
