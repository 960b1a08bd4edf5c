// The tree alone: values, errors, history. Composition is compared with Eigen in
// transform_property_test.cpp and with tf2 in transform_tf2_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "hyphos/transforms.hpp"

namespace hyphos {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Time at_ms(std::int64_t ms) { return Time{100 * kSecond + ms * 1'000'000}; }

Transform moved(const std::string& parent, const std::string& child, Time stamp, double x,
                double yaw = 0) {
  return {parent, child, stamp, {x, 0, 0}, to_quaternion({0, 0, yaw})};
}

/// The tree of figure 3 of the paper: a1 above a2 and a3. a6 is below a2 via a4, and a8 is below a3
/// via a5 and a7.
TransformTree& paper_tree(TransformTree& tree) {
  const char* edges[][2] = {{"a1", "a2"}, {"a1", "a3"}, {"a2", "a4"}, {"a4", "a6"},
                            {"a3", "a5"}, {"a5", "a7"}, {"a7", "a8"}};
  for (const auto& [parent, child] : edges) {
    EXPECT_TRUE(tree.set(moved(parent, child, at_ms(0), 1, std::numbers::pi / 2)));
  }
  return tree;
}

TEST(TransformTree, a_path_goes_up_to_the_common_ancestor_and_down) {
  TransformTree tree;
  paper_tree(tree);
  const auto chain = tree.chain("a8", "a6").or_throw();
  EXPECT_EQ(chain.frames,
            (std::vector<std::string>{"a6", "a4", "a2", "a1", "a3", "a5", "a7", "a8"}));
  EXPECT_EQ(chain.frames[chain.ancestor], "a1");
  // Every frame is one metre ahead of its parent and turned left by 90 degrees. After three of them
  // the position is one metre to the left of the start, after four at the start.
  const Transform up = tree.get("a1", "a6").or_throw();
  EXPECT_NEAR(up.translation.x, 0, 1e-12);
  EXPECT_NEAR(up.translation.y, 1, 1e-12);
  const Transform across = tree.get("a8", "a6").or_throw();
  EXPECT_EQ(across.parent, "a8");
  EXPECT_EQ(across.child, "a6");
  EXPECT_EQ(across.stamp, at_ms(0));
  EXPECT_NEAR(across.translation.x, 0, 1e-12);
  EXPECT_NEAR(across.translation.y, 1, 1e-12);
  EXPECT_NEAR(to_roll_pitch_yaw(across.rotation).yaw, -std::numbers::pi / 2, 1e-12);
  // The path down through a1 only.
  EXPECT_EQ(tree.chain("a3", "a1").or_throw().ancestor, 0U);
}

TEST(TransformTree, a_frame_in_itself_is_the_identity) {
  TransformTree tree;
  paper_tree(tree);
  const Transform same = tree.get("a6", "a6", at_ms(12345)).or_throw();
  EXPECT_EQ(same.isometry(), Isometry{});
  EXPECT_EQ(same.stamp, at_ms(12345));
}

TEST(TransformTree, values_between_samples_are_interpolated) {
  TransformTree tree;
  ASSERT_TRUE(tree.set(moved("map", "base", at_ms(0), 0, 0)));
  ASSERT_TRUE(tree.set(moved("map", "base", at_ms(100), 1, 1)));
  const Transform quarter = tree.get("map", "base", at_ms(25)).or_throw();
  EXPECT_NEAR(quarter.translation.x, 0.25, 1e-12);
  EXPECT_NEAR(to_roll_pitch_yaw(quarter.rotation).yaw, 0.25, 1e-12);
  EXPECT_EQ(tree.get("map", "base", at_ms(100)).or_throw().translation.x, 1);
  EXPECT_EQ(tree.get("map", "base", at_ms(0)).or_throw().translation.x, 0);
}

TEST(TransformTree, interpolation_takes_the_shorter_rotation) {
  Quaternion turned = to_quaternion({0, 0, 0.4});
  turned = {-turned.x, -turned.y, -turned.z, -turned.w};  // the same rotation
  const Isometry half = interpolate({{}, to_quaternion({0, 0, 0.2})}, {{}, turned}, 0.5);
  EXPECT_NEAR(to_roll_pitch_yaw(half.rotation).yaw, 0.3, 1e-14);
}

TEST(TransformTree, interpolation_is_exact_for_every_angle) {
  for (const double angle : {1e-9, 1e-5, 1e-3, 0.02, 0.1, 0.5, 0.9, 1.2, 2.0, 3.0, 3.14}) {
    for (const double fraction : {0.0, 0.001, 0.25, 0.5, 0.8, 1.0}) {
      const Isometry found =
          interpolate({{}, to_quaternion({0, 0, 0})}, {{}, to_quaternion({0, 0, angle})}, fraction);
      EXPECT_NEAR(to_roll_pitch_yaw(found.rotation).yaw, angle * fraction, 1e-14) << angle;
    }
  }
}

TEST(TransformTree, latest_is_the_newest_common_time) {
  TransformTree tree;
  for (int i = 0; i <= 10; ++i) {
    ASSERT_TRUE(tree.set(moved("map", "odom", at_ms(100 * i), i)));
    ASSERT_TRUE(tree.set(moved("odom", "base", at_ms(10 * i), i)));
  }
  ASSERT_TRUE(tree.set_static(moved("base", "laser", Time{}, 0.5)));
  const Transform found = tree.get("map", "laser").or_throw();
  EXPECT_EQ(found.stamp, at_ms(100));
  EXPECT_NEAR(found.translation.x, 1 + 10 + 0.5, 1e-12);
  // Nothing on the path moves, so there is no stamp.
  EXPECT_EQ(tree.get("base", "laser").or_throw().stamp, Time{});
  EXPECT_EQ(tree.get("base", "laser", at_ms(99'999)).or_throw().stamp, at_ms(99'999));
}

TEST(TransformTree, two_times_are_connected_through_a_fixed_frame) {
  TransformTree tree;
  ASSERT_TRUE(tree.set(moved("map", "base", at_ms(0), 0)));
  ASSERT_TRUE(tree.set(moved("map", "base", at_ms(1000), 5)));
  const Transform found = tree.get("base", at_ms(1000), "base", at_ms(200), "map").or_throw();
  EXPECT_NEAR(found.translation.x, -4, 1e-12);
  EXPECT_EQ(found.stamp, at_ms(1000));
}

TEST(TransformTree, stamps_may_arrive_in_any_order_and_twice) {
  TransformTree ordered;
  TransformTree shuffled;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(ordered.set(moved("a", "b", at_ms(i * 10), i)));
    ASSERT_TRUE(shuffled.set(moved("a", "b", at_ms(((i * 37) % 100) * 10), (i * 37) % 100)));
  }
  ASSERT_TRUE(shuffled.set(moved("a", "b", at_ms(500), 50)));
  EXPECT_EQ(shuffled.counters().duplicates, 1U);
  ASSERT_TRUE(shuffled.set(moved("a", "b", at_ms(500), 51)));
  ASSERT_TRUE(shuffled.set(moved("a", "b", at_ms(500), 50)));
  EXPECT_EQ(shuffled.counters().replaced, 2U);
  for (int ms = 0; ms <= 990; ms += 3) {
    EXPECT_EQ(ordered.get("a", "b", at_ms(ms)).or_throw().translation,
              shuffled.get("a", "b", at_ms(ms)).or_throw().translation);
  }
}

TEST(TransformTree, only_the_configured_history_is_kept) {
  TransformTreeOptions options;
  options.history = Duration::from_ms(1000);
  TransformTree tree(options);
  for (int i = 0; i <= 500; ++i) ASSERT_TRUE(tree.set(moved("a", "b", at_ms(i * 10), i)));
  EXPECT_TRUE(tree.get("a", "b", at_ms(4000)));
  EXPECT_FALSE(tree.get("a", "b", at_ms(3999)));
  EXPECT_EQ(tree.edges().at(0).samples, 101U);
  const auto late = tree.set(moved("a", "b", at_ms(3000), 0));
  EXPECT_EQ(late.error().code, Code::out_of_range);
  EXPECT_EQ(
      late.error().to_string(),
      "'b' in 'a': the stamp is 2 s older than the newest. The history is 1 s [out_of_range]");
  EXPECT_EQ(tree.counters().stale, 1U);
}

TEST(TransformTree, memory_is_bounded_at_any_rate) {
  TransformTreeOptions options;
  options.max_samples = 64;
  options.max_frames = 3;
  TransformTree tree(options);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(tree.set(moved("a", "b", at_ms(i), i)));
  EXPECT_EQ(tree.edges().at(0).samples, 64U);
  EXPECT_EQ(tree.counters().shortened, 936U);
  EXPECT_EQ(tree.get("a", "b", at_ms(990)).or_throw().translation.x, 990);
  EXPECT_FALSE(tree.get("a", "b", at_ms(900)));
  ASSERT_TRUE(tree.set(moved("a", "c", at_ms(0), 1)));
  const auto many = tree.set(moved("a", "d", at_ms(0), 1));
  EXPECT_EQ(many.error().code, Code::exhausted);
  EXPECT_NE(many.error().message.find("there are already 3 frames"), std::string::npos);
}

TEST(TransformTree, an_unknown_frame_gets_the_nearest_name_suggested) {
  TransformTree tree;
  EXPECT_EQ(tree.get("map", "base").error().message,
            "there is no frame 'base': no transform has arrived yet");
  paper_tree(tree);
  ASSERT_TRUE(tree.set(moved("a1", "base_link", at_ms(0), 1)));
  const Error error = tree.get("a1", "base_lnik").error();
  EXPECT_EQ(error.code, Code::not_found);
  EXPECT_EQ(error.message, "there is no frame 'base_lnik'; did you mean 'base_link'?");
  EXPECT_EQ(tree.get("zzzzzzzzz", "a1").error().message,
            "there is no frame 'zzzzzzzzz'. Known: a1, a2, a3, a4, a5, a6, a7, a8, base_link");
}

TEST(TransformTree, disconnected_trees_are_named_by_their_roots) {
  TransformTree tree;
  ASSERT_TRUE(tree.set(moved("map", "odom", at_ms(0), 1)));
  ASSERT_TRUE(tree.set(moved("base", "laser", at_ms(0), 1)));
  const Error error = tree.get("odom", "laser").error();
  EXPECT_EQ(error.code, Code::disconnected);
  EXPECT_EQ(error.message,
            "'odom' is in the tree of root 'map' and 'laser' is in the tree of root 'base': no "
            "transform connects the two trees. Check that its publisher runs");
}

TEST(TransformTree, a_time_outside_the_history_is_an_error_with_the_distance) {
  TransformTree tree;
  for (int i = 0; i <= 10; ++i) ASSERT_TRUE(tree.set(moved("map", "odom", at_ms(i * 100), 1)));
  for (int i = 2; i <= 8; ++i) ASSERT_TRUE(tree.set(moved("odom", "base", at_ms(i * 100), 1)));
  const Error future = tree.get("map", "base", at_ms(1050)).error();
  EXPECT_EQ(future.code, Code::out_of_range);
  EXPECT_EQ(future.message,
            "'map' from 'base' at 101.050000 s: 'base' in 'odom', 250 ms after its newest sample: "
            "it is known from 100.200000 s to 100.800000 s. The whole chain is known from "
            "100.200000 s to 100.800000 s");
  const Error past = tree.get("map", "base", at_ms(187)).error();
  EXPECT_NE(past.message.find("'base' in 'odom', 13 ms before its oldest"), std::string::npos);
}

// The distance exceeds an int64. The stamp of any message may be the time of a look-up.
TEST(TransformTree, a_time_of_any_value_is_an_error_with_a_distance) {
  TransformTree tree;
  ASSERT_TRUE(tree.set(moved("map", "odom", at_ms(0), 1)));
  for (const std::int64_t time : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}}) {
    const Error error = tree.get("map", "odom", Time{time}).error();
    EXPECT_EQ(error.code, Code::out_of_range);
    EXPECT_NE(error.message.find(" s before its oldest"), std::string::npos) << error.message;
    EXPECT_EQ(error.message.find("'odom' in 'map', -"), std::string::npos) << error.message;
  }
  const Time never{std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(tree.get("map", "odom", never).error().code, Code::out_of_range);
}

TEST(TransformTree, no_common_time_names_both_edges) {
  TransformTree tree;
  ASSERT_TRUE(tree.set(moved("map", "odom", at_ms(0), 1)));
  ASSERT_TRUE(tree.set(moved("odom", "base", at_ms(2500), 1)));
  const Error error = tree.get("map", "base").error();
  EXPECT_EQ(error.code, Code::out_of_range);
  EXPECT_EQ(
      error.message,
      "'map' from 'base' have no common time: 'odom' in 'map' ends at 100.000000 s, 'base' in "
      "'odom' begins at 102.500000 s, 2.5 s later");
}

TEST(TransformTree, a_loop_is_refused_when_it_is_set) {
  TransformTree tree;
  ASSERT_TRUE(tree.set(moved("a", "b", at_ms(0), 1)));
  ASSERT_TRUE(tree.set(moved("b", "c", at_ms(0), 1)));
  const auto circle = tree.set(moved("c", "a", at_ms(1), 1));
  EXPECT_EQ(circle.error().to_string(),
            "'a' in 'c': this would close a loop: 'a' in 'c' in 'b' in 'a' [invalid_config]");
  EXPECT_EQ(tree.set_static(moved("c", "b", at_ms(1), 1)).error().code, Code::invalid_config);
  EXPECT_EQ(tree.set(moved("a", "/a", at_ms(1), 1)).error().message,
            "a frame cannot be its own parent");
  EXPECT_EQ(tree.counters().refused, 3U);
  EXPECT_TRUE(tree.get("a", "c"));
}

TEST(TransformTree, invalid_transforms_are_refused) {
  TransformTree tree;
  const auto refused = [&](Transform t) {
    const auto result = tree.set(t);
    return result ? "" : result.error().message;
  };
  Transform good = moved("a", "b", at_ms(0), 1);
  Transform t = good;
  t.translation.y = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refused(t), "the transform contains a value that is not finite");
  t = good;
  t.rotation.z = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refused(t), "the transform contains a value that is not finite");
  t = good;
  t.rotation = {0, 0, 0, 0};
  EXPECT_EQ(refused(t),
            "the rotation is a quaternion of length 0, as in an unset message. No rotation is "
            "w = 1");
  t.rotation = {0, 0, 0.5, 1};
  EXPECT_EQ(refused(t), "the rotation is a quaternion of length 1.118. It must be 1: normalise it");
  t = good;
  t.stamp = {};
  EXPECT_NE(refused(t).find("A moving frame needs the time at which it is valid"),
            std::string::npos);
  t = good;
  t.child = "";
  EXPECT_EQ(refused(t), "a frame needs a name");
  t.child = std::string(256, 'x');
  EXPECT_NE(refused(t).find("256 bytes"), std::string::npos);
  t.child = "a\nb";
  EXPECT_NE(refused(t).find("control character"), std::string::npos);
  EXPECT_EQ(tree.counters().refused, 8U);
  EXPECT_TRUE(tree.edges().empty());
  // A rotation that was rounded to floats is still valid, and is returned with unit length.
  t = good;
  t.rotation = {0, 0, 0.7071F, 0.7071F};
  EXPECT_EQ(refused(t), "");
  const Quaternion q = tree.get("a", "b").or_throw().rotation;
  EXPECT_NEAR(q.z * q.z + q.w * q.w, 1, 1e-15);
}

TEST(TransformTree, a_leading_slash_is_removed) {
  TransformTree tree;
  ASSERT_TRUE(tree.set(moved("/map", "/base", at_ms(0), 1)));
  EXPECT_EQ(tree.get("map", "/base").or_throw().child, "base");
}

TEST(TransformTree, a_new_parent_drops_the_history_under_the_old_one) {
  TransformTree tree;
  ASSERT_TRUE(tree.set(moved("map", "hand", at_ms(0), 1)));
  TransformLookup cup_in_map = tree.lookup("map", "cup");
  ASSERT_TRUE(tree.set(moved("map", "cup", at_ms(0), 7)));
  ASSERT_TRUE(tree.set(moved("map", "cup", at_ms(100), 8)));
  EXPECT_EQ(cup_in_map.get().or_throw().translation.x, 8);
  ASSERT_TRUE(tree.set(moved("map", "hand", at_ms(200), 2)));
  ASSERT_TRUE(tree.set(moved("hand", "cup", at_ms(200), 0.5)));
  EXPECT_EQ(tree.counters().reparented, 1U);
  EXPECT_EQ(cup_in_map.get().or_throw().translation.x, 2.5);
  EXPECT_EQ(cup_in_map.get(at_ms(100)).error().code, Code::out_of_range);
  // A late message of the former parent changes nothing.
  const auto late = tree.set(moved("map", "cup", at_ms(150), 9));
  EXPECT_EQ(late.error().message, "'cup' has the parent 'hand' now. This transform is 50 ms older");
  EXPECT_EQ(tree.counters().stale, 1U);
  EXPECT_EQ(cup_in_map.get().or_throw().translation.x, 2.5);
}

TEST(TransformTree, the_later_of_static_and_moving_applies) {
  TransformTree tree;
  ASSERT_TRUE(tree.set_static(moved("a", "b", Time{}, 1)));
  ASSERT_TRUE(tree.set_static(moved("a", "b", Time{}, 1)));
  EXPECT_EQ(tree.counters().duplicates, 1U);
  EXPECT_TRUE(tree.edges().at(0).is_static);
  ASSERT_TRUE(tree.set(moved("a", "b", at_ms(0), 2)));
  EXPECT_FALSE(tree.edges().at(0).is_static);
  EXPECT_FALSE(tree.get("a", "b", at_ms(1)));
  ASSERT_TRUE(tree.set(moved("a", "b", at_ms(1), 3)));
  ASSERT_TRUE(tree.set_static(moved("a", "b", Time{}, 4)));
  EXPECT_EQ(tree.get("a", "b", at_ms(500)).or_throw().translation.x, 4);
}

TEST(TransformTree, a_clock_that_goes_back_clears_moving_frames) {
  TransformTreeOptions options;
  options.clock_jump = Duration::from_ms(1000);
  TransformTree tree(options);
  ASSERT_TRUE(tree.set_static(moved("base", "laser", Time{}, 1)));
  for (int i = 0; i <= 300; ++i) {
    ASSERT_TRUE(tree.set(moved("map", "odom", at_ms(i * 10), i), 7));
    ASSERT_TRUE(tree.set(moved("odom", "base", at_ms(i * 10), i), 7));
  }
  // Late by less than the limit, or from another sender: no jump.
  ASSERT_TRUE(tree.set(moved("map", "odom", at_ms(2005), 0), 7));
  ASSERT_TRUE(tree.set(moved("map", "odom", at_ms(3), 0), 8));
  EXPECT_EQ(tree.counters().clock_jumps, 0U);
  ASSERT_TRUE(tree.set(moved("map", "odom", at_ms(3010), 0), 7));
  ASSERT_TRUE(tree.set(moved("map", "odom", at_ms(0), 42), 7));  // the replay restarts
  EXPECT_EQ(tree.counters().clock_jumps, 1U);
  ASSERT_TRUE(tree.set(moved("odom", "base", at_ms(0), 42), 7));
  EXPECT_EQ(tree.counters().clock_jumps, 1U);
  EXPECT_EQ(tree.get("map", "laser").or_throw().stamp, at_ms(0));
  EXPECT_EQ(tree.get("map", "laser").or_throw().translation.x, 85);
  tree.clear();
  EXPECT_EQ(tree.get("map", "base").error().message,
            "'map' from 'base': no samples yet of 'base' in 'odom'");
  EXPECT_TRUE(tree.get("base", "laser"));
}

TEST(TransformTree, a_look_up_may_precede_its_frames_and_outlive_the_tree) {
  auto tree = std::make_unique<TransformTree>();
  TransformLookup lookup = tree->lookup("/map", "base");
  EXPECT_EQ(lookup.target(), "map");
  EXPECT_EQ(lookup.get().error().code, Code::not_found);
  ASSERT_TRUE(tree->set(moved("map", "base", at_ms(0), 3)));
  EXPECT_EQ(lookup.get().or_throw().translation.x, 3);
  TransformLookup copy = lookup;
  tree.reset();
  EXPECT_EQ(copy.get(at_ms(0)).or_throw().translation.x, 3);
}

TEST(Isometry, a_matrix_converts_back) {
  const Isometry a{{1, 2, 3}, to_quaternion({0.3, -0.9, 2.5})};
  const auto m = a.matrix();
  EXPECT_EQ(m[3], 1);
  EXPECT_EQ(m[15], 1);
  const Isometry b = Isometry::from_matrix(m).or_throw();
  EXPECT_NEAR(b.rotation.x, a.rotation.x, 1e-15);
  EXPECT_NEAR(b.rotation.w, a.rotation.w, 1e-15);
  const RollPitchYaw turns[] = {{std::numbers::pi, 0, 0}, {0, 3.1, 0}, {0, 0, -3.1}};
  for (const RollPitchYaw& turn : turns) {
    const Isometry c{{}, to_quaternion(turn)};
    const Isometry d = Isometry::from_matrix(c.matrix()).or_throw();
    for (const Vector3& p : {Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 1}}) {
      const Vector3 there = d.inverse() * (c * p);
      EXPECT_NEAR(there.x, p.x, 1e-14);
      EXPECT_NEAR(there.y, p.y, 1e-14);
      EXPECT_NEAR(there.z, p.z, 1e-14);
    }
  }
  auto bad = m;
  bad[0] += 0.01;
  EXPECT_EQ(Isometry::from_matrix(bad).error().code, Code::invalid_config);
  bad = m;
  for (std::size_t i : {0, 4, 8}) bad[i] = -bad[i];  // a mirror
  EXPECT_FALSE(Isometry::from_matrix(bad));
}

TEST(Isometry, roll_pitch_yaw_converts_back) {
  const RollPitchYaw turns[] = {{0.1, 0.2, 0.3}, {-3, 1.5, 3}, {2, -1.5, -2}};
  for (const RollPitchYaw& a : turns) {
    const RollPitchYaw b = to_roll_pitch_yaw(to_quaternion(a));
    EXPECT_NEAR(b.roll, a.roll, 1e-12);
    EXPECT_NEAR(b.pitch, a.pitch, 1e-12);
    EXPECT_NEAR(b.yaw, a.yaw, 1e-12);
  }
  for (const double pitch : {std::numbers::pi / 2, -std::numbers::pi / 2}) {
    const RollPitchYaw b = to_roll_pitch_yaw(to_quaternion({0, pitch, 0.7}));
    EXPECT_NEAR(b.pitch, pitch, 1e-7);
    EXPECT_NEAR(b.yaw, 0.7, 1e-7);
  }
}

TEST(Isometry, many_points_are_transformed_at_once) {
  const Isometry by{{10, 20, 30}, to_quaternion({0, 0, std::numbers::pi / 2})};
  struct Point {
    float x, y, z, intensity;
  };
  std::vector<Point> cloud;
  for (int i = 0; i < 100; ++i) cloud.push_back({static_cast<float>(i), 1, 2, 7});
  by.transform(Points<const float>{&cloud[0].x, cloud.size(), sizeof(Point)},
               Points<float>{&cloud[0].x, cloud.size(), sizeof(Point)});
  for (int i = 0; i < 100; ++i) {
    const Point& p = cloud[static_cast<std::size_t>(i)];
    EXPECT_FLOAT_EQ(p.x, 9);
    EXPECT_FLOAT_EQ(p.y, 20 + static_cast<float>(i));
    EXPECT_FLOAT_EQ(p.z, 32);
    EXPECT_EQ(p.intensity, 7);
  }
  const std::vector<double> in{1, 0, 0, 0, 1, 0};
  std::vector<double> out(6);
  by.transform(Points<const double>{in.data(), 2}, Points<double>{out.data(), 2});
  EXPECT_NEAR(out[1], 21, 1e-12);
  EXPECT_NEAR(out[3], 9, 1e-12);
  // Never beyond the shorter of the two.
  std::vector<double> one(3, -1.0);
  by.transform(Points<const double>{in.data(), 2}, Points<double>{one.data(), 1});
  EXPECT_NEAR(one[1], 21, 1e-12);
}

}  // namespace
}  // namespace hyphos
