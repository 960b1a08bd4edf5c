#include <gtest/gtest.h>

#include "fake_store.hpp"
#include "messages.hpp"
#include "view/displays/scene_view.hpp"
#include "view/scene/ghost.hpp"

/// Several sources in one view.
namespace hyphos::view::testing {
namespace {

class PartsTest : public ::testing::Test {
 protected:
  PartsTest() {
    std::vector<Part> parts(2);
    parts[1].label = "b";
    view.set_parts(parts, [this](std::size_t part) -> Store& { return part == 0 ? a : b; });
  }
  void channel(const std::string& name, const std::string& type) {
    Channel made;
    made.id = static_cast<std::uint32_t>(channels.size());
    made.name = name;
    made.type = type;
    made.encoding = Encoding::protobuf;
    made.part = name.starts_with("b/") ? 1 : 0;
    channels.push_back(made);
    view.set_channels(channels);
  }
  template <typename T>
  void send(std::uint32_t id, const T& message, double seconds = 1) {
    view.take(sample(id, message, seconds));
    view.update(at_s(seconds));
  }

  FakeStore a;
  FakeStore b;
  SceneView view{a};
  std::vector<Channel> channels;
};

msgs::Path path_in(const std::string& frame) {
  msgs::Path path;
  set_header(*path.mutable_header(), frame, 1);
  for (int i = 0; i < 2; ++i) {
    auto& pose = *path.add_poses();
    set_header(*pose.mutable_header(), frame, 1);
    set_pose(*pose.mutable_pose(), i, 0, 0);
  }
  return path;
}

msgs::TfMessage base_at(const std::string& root, double x) {
  msgs::TfMessage message;
  *message.add_transforms() = transform(root, "base", x, 0, 0, 0, 1);
  return message;
}

TEST_F(PartsTest, equal_frames_of_two_sources_are_apart) {
  channel("tf", "hyphos.msgs.TfMessage");
  channel("b/tf", "hyphos.msgs.TfMessage");
  channel("b/path", "hyphos.msgs.Path");
  ASSERT_TRUE(view.add("path", "b/path").ok());
  send(0, base_at("map", 1));
  send(1, base_at("odom", 5));
  send(2, path_in("base"));
  EXPECT_EQ(view.fixed_frame(), "map");
  const Display& shown = *view.items().front().display;
  EXPECT_EQ(shown.status().health, Health::good) << shown.status().text;
  EXPECT_NEAR(shown.bounds().min.x(), 5, 1e-6) << "by the transforms of its own source";
  EXPECT_NEAR(view.frames().get("map", "base", latest).or_throw().translation.x, 1, 1e-9);
  EXPECT_TRUE(view.channels().contains("tf"));
  EXPECT_TRUE(view.channels().contains("b/tf"));
}

TEST_F(PartsTest, a_frame_that_one_source_lacks_is_named_there) {
  channel("tf", "hyphos.msgs.TfMessage");
  channel("b/tf", "hyphos.msgs.TfMessage");
  channel("b/path", "hyphos.msgs.Path");
  ASSERT_TRUE(view.add("path", "b/path").ok());
  view.set_fixed_frame("map");
  send(0, base_at("map", 1));
  send(1, base_at("odom", 5));
  send(2, path_in("base"));
  const Status& status = view.items().front().display->status();
  EXPECT_EQ(status.health, Health::error);
  EXPECT_NE(status.text.find("map"), std::string::npos) << status.text;
}

TEST_F(PartsTest, things_of_a_source_are_in_its_own_store) {
  channel("lidar", "hyphos.msgs.PointCloud");
  channel("b/lidar", "hyphos.msgs.PointCloud");
  ASSERT_TRUE(view.add("points", "lidar").ok());
  ASSERT_TRUE(view.add("points", "b/lidar").ok());
  const auto message = cloud("", 1, {{1, 2, 3, 4}});
  for (const std::uint32_t id : {0U, 1U}) {
    view.take(sample(id, message.head, 1, message.bytes));
    view.update(at_s(1));
  }
  EXPECT_EQ(a.uploads(), 1U);
  EXPECT_EQ(b.uploads(), 1U);
}

TEST_F(PartsTest, companions_are_those_of_the_same_source) {
  channel("joint_states", "hyphos.msgs.JointState");
  channel("b/joint_states", "hyphos.msgs.JointState");
  channel("b/robot/robot_description", "hyphos.msgs.String");
  ASSERT_TRUE(view.add("robot_model", "b/robot/robot_description").ok());
  EXPECT_TRUE(view.channels().contains("b/joint_states"));
  EXPECT_FALSE(view.channels().contains("joint_states"));
}

TEST_F(PartsTest, displays_keep_their_settings_when_the_sources_change) {
  ASSERT_TRUE(view.add("path", "path").ok());
  ASSERT_TRUE(view.set(view.items().front(), "width", "5").ok());
  view.set_visible(view.items().front(), false);
  (void)view.take_reseek();
  view.set_parts(std::vector<Part>(1), [this](std::size_t) -> Store& { return a; });
  EXPECT_EQ(view.items().front().display->properties().find("width")->text(), "5");
  EXPECT_FALSE(view.items().front().display->visible());
  EXPECT_TRUE(view.take_reseek()) << "the samples have to come again";
  EXPECT_EQ(view.panes(), 1U);
}

TEST_F(PartsTest, columns_have_a_pane_for_each_source) {
  EXPECT_EQ(view.panes(), 1U);
  view.set_arrange(Arrange::columns);
  EXPECT_EQ(view.panes(), 2U);
}

TEST(GhostPainter, colours_are_tinted_and_translucent) {
  FakePainter to;
  const Ghost ghost{{200, 0, 0, 255}, 0.5, 0.4};
  GhostPainter ghosts(to, ghost);
  Painter& painter = ghosts;
  painter.shape(Shape::box, Pose::Identity(), {1, 1, 1}, {100, 100, 0, 255});
  ASSERT_EQ(to.solids.size(), 1U);
  EXPECT_EQ(to.solids.front().color, (Color{150, 50, 0, 102}));
  painter.line({0, 0, 0}, {1, 0, 0}, {0, 0, 0, 255});
  EXPECT_EQ(to.line_ends.size(), 2U);
  painter.label({0, 0, 0}, "base", {0, 0, 0, 255});
  EXPECT_EQ(to.labels, std::vector<std::string>{"base"});
  EXPECT_TRUE(Ghost{}.is_none());
  EXPECT_FALSE(ghost.is_none());
}

}  // namespace
}  // namespace hyphos::view::testing
