// The test that docs/how-to/testing.md shows.
#include "hyphos/hyphos.hpp"
#include "hyphos/testing.hpp"

namespace {

struct Distance {
  static constexpr std::string_view hyphos_type = "example.Distance";
  double metres = 0;
};
struct Stop {
  static constexpr std::string_view hyphos_type = "example.Stop";
  bool now = false;
};

/// Stops the robot below `limit` metres.
class Guard {
 public:
  explicit Guard(const hyphos::Node& node)
      : stop_(node.publisher<Stop>("stop")), limit_(node.param("limit", 0.5)) {
    node.subscribe<Distance>("distance", hyphos::serial, [this](const auto& distance) {
      stop_.publish({distance->metres < limit_});
    });
  }

 private:
  hyphos::Publisher<Stop> stop_;
  double limit_;
};

TEST(GuardTest, stops_before_the_wall) {
  hyphos::testing::Robot robot;
  robot.add<Guard>("guard");
  robot.watch<Stop>("stop");
  robot.publish<Distance>("distance", {1.0});
  robot.publish<Distance>("distance", {0.3});
  const auto stop = robot.expect<Stop>("stop", [](const Stop& one) { return one.now; });
  ASSERT_TRUE(stop);
  EXPECT_EQ(robot.messages<Stop>("stop").size(), 2U);
}

}  // namespace
