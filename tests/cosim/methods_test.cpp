#include <random>
#include <set>

#include "cosim/core/bounds.hpp"
#include "rig.hpp"

namespace hyphos::cosim {
namespace {

constexpr Duration kStep = Duration::from_ms(1);
constexpr Duration kReference = Duration::from_ms(2);  // round trip without any error

TEST(CosimMethods, every_method_has_a_unique_name_and_can_be_created) {
  EXPECT_EQ(known_methods().size(), 16U);
  for (const KnownMethod& known : known_methods()) {
    Trial trial;
    trial.method = known.name;
    EXPECT_NE(method_of(trial), nullptr);
    EXPECT_FALSE(known.about.empty());
  }
}

TEST(CosimMethods, a_wrong_name_or_window_gives_an_error_with_the_remedy) {
  const Step step = Step::make(1'000'000).value();
  const auto name = make_method("magic", {step, kStep});
  ASSERT_FALSE(name.ok());
  EXPECT_EQ(name.error().code, Code::not_found);
  EXPECT_NE(name.error().message.find("lockstep"), std::string::npos);
  const auto window = make_method("lockstep", {step, Duration::from_us(2500)});
  ASSERT_FALSE(window.ok());
  EXPECT_EQ(window.error().code, Code::invalid_config);
  EXPECT_NE(window.error().message.find("2000000 ns"), std::string::npos);
  EXPECT_FALSE(make_method("lockstep", {step, Duration::from_us(500)}).ok());
}

/// The documented bound for one hop.
Duration promised(const std::string& method, Duration w) {
  if (method == "lockstep") return w - kStep;
  if (method == "time_stepped_scheduler") return w * 2 - kStep * 2;
  if (method == "time_stepped" || method == "sliding_window") return w * 2 - kStep;
  if (method.starts_with("velocity_aware") || method.starts_with("algorithm_1"))
    return w * 2 - kStep;  // robots at rest
  return {0};
}

TEST(CosimMethods, ping_pong_stays_within_the_promised_bound_of_every_method) {
  for (const KnownMethod& known : known_methods()) {
    for (const std::int64_t ms : {1, 5, 10, 50}) {
      Trial trial;
      trial.method = known.name;
      trial.window = Duration::from_ms(ms);
      trial.end = Duration::from_ms(3000);
      ConstantDelay network(Duration::from_us(900));
      PingPong programs({});
      const Ran ran = run(trial, network, programs);
      ASSERT_TRUE(ran.result.ok()) << known.name << ran.result.error().to_string();
      const Duration bound = promised(trial.method, trial.window);
      EXPECT_LE(ran.report.bounds.latency, bound) << known.name << " " << ms;
      ASSERT_FALSE(programs.round_trips().empty());
      for (const Duration trip : programs.round_trips()) {
        EXPECT_GE(trip, kReference) << known.name << " " << ms;
        EXPECT_LE(trip, kReference + ran.report.bounds.latency * 2) << known.name << " " << ms;
      }
    }
  }
}

TEST(CosimMethods, windows_of_one_step_and_exact_stamps_are_the_reference) {
  for (const char* method :
       {"lockstep", "time_stepped_scheduler", "variable_stepped", "global_event", "adaptive"}) {
    Trial trial;
    trial.method = method;
    ConstantDelay network(Duration::from_us(900));
    PingPong programs({});
    (void)run(trial, network, programs);
    for (const Duration trip : programs.round_trips()) EXPECT_EQ(trip, kReference) << method;
  }
}

TEST(CosimMethods, the_worst_phase_reaches_the_bound) {
  Trial trial;
  trial.method = "sliding_window";
  trial.window = Duration::from_ms(50);
  ConstantDelay network(Duration::from_us(900));
  PingPong programs({});
  const Ran ran = run(trial, network, programs);
  // 0 -> 50 -> read at 100. The reply is sent there -> 150 -> read at 200.
  EXPECT_EQ(programs.round_trips().front(), Duration::from_ms(200));
  EXPECT_EQ(ran.report.bounds.latency, Duration::from_ms(99));
}

TEST(CosimMethods, a_floating_point_sum_of_seconds_leaves_the_grid) {
  Trial trial;
  trial.method = "variable_stepped_float";
  trial.step = Step::make(1'000'000, 3).value();
  trial.window = Duration{333'333};
  trial.end = Duration::from_ms(20'000);
  ConstantDelay network(Duration::from_us(100));
  Periodic programs({.nodes = 2, .rate_hz = 100, .bytes = 8});
  const Ran wrong = run(trial, network, programs);
  EXPECT_GT(wrong.report.clock_error.ns, 0);
  trial.method = "variable_stepped";
  ConstantDelay again(Duration::from_us(100));
  Periodic same({.nodes = 2, .rate_hz = 100, .bytes = 8});
  const Ran right = run(trial, again, same);
  EXPECT_EQ(right.report.clock_error.ns, 0);
  EXPECT_NE(wrong.trace, right.trace);
}

Trial moving(const char* method, double publisher_speed, double subscriber_speed) {
  Trial trial;
  trial.method = method;
  trial.paths = {ConstantVelocity{{0, 0, 1}, {publisher_speed, 0, 0}},
                 ConstantVelocity{{20, 0, 1}, {subscriber_speed, 0, 0}}};
  return trial;
}

Ran ping_pong(const Trial& trial, Duration pause = {}) {
  ConstantDelay network(Duration::from_us(900));
  PingPong programs({.pause = pause});
  return run(trial, network, programs);
}

TEST(CosimVelocityAware, in_seconds_a_difference_of_1_m_s_ends_the_window) {
  const Ran ran = ping_pong(moving("velocity_aware_s", 0, 1));
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().where, kLimitOfMethod);
  EXPECT_EQ(ran.result.error().message.find("non-positive window"), 0U)
      << ran.result.error().message;
}

TEST(CosimVelocityAware, in_seconds_a_faster_publisher_gets_a_longer_window) {
  // Replies travel in the other direction, where the same difference shortens the window. Two
  // metres per second add 2 ms to a window of 5 ms for a ping, and subtract 2 ms for its reply.
  Trial trial = moving("velocity_aware_s", 2, 0);
  trial.window = Duration::from_ms(5);
  const Ran ran = ping_pong(trial);
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().to_string();
  EXPECT_EQ(ran.report.longest_window, Duration::from_ms(7));
  EXPECT_EQ(ran.report.shortest_window, Duration::from_ms(3));
}

TEST(CosimVelocityAware, in_milliseconds_the_window_hardly_changes) {
  const Ran ran = ping_pong(moving("velocity_aware_ms", 0, 20));
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().to_string();
  EXPECT_LE(ran.report.longest_window, Duration::from_ms(2));
}

TEST(CosimVelocityAware, an_updated_window_drifts) {
  class OneWay final : public Programs {
    void step(Time, std::span<const Delivery>, std::span<const Pose>, Outbox& outbox) override {
      outbox.send(0, 1, Buffer::copy_of("x"));
    }
    Time next_event_time() const override { return {}; }
  };
  Trial trial = moving("velocity_aware_s_updated", 0, 1);
  trial.window = Duration::from_ms(5);
  ConstantDelay network(Duration::from_us(900));
  OneWay programs;
  const Ran ran = run(trial, network, programs);
  ASSERT_FALSE(ran.result.ok()) << "5, 4, 3, 2, 1, 0 ms";
  EXPECT_NE(ran.result.error().message.find("w_a = 0 ns"), std::string::npos);
  trial.method = "velocity_aware_s";
  ConstantDelay again(Duration::from_us(900));
  EXPECT_TRUE(run(trial, again, programs).result.ok());
}

TEST(CosimVelocityAware, time_stops_when_nothing_is_in_flight) {
  const Ran ran = ping_pong(moving("velocity_aware_ms", 0, 0), Duration::from_ms(100));
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().where, kLimitOfMethod);
  EXPECT_EQ(ran.result.error().message.find("idle deadlock"), 0U) << ran.result.error().message;
  EXPECT_NE(ran.result.error().message.find("velocity_aware_lenient_ms"), std::string::npos);
}

class Adaptive : public testing::Test {
 protected:
  Adaptive() {
    MethodOptions options{step_, Duration::from_ms(1000)};
    options.latency_budget = Duration::from_ms(1000);
    method_ = make_method("adaptive", options).or_throw();
  }
  std::int64_t steps(const std::vector<Pose>& poses, const std::vector<Pair>& pairs) {
    Situation situation;
    situation.index = 100;
    situation.now = step_.at(100).value();
    situation.poses = poses;
    situation.active = pairs;
    situation.pending = true;
    return method_->plan(situation).value().end - 100;
  }
  /// Multiples of 1/64, so that sums of velocities are exact.
  Vec3 draw(int most) {
    const auto one = [&] {
      const auto width = static_cast<std::uint64_t>(128 * most + 1);
      return static_cast<double>(static_cast<std::int64_t>(random_() % width) - 64 * most) / 64;
    };
    return {one(), one(), one()};
  }

  Step step_ = Step::make(1'000'000).value();
  std::unique_ptr<Method> method_;
  std::mt19937_64 random_{5};
};

TEST_F(Adaptive, exchanging_sender_and_receiver_changes_no_window) {
  for (int i = 0; i < 10'000; ++i) {
    const std::vector<Pose> poses{{draw(100), draw(30)}, {draw(100), draw(30)}};
    ASSERT_EQ(steps(poses, {{0, 1}}), steps(poses, {{1, 0}}));
  }
}

TEST_F(Adaptive, a_common_velocity_changes_no_window) {
  for (int i = 0; i < 10'000; ++i) {
    std::vector<Pose> poses{{draw(100), draw(30)}, {draw(100), draw(30)}, {draw(100), draw(30)}};
    const std::vector<Pair> pairs{{0, 1}, {2, 1}, {0, 2}};
    const std::int64_t before = steps(poses, pairs);
    const Vec3 common = draw(50);
    for (Pose& pose : poses) pose.velocity = pose.velocity + common;
    ASSERT_EQ(steps(poses, pairs), before);
  }
}

TEST_F(Adaptive, the_window_shrinks_with_relative_speed_and_proximity) {
  const auto at = [&](double distance, double speed) {
    return steps({{{0, 0, 0}, {}}, {{distance, 0, 0}, {-speed, 0, 0}}}, {{0, 1}});
  };
  // 100 (1 - 10^(-0.5 / 30)) / 10 m/s = 0.3765 s.
  EXPECT_EQ(at(100, 10), 376);
  EXPECT_EQ(at(100, 20), 188);
  EXPECT_EQ(at(50, 20), 94);
  EXPECT_EQ(at(100, 0), 1000);
  EXPECT_EQ(at(0.001, 20), 1) << "at least one step";
}

TEST_F(Adaptive, the_power_error_of_a_window_is_within_its_limit) {
  for (int i = 0; i < 10'000; ++i) {
    const std::vector<Pose> poses{{draw(100), draw(30)}, {draw(100), draw(30)}};
    const std::int64_t window = steps(poses, {{0, 1}});
    if (window == 1) continue;
    const double distance = length(poses[1].position - poses[0].position);
    const double way =
        length(poses[1].velocity - poses[0].velocity) * 0.001 * static_cast<double>(window);
    ASSERT_LE(power_error_db(3, 0, distance, way), 0.5 + 1e-9);
  }
}

/// The worst error, from one pair at a time: no pair is left out because of another one.
BoundTracker::Error one_by_one(const RadioBounds& radio, const std::vector<Pose>& used,
                               const std::vector<Pose>& before, const std::vector<Pose>& after,
                               const std::vector<Pair>& pairs) {
  BoundTracker::Error worst;
  for (const Pair& pair : pairs) {
    BoundTracker alone(radio);
    const auto error = alone.over_step(used, before, after, 0.01, std::vector{pair});
    worst.position_m = std::max(worst.position_m, error.position_m);
    if (error.power_db <= worst.power_db) continue;
    worst.power_db = error.power_db;
    worst.sight_db = error.sight_db;
    worst.pair = pair;
  }
  return worst;
}

TEST(CosimBounds, the_worst_pair_of_many_is_the_worst_of_each_alone) {
  const Scene walls({{{20, -5, 0}, {25, 60, 5}, 12}});
  std::mt19937_64 random(11);
  const auto in = [&](double most) {
    return std::uniform_real_distribution<double>(-most, most)(random);
  };
  constexpr NodeId kRobots = 12;
  std::vector<Pair> pairs;
  for (NodeId i = 0; i < kRobots; ++i) {
    for (NodeId j = 0; j < kRobots; ++j) {
      if (i != j) pairs.push_back({i, j});
    }
  }
  for (int round = 0; round < 400; ++round) {
    const RadioBounds radio{2.0 + round % 3, 1, round % 5 == 0 ? 60.0 : 1e9,
                            round % 4 == 0 ? &walls : nullptr};
    const double speed = round % 7 == 0 ? 0 : std::pow(10, in(2));
    std::vector<Pose> used(kRobots);
    for (Pose& pose : used) pose = {{in(80), in(80), 1}, {in(speed), in(speed), 0}};
    std::vector<Pose> before = used;
    for (Pose& pose : before) pose.position = pose.position + pose.velocity * 0.05;
    std::vector<Pose> after = before;
    for (Pose& pose : after) pose.position = pose.position + pose.velocity * 0.01;
    std::ranges::shuffle(pairs, random);
    BoundTracker tracker(radio);
    (void)tracker.over_step(after, after, after, 0.01, pairs);  // leaves nothing behind
    const auto found = tracker.over_step(used, before, after, 0.01, pairs);
    const auto wanted = one_by_one(radio, used, before, after, pairs);
    ASSERT_EQ(found.position_m, wanted.position_m) << round;
    if (std::isinf(wanted.power_db)) {
      ASSERT_EQ(found.power_db, wanted.power_db) << round;
      continue;
    }
    ASSERT_NEAR(found.power_db, wanted.power_db, 1e-9 * wanted.power_db) << round;
    ASSERT_EQ(found.sight_db, wanted.sight_db) << round;
  }
}

TEST(CosimAdaptive, a_tenth_of_the_network_calls_gives_the_same_trace) {
  const auto with = [](const char* method, std::int64_t window_ms) {
    Trial trial;
    trial.paths = {Waypoints{{{0, 0, 1}, {60, 0, 1}}, 2, true}, Circle{{30, 20, 1}, 20, 0.3, 0}};
    trial.method = method;
    trial.window = Duration::from_ms(window_ms);
    trial.end = Duration::from_ms(20'000);
    trial.skip = false;
    AnalyticRadio network({}, nullptr);
    Periodic programs({.nodes = 2, .rate_hz = 10, .bytes = 100, .everyone = false});
    return run(trial, network, programs);
  };
  const Ran fixed = with("lockstep", 1);
  const Ran adaptive = with("adaptive", 50);
  EXPECT_EQ(fixed.trace, adaptive.trace);
  EXPECT_GT(fixed.report.packets.delivered, 300U);
  EXPECT_EQ(fixed.report.network_syncs, 20'000U);
  EXPECT_LE(adaptive.report.network_syncs * 10, fixed.report.network_syncs);
  EXPECT_EQ(adaptive.report.bounds.latency.ns, 0);
}

TEST(CosimAdaptive, a_turn_inside_a_window_does_not_break_its_bound) {
  Trial trial;
  trial.method = "adaptive";
  trial.window = Duration::from_ms(50);
  trial.latency_budget = Duration::from_ms(49);
  trial.end = Duration::from_ms(50);
  // In parallel for 25 ms at the same velocity, so nothing requires a short window. Then one robot
  // turns.
  trial.paths = {ConstantVelocity{{0, 0, 1}, {20, 0, 0}},
                 Waypoints{{{0, 2, 1}, {0.5, 2, 1}, {0.5, -50, 1}}, 20, false}};
  ConstantDelay network(Duration::from_us(900));
  PingPong programs({});
  const Ran ran = run(trial, network, programs);
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(ran.report.longest_window, Duration::from_ms(50));
  EXPECT_GT(ran.report.pose_refreshes, 2U);
  EXPECT_LE(ran.report.bounds.power_db, 0.5);
  trial.method = "lockstep";
  ConstantDelay again(Duration::from_us(900));
  PingPong same({});
  EXPECT_GT(run(trial, again, same).report.bounds.power_db, 2);
}

/// Records the end of each advance of the network.
class Ends final : public Network {
 public:
  explicit Ends(Network& inner) : inner_(inner) {}
  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override {
    return inner_.init(nodes, seed);
  }
  Result<void> set_poses(std::span<const Pose> poses) override { return inner_.set_poses(poses); }
  Result<void> inject(const Packet& packet) override { return inner_.inject(packet); }
  Result<void> advance(Time end) override {
    ends.push_back(end);
    return inner_.advance(end);
  }
  Time next_event_time() const override { return inner_.next_event_time(); }
  Result<void> poll(std::vector<Outcome>& outcomes) override { return inner_.poll(outcomes); }
  std::vector<Time> ends;

 private:
  Network& inner_;
};

TEST(CosimAdaptive, windows_have_many_lengths_in_whole_steps) {
  Trial trial;
  trial.step = Step::make(1'000'000, 3).value();
  trial.method = "adaptive";
  trial.window = Duration::from_ms(100);
  trial.latency_budget = Duration::from_ms(100);
  trial.power_error_db = 0.1;
  trial.end = Duration::from_ms(20'000);
  trial.skip = false;
  trial.paths = {Waypoints{{{0, 0, 1}, {60, 0, 1}}, 9, true}, Circle{{30, 20, 1}, 20, 0.7, 0}};
  AnalyticRadio radio({}, nullptr);
  Ends network(radio);
  Periodic programs({.nodes = 2, .rate_hz = 50, .bytes = 100});
  ASSERT_TRUE(run(trial, network, programs).result.ok());
  std::set<std::int64_t> lengths;
  std::int64_t last = 0;
  for (const Time end : network.ends) {
    const std::int64_t k = trial.step.index_at_or_after(end);
    ASSERT_EQ(trial.step.at(k).value(), end) << "off the grid";
    lengths.insert(k - last);
    last = k;
  }
  EXPECT_GT(lengths.size(), 10U);
}

TEST(CosimAdaptive, a_latency_budget_is_kept_and_used) {
  Trial trial;
  trial.method = "adaptive";
  trial.window = Duration::from_ms(50);
  trial.latency_budget = Duration::from_ms(4);
  ConstantDelay network(Duration::from_us(900));
  PingPong programs({});
  const Ran ran = run(trial, network, programs);
  EXPECT_EQ(ran.report.bounds.latency, Duration::from_ms(4));
  for (const Duration trip : programs.round_trips()) {
    EXPECT_LE(trip, kReference + Duration::from_ms(8));
  }
}

}  // namespace
}  // namespace hyphos::cosim
