#include <limits>

#include "rig.hpp"
#include "view/displays/point_layout.hpp"

namespace hyphos::view::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(CloudTest, points_are_placed_by_the_transform_of_their_stamp) {
  Rig rig;
  auto& display = rig.show("points", "lidar");
  rig.view.set_fixed_frame("map");
  rig.move("map", "lidar", 10, 0, 0, 0, 1);
  rig.move("map", "lidar", 20, 0, 0, 0, 2);
  rig.send("lidar", cloud("lidar", 1.5, {{1, 2, 3, 0}}), 2);
  ASSERT_EQ(display.status().health, Health::good) << display.status().text;
  ASSERT_EQ(rig.store.sets.at(0)->points(), 1U);
  EXPECT_LT((rig.store.sets[0]->batches_[0].points[0] - Vec3(16, 2, 3)).norm(), 1e-6);
}

TEST(CloudTest, points_that_are_not_finite_are_skipped_and_counted) {
  Rig rig;
  auto& display = rig.show("points", "lidar");
  rig.send("lidar", cloud("", 1, {{1, 2, 3, 0}, {kNan, 0, 0, 0}, {0, kInf, 0, 0}, {0, 0, 0, 0}}),
           1);
  EXPECT_EQ(rig.store.sets.at(0)->points(), 2U);
  EXPECT_EQ(display.counters().skipped, 2U);
  EXPECT_EQ(display.status().text, "2 points, 2 without a position left out");
}

TEST(CloudTest, a_size_that_lies_is_refused_with_both_numbers) {
  Rig rig;
  auto& display = rig.show("points", "lidar");
  auto message = cloud("", 1, {{1, 2, 3, 0}, {1, 2, 3, 0}});
  message.bytes.resize(20);
  rig.send("lidar", message, 1);
  EXPECT_EQ(display.status().health, Health::error);
  EXPECT_EQ(display.status().text, "the buffer has 20 bytes, but the head declares 32");
  EXPECT_EQ(display.counters().refused, 1U);
  message.head.set_width(0xffffffff);
  message.head.set_height(0xffffffff);
  message.head.set_row_step(0);
  rig.send("lidar", message, 2);
  EXPECT_EQ(display.counters().refused, 2U);
}

TEST(CloudTest, an_empty_cloud_shows_no_point) {
  Rig rig;
  auto& display = rig.show("points", "lidar");
  rig.send("lidar", cloud("", 1, {{1, 2, 3, 0}}), 1);
  rig.send("lidar", cloud("", 2, {}), 2);
  EXPECT_EQ(rig.store.sets.at(0)->points(), 0U);
  EXPECT_EQ(display.status().health, Health::good);
  EXPECT_EQ(display.status().text, "0 points");
}

TEST(CloudTest, bytes_that_are_no_cloud_are_refused) {
  Rig rig;
  auto& display = rig.show("points", "lidar");
  rig.send_bytes("lidar", "\xff\xff\xff", 1);
  EXPECT_EQ(display.status().text, "the message is not a hyphos.msgs.PointCloud (3 bytes)");
}

TEST(CloudTest, a_missing_frame_is_named_and_awaited) {
  Rig rig;
  auto& display = rig.show("points", "lidar");
  rig.view.set_fixed_frame("map");
  rig.move("map", "base", 0, 0, 0, 0, 1);
  rig.send("lidar", cloud("lidar", 1, {{1, 0, 0, 0}}), 1);
  EXPECT_EQ(display.status().health, Health::error);
  EXPECT_NE(display.status().text.find("lidar"), std::string::npos) << display.status().text;
  rig.move("base", "lidar", 0, 0, 2, 0, 1);
  EXPECT_EQ(display.status().health, Health::good) << display.status().text;
  EXPECT_EQ(rig.store.sets.at(0)->points(), 1U);
}

TEST(CloudTest, an_old_transform_is_named_with_its_time) {
  Rig rig;
  auto& display = rig.show("points", "lidar");
  rig.view.set_fixed_frame("map");
  rig.move("map", "lidar", 0, 0, 0, 0, 1);
  rig.send("lidar", cloud("lidar", 30, {{1, 0, 0, 0}}), 30);
  EXPECT_EQ(display.status().health, Health::error);
  EXPECT_NE(display.status().text.find("lidar"), std::string::npos) << display.status().text;
  EXPECT_NE(display.status().text.find("s"), std::string::npos);
}

TEST(CloudTest, clouds_that_wait_for_a_frame_are_bounded_and_counted) {
  Rig rig;
  auto& display = rig.show("points", "lidar");
  rig.view.set_fixed_frame("map");
  for (int i = 0; i < 40; ++i) rig.send("lidar", cloud("lidar", i, {{1, 0, 0, 0}}), i);
  EXPECT_EQ(display.counters().late, 8U);
}

TEST(CloudTest, every_type_of_number_in_both_byte_orders_is_read) {
  using Field = msgs::PointField;
  const auto check = [](Field::DataType type, auto value) {
    for (const bool big : {false, true}) {
      msgs::PointCloud head;
      head.set_width(1);
      head.set_height(1);
      head.set_is_bigendian(big);
      constexpr std::size_t kSize = sizeof(value);
      head.set_point_step(3 * kSize);
      head.set_row_step(3 * kSize);
      std::vector<std::byte> bytes(3 * kSize);
      for (std::uint32_t i = 0; i < 3; ++i) {
        auto& field = *head.add_fields();
        field.set_name(std::string(1, static_cast<char>('x' + i)));
        field.set_offset(i * kSize);
        field.set_datatype(type);
        field.set_count(1);
        auto number = static_cast<decltype(value)>(value + static_cast<decltype(value)>(i));
        std::byte raw[kSize];
        std::memcpy(raw, &number, kSize);
        if (big) std::reverse(std::begin(raw), std::end(raw));
        std::memcpy(bytes.data() + i * kSize, raw, kSize);
      }
      const auto layout = PointLayout::of(head, bytes.size(), "");
      ASSERT_TRUE(layout.ok());
      EXPECT_EQ(layout->x.at(bytes.data()), static_cast<double>(value));
      EXPECT_EQ(layout->z.at(bytes.data()), static_cast<double>(value) + 2);
    }
  };
  check(Field::INT8, std::int8_t{-7});
  check(Field::UINT8, std::uint8_t{200});
  check(Field::INT16, std::int16_t{-300});
  check(Field::UINT16, std::uint16_t{60'000});
  check(Field::INT32, std::int32_t{-70'000});
  check(Field::UINT32, std::uint32_t{4'000'000'000});
  check(Field::FLOAT32, 1.5F);
  check(Field::FLOAT64, 2.25);
}

TEST(CloudTest, layouts_that_leave_the_point_are_refused) {
  auto message = cloud("", 1, {{1, 2, 3, 4}});
  message.head.mutable_fields(3)->set_offset(13);
  EXPECT_EQ(PointLayout::of(message.head, 16, "").error().message,
            "the field 'intensity' ends at byte 17 of a point of 16 bytes");
  message.head.mutable_fields(3)->set_offset(0xfffffffe);
  message.head.mutable_fields(3)->set_count(0xffffffff);
  EXPECT_FALSE(PointLayout::of(message.head, 16, "").ok());
  message.head.mutable_fields(3)->set_datatype(static_cast<msgs::PointField::DataType>(99));
  EXPECT_EQ(PointLayout::of(message.head, 16, "").error().message,
            "the field 'intensity' has the unknown type 99");
  message = cloud("", 1, {{1, 2, 3, 4}});
  message.head.mutable_fields(0)->set_name("a");
  EXPECT_FALSE(PointLayout::of(message.head, 16, "").ok());
  message.head.set_row_step(12);
  EXPECT_FALSE(PointLayout::of(message.head, 16, "").ok());
}

TEST(CloudTest, packed_colors_are_used_if_the_cloud_has_them) {
  Rig rig;
  rig.show("points", "lidar");
  const std::uint32_t bits = 0x00102030;
  float packed = 0;
  std::memcpy(&packed, &bits, 4);
  rig.send("lidar", cloud("", 1, {{1, 2, 3, packed}}, "rgb"), 1);
  const auto& set = *rig.store.sets.at(0);
  EXPECT_EQ(set.style_.coloring, PointStyle::Coloring::rgb);
  EXPECT_EQ(set.batches_.at(0).colors.at(0), (Color{0x10, 0x20, 0x30, 255}));
}

TEST(CloudTest, a_field_gives_the_color_and_its_range) {
  Rig rig;
  rig.show("points", "lidar");
  std::vector<std::array<float, 4>> points;
  for (int i = 0; i <= 100; ++i) points.push_back({0, 0, 0, static_cast<float>(i)});
  rig.send("lidar", cloud("", 1, points), 1);
  const auto& style = rig.store.sets.at(0)->style_;
  EXPECT_EQ(style.coloring, PointStyle::Coloring::value);
  EXPECT_NEAR(style.low, 1, 1.01);
  EXPECT_NEAR(style.high, 99, 1.01);
}

TEST(CloudTest, another_field_needs_the_messages_again) {
  Rig rig;
  rig.show("points", "lidar");
  rig.send("lidar", cloud("", 1, {{1, 2, 3, 4}}), 1);
  (void)rig.view.take_reseek();
  auto& item = rig.view.items().front();
  ASSERT_TRUE(rig.view.set(item, "size", "4").ok());
  EXPECT_FALSE(rig.view.take_reseek());
  ASSERT_TRUE(rig.view.set(item, "field", "z").ok());
  EXPECT_TRUE(rig.view.take_reseek());
  EXPECT_FALSE(rig.view.take_reseek());
}

TEST(CloudTest, history_keeps_clouds_for_its_time) {
  Rig rig;
  rig.show("points", "lidar");
  ASSERT_TRUE(rig.view.set(rig.view.items().front(), "history_s", "2").ok());
  for (int i = 0; i < 6; ++i) rig.send("lidar", cloud("", i, {{1, 2, 3, 4}}), i);
  EXPECT_EQ(rig.store.sets.at(0)->batches(), 3U);
  Lookback lookback;
  rig.view.add_history(lookback, 1'000'000'000, 60'000'000'000);
  EXPECT_EQ(lookback.of("lidar"), 2'000'000'000);
  ASSERT_TRUE(rig.view.set(rig.view.items().front(), "history_s", "-1").ok());
  rig.view.add_history(lookback, 1'000'000'000, 60'000'000'000);
  EXPECT_EQ(lookback.of("lidar"), 60'000'000'000) << "all is bounded, as a seek reads it";
  ASSERT_TRUE(rig.view.set(rig.view.items().front(), "history_s", "0").ok());
  rig.send("lidar", cloud("", 7, {{1, 2, 3, 4}}), 7);
  EXPECT_EQ(rig.store.sets.at(0)->batches(), 1U);
}

TEST(CloudTest, the_budget_drops_the_oldest_and_states_it) {
  Rig rig(16 * 1'000 * 5);
  auto& first = rig.show("points", "a");
  auto& second = rig.show("points", "b");
  for (auto& each : rig.view.items()) ASSERT_TRUE(rig.view.set(each, "history_s", "-1").ok());
  const std::vector<std::array<float, 4>> points(1'000, {1, 2, 3, 4});
  for (int i = 0; i < 10; ++i) rig.send(i < 4 ? "a" : "b", cloud("", i, points), i);
  EXPECT_LE(rig.view.bytes(), rig.view.budget());
  EXPECT_EQ(first.counters().dropped, 4U);
  EXPECT_GT(second.counters().dropped, 0U);
  EXPECT_EQ(rig.store.sets.at(0)->batches(), 0U);
  EXPECT_NE(rig.view.budget_notice().find("messages were removed"), std::string::npos);
}

TEST(CloudTest, a_cloud_beyond_the_budget_is_thinned_and_states_it) {
  Rig rig(16 * 1'000);
  auto& display = rig.show("points", "a");
  rig.send("a", cloud("", 1, std::vector<std::array<float, 4>>(4'000, {1, 2, 3, 4})), 1);
  EXPECT_EQ(rig.store.sets.at(0)->points(), 500U);
  EXPECT_EQ(display.status().health, Health::warning);
  EXPECT_NE(display.status().text.find("One of 8 is shown"), std::string::npos)
      << display.status().text;
}

TEST(CloudTest, another_fixed_frame_carries_the_points_along) {
  Rig rig;
  rig.show("points", "lidar");
  rig.view.set_fixed_frame("odom");
  rig.move("map", "odom", 5, 0, 0, 0, 1);
  rig.send("lidar", cloud("odom", 1, {{1, 0, 0, 0}}), 1);
  rig.view.set_fixed_frame("map");
  EXPECT_LT((rig.store.sets.at(0)->batches_[0].points[0] - Vec3(6, 0, 0)).norm(), 1e-6);
}

TEST(CloudTest, uploads_are_as_many_as_messages) {
  Rig rig;
  rig.show("points", "lidar");
  for (int i = 0; i < 5; ++i) rig.send("lidar", cloud("", i, {{1, 2, 3, 4}}), i);
  for (int i = 0; i < 5; ++i) rig.view.update(at_s(10));
  EXPECT_EQ(rig.store.uploads(), 5U);
}

TEST(CloudTest, rays_of_a_scan_outside_its_limits_are_not_points) {
  Rig rig;
  auto& display = rig.show("laser_scan", "scan");
  msgs::LaserScan scan;
  set_header(*scan.mutable_header(), "", 1);
  scan.set_angle_min(0);
  scan.set_angle_increment(static_cast<float>(std::numbers::pi / 2));
  scan.set_range_min(0.5F);
  scan.set_range_max(10);
  for (const float range : {2.0F, 3.0F, 0.1F, 20.0F, kInf, kNan}) scan.add_ranges(range);
  rig.send("scan", scan, 1);
  const auto& set = *rig.store.sets.at(0);
  ASSERT_EQ(set.points(), 2U);
  EXPECT_LT((set.batches_[0].points[0] - Vec3(2, 0, 0)).norm() *
                (set.batches_[0].points[1] - Vec3(0, 3, 0)).norm(),
            1e-5);
  EXPECT_EQ(display.counters().skipped, 1U);
  scan.set_angle_min(kNan);
  rig.send("scan", scan, 2);
  EXPECT_EQ(display.status().text, "angle_min or angle_increment of the scan is not finite");
}

}  // namespace
}  // namespace hyphos::view::testing
