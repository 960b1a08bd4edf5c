#include "view/core/frames.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <hyphos/msgs/tf.pb.h>

namespace hyphos::view {
namespace {

const Channel kMoving{0, "tf", "hyphos.msgs.TfMessage", Encoding::protobuf, false, 0, {}};
const Channel kStatic{1, "robot1/tf_static", "hyphos.msgs.TfMessage", Encoding::protobuf, true, 0,
                      {}};

constexpr std::int64_t kSecond = 1'000'000'000;

struct Edge {
  std::string parent;
  std::string child;
  double time_s = 0;
  double x = 0;
  double w = 1;
};

Sample sample_of(const std::vector<Edge>& edges) {
  msgs::TfMessage message;
  for (const Edge& edge : edges) {
    auto& one = *message.add_transforms();
    one.mutable_header()->set_frame_id(edge.parent);
    one.mutable_header()->set_stamp_ns(static_cast<std::int64_t>(edge.time_s * 1e9));
    one.set_child_frame_id(edge.child);
    one.mutable_transform()->mutable_translation()->set_x(edge.x);
    one.mutable_transform()->mutable_rotation()->set_w(edge.w);
  }
  Sample sample;
  sample.payload = Buffer::copy_of(message.SerializeAsString());
  return sample;
}

TEST(Frames, a_transform_is_interpolated_and_held_for_a_while) {
  Frames frames;
  frames.take(kMoving, sample_of({{"odom", "base", 1, 10}}));
  frames.take(kMoving, sample_of({{"odom", "base", 2, 20}}));
  frames.take(kStatic, sample_of({{"base", "laser", 0, 1}}));
  EXPECT_DOUBLE_EQ(frames.get("odom", "laser", {kSecond * 3 / 2}).or_throw().translation.x, 16);
  EXPECT_DOUBLE_EQ(frames.get("odom", "base", latest).or_throw().translation.x, 20);
  const auto held = frames.get("odom", "base", {kSecond * 2 + kSecond / 4}).or_throw();
  EXPECT_DOUBLE_EQ(held.translation.x, 20);
  EXPECT_EQ(held.stamp.ns, 2 * kSecond);
  EXPECT_EQ(frames.get("laser", "laser", {5}).or_throw().translation.x, 0);
  const auto late = frames.get("odom", "base", {kSecond * 9});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::out_of_range);
  EXPECT_NE(late.error().message.find("base"), std::string::npos) << late.error().message;
  EXPECT_FALSE(frames.get("odom", "base", {kSecond / 2})) << "before the first one";
}

TEST(Frames, a_missing_frame_and_two_trees_are_named) {
  Frames frames;
  frames.take(kMoving, sample_of({{"odom", "base", 1}, {"map2", "other", 1}}));
  const auto missing = frames.get("odom", "basse", latest);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_NE(missing.error().message.find("basse"), std::string::npos);
  EXPECT_NE(missing.error().message.find("'base'"), std::string::npos) << missing.error().message;
  EXPECT_EQ(frames.get("odom", "other", latest).error().code, Code::disconnected);
}

TEST(Frames, loops_and_wrong_values_are_refused_and_named) {
  Frames frames;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  frames.take(kMoving, sample_of({{"a", "b", 1}, {"b", "c", 1}}));
  frames.take(kMoving, sample_of({{"c", "a", 2}}));
  frames.take(kMoving, sample_of({{"a", "d", 2, nan}, {"a", "e", 2, 0, 0}, {"a", "a", 2}}));
  EXPECT_EQ(frames.refused(), 4U);
  ASSERT_EQ(frames.problems().size(), 4U);
  EXPECT_NE(frames.problems()[0].find("tf: "), std::string::npos);
  EXPECT_TRUE(frames.get("a", "c", latest));
  Sample corrupt;
  corrupt.payload = Buffer::copy_of("\x0a\x7f");
  frames.take(kMoving, corrupt);
  EXPECT_EQ(frames.refused(), 5U);
}

TEST(Frames, quaternions_of_single_precision_are_normalised) {
  Frames frames;
  frames.take(kMoving, sample_of({{"a", "b", 1, 0, 0.95}}));
  EXPECT_DOUBLE_EQ(frames.get("a", "b", latest).or_throw().rotation.w, 1);
  EXPECT_EQ(frames.refused(), 0U);
}

TEST(Frames, a_clock_that_was_set_back_begins_a_new_history) {
  Frames frames;
  for (int i = 10; i < 20; ++i) {
    frames.take(kMoving, sample_of({{"a", "b", static_cast<double>(i), i * 1.0}}));
  }
  frames.take(kMoving, sample_of({{"a", "b", 2, 2}}));
  EXPECT_DOUBLE_EQ(frames.get("a", "b", latest).or_throw().translation.x, 2);
  frames.take(kMoving, sample_of({{"a", "b", 3, 3}}));
  EXPECT_DOUBLE_EQ(frames.get("a", "b", {kSecond * 5 / 2}).or_throw().translation.x, 2.5);
}

TEST(Frames, a_seek_removes_moving_transforms_only) {
  Frames frames;
  frames.take(kMoving, sample_of({{"odom", "base", 50, 1}}));
  frames.take(kStatic, sample_of({{"base", "laser", 0, 1}}));
  const auto before = frames.version();
  frames.clear();
  EXPECT_NE(frames.version(), before);
  EXPECT_FALSE(frames.get("odom", "base", latest));
  EXPECT_TRUE(frames.get("base", "laser", latest));
  frames.take(kMoving, sample_of({{"odom", "base", 10, 7}}));
  EXPECT_DOUBLE_EQ(frames.get("odom", "base", latest).or_throw().translation.x, 7);
}

TEST(Frames, frames_are_listed_from_the_root) {
  Frames frames;
  EXPECT_EQ(frames.root(), "");
  frames.take(kMoving, sample_of({{"x", "y", 1}, {"x", "z", 1}, {"x", "q", 1}}));
  EXPECT_EQ(frames.root(), "x");
  frames.take(kMoving, sample_of({{"odom", "base", 4}, {"map", "odom", 3}}));
  frames.take(kStatic, sample_of({{"base", "laser"}, {"base", "camera"}}));
  EXPECT_EQ(frames.root(), "map");
  std::string order;
  for (const FrameInfo& frame : frames.frames()) order += frame.name + " ";
  EXPECT_EQ(order, "map odom base camera laser x q y z ");
  const auto all = frames.frames();
  EXPECT_EQ(all[0].parent, "");
  EXPECT_EQ(all[2].parent, "odom");
  EXPECT_EQ(all[2].newest.ns, 4 * kSecond);
  EXPECT_TRUE(all[3].is_static);
  EXPECT_EQ(all[3].newest.ns, 0);
}

TEST(Frames, channels_of_transforms_are_recognised) {
  EXPECT_TRUE(has_transforms(kMoving));
  EXPECT_FALSE(has_static_transforms(kMoving));
  EXPECT_TRUE(has_static_transforms(kStatic));
  Channel other = kStatic;
  other.name = "my_tf_static";
  EXPECT_FALSE(has_static_transforms(other));
  other.type = "hyphos.msgs.Path";
  EXPECT_FALSE(has_transforms(other));
}

}  // namespace
}  // namespace hyphos::view
