// Arrays as messages for the viewer.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/node/harness.hpp"
#include <hyphos/msgs/view.hpp>

namespace hyphos {
namespace {

using test::eventually;
using test::offline_options;

/// The messages of a channel.
template <typename T>
class Received {
 public:
  Received(const Node& node, const std::string& channel) {
    SubscriptionOptions options;
    options.policy.emplace().latched = true;
    options.policy->depth = 1000;
    node.subscribe<T>(channel, options, [this](const Message<T>& message) {
      const std::lock_guard lock(mutex_);
      all_.push_back(message);
    });
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }
  Message<T> wait(std::size_t count = 1) {
    EXPECT_TRUE(eventually([&] { return this->count() >= count; }));
    const std::lock_guard lock(mutex_);
    return all_.at(count - 1);
  }

 private:
  std::mutex mutex_;
  std::vector<Message<T>> all_;
};

using Cloud = Attached<msgs::PointCloud>;
using Pixels = Attached<msgs::Image>;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Exception& exception) {
    return exception.what();
  }
  return "no exception";
}

class ViewTest : public ::testing::Test {
 protected:
  const Node node = Node::open("shower", offline_options()).or_throw();
  const View view{node, {.prefix = "debug", .frame = "odom"}};
};

/// Three numbers, as an Eigen vector has them.
struct Vector3f {
  float numbers[3];
  [[nodiscard]] const float* data() const { return numbers; }
  [[nodiscard]] std::size_t size() const { return 3; }
};

TEST_F(ViewTest, points_of_any_container_arrive) {
  const std::vector<float> flat = {1, 2, 3, 4, 5, 6};
  const std::vector<std::array<double, 3>> rows = {{1, 2, 3}, {4, 5, 6}};
  const std::vector<Vector3f> vectors = {{{1, 2, 3}}, {{4, 5, 6}}};
  view.points("flat", flat);
  view.points("rows", rows);
  view.points("vectors", vectors);
  view.points("span", std::span(flat));
  for (const char* name : {"flat", "rows", "vectors", "span"}) {
    Received<Cloud> received(node, std::string("debug/") + name);
    const auto cloud = received.wait();
    EXPECT_EQ(cloud->head.width(), 2U);
    EXPECT_EQ(cloud->head.header().frame_id(), "odom");
    EXPECT_GT(cloud->head.header().stamp_ns(), 0);
    const auto numbers = cloud->buffers[0].as<float>();
    EXPECT_EQ(std::vector<float>(numbers.begin(), numbers.end()), flat) << name;
  }
}

TEST_F(ViewTest, colours_and_intensities_are_fields) {
  const std::vector<float> xyz = {1, 2, 3, 4, 5, 6};
  const std::vector<std::uint8_t> rgb = {255, 128, 0, 1, 2, 3};
  const std::vector<float> intensity = {0.5F, 7};
  view.points("cloud", xyz, {.rgb = rgb, .intensity = intensity, .at = {.frame = "map"}});
  Received<Cloud> received(node, "debug/cloud");
  const auto cloud = received.wait();
  EXPECT_EQ(cloud->head.header().frame_id(), "map");
  ASSERT_EQ(cloud->head.fields_size(), 5);
  EXPECT_EQ(cloud->head.fields(3).name(), "rgb");
  EXPECT_EQ(cloud->head.point_step(), 20U);
  struct Point {
    float x, y, z;
    std::uint32_t rgb;
    float intensity;
  };
  const auto points = cloud->buffers[0].as<Point>();
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].y, 5);
  EXPECT_EQ(points[0].rgb, 0xffff8000U);
  EXPECT_EQ(points[1].intensity, 7);
}

TEST_F(ViewTest, loaned_points_are_not_copied) {
  WritableBuffer memory = view.loan_points("cloud", 3);
  const auto numbers = memory.as<float>();
  ASSERT_EQ(numbers.size(), 9U);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const void* const place = memory.data();
  view.points("cloud", std::move(memory).freeze());
  Received<Cloud> received(node, "debug/cloud");
  EXPECT_EQ(received.wait()->buffers[0].data(), place);
}

TEST_F(ViewTest, poses_paths_images_and_numbers_arrive) {
  view.pose("robot", {{1, 2, 3}, {0, 0, 1, 0}}, {.stamp = Time{5}});
  const std::vector<float> xyz = {0, 0, 0, 1, 0, 0};
  const std::vector<Quaternion> turns = {{0, 0, 0, 1}, {0, 0, 1, 0}};
  view.path("way", xyz, turns);
  view.image("camera", std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}, 2, 1, "bgr8");
  view.scalar("error", 0.25);
  Received<msgs::PoseStamped> poses(node, "debug/robot");
  EXPECT_EQ(poses.wait()->header().stamp_ns(), 5);
  EXPECT_EQ(poses.wait()->pose().position().y(), 2);
  EXPECT_EQ(poses.wait()->pose().orientation().z(), 1);
  Received<msgs::Path> paths(node, "debug/way");
  EXPECT_EQ(paths.wait()->poses(1).pose().position().x(), 1);
  EXPECT_EQ(paths.wait()->poses(1).pose().orientation().z(), 1);
  Received<Pixels> images(node, "debug/camera");
  EXPECT_EQ(images.wait()->head.encoding(), "bgr8");
  EXPECT_EQ(images.wait()->head.step(), 6U);
  EXPECT_EQ(images.wait()->buffers[0].as<std::uint8_t>()[4], 5);
  Received<msgs::Float64> numbers(node, "debug/error");
  EXPECT_EQ(numbers.wait()->data(), 0.25);
}

TEST_F(ViewTest, a_drawing_replaces_the_earlier_one_of_its_name) {
  const std::vector<float> xyz = {0, 0, 0, 1, 0, 0, 1, 1, 0};
  Received<msgs::MarkerArray> received(node, "debug/shape");
  using Type = msgs::Marker;
  view.line("shape", xyz, {.color = ViewColor::hex(0xff0000), .width = 0.5});
  view.arrow("shape", xyz, xyz);
  view.boxes("shape", xyz, {1, 2, 3});
  view.box("shape", {{1, 2, 3}, {}}, {1, 2, 3});
  view.spheres("shape", xyz, 0.5);
  view.sphere("shape", {1, 2, 3}, 0.5);
  view.text("shape", "hall", {1, 2, 3}, 0.4);
  view.clear("shape");
  const std::vector<std::vector<int>> types = {
      {Type::LINE_STRIP},       {Type::ARROW, Type::ARROW, Type::ARROW},
      {Type::CUBE_LIST},        {Type::CUBE},
      {Type::SPHERE_LIST},      {Type::SPHERE_LIST},
      {Type::TEXT_VIEW_FACING}, {}};
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto message = received.wait(i + 1);
    ASSERT_GE(message->markers_size(), 1);
    EXPECT_EQ(message->markers(0).action(), Type::DELETEALL);
    std::vector<int> found;
    std::set<int> ids;
    for (int k = 1; k < message->markers_size(); ++k) {
      found.push_back(message->markers(k).type());
      ids.insert(message->markers(k).id());
    }
    EXPECT_EQ(found, types[i]) << i;
    EXPECT_EQ(ids.size(), found.size()) << "each shape has a name of its own";
  }
  EXPECT_EQ(received.wait(1)->markers(1).color().r(), 1);
  EXPECT_EQ(received.wait(1)->markers(1).scale().x(), 0.5);
  EXPECT_EQ(received.wait(1)->markers(1).points_size(), 3);
  EXPECT_EQ(received.wait(5)->markers(1).scale().z(), 1);
  EXPECT_EQ(received.wait(7)->markers(1).text(), "hall");
}

TEST_F(ViewTest, errors_name_the_call_and_both_sizes) {
  const std::vector<float> xyz = {0, 0, 0, 1, 0, 0};
  const std::vector<float> five(5);
  const std::vector<std::uint8_t> rgb(3);
  EXPECT_NE(refusal([&] { view.points("c", five); }).find("found 5 numbers"), std::string::npos);
  EXPECT_NE(refusal([&] {
              view.points("c", xyz, {.rgb = rgb});
            }).find("View::points(\"c\"): needs one for each of the 6 points, found 3 bytes"),
            std::string::npos)
      << refusal([&] { view.points("c", xyz, {.rgb = rgb}); });
  EXPECT_NE(refusal([&] { view.points("c", Buffer::copy_of("abc")); }).find("3 bytes"),
            std::string::npos);
  EXPECT_NE(refusal([&] { view.arrow("c", xyz, std::vector<float>(3)); }).find("found 1 ends"),
            std::string::npos);
  EXPECT_NE(refusal([&] { view.image("c", rgb, 2, 2); }).find("need 12 bytes, found 3"),
            std::string::npos);
  EXPECT_NE(refusal([&] { view.image("c", rgb, 1, 1, "plaid"); }).find("unknown encoding 'plaid'"),
            std::string::npos);
  view.scalar("thing", 1);
  EXPECT_NE(refusal([&] { view.points("thing", xyz); }).find("'thing' already shows"),
            std::string::npos);
}

TEST_F(ViewTest, threads_and_copies_share_one_publisher) {
  Received<msgs::Float64> received(node, "debug/x");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([copy = view, i] {
      for (int k = 0; k < 20; ++k) copy.scalar("x", 100 * i + k);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<double> values;
  std::set<std::uint64_t> senders;
  for (std::size_t i = 1; i <= 160; ++i) {
    values.insert(received.wait(i)->data());
    senders.insert(received.wait(i).sender());
  }
  EXPECT_EQ(values.size(), 160U);
  EXPECT_EQ(senders.size(), 1U);
}

TEST_F(ViewTest, a_closed_node_shows_nothing) {
  view.scalar("x", 1);
  node.close();
  EXPECT_FALSE(view.scalar("x", 2));
  EXPECT_NE(refusal([&] { view.scalar("y", 1); }), "no exception");
}

}  // namespace
}  // namespace hyphos
