#include <random>

#include "rig.hpp"

namespace hyphos::cosim {
namespace {

RadioModel model_of(const RadioOptions& options, const Scene* scene = nullptr,
                    std::uint64_t seed = 1) {
  return RadioModel::make(options, scene, seed).or_throw();
}

TEST(CosimRadioModel, power_falls_with_the_logarithm_of_distance) {
  const RadioModel model = model_of({});
  EXPECT_NEAR(model.power_dbm(0, {}, 1, {1, 0, 0}), 16 - 40.05, 1e-9);
  EXPECT_NEAR(model.power_dbm(0, {}, 1, {100, 0, 0}), 16 - 40.05 - 60, 1e-9);
  EXPECT_EQ(model.power_dbm(0, {}, 1, {}), model.power_dbm(0, {}, 1, {1, 0, 0}));
  EXPECT_NEAR(model.power_dbm(0, {}, 1, {model.range_m(), 0, 0}), -90, 1e-9);
}

TEST(CosimRadioModel, obstacles_of_the_world_attenuate_power) {
  const Scene scene({{{10, -5, 0}, {11, 5, 3}, 12}});
  const RadioModel with = model_of({}, &scene);
  const RadioModel without = model_of({});
  EXPECT_NEAR(with.power_dbm(0, {}, 1, {20, 0, 0}), without.power_dbm(0, {}, 1, {20, 0, 0}) - 12,
              1e-9);
}

TEST(CosimRadioModel, shadowing_is_symmetric_and_has_its_deviation) {
  RadioOptions options;
  options.shadowing_db = 6;
  const RadioModel model = model_of(options);
  const RadioModel clear = model_of({});
  double sum = 0;
  double squares = 0;
  constexpr std::uint32_t kPairs = 20'000;
  for (std::uint32_t i = 0; i < kPairs; ++i) {
    const double there = model.power_dbm(i, {}, i + 1, {50, 0, 0});
    ASSERT_EQ(there, model.power_dbm(i + 1, {50, 0, 0}, i, {}));
    const double shadow = there - clear.power_dbm(i, {}, i + 1, {50, 0, 0});
    ASSERT_LE(std::abs(shadow), 18 + 1e-9);
    sum += shadow;
    squares += shadow * shadow;
  }
  EXPECT_NEAR(sum / kPairs, 0, 0.2);
  // Cut at three deviations, a normal number has 0.993 of its deviation.
  EXPECT_NEAR(std::sqrt(squares / kPairs), 6 * 0.993, 0.15);
}

TEST(CosimRadioModel, a_tenth_of_the_frames_is_lost_at_the_sensitivity) {
  for (const auto& [rate, ratio] : {std::pair(6.0, 4.0), std::pair(54.0, 21.0)}) {
    const RadioModel model = model_of({.rate_mbit = rate});
    EXPECT_NEAR(model.frame_error(ratio, 1000 - 28), 0.1, 1e-9);
    EXPECT_GT(model.frame_error(ratio - 3, 1000), 0.9);
    EXPECT_LT(model.frame_error(ratio + 5, 1000), 0.001);
    EXPECT_LT(model.frame_error(ratio, 100), model.frame_error(ratio, 1000));
  }
}

TEST(CosimRadioModel, airtimes_match_the_standard) {
  // 1,536 bytes of MAC frame: 513 symbols of 24 bits, 57 symbols of 216 bits.
  EXPECT_EQ(model_of({.rate_mbit = 6}).airtime(1472), Duration::from_us(20 + 4 * 513));
  EXPECT_EQ(model_of({.rate_mbit = 54}).airtime(1472), Duration::from_us(248));
  EXPECT_EQ(model_of({.rate_mbit = 6}).ack_airtime(), Duration::from_us(44));
  const RadioModel model = model_of({.rate_mbit = 6});
  EXPECT_EQ(model.airtime(1472 + 100),
            model.airtime(1472) + model.sifs() + model.airtime(100 - 28));
}

TEST(CosimRadioModel, wrong_options_are_named) {
  const auto wrong = [](auto change) {
    RadioOptions options;
    change(options);
    auto model = RadioModel::make(options, nullptr, 1);
    return model.ok() ? std::string() : model.error().where;
  };
  EXPECT_EQ(wrong([](RadioOptions& o) { o.rate_mbit = 7; }), "rate_mbit");
  EXPECT_EQ(wrong([](RadioOptions& o) { o.path_loss_exponent = 0; }), "path_loss_exponent");
  EXPECT_EQ(wrong([](RadioOptions& o) { o.shadowing_db = -1; }), "shadowing_db");
  EXPECT_EQ(wrong([](RadioOptions& o) { o.host_jitter = {-1}; }), "host_jitter");
  EXPECT_EQ(wrong([](RadioOptions& o) { o.queue_packets = 0; }), "queue_packets");
  EXPECT_EQ(wrong([](RadioOptions& o) { o.retry_limit = 0; }), "retry_limit");
  EXPECT_EQ(wrong([](RadioOptions& o) { o.cw_min = 2000; }), "cw_min");
}

/// A radio without an engine.
struct Air {
  Air(std::vector<Vec3> places, const RadioOptions& options = {}, const Scene* scene = nullptr)
      : radio(options, scene) {
    radio.init(static_cast<std::uint32_t>(places.size()), 3).or_throw();
    std::vector<Pose> poses;
    for (const Vec3& place : places) poses.push_back({place, {}});
    radio.set_poses(poses).or_throw();
  }
  void send(NodeId from, NodeId to, Time at, std::size_t size) {
    radio.inject({++sent, from, to, at, Buffer::adopt(std::vector<std::byte>(size))}).or_throw();
  }
  void run(Time end) {
    radio.advance(end).or_throw();
    radio.poll(outcomes).or_throw();
  }
  [[nodiscard]] std::uint64_t count(DropReason reason) const {
    std::uint64_t copies = 0;
    for (const Outcome& outcome : outcomes) copies += outcome.reason == reason ? outcome.copies : 0;
    return copies;
  }

  AnalyticRadio radio;
  PacketId sent = 0;
  std::vector<Outcome> outcomes;
};

constexpr Time kLong{100'000'000'000};

TEST(CosimRadio, a_lone_frame_takes_difs_airtime_and_propagation) {
  Air air({{0, 0, 0}, {30, 0, 0}}, {.host_jitter = {0}});
  air.send(0, 1, {1'000}, 100);
  air.run(kLong);
  ASSERT_EQ(air.outcomes.size(), 1U);
  const RadioModel model = model_of({});
  EXPECT_EQ(air.outcomes[0].time, Time{1'000} + model.difs() + model.airtime(100) + Duration{100});
}

TEST(CosimRadio, a_saturated_sender_has_the_throughput_of_its_mean_backoff) {
  Air air({{0, 0, 0}, {10, 0, 0}}, {.queue_packets = 20'000});
  constexpr int kPackets = 10'000;
  for (int i = 0; i < kPackets; ++i) air.send(0, 1, {}, 1000);
  air.run(kLong);
  EXPECT_EQ(air.count(DropReason::none), kPackets);
  const RadioModel model = model_of({});
  const double each =
      static_cast<double>(
          (model.difs() + model.airtime(1000) + model.sifs() + model.ack_airtime()).ns) +
      7.5 * static_cast<double>(model.slot().ns);
  EXPECT_NEAR(static_cast<double>(air.outcomes.back().time.ns) / kPackets, each, each * 0.002);
}

TEST(CosimRadio, stations_share_the_channel_evenly) {
  // The corners of a tetrahedron: all distances are equal, so no frame survives a collision by its
  // power.
  Air air({{10, 10, 10}, {10, -10, -10}, {-10, 10, -10}, {-10, -10, 10}},
          {.queue_packets = 20'000});
  for (int i = 0; i < 5'000; ++i) {
    for (NodeId node = 0; node < 4; ++node) air.send(node, (node + 1) % 4, {}, 500);
  }
  air.run({3'000'000'000});
  std::array<double, 4> delivered{};
  for (const Outcome& outcome : air.outcomes) {
    if (outcome.fate == Fate::delivered) delivered[outcome.to] += 1;
  }
  const double mean = (delivered[0] + delivered[1] + delivered[2] + delivered[3]) / 4;
  EXPECT_GT(mean, 500);
  for (const double share : delivered) EXPECT_NEAR(share, mean, mean * 0.1);
}

TEST(CosimRadio, hidden_senders_collide_and_visible_ones_hardly_do) {
  const auto lost = [](double apart) {
    Air air({{0, 0, 0}, {apart, 0, 0}, {apart / 2, 0, 0}});
    for (std::int64_t i = 0; i < 500; ++i) {
      // The second frame begins while the first is on the air, unless its sender detects the first.
      air.send(0, kEveryone, {i * 6'000'000}, 1000);
      air.send(1, kEveryone, {i * 6'000'000 + 300'000}, 1000);
    }
    air.run(kLong);
    return air.count(DropReason::collision);
  };
  EXPECT_GT(lost(250), 900U) << "125 m to the receiver, 250 m between the senders";
  EXPECT_LT(lost(50), 10U);
}

TEST(CosimRadio, a_sender_does_not_receive_while_it_sends) {
  Air air({{0, 0, 0}, {10, 0, 0}}, {.host_jitter = {0}});
  air.send(0, kEveryone, {}, 1000);  // both wait DIFS from the same instant
  air.send(1, kEveryone, {}, 1000);
  air.run(kLong);
  EXPECT_EQ(air.count(DropReason::collision), 2U);
}

TEST(CosimRadio, robots_that_send_in_the_same_instant_seldom_collide) {
  Air air({{0, 0, 0}, {10, 0, 0}, {0, 10, 0}, {10, 10, 0}});
  for (std::int64_t i = 0; i < 500; ++i) {
    for (NodeId node = 0; node < 3; ++node) air.send(node, kEveryone, {i * 10'000'000}, 100);
  }
  air.run(kLong);
  EXPECT_EQ(air.outcomes.size(), 4500U);
  // The first has the channel. The other two sometimes draw the same of 16 slots.
  EXPECT_GT(air.count(DropReason::collision), 0U);
  EXPECT_LT(air.count(DropReason::collision), 450U);
}

TEST(CosimRadio, packets_of_one_host_keep_their_order) {
  Air air({{0, 0, 0}, {10, 0, 0}});
  for (std::int64_t i = 0; i < 50; ++i) air.send(0, 1, {i * 1'000}, 10);
  air.run(kLong);
  ASSERT_EQ(air.outcomes.size(), 50U);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(air.outcomes[i].id, i + 1);
}

TEST(CosimRadio, a_distant_or_hidden_receiver_is_out_of_range) {
  Air far({{0, 0, 0}, {500, 0, 0}});
  far.send(0, 1, {}, 100);
  far.send(0, kEveryone, {}, 100);
  far.run(kLong);
  EXPECT_EQ(far.count(DropReason::out_of_range), 2U);
  const Scene hill({{{40, -50, 0}, {60, 50, 20}, 60}});
  Air behind({{0, 0, 1}, {100, 0, 1}}, {}, &hill);
  behind.send(0, 1, {}, 100);
  behind.run(kLong);
  EXPECT_EQ(behind.count(DropReason::out_of_range), 1U);
}

TEST(CosimRadio, a_weak_frame_is_repeated_and_then_given_up) {
  // Noise above the signal: frames are detected but never received.
  Air air({{0, 0, 0}, {100, 0, 0}}, {.noise_dbm = -80, .retry_limit = 7});
  air.send(0, 1, {}, 1000);
  air.send(0, kEveryone, {}, 1000);
  air.run(kLong);
  EXPECT_EQ(air.count(DropReason::retry_limit), 1U);
  EXPECT_EQ(air.count(DropReason::channel_error), 1U);
  EXPECT_GE(air.outcomes.front().time, Time{} + model_of({}).airtime(1000) * 7);
}

TEST(CosimRadio, a_full_queue_drops_with_its_reason) {
  Air air({{0, 0, 0}, {10, 0, 0}, {20, 0, 0}}, {.queue_packets = 10});
  for (int i = 0; i < 30; ++i) air.send(0, kEveryone, {}, 1000);
  air.run(kLong);
  EXPECT_EQ(air.count(DropReason::queue_full), 40U);
  EXPECT_EQ(air.count(DropReason::none), 20U);
}

TEST(CosimRadio, the_receivers_do_not_depend_on_squares) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> place(-800, 800);
  std::vector<Vec3> places;
  for (int i = 0; i < 200; ++i) places.push_back({place(random), place(random), 0});
  Air air(places);
  air.send(17, kEveryone, {}, 10);
  air.run(kLong);
  const RadioModel model = model_of({});
  std::uint64_t near = 0;
  for (NodeId node = 0; node < 200; ++node) {
    near += node != 17 && length(places[node] - places[17]) <= model.range_m() ? 1 : 0;
  }
  EXPECT_GT(near, 0U);
  EXPECT_EQ(199 - air.count(DropReason::out_of_range), near);
}

// --- Bounds of position and power, compared with measured errors ---------------------------------

/// Records the positions that the radio used, and from when on.
class Believing final : public Network {
 public:
  explicit Believing(Network& inner) : inner_(inner) {}
  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override {
    return inner_.init(nodes, seed);
  }
  Result<void> set_poses(std::span<const Pose> poses) override {
    believed_.push_back({at_, {poses.begin(), poses.end()}});
    return inner_.set_poses(poses);
  }
  Result<void> inject(const Packet& packet) override {
    entered[packet.id] = packet.stamp;
    return inner_.inject(packet);
  }
  Result<void> advance(Time end) override {
    at_ = end;
    return inner_.advance(end);
  }
  Time next_event_time() const override { return inner_.next_event_time(); }
  Result<void> poll(std::vector<Outcome>& outcomes) override { return inner_.poll(outcomes); }

  [[nodiscard]] const std::vector<Pose>& at(Time time) const {
    auto last = believed_.end();
    for (--last; last != believed_.begin() && last->first > time; --last) {
    }
    return last->second;
  }
  std::map<PacketId, Time> entered;

 private:
  Network& inner_;
  Time at_;
  std::vector<std::pair<Time, std::vector<Pose>>> believed_;
};

std::vector<Path> random_paths(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> place(0, 100);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Path> paths;
  for (int i = 0; i < 8; ++i) {
    if (i % 3 == 0) {
      paths.push_back(Circle{{place(random), place(random), 10},
                             5 + 20 * unit(random),
                             unit(random) - 0.5,
                             6 * unit(random)});
    } else {
      Waypoints way{{}, 1 + 14 * unit(random), true};
      for (int k = 0; k < 5; ++k) way.points.push_back({place(random), place(random), 1});
      paths.push_back(std::move(way));
    }
  }
  return paths;
}

struct Measured {
  double position_m = 0;
  double power_db = 0;
  int packets = 0;
};

Measured measure(Trial trial, std::uint64_t seed, const Scene& scene, Report& report) {
  trial.paths = random_paths(seed);
  trial.seed = seed;
  trial.scene = &scene;
  trial.end = Duration::from_ms(2000);
  AnalyticRadio radio({}, &scene);
  Believing network(radio);
  Periodic programs({.nodes = 8, .rate_hz = 30, .bytes = 50, .everyone = true, .seed = seed});
  const RadioModel model = model_of({}, &scene, seed);
  Measured worst;
  const Ran ran = run(trial, network, programs, [&](const Outcome& outcome, const Packet& sent) {
    if (outcome.sampled == kNever || outcome.to == kEveryone) return;
    // The instant of the sample if the packet had not been delayed.
    const Time then = outcome.sampled - (network.entered[outcome.id] - sent.stamp);
    const Pose from = pose_at(trial.paths[sent.from], then);
    const Pose to = pose_at(trial.paths[outcome.to], then);
    const double power = model.power_dbm(sent.from, from.position, outcome.to, to.position);
    const auto& believed = network.at(outcome.sampled);
    worst.power_db = std::max(worst.power_db, std::abs(power - outcome.power_dbm));
    worst.position_m =
        std::max({worst.position_m, length(believed[sent.from].position - from.position),
                  length(believed[outcome.to].position - to.position)});
    ++worst.packets;
  });
  EXPECT_TRUE(ran.result.ok()) << ran.result.error().to_string();
  report = ran.report;
  return worst;
}

TEST(CosimBounds, no_packet_on_random_paths_breaks_the_reported_bounds) {
  const Scene scene({{{30, 30, 0}, {40, 60, 6}, 15}, {{60, 10, 0}, {90, 14, 12}, 8}});
  int packets = 0;
  for (const char* method : {"lockstep", "sliding_window", "time_stepped", "time_stepped_scheduler",
                             "variable_stepped", "adaptive"}) {
    for (const std::int64_t ms : {1, 5, 20, 50}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Trial trial;
        trial.method = method;
        trial.window = Duration::from_ms(ms);
        trial.latency_budget = Duration::from_ms(ms - 1);
        Report report;
        const Measured worst = measure(trial, seed, scene, report);
        EXPECT_LE(worst.position_m, report.bounds.position_m + 1e-9) << method << " " << ms;
        EXPECT_LE(worst.power_db, report.bounds.power_db + 1e-9) << method << " " << ms;
        packets += worst.packets;
      }
    }
  }
  EXPECT_GT(packets, 100'000);
}

TEST(CosimBounds, adaptive_windows_keep_the_power_error_if_a_step_allows) {
  const Scene open;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Trial trial;
    trial.method = "adaptive";
    trial.window = Duration::from_ms(50);
    trial.latency_budget = Duration::from_ms(49);
    trial.power_error_db = 0.2;
    Report report;
    const Measured adaptive = measure(trial, seed, open, report);
    trial.window = Duration::from_ms(1);
    trial.latency_budget = {0};
    Report one_step;
    (void)measure(trial, seed, open, one_step);
    // Robots that meet within a step have a larger error, even with windows of one step.
    EXPECT_LE(adaptive.power_db, std::max(0.2, one_step.bounds.power_db)) << seed;
    EXPECT_LE(report.bounds.power_db, std::max(0.2, one_step.bounds.power_db) + 1e-9) << seed;
    trial.method = "lockstep";
    trial.window = Duration::from_ms(50);
    Report fixed;
    const Measured worse = measure(trial, seed, open, fixed);
    EXPECT_GT(worse.power_db, adaptive.power_db) << seed;
  }
}

}  // namespace
}  // namespace hyphos::cosim
