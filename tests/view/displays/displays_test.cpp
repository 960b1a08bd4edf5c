#include <fstream>
#include <limits>

#include "rig.hpp"
#include "view/displays/message.hpp"
#include "view/displays/pixels.hpp"

namespace hyphos::view::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(DisplaysTest, every_kind_survives_bytes_that_are_no_message) {
  for (const DisplayKind& kind : display_kinds()) {
    Rig rig;
    auto& display = rig.show(std::string(kind.name), "channel");
    if (kind.types.empty()) continue;
    for (const std::string_view bytes : {"\xff\xff\xff\xff", "\x0a\x7f", "\x08"}) {
      rig.send_bytes("channel", bytes, 1);
    }
    (void)rig.paint();
    if (kind.name == "transforms") continue;  // read by the frames
    EXPECT_EQ(display.status().health, Health::error) << kind.name;
    EXPECT_NE(display.status().text.find("is not a hyphos.msgs."), std::string::npos)
        << kind.name << ": " << display.status().text;
    EXPECT_EQ(display.counters().refused, 3U) << kind.name;
  }
}

TEST(DisplaysTest, every_kind_survives_an_empty_message) {
  for (const DisplayKind& kind : display_kinds()) {
    Rig rig;
    auto& display = rig.show(std::string(kind.name), "channel");
    if (!kind.types.empty()) rig.send_bytes("channel", "", 1);
    (void)rig.paint();
    EXPECT_FALSE(display.status().text.empty() && display.status().health == Health::error)
        << kind.name;
  }
}

TEST(DisplaysTest, a_channel_of_another_type_is_named) {
  Rig rig;
  auto& display = rig.show("points", "lidar", "hyphos.msgs.LaserScan");
  rig.send("lidar", msgs::LaserScan(), 1);
  EXPECT_EQ(display.status().text, "the channel has the type hyphos.msgs.LaserScan now");
}

TEST(DisplaysTest, settings_read_back_and_refuse_wrong_values) {
  for (const DisplayKind& kind : display_kinds()) {
    Rig rig;
    auto& display = rig.show(std::string(kind.name), "channel");
    auto& item = rig.view.items().front();
    for (Property& each : display.properties().all()) {
      EXPECT_TRUE(each.is_default()) << kind.name << " " << each.name;
      EXPECT_FALSE(each.help.empty()) << kind.name << " " << each.name;
      const std::string text = each.text();
      EXPECT_TRUE(rig.view.set(item, each.name, text).ok()) << kind.name << " " << each.name;
      EXPECT_EQ(each.text(), text);
      if (!std::holds_alternative<std::string>(each.value()) || !each.choices.empty()) {
        EXPECT_FALSE(rig.view.set(item, each.name, "nonsense").ok())
            << kind.name << " " << each.name;
        EXPECT_EQ(each.text(), text);
      }
    }
    EXPECT_FALSE(rig.view.set(item, "no_such_property", "1").ok());
  }
}

TEST(DisplaysTest, the_reference_lists_every_kind_and_property) {
  std::ifstream file(DISPLAY_REFERENCE);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  for (const DisplayKind& kind : display_kinds()) {
    EXPECT_NE(text.find("`" + std::string(kind.name) + "`"), std::string::npos) << kind.name;
    for (const std::string& name : display_settings(kind)) {
      EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << kind.name << " " << name;
    }
  }
}

TEST(DisplaysTest, an_unknown_kind_is_refused_with_the_nearest) {
  Rig rig;
  const auto made = rig.view.add("pionts", "lidar");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, "there is no display 'pionts' (did you mean 'points'?)");
}

TEST(DisplaysTest, a_pose_is_shown_in_the_fixed_frame) {
  Rig rig;
  auto& display = rig.show("pose", "goal");
  rig.view.set_fixed_frame("map");
  rig.move("map", "odom", 1, 2, 0, std::numbers::pi / 2, 1);
  msgs::PoseStamped pose;
  set_header(*pose.mutable_header(), "odom", 1);
  set_pose(*pose.mutable_pose(), 3, 0, 0);
  rig.send("goal", pose, 1);
  ASSERT_EQ(display.status().health, Health::good) << display.status().text;
  const auto painted = rig.paint();
  ASSERT_EQ(painted.line_ends.size(), 6U);
  EXPECT_LT((painted.line_ends[0] - Vec3(1, 5, 0)).norm(), 1e-6);
}

TEST(DisplaysTest, a_pose_in_an_unknown_frame_names_the_frame) {
  Rig rig;
  auto& display = rig.show("pose", "goal");
  rig.view.set_fixed_frame("map");
  rig.move("map", "base", 1, 2, 0, 0, 1);
  msgs::PoseStamped pose;
  set_header(*pose.mutable_header(), "odom", 1);
  set_pose(*pose.mutable_pose(), 3, 0, 0);
  rig.send("goal", pose, 1);
  EXPECT_EQ(display.status().health, Health::error);
  EXPECT_NE(display.status().text.find("odom"), std::string::npos) << display.status().text;
  EXPECT_TRUE(rig.paint().line_ends.empty());
  rig.move("map", "odom", 0, 0, 0, 0, 1);
  EXPECT_EQ(display.status().health, Health::good) << display.status().text;
}

TEST(DisplaysTest, different_frames_without_transforms_are_a_warning) {
  Rig rig;
  auto& display = rig.show("pose", "goal");
  msgs::PoseStamped pose;
  set_header(*pose.mutable_header(), "map", 1);
  set_pose(*pose.mutable_pose(), 3, 0, 0);
  rig.send("goal", pose, 1);
  EXPECT_EQ(display.status().health, Health::good);
  auto& other = rig.show("pose", "start");
  pose.mutable_header()->set_frame_id("odom");
  rig.send("start", pose, 1);
  EXPECT_EQ(other.status().health, Health::warning);
  EXPECT_EQ(other.status().text,
            "No transform has come, so that all frames are drawn at the origin");
}

TEST(DisplaysTest, quaternions_of_any_length_are_normalised) {
  msgs::Pose pose;
  set_pose(pose, 0, 0, 0, 1);
  for (const double factor : {1e-3, 7.0, 1e5}) {
    msgs::Pose scaled = pose;
    scaled.mutable_orientation()->set_z(pose.orientation().z() * factor);
    scaled.mutable_orientation()->set_w(pose.orientation().w() * factor);
    const auto made = to_pose(scaled);
    ASSERT_TRUE(made);
    EXPECT_TRUE(made->isApprox(*to_pose(pose), 1e-9));
  }
  pose.mutable_orientation()->Clear();
  EXPECT_TRUE(to_pose(pose)->linear().isIdentity());
  pose.mutable_orientation()->set_x(kNan);
  EXPECT_FALSE(to_pose(pose));
  // A position that single precision cannot hold.
  set_pose(pose, 1e300, 0, 0);
  EXPECT_FALSE(to_pose(pose));
}

TEST(DisplaysTest, a_covariance_becomes_its_ellipsoid) {
  Rig rig;
  auto& display = rig.show("odometry", "odom");
  msgs::Odometry odometry;
  set_header(*odometry.mutable_header(), "", 1);
  set_pose(*odometry.mutable_pose()->mutable_pose(), 1, 0, 0);
  for (int i = 0; i < 36; ++i) odometry.mutable_pose()->add_covariance(0);
  odometry.mutable_pose()->set_covariance(0, 4);
  odometry.mutable_pose()->set_covariance(7, 1);
  odometry.mutable_pose()->set_covariance(14, 0.25);
  rig.send("odom", odometry, 1);
  const auto painted = rig.paint();
  ASSERT_EQ(painted.solids.size(), 1U);
  // Diameters of 2 sigmas.
  const auto& solid = painted.solids[0];
  Vec3 extents = (solid.pose.linear() * solid.size.asDiagonal()).rowwise().norm();
  EXPECT_LT((extents - Vec3(8, 4, 2)).norm(), 1e-6) << extents.transpose();
  odometry.mutable_pose()->set_covariance(0, -4);
  rig.send("odom", odometry, 2);
  EXPECT_EQ(display.status().text, "the covariance of the position is not a covariance matrix");
  odometry.mutable_pose()->mutable_covariance()->Truncate(9);
  rig.send("odom", odometry, 3);
  EXPECT_EQ(display.status().text, "the covariance has 9 numbers instead of 36");
}

TEST(DisplaysTest, a_trail_keeps_poses_by_spacing_and_time) {
  Rig rig;
  rig.show("odometry", "odom");
  auto& item = rig.view.items().front();
  ASSERT_TRUE(rig.view.set(item, "history_s", "-1").ok());
  ASSERT_TRUE(rig.view.set(item, "spacing", "0.5").ok());
  for (int i = 0; i < 10; ++i) {
    msgs::Odometry odometry;
    set_header(*odometry.mutable_header(), "", i);
    set_pose(*odometry.mutable_pose()->mutable_pose(), 0.3 * i, 0, 0);
    rig.send("odom", odometry, i);
  }
  // 0, 0.6, 1.2, 1.8, 2.4: three lines each.
  EXPECT_EQ(rig.store.sets.at(0)->batches(), 5U);
  EXPECT_EQ(rig.store.sets.at(0)->points(), 30U);
  ASSERT_TRUE(rig.view.set(item, "history_s", "3").ok());
  rig.view.update(at_s(9));
  EXPECT_EQ(rig.store.sets.at(0)->batches(), 2U);
}

TEST(DisplaysTest, poses_of_a_path_that_are_not_finite_leave_a_gap) {
  for (const double bad : {kNan, 1e300}) {  // 1e300 is infinite as a float
    Rig rig;
    auto& display = rig.show("path", "plan");
    msgs::Path path;
    for (int i = 0; i < 6; ++i) set_pose(*path.add_poses()->mutable_pose(), i == 3 ? bad : i, 0, 0);
    rig.send("plan", path, 1);
    EXPECT_EQ(rig.store.sets.at(0)->points(), 6U);  // 0-1, 1-2 and 4-5
    EXPECT_EQ(display.status().text, "5 poses, 1 that are not finite left out");
  }
}

TEST(DisplaysTest, a_map_whose_size_lies_is_refused) {
  Rig rig;
  auto& display = rig.show("map", "map");
  msgs::OccupancyGrid grid;
  grid.mutable_info()->set_width(4);
  grid.mutable_info()->set_height(3);
  grid.mutable_info()->set_resolution(0.5F);
  grid.set_data(std::string(11, '\0'));
  rig.send("map", grid, 1);
  EXPECT_EQ(display.status().text, "the map has 11 bytes, but the head declares 12 cells");
  grid.set_data(std::string(12, '\0'));
  rig.send("map", grid, 2);
  EXPECT_EQ(display.status().health, Health::good);
  const auto painted = rig.paint();
  EXPECT_EQ(painted.image_size, Vec2(2, 1.5));
  grid.mutable_info()->set_resolution(0);
  rig.send("map", grid, 3);
  EXPECT_EQ(display.status().text, "the resolution of the map is not above 0 m");
  grid.mutable_info()->set_resolution(1);
  grid.mutable_info()->set_width(4'000'000'000);
  rig.send("map", grid, 4);
  EXPECT_EQ(display.status().health, Health::error);
}

TEST(DisplaysTest, transforms_name_every_frame) {
  Rig rig;
  auto& display = rig.show("transforms", "tf");
  rig.move("map", "odom", 0, 0, 0, 0, 1);
  rig.move("odom", "base", 1, 0, 0, 0, 1);
  rig.move("other", "island", 1, 0, 0, 0, 1);
  const auto painted = rig.paint();
  EXPECT_NE(std::ranges::find(painted.labels, "base"), painted.labels.end());
  EXPECT_EQ(display.status().health, Health::warning);
  EXPECT_NE(display.status().text.find("have no path to 'map'"), std::string::npos)
      << display.status().text;
}

TEST(DisplaysTest, an_image_whose_size_lies_is_refused) {
  Rig rig;
  auto& display = rig.show("image", "camera");
  msgs::Image image;
  image.set_width(4);
  image.set_height(2);
  image.set_step(12);
  image.set_encoding("rgb8");
  rig.send("camera", image, 1, std::vector<std::byte>(20));
  EXPECT_EQ(display.status().text, "the buffer has 20 bytes, but the head declares 24");
  image.set_step(11);
  rig.send("camera", image, 2, std::vector<std::byte>(24));
  EXPECT_EQ(display.status().text, "a row of 4 pixels needs 12 bytes, but step is 11");
  image.set_step(12);
  image.set_encoding("rgb9");
  rig.send("camera", image, 3, std::vector<std::byte>(24));
  EXPECT_EQ(display.status().text, "unknown encoding 'rgb9' (did you mean 'rgb8'?)");
  image.set_encoding("bgr8");
  image.set_width(0xffffffff);
  image.set_height(0xffffffff);
  rig.send("camera", image, 4, std::vector<std::byte>(24));
  EXPECT_EQ(display.status().health, Health::error);
}

TEST(DisplaysTest, colors_of_an_image_are_in_order) {
  msgs::Image image;
  image.set_width(1);
  image.set_height(1);
  image.set_step(3);
  image.set_encoding("bgr8");
  const auto made = sample(0, image, 1, {std::byte{1}, std::byte{2}, std::byte{3}});
  const auto pixels = decode_image("hyphos.msgs.Image", made);
  ASSERT_TRUE(pixels.ok());
  EXPECT_EQ(pixels->bytes,
            (std::vector<std::byte>{std::byte{3}, std::byte{2}, std::byte{1}, std::byte{255}}));
}

TEST(DisplaysTest, damaged_compressed_images_are_refused) {
  Rig rig;
  auto& display = rig.show("image", "camera", "hyphos.msgs.CompressedImage");
  msgs::CompressedImage image;
  image.set_format("jpeg");
  const auto bytes = [](std::string_view text) {
    const auto all = std::as_bytes(std::span(text));
    return std::vector<std::byte>(all.begin(), all.end());
  };
  rig.send("camera", image, 1, bytes("garbage"));
  EXPECT_EQ(display.status().text, "the compressed image 'jpeg' is neither JPEG nor PNG");
  rig.send("camera", image, 2, bytes("\xff\xd8\xff garbage"));
  EXPECT_EQ(display.status().text, "the JPEG image is damaged");
  rig.send("camera", image, 3, bytes("\x89PNG\r\n\x1a\n garbage"));
  EXPECT_EQ(display.status().text, "the PNG image is damaged");
  rig.send("camera", image, 4);
  EXPECT_EQ(display.status().text, "the compressed image has no bytes");
}

msgs::Marker cube(const std::string& ns, int id) {
  msgs::Marker made;
  made.set_ns(ns);
  made.set_id(id);
  made.set_type(msgs::Marker::CUBE);
  made.mutable_scale()->set_x(1);
  made.mutable_scale()->set_y(1);
  made.mutable_scale()->set_z(1);
  made.mutable_color()->set_a(1);
  return made;
}

TEST(DisplaysTest, markers_are_added_replaced_and_deleted) {
  Rig rig;
  rig.show("marker", "marks");
  for (const auto& [ns, id] : {std::pair{"a", 1}, {"a", 2}, {"b", 1}, {"a", 1}}) {
    rig.send("marks", cube(ns, id), 1);
  }
  EXPECT_EQ(rig.paint().solids.size(), 3U);
  auto one = cube("a", 2);
  one.set_action(msgs::Marker::DELETE);
  rig.send("marks", one, 2);
  EXPECT_EQ(rig.paint().solids.size(), 2U);
  one.set_action(msgs::Marker::DELETEALL);
  rig.send("marks", one, 3);
  EXPECT_EQ(rig.paint().solids.size(), 1U);
  one.set_ns("");
  rig.send("marks", one, 4);
  EXPECT_EQ(rig.paint().solids.size(), 0U);
}

TEST(DisplaysTest, a_marker_leaves_after_its_lifetime) {
  Rig rig;
  rig.show("marker", "marks");
  auto one = cube("a", 1);
  one.set_lifetime_ns(2'000'000'000);
  rig.send("marks", one, 1);
  rig.view.update(at_s(2.5));
  EXPECT_EQ(rig.paint().solids.size(), 1U);
  rig.view.update(at_s(3));
  EXPECT_EQ(rig.paint().solids.size(), 0U);
}

TEST(DisplaysTest, a_wrong_marker_is_named) {
  Rig rig;
  auto& display = rig.show("marker", "marks");
  auto one = cube("a", 1);
  one.mutable_pose()->mutable_position()->set_x(kNan);
  rig.send("marks", one, 1);
  EXPECT_EQ(display.status().text, "marker 'a' 1: its pose has a number that is not finite");
  one = cube("a", 2);
  one.set_type(static_cast<msgs::Marker::Type>(77));
  rig.send("marks", one, 2);
  EXPECT_EQ(display.status().text, "marker 'a' 2: unknown type 77");
  one = cube("a", 3);
  one.set_type(msgs::Marker::MESH_RESOURCE);
  one.set_mesh_resource("package://robot/none.stl");
  rig.send("marks", one, 3);
  EXPECT_EQ(display.status().text,
            "marker 'a' 3: package://robot/none.stl: no folder of 'packages' has this file");
}

TEST(DisplaysTest, a_wrong_texture_is_named) {
  Rig rig;
  auto& display = rig.show("marker", "marks");
  auto one = cube("a", 1);
  one.set_type(msgs::Marker::TRIANGLE_LIST);
  for (int i = 0; i < 3; ++i) one.add_points()->set_x(i);
  one.set_texture_resource("embedded://wall");
  rig.send("marks", one, 1);
  EXPECT_EQ(display.status().text, "marker 'a' 1: 0 uv_coordinates for 3 points");
  for (int i = 0; i < 3; ++i) one.add_uv_coordinates();
  one.mutable_texture()->set_data("no picture");
  rig.send("marks", one, 2);
  EXPECT_EQ(display.status().text,
            "marker 'a' 1: the compressed image 'embedded://wall' is neither JPEG nor PNG");
  one.set_texture_resource("/absent/wall.png");
  rig.send("marks", one, 3);
  EXPECT_NE(display.status().text.find("cannot read the image"), std::string::npos);
}

#ifdef HYPHOS_VIEW_ASSIMP
TEST(DisplaysTest, a_mesh_inside_a_message_is_drawn) {
  Rig rig;
  auto& display = rig.show("marker", "marks");
  auto one = cube("a", 1);
  one.set_type(msgs::Marker::MESH_RESOURCE);
  one.set_mesh_resource("embedded://a.obj");
  one.mutable_mesh_file()->set_filename("a.obj");
  one.mutable_mesh_file()->set_data(
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n");
  one.set_mesh_use_embedded_materials(true);
  rig.send("marks", one, 1);
  EXPECT_EQ(display.status().health, Health::good) << display.status().text;
  EXPECT_EQ(rig.paint().meshes, 1U);
}
#endif

TEST(DisplaysTest, a_robot_without_transforms_stands_at_its_origin) {
  Rig rig;
  auto& display = rig.show("robot_model", "robot_description");
  msgs::String text;
  text.set_data(R"(<robot name="r"><link name="base"><visual><geometry><box size="1 2 3"/>
    </geometry></visual></link><link name="arm"><visual><geometry><capsule radius="0.1"
    length="1"/></geometry></visual></link><joint name="j" type="revolute"><parent link="base"/>
    <child link="arm"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/></joint></robot>)");
  rig.send("robot_description", text, 1);
  EXPECT_EQ(display.status().health, Health::good) << display.status().text;
  EXPECT_EQ(rig.paint().solids.size(), 4U);  // a box, and a capsule of three
  rig.view.set_fixed_frame("map");
  rig.move("map", "base", 7, 0, 0, 0, 1);
  const auto painted = rig.paint();
  EXPECT_LT((painted.solids[0].pose.translation() - Vec3(7, 0, 0)).norm(), 1e-6);
  EXPECT_LT((painted.solids[1].pose.translation() - Vec3(7, 0, 1)).norm(), 1e-6);
}

TEST(DisplaysTest, a_model_with_a_missing_mesh_names_it_and_shows_the_rest) {
  Rig rig;
  auto& display = rig.show("robot_model", "robot_description");
  msgs::String text;
  text.set_data(R"(<robot name="r"><link name="base">
    <visual><geometry><mesh filename="package://r/base.dae"/></geometry></visual>
    <visual><geometry><sphere radius="1"/></geometry></visual></link></robot>)");
  rig.send("robot_description", text, 1);
  EXPECT_EQ(display.status().text,
            "mesh 'package://r/base.dae': no folder of 'packages' has this file");
  EXPECT_EQ(rig.paint().solids.size(), 1U);
}

TEST(DisplaysTest, a_model_with_a_loop_is_refused_with_its_line) {
  Rig rig;
  auto& display = rig.show("robot_model", "robot_description");
  msgs::String text;
  text.set_data(R"(<robot name="r"><link name="a"/><link name="b"/>
    <joint name="1" type="fixed"><parent link="a"/><child link="b"/></joint>
    <joint name="2" type="fixed"><parent link="b"/><child link="a"/></joint></robot>)");
  rig.send("robot_description", text, 1);
  EXPECT_EQ(display.status().health, Health::error);
  EXPECT_NE(display.status().text.find("cycle"), std::string::npos) << display.status().text;
}

TEST(DisplaysTest, a_range_beyond_its_limit_shows_nothing_within) {
  Rig rig;
  auto& display = rig.show("range", "sonar");
  msgs::Range range;
  range.set_min_range(0.1F);
  range.set_max_range(4);
  range.set_field_of_view(0.3F);
  range.set_range(std::numeric_limits<float>::infinity());
  rig.send("sonar", range, 1);
  EXPECT_EQ(display.status().text, "nothing within 4 m");
  range.set_range(std::numeric_limits<float>::quiet_NaN());
  rig.send("sonar", range, 2);
  EXPECT_EQ(display.status().text, "the range is not a number");
}

TEST(DisplaysTest, nothing_changes_without_a_message) {
  Rig rig;
  rig.show("grid", "");
  rig.show("transforms", "tf");
  rig.show("marker", "marks");
  rig.move("map", "base", 1, 0, 0, 0, 1);
  rig.send("marks", cube("a", 1), 1);
  EXPECT_TRUE(rig.view.changed());
}

}  // namespace
}  // namespace hyphos::view::testing
