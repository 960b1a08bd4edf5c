#include "view/scene/renderer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "view/core/picture.hpp"
#include "view/shell_egl.hpp"

namespace hyphos::view {
namespace {

EglContext& context() {
  static const auto made = EglContext::open().or_throw();
  return *made;
}

class RendererTest : public ::testing::Test {
 protected:
  explicit RendererTest(std::size_t moving_points = 0) {
    RendererOptions options;
    options.moving_points = moving_points;
    renderer = Renderer::open(context().loader(), options).or_throw();
    camera.set_size(200, 150);
  }

  static std::vector<Vertex> square(int side, float z = 0) {
    std::vector<Vertex> points;
    for (int i = 0; i < side; ++i) {
      for (int j = 0; j < side; ++j) {
        points.push_back({4.0F * static_cast<float>(i) / static_cast<float>(side) - 2,
                          4.0F * static_cast<float>(j) / static_cast<float>(side) - 2,
                          z,
                          {static_cast<std::uint8_t>(i), 200, 90, 255}});
      }
    }
    return points;
  }
  static PointStyle rgb() {
    PointStyle style;
    style.coloring = PointStyle::Coloring::rgb;
    return style;
  }
  Picture draw() {
    renderer->draw(camera, {});
    return {camera.width(), camera.height(), renderer->read()};
  }
  /// Draws until nothing is missing.
  Picture finish() {
    Picture picture = draw();
    while (renderer->refining()) picture = draw();
    return picture;
  }

  std::unique_ptr<Renderer> renderer;
  Camera camera;
};

TEST_F(RendererTest, an_empty_scene_is_the_background) {
  const Picture picture = draw();
  const Color back = renderer->options().background;
  ASSERT_EQ(picture.rgba.size(), 200U * 150 * 4);
  for (std::size_t at = 0; at < picture.rgba.size(); at += 4) {
    ASSERT_EQ(picture.rgba[at], back.r);
    ASSERT_EQ(picture.rgba[at + 1], back.g);
    ASSERT_EQ(picture.rgba[at + 2], back.b);
  }
}

TEST_F(RendererTest, a_still_camera_draws_only_new_points) {
  auto set = renderer->retained();
  set->set_style(rgb());
  set->append(square(100), Vec3::Zero(), 1);
  finish();
  const RenderCounters before = renderer->counters();
  set->append(square(20, 0.5F), Vec3::Zero(), 2);
  EXPECT_TRUE(renderer->changed());
  finish();
  const RenderCounters after = renderer->counters();
  EXPECT_EQ(after.points_drawn - before.points_drawn, 400U);
  EXPECT_EQ(after.full_redraws, before.full_redraws);
  EXPECT_EQ(after.uploads - before.uploads, 1U);
}

TEST_F(RendererTest, nothing_is_drawn_or_uploaded_while_nothing_changes) {
  auto set = renderer->retained();
  set->append(square(50), Vec3::Zero(), 1);
  finish();
  EXPECT_FALSE(renderer->changed());
  const RenderCounters before = renderer->counters();
  draw();
  const RenderCounters after = renderer->counters();
  EXPECT_EQ(after.points_drawn, before.points_drawn);
  EXPECT_EQ(after.uploads, before.uploads);
}

TEST_F(RendererTest, appended_points_give_the_same_picture_as_all_at_once) {
  auto set = renderer->retained();
  set->set_style(rgb());
  set->append(square(60), Vec3::Zero(), 1);
  finish();
  set->append(square(60, 0.7F), Vec3::Zero(), 2);
  const Picture step_by_step = finish();
  set->clear();
  finish();
  set->append(square(60), Vec3::Zero(), 1);
  set->append(square(60, 0.7F), Vec3::Zero(), 2);
  const auto found = compare(finish(), step_by_step, 8);
  EXPECT_EQ(found->different, 0U);
}

TEST_F(RendererTest, batches_leave_in_the_order_in_which_they_came) {
  auto set = renderer->retained();
  set->set_style(rgb());
  for (int i = 0; i < 5; ++i) set->append(square(10, static_cast<float>(i)), Vec3::Zero(), i);
  EXPECT_EQ(set->batches(), 5U);
  EXPECT_EQ(set->points(), 500U);
  set->drop_oldest();
  EXPECT_EQ(set->oldest_ns(), 1);
  set->drop_before(4);
  EXPECT_EQ(set->batches(), 1U);
  EXPECT_NEAR(set->bounds().min.z(), 4, 1e-6);
  finish();
  set->clear();
  const Picture empty = finish();
  EXPECT_EQ(compare(
                empty,
                [&] {
                  auto fresh = Renderer::open(context().loader(), renderer->options()).or_throw();
                  fresh->draw(camera, {});
                  return Picture{camera.width(), camera.height(), fresh->read()};
                }(),
                2)
                ->different,
            0U);
}

TEST_F(RendererTest, a_large_batch_is_kept_whole) {
  auto set = renderer->retained();
  const auto points = square(800);  // more than one block
  set->append(points, Vec3::Zero(), 1);
  EXPECT_EQ(set->points(), points.size());
  EXPECT_LE(set->bytes(), points.size() * 20);
}

TEST_F(RendererTest, memory_of_many_small_batches_stays_near_16_bytes_a_point) {
  auto set = renderer->retained();
  const auto points = square(100);
  for (int i = 0; i < 100; ++i) set->append(points, Vec3::Zero(), i);
  EXPECT_LE(set->bytes(), set->points() * 20);
}

TEST_F(RendererTest, the_point_at_a_pixel_is_the_visible_one) {
  auto set = renderer->retained();
  PointStyle style = rgb();
  style.size = 6;
  set->set_style(style);
  const std::vector<Vertex> points = {{1, 0.5F, 0.25F, {255, 0, 0, 255}}};
  set->append(points, Vec3(100, 0, 0), 1);
  CameraState state;
  state.target = {100, 0, 0};
  camera.set_state(state);
  finish();
  const Vec3 at(101, 0.5, 0.25);
  const auto pixel = camera.project(at);
  ASSERT_TRUE(pixel);
  const auto found = renderer->point_at(pixel->x(), pixel->y());
  ASSERT_TRUE(found);
  EXPECT_LT((*found - at).norm(), 0.05);
  EXPECT_FALSE(renderer->point_at(pixel->x() + 60, pixel->y() + 40));
  const Ray ray = camera.ray(pixel->x(), pixel->y());
  const auto nearest = set->nearest(ray.from, ray.direction, 0.01);
  ASSERT_TRUE(nearest);
  EXPECT_LT((nearest->point - at).norm(), 1e-5);
  EXPECT_EQ(nearest->color, (Color{255, 0, 0, 255}));
}

TEST_F(RendererTest, a_value_is_read_back_with_its_point) {
  auto set = renderer->retained();
  const std::vector<ValuePoint> points = {{0, 0, 0, 3.5F}, {0, 0, 1, 4.5F}};
  set->append(points, Vec3::Zero(), 1);
  EXPECT_EQ(set->value_range(), std::pair(3.5F, 4.5F));
  const auto found = set->nearest({5, 0, 0}, {-1, 0, 0}, 0.001);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, 3.5F);
  EXPECT_NEAR(found->distance, 5, 1e-6);
}

class MovingTest : public RendererTest {
 protected:
  MovingTest() : RendererTest(10'000) {}
};

TEST_F(MovingTest, a_moving_camera_draws_a_part_and_a_still_one_the_rest) {
  auto set = renderer->retained();
  set->set_style(rgb());
  for (int i = 0; i < 4; ++i) {
    set->append(square(300, 0.2F * static_cast<float>(i)), Vec3::Zero(), i);
  }
  finish();
  const std::uint64_t before = renderer->counters().points_drawn;
  CameraState state = camera.state();
  state.yaw += 0.1;
  camera.set_state(state);
  draw();
  const std::uint64_t part = renderer->counters().points_drawn - before;
  EXPECT_TRUE(renderer->refining());
  EXPECT_LT(part, 200'000U);
  const Picture refined = finish();
  RendererOptions all = renderer->options();
  all.moving_points = 0;
  renderer->set_options(all);
  const Picture whole = finish();
  // The order of points at the same depth may differ.
  EXPECT_LT(compare(refined, whole, 24)->different, 300U);
}

TEST_F(MovingTest, points_that_left_stay_until_a_redraw_is_due) {
  RendererOptions options = renderer->options();
  options.aged_share = 1e9;
  renderer->set_options(options);
  auto set = renderer->retained();
  set->set_style(rgb());
  for (int i = 0; i < 20; ++i) {
    set->append(square(80, 0.1F * static_cast<float>(i)), Vec3::Zero(), i);
  }
  finish();
  CameraState state = camera.state();
  state.yaw += 0.1;  // the cost of all points is then known
  camera.set_state(state);
  const Picture before = finish();
  const RenderCounters counted = renderer->counters();
  for (int i = 0; i < 10; ++i) {
    set->append(square(10, 2), Vec3::Zero(), 100 + i);
    set->drop_oldest();
    EXPECT_TRUE(renderer->changed()) << "new points";
    finish();
    EXPECT_FALSE(renderer->changed());
  }
  EXPECT_EQ(renderer->counters().full_redraws, counted.full_redraws);
  EXPECT_EQ(renderer->counters().points_drawn - counted.points_drawn, 1'000U);
  ASSERT_TRUE(renderer->redraw_in_ms());
  EXPECT_GT(*renderer->redraw_in_ms(), 0);
  options.aged_share = 0;
  renderer->set_options(options);
  EXPECT_TRUE(renderer->changed());
  const Picture after = finish();
  EXPECT_FALSE(renderer->redraw_in_ms());
  EXPECT_FALSE(renderer->changed());
  // The same points, drawn at once by another renderer.
  auto fresh = Renderer::open(context().loader(), renderer->options()).or_throw();
  auto same = fresh->retained();
  same->set_style(rgb());
  for (int i = 10; i < 20; ++i) {
    same->append(square(80, 0.1F * static_cast<float>(i)), Vec3::Zero(), i);
  }
  for (int i = 0; i < 10; ++i) same->append(square(10, 2), Vec3::Zero(), 100 + i);
  do {
    fresh->draw(camera, {});
  } while (fresh->refining());
  const Picture expected{camera.width(), camera.height(), fresh->read()};
  EXPECT_LT(compare(after, expected, 24)->different, 300U);
  EXPECT_GT(compare(after, before, 24)->different, 300U);
}

TEST_F(MovingTest, new_points_are_a_change_and_no_refinement) {
  auto set = renderer->retained();
  set->append(square(100), Vec3::Zero(), 1);
  finish();
  set->append(square(100, 0.5F), Vec3::Zero(), 2);
  EXPECT_TRUE(renderer->changed());
  EXPECT_FALSE(renderer->refining()) << "a frame for new points may wait";
  finish();
  EXPECT_FALSE(renderer->changed());
}

TEST_F(MovingTest, the_part_is_spread_over_the_whole_cloud) {
  auto set = renderer->retained();
  PointStyle style = rgb();
  style.size = 1;
  set->set_style(style);
  set->append(square(500), Vec3::Zero(), 1);
  const Picture part = draw();
  ASSERT_TRUE(renderer->refining());
  const Picture whole = finish();
  // Each quarter of the picture that has points in the end has points at first.
  const auto filled = [](const Picture& picture, int left, int top) {
    int count = 0;
    for (int y = top; y < top + 25; ++y) {
      for (int x = left; x < left + 25; ++x) {
        if (picture.rgba[static_cast<std::size_t>(y * picture.width + x) * 4 + 1] > 150) ++count;
      }
    }
    return count;
  };
  for (int top = 0; top + 25 <= 150; top += 25) {
    for (int left = 0; left + 25 <= 200; left += 25) {
      if (filled(whole, left, top) <= 500) continue;
      EXPECT_GT(filled(part, left, top), 20);
    }
  }
}

TEST(PictureTest, equal_pictures_have_no_difference) {
  Picture one{4, 4, std::vector<std::uint8_t>(64, 100)};
  EXPECT_EQ(compare(one, one, 0)->different, 0U);
  Picture other = one;
  other.rgba[4 * 5] = 180;
  // A neighbour has the colour of the golden picture, but no neighbour has the new one.
  EXPECT_EQ(compare(other, one, 10)->different, 1U);
  EXPECT_EQ(compare(other, one, 10)->largest, 80);
  EXPECT_FALSE(compare(one, Picture{2, 8, std::vector<std::uint8_t>(64, 100)}, 10).ok());
}

TEST(PictureTest, shrink_averages) {
  Picture one{2, 2, {0, 0, 0, 255, 100, 0, 0, 255, 100, 0, 0, 255, 200, 0, 0, 255}};
  const Picture small = shrink(one, 2);
  ASSERT_EQ(small.rgba.size(), 4U);
  EXPECT_EQ(small.rgba[0], 100);
  EXPECT_EQ(small.rgba[3], 255);
}

TEST(RendererErrorTest, a_missing_function_is_an_error_with_the_remedy) {
  const auto made = Renderer::open([](const char*) -> void (*)() { return nullptr; });
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Code::unsupported);
  EXPECT_NE(made.error().message.find("LIBGL_ALWAYS_SOFTWARE"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::view
