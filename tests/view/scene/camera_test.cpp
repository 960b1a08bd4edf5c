#include "view/scene/camera.hpp"

#include <gtest/gtest.h>

namespace hyphos::view {
namespace {

Camera camera_at(CameraState state) {
  Camera camera;
  camera.set_size(800, 600);
  camera.set_state(state);
  return camera;
}

void expect_near(const Vec3& a, const Vec3& b, double tolerance = 1e-6) {
  EXPECT_LT((a - b).norm(), tolerance) << a.transpose() << " and " << b.transpose();
}

TEST(CameraTest, the_target_is_in_the_middle_of_the_view) {
  const Camera camera = camera_at({.target = {3, -2, 1}, .yaw = 2, .pitch = 0.4});
  const auto pixel = camera.project({3, -2, 1});
  ASSERT_TRUE(pixel);
  EXPECT_NEAR(pixel->x(), 400, 1e-6);
  EXPECT_NEAR(pixel->y(), 300, 1e-6);
}

TEST(CameraTest, unproject_reverses_project) {
  for (const CameraMode mode : {CameraMode::orbit, CameraMode::top_down}) {
    const Camera camera = camera_at({.mode = mode, .target = {1, 2, 0}, .distance = 20});
    const Vec3 point(2.5, 1, 0.75);
    const auto pixel = camera.project(point);
    ASSERT_TRUE(pixel);
    expect_near(camera.unproject(pixel->x(), pixel->y(), pixel->z()), point, 1e-4);
    const Ray ray = camera.ray(pixel->x(), pixel->y());
    EXPECT_LT((point - ray.from).cross(ray.direction).norm(), 1e-6);
  }
}

TEST(CameraTest, a_left_drag_orbits_about_the_target) {
  Camera camera = camera_at({.target = {1, 1, 0}, .distance = 5});
  const Vec3 before = camera.eye();
  camera.press(MouseButton::left, 100, 100, std::nullopt);
  camera.drag(160, 130);
  camera.release(MouseButton::left);
  expect_near(camera.target(), {1, 1, 0});
  EXPECT_GT((camera.eye() - before).norm(), 0.5);
  EXPECT_NEAR((camera.eye() - camera.target()).norm(), 5, 1e-9);
}

TEST(CameraTest, a_pan_keeps_the_pressed_point_under_the_pointer) {
  Camera camera = camera_at({.distance = 12});
  const Vec3 point(1, 0.5, 0.25);
  const Vec3 from = *camera.project(point);
  camera.press(MouseButton::middle, from.x(), from.y(), point);
  camera.drag(from.x() + 80, from.y() - 45);
  const Vec3 to = *camera.project(point);
  EXPECT_NEAR(to.x(), from.x() + 80, 1e-6);
  EXPECT_NEAR(to.y(), from.y() - 45, 1e-6);
}

// HyperGraph ROS, section IV-B.
TEST(CameraTest, the_wheel_zooms_to_the_pressed_anchor) {
  Camera camera = camera_at({.mode = CameraMode::anchor, .distance = 12});
  const Vec3 anchor(2, -1, 0.5);
  const Vec3 before = *camera.project(anchor);
  camera.press(MouseButton::left, before.x(), before.y(), anchor);
  camera.release(MouseButton::left);
  camera.wheel(4, 10, 10, std::nullopt);
  const Vec3 after = *camera.project(anchor);
  EXPECT_NEAR(after.x(), before.x(), 1e-6);
  EXPECT_NEAR(after.y(), before.y(), 1e-6);
  EXPECT_LT(camera.state().distance, 12);
}

// Figure 7: keys turn by Euler angles about the anchor, which stays at its pixel and distance.
TEST(CameraTest, keys_turn_about_the_anchor) {
  Camera camera = camera_at({.mode = CameraMode::anchor, .distance = 12});
  const Vec3 anchor(2, -1, 0.5);
  const Vec3 before = *camera.project(anchor);
  camera.press(MouseButton::left, before.x(), before.y(), anchor);
  camera.release(MouseButton::left);
  const double far = (camera.eye() - anchor).norm();
  for (const CameraKey key : {CameraKey::a, CameraKey::w, CameraKey::w, CameraKey::q}) {
    const CameraState old = camera.state();
    camera.key(key, 0.2);
    EXPECT_NE(camera.state(), old);
    EXPECT_NEAR((camera.eye() - anchor).norm(), far, 1e-9);
    const Vec3 seen = (camera.view() * anchor.homogeneous()).head<3>();
    EXPECT_NEAR(seen.norm(), far, 1e-9);
  }
  EXPECT_NE(camera.state().roll, 0);
}

TEST(CameraTest, the_wheel_keeps_the_point_under_the_pointer) {
  for (const CameraMode mode : {CameraMode::orbit, CameraMode::top_down}) {
    Camera camera = camera_at({.mode = mode, .distance = 12});
    const Vec3 point(2, -1, 0);
    const Vec3 before = *camera.project(point);
    camera.wheel(3, before.x(), before.y(), point);
    const Vec3 after = *camera.project(point);
    EXPECT_NEAR(after.x(), before.x(), 1e-6);
    EXPECT_NEAR(after.y(), before.y(), 1e-6);
    EXPECT_LT(camera.state().distance, 12);
  }
}

TEST(CameraTest, the_right_button_pans_in_the_anchor_mode) {
  Camera camera = camera_at({.mode = CameraMode::anchor, .distance = 12});
  const CameraState before = camera.state();
  camera.press(MouseButton::right, 100, 100, std::nullopt);
  camera.drag(150, 100);
  EXPECT_EQ(camera.state().distance, before.distance);
  EXPECT_EQ(camera.state().yaw, before.yaw);
  EXPECT_GT((camera.state().target - before.target).norm(), 0.1);
}

TEST(CameraTest, first_person_turns_about_the_eye_and_walks) {
  Camera camera = camera_at({.mode = CameraMode::first_person, .distance = 2});
  const Vec3 eye = camera.eye();
  camera.press(MouseButton::left, 100, 100, std::nullopt);
  camera.drag(160, 130);
  expect_near(camera.eye(), eye);
  camera.release(MouseButton::left);
  const Vec3 ahead = camera.target() - camera.eye();
  camera.key(CameraKey::w, 0.5);
  const Vec3 walked = camera.eye() - eye;
  EXPECT_GT(walked.dot(ahead), 0);
  EXPECT_LT(walked.cross(ahead).norm(), 1e-6);
}

TEST(CameraTest, top_down_looks_along_minus_z) {
  const Camera camera = camera_at({.mode = CameraMode::top_down, .yaw = -1.5707963267948966});
  expect_near(camera.ray(400, 300).direction, {0, 0, -1});
  // With this yaw, x is to the right and y is up.
  EXPECT_GT(camera.project({1, 0, 0})->x(), 401);
  EXPECT_LT(camera.project({0, 1, 0})->y(), 299);
}

TEST(CameraTest, the_view_moves_with_the_followed_frame) {
  Camera camera = camera_at({.target = {1, 0, 0}, .follow = "base"});
  Pose base = Pose::Identity();
  base.translation() = Vec3(10, 5, 0);
  camera.set_follow_pose(base);
  expect_near(camera.target(), {11, 5, 0});
  CameraState turned = camera.state();
  turned.follow_heading = true;
  camera.set_state(turned);
  base.linear() = Eigen::AngleAxisd(M_PI / 2, Vec3::UnitZ()).toRotationMatrix();
  camera.set_follow_pose(base);
  expect_near(camera.target(), {10, 6, 0});
}

TEST(CameraTest, look_at_shows_every_corner) {
  for (const CameraMode mode : {CameraMode::orbit, CameraMode::top_down}) {
    Camera camera = camera_at({.mode = mode});
    Bounds bounds;
    bounds.add(Vec3(-4, 2, 0));
    bounds.add(Vec3(30, 18, 3));
    camera.look_at(bounds);
    double edge = 0;  // the largest distance from the middle, as a share of the half view
    for (int i = 0; i < 8; ++i) {
      const auto pixel = camera.project(Vec3((i & 1) != 0 ? bounds.max.x() : bounds.min.x(),
                                             (i & 2) != 0 ? bounds.max.y() : bounds.min.y(),
                                             (i & 4) != 0 ? bounds.max.z() : bounds.min.z()));
      ASSERT_TRUE(pixel);
      edge = std::max({edge, std::abs(pixel->x() - 400) / 400, std::abs(pixel->y() - 300) / 300});
    }
    EXPECT_LE(edge, 1) << "a corner is outside of the view";
    EXPECT_GT(edge, 0.85) << "it could be larger";
  }
}

TEST(CameraTest, impossible_states_are_ignored) {
  Camera camera = camera_at({});
  const CameraState before = camera.state();
  camera.set_state({.distance = NAN});
  EXPECT_EQ(camera.state(), before);
  camera.look_at(Bounds{});
  camera.wheel(NAN, 0, 0, std::nullopt);
  EXPECT_EQ(camera.state(), before);
  camera.wheel(1e9, 0, 0, std::nullopt);
  EXPECT_TRUE(std::isfinite(camera.state().distance));
  EXPECT_GT(camera.state().distance, 0);
}

TEST(CameraTest, only_changes_raise_the_revision) {
  Camera camera = camera_at({});
  const std::uint64_t before = camera.revision();
  camera.set_size(800, 600);
  camera.set_state(camera.state());
  camera.press(MouseButton::left, 5, 5, std::nullopt);
  camera.drag(5, 5);
  EXPECT_EQ(camera.revision(), before);
  camera.drag(6, 5);
  EXPECT_GT(camera.revision(), before);
}

TEST(CameraTest, mode_names_read_back) {
  for (const CameraMode mode :
       {CameraMode::orbit, CameraMode::first_person, CameraMode::top_down, CameraMode::anchor}) {
    EXPECT_EQ(parse_camera_mode(to_string(mode)), mode);
  }
  EXPECT_FALSE(parse_camera_mode("sideways"));
}

}  // namespace
}  // namespace hyphos::view
