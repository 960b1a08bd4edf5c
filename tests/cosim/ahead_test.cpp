#include "cosim/physics/ahead.hpp"

#include "tests/cosim/conformance.hpp"
#include "tests/cosim/rig.hpp"

namespace hyphos::cosim {
namespace {

const Step kStep = Step::make(1'000'000).value();

std::vector<Path> ways() {
  return {ConstantVelocity{{}, {1, 2, 3}}, Circle{{}, 5, 1, 0},
          Waypoints{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}, 4, true}, ConstantVelocity{}};
}
struct AheadOfPaths {
  static std::unique_ptr<Physics> make() {
    return std::make_unique<Ahead>(std::make_unique<Kinematic>(ways()), kStep);
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NetworkConformance);
INSTANTIATE_TYPED_TEST_SUITE_P(Ahead, PhysicsConformance, AheadOfPaths);

TEST(Ahead, physics_ahead_gives_the_trace_of_physics_in_step) {
  for (const char* method : {"lockstep", "adaptive", "sliding_window"}) {
    for (const bool skip : {true, false}) {
      Trial trial;
      trial.paths = ways();
      trial.method = method;
      trial.window = Duration::from_ms(5);
      trial.end = Duration::from_ms(2000);
      trial.skip = skip;
      std::vector<Ran> runs;
      for (const bool ahead : {false, true}) {
        std::unique_ptr<Physics> physics = std::make_unique<Kinematic>(trial.paths);
        if (ahead) physics = std::make_unique<Ahead>(std::move(physics), trial.step);
        AnalyticRadio radio({}, nullptr);
        Periodic programs({.nodes = 4, .rate_hz = 60});
        runs.push_back(run(trial, *physics, radio, programs));
        ASSERT_TRUE(runs.back().result.ok());
      }
      EXPECT_GT(runs[0].report.packets.delivered, 100U);
      EXPECT_EQ(runs[0].trace, runs[1].trace);
      EXPECT_EQ(runs[0].report.bounds.power_db, runs[1].report.bounds.power_db);
      EXPECT_EQ(runs[0].report.bounds.position_m, runs[1].report.bounds.position_m);
    }
  }
}

TEST(Ahead, a_fractional_grid_gives_the_poses_of_its_instants) {
  const Step third = Step::make(1'000'000, 3).value();
  Ahead ahead(std::make_unique<Kinematic>(ways()), third);
  Kinematic plain(ways());
  ASSERT_TRUE(ahead.init(4, 1).ok());
  ASSERT_TRUE(plain.init(4, 1).ok());
  for (std::int64_t index = 1; index < 5000; index += 1 + index % 7) {
    const Time at = third.at(index).value();
    ASSERT_TRUE(ahead.advance(at).ok());
    ASSERT_TRUE(plain.advance(at).ok());
    for (std::size_t i = 0; i < 4; ++i) {
      ASSERT_EQ(ahead.poses()[i].position, plain.poses()[i].position) << index;
    }
  }
}

/// Fails at an instant.
class Frail final : public Physics {
 public:
  explicit Frail(Time last) : last_(last) {}
  Result<void> init(std::uint32_t nodes, std::uint64_t) override {
    poses_.resize(nodes);
    return nodes > 4 ? Result<void>(Error{Code::invalid_config, "too many", "frail"}) : success();
  }
  Result<void> advance(Time end) override {
    if (end > last_) return Error{Code::io, "it broke at " + std::to_string(end.ns), "frail"};
    return success();
  }
  Time next_event_time() const override { return kNever; }
  std::span<const Pose> poses() const override { return poses_; }

 private:
  Time last_;
  std::vector<Pose> poses_;
};

TEST(Ahead, an_error_is_reported_at_its_instant_and_stays) {
  for (const std::int64_t last : {0, 1, 255, 256, 257, 1000}) {
    Ahead ahead(std::make_unique<Frail>(Time{last * 1'000'000}), kStep);
    ASSERT_TRUE(ahead.init(4, 1).ok());
    for (std::int64_t ms = 1; ms <= last; ++ms) ASSERT_TRUE(ahead.advance({ms * 1'000'000}).ok());
    for (int twice = 0; twice < 2; ++twice) {
      const auto broken = ahead.advance({(last + 5) * 1'000'000});
      ASSERT_FALSE(broken.ok());
      EXPECT_EQ(broken.error().message, "it broke at " + std::to_string((last + 1) * 1'000'000));
    }
  }
}

TEST(Ahead, init_reports_a_failed_start_and_can_be_retried) {
  Ahead ahead(std::make_unique<Frail>(Time{1'000'000'000}), kStep);
  EXPECT_FALSE(ahead.init(5, 1).ok());
  EXPECT_FALSE(ahead.advance({1'000'000}).ok());
  ASSERT_TRUE(ahead.init(4, 1).ok());
  EXPECT_TRUE(ahead.advance({900'000'000}).ok());
}

TEST(Ahead, physics_ahead_refuses_motion_commands) {
  Ahead ahead(std::make_unique<Kinematic>(ways()), kStep);
  ASSERT_TRUE(ahead.init(4, 1).ok());
  const auto told = ahead.steer(2, {{1, 0, 0}, 0});
  ASSERT_FALSE(told.ok());
  EXPECT_EQ(told.error().code, Code::unsupported);
  EXPECT_NE(told.error().message.find("robot 2"), std::string::npos);
  EXPECT_NE(told.error().message.find("ahead"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::cosim
