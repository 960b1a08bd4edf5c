#include <gtest/gtest.h>

#include <string>

#include "hyphos/plan.hpp"

namespace hyphos {
namespace {

const std::string kNodes =
    "hyphos: 1\n"
    "processes:\n  a: {}\n  b: {}\n"
    "nodes:\n"
    "  camera: {process: a}\n"
    "  mapper: {process: b, load: {work_us: {image: 1500, tick: 2.5}}}\n"
    "  viewer: {process: b, load: {work_us: 40}}\n";

Result<Plan> with_channels(const std::string& channels) {
  return parse_plan(kNodes + "channels:\n" + channels, "robot.yaml");
}

std::string mistake(const std::string& channels) {
  const auto plan = with_channels(channels);
  return plan ? "no mistake" : plan.error().message;
}

const std::string kImage =
    "  image: {publishers: [camera], subscribers: [mapper, viewer], load: {rate_hz: 30, size: 900 "
    "KB, work_us: 12}}\n"
    "  tick: {publishers: [camera], subscribers: [mapper]}\n";

TEST(Load, the_load_of_channels_and_nodes_is_read) {
  const auto plan = with_channels(kImage +
                                  "  map: {publishers: [mapper], subscribers: [viewer], load: "
                                  "{after: image, every: 10, size: 100}}\n");
  ASSERT_TRUE(plan) << plan.error().message;
  const ChannelLoad& image = *plan->channel("image")->load;
  EXPECT_DOUBLE_EQ(image.rate_hz, 30);
  EXPECT_EQ(image.size_bytes, 900 * 1024);
  EXPECT_DOUBLE_EQ(image.work_us, 12);
  const ChannelLoad& map = *plan->channel("map")->load;
  EXPECT_EQ(map.after, "image");
  EXPECT_EQ(map.every, 10);
  EXPECT_EQ(map.size_bytes, 100);
  EXPECT_FALSE(plan->channel("tick")->load);
  EXPECT_DOUBLE_EQ(plan->node("mapper")->load.work_us_for("image"), 1500);
  EXPECT_DOUBLE_EQ(plan->node("mapper")->load.work_us_for("map"), 0);
  EXPECT_DOUBLE_EQ(plan->node("viewer")->load.work_us_for("map"), 40);
}

TEST(Load, the_load_is_printed_as_json) {
  const auto plan = with_channels(kImage);
  ASSERT_TRUE(plan);
  const std::string json = to_json(*plan);
  EXPECT_NE(json.find("\"size_bytes\": 921600"), std::string::npos) << json;
  EXPECT_NE(json.find("\"work_us\": 40"), std::string::npos) << json;
}

TEST(Load, sizes_with_units_are_read) {
  for (const auto& [text, bytes] :
       {std::pair{"7", 7}, {"2 MB", 2 << 20}, {"1.5kb", 1536}, {"64 B", 64}}) {
    const auto plan = with_channels("  image: {publishers: [camera], load: {rate_hz: 1, size: " +
                                    std::string(text) + "}}\n  tick: {}\n");
    ASSERT_TRUE(plan) << text;
    EXPECT_EQ(plan->channel("image")->load->size_bytes, bytes) << text;
  }
}

TEST(Load, mistakes_in_a_load_are_named) {
  const auto load = [](const std::string& text) {
    return mistake("  tick: {}\n  image: {publishers: [camera], subscribers: [mapper], load: {" +
                   text + "}}\n");
  };
  EXPECT_NE(load("size: 10").find("either rate_hz, or after"), std::string::npos);
  EXPECT_NE(load("rate_hz: 1, after: tick, size: 1").find("either"), std::string::npos);
  EXPECT_NE(load("rate_hz: 1").find("size: missing"), std::string::npos);
  EXPECT_NE(load("rate_hz: 1, size: big").find("'big' is not a size"), std::string::npos);
  EXPECT_NE(load("rate_hz: 1, size: 3 GB").find("is not a size"), std::string::npos);
  EXPECT_NE(load("rate_hz: 1, size: 1, every: 2").find("without `after`"), std::string::npos);
  EXPECT_NE(load("after: tack, size: 1").find("did you mean 'tick'"), std::string::npos);
  EXPECT_NE(load("rate: 1, size: 1").find("rate"), std::string::npos);
}

TEST(Load, a_publisher_must_subscribe_to_its_after_channel) {
  EXPECT_NE(mistake(kImage + "  map: {publishers: [viewer], load: {after: tick, size: 1}}\n")
                .find("'viewer' publishes it, but does not subscribe to tick"),
            std::string::npos);
}

TEST(Load, a_cycle_of_after_is_refused) {
  const std::string circle =
      "  image: {publishers: [mapper], subscribers: [viewer], load: {after: tick, size: 1}}\n"
      "  tick: {publishers: [viewer], subscribers: [mapper], load: {after: image, size: 1}}\n";
  EXPECT_NE(mistake(circle).find("in a cycle"), std::string::npos) << mistake(circle);
}

TEST(Load, an_unknown_channel_in_the_load_of_a_node_is_reported) {
  const auto plan = parse_plan(
      "hyphos: 1\nnodes:\n  a: {load: {work_us: {scam: 1}}}\nchannels:\n  scan: {}\n", "r.yaml");
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("unknown channel 'scam'"), std::string::npos)
      << plan.error().message;
}

}  // namespace
}  // namespace hyphos
