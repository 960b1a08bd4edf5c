#include "cosim/core/engine.hpp"

#include <random>

#include "rig.hpp"

namespace hyphos::cosim {
namespace {

std::vector<Duration> round_trips(const Trial& trial, Duration delay) {
  ConstantDelay network(delay);
  PingPong programs({});
  const Ran ran = run(trial, network, programs);
  EXPECT_TRUE(ran.result.ok()) << ran.result.error().to_string();
  EXPECT_TRUE(ran.report.packets.balanced());
  return programs.round_trips();
}

TEST(CosimEngine, a_packet_is_read_at_the_first_instant_after_its_delivery) {
  const auto trips = round_trips({}, Duration::from_us(900));
  ASSERT_GT(trips.size(), 100U);
  for (const Duration trip : trips) EXPECT_EQ(trip.ns, 2'000'000);
}

TEST(CosimEngine, a_delivery_on_a_boundary_belongs_to_the_later_window) {
  // Delivered 1 ms after the send, exactly at the next instant, where physics comes first.
  for (const Duration trip : round_trips({}, Duration::from_ms(1))) EXPECT_EQ(trip.ns, 4'000'000);
  for (const Duration trip : round_trips({}, {999'999})) EXPECT_EQ(trip.ns, 2'000'000);
}

TEST(CosimEngine, capture_for_the_next_window_doubles_the_round_trip) {
  Trial trial;
  trial.method = "sliding_window";
  for (const Duration trip : round_trips(trial, Duration::from_us(900))) {
    EXPECT_EQ(trip.ns, 4'000'000);
  }
}

TEST(CosimEngine, fractional_steps_are_exact_to_the_nanosecond) {
  Trial trial;
  trial.step = Step::from_rate(600).value();
  trial.window = Duration{1'666'666};
  ConstantDelay network(Duration::from_us(10));
  Periodic programs({.nodes = 2, .rate_hz = 600, .bytes = 8});
  const Ran ran = run(trial, network, programs, [&](const Outcome&, const Packet& sent) {
    const auto k = trial.step.index_at_or_after(sent.stamp);
    EXPECT_EQ(trial.step.at(k).value(), sent.stamp) << "off the grid";
  });
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(ran.report.end.ns, 1'000'000'000);
  EXPECT_GT(ran.report.packets.delivered, 1000U);
}

TEST(CosimEngine, a_packet_that_outlives_the_run_is_in_flight) {
  ConstantDelay network(Duration::from_ms(5000));
  Periodic programs({.nodes = 2, .rate_hz = 10});
  const Ran ran = run({}, network, programs);
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(ran.report.packets.in_flight, 20U);
  EXPECT_TRUE(ran.report.packets.balanced());
}

TEST(CosimEngine, a_run_that_would_overflow_time_is_refused) {
  Trial trial;
  trial.end = {kNever.ns - 1};
  ConstantDelay network({});
  PingPong programs({});
  const Ran ran = run(trial, network, programs);
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().code, Code::out_of_range);
  EXPECT_NE(ran.result.error().message.find("time overflow"), std::string::npos);
}

TEST(CosimEngine, the_profile_adds_up) {
  ConstantDelay network(Duration::from_us(900));
  PingPong programs({});
  const Ran ran = run({}, network, programs);
  const Profile& profile = ran.report.profile;
  EXPECT_GT(profile.physics_ns, 0);
  EXPECT_GT(profile.network_ns, 0);
  EXPECT_GT(profile.programs_ns, 0);
  EXPECT_EQ(profile.wait_ns, 0);
  EXPECT_GE(profile.engine_ns(), 0);
}

/// A network whose process needs time to start.
class SlowToStart final : public Network {
 public:
  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override {
    cost_.wait_ns += Duration::from_ms(100'000).ns;
    return within_.init(nodes, seed);
  }
  Result<void> set_poses(std::span<const Pose> poses) override { return within_.set_poses(poses); }
  Result<void> inject(const Packet& packet) override { return within_.inject(packet); }
  Result<void> advance(Time end) override {
    ++cost_.wait_ns;
    return within_.advance(end);
  }
  Time next_event_time() const override { return within_.next_event_time(); }
  Result<void> poll(std::vector<Outcome>& outcomes) override { return within_.poll(outcomes); }
  RemoteCost cost() const override { return cost_; }

 private:
  ConstantDelay within_{Duration::from_us(900)};
  RemoteCost cost_;
};

TEST(CosimEngine, the_profile_excludes_the_time_before_the_run) {
  SlowToStart network;
  PingPong programs({});
  const Ran ran = run({}, network, programs);
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(ran.report.profile.wait_ns, static_cast<std::int64_t>(ran.report.network_syncs));
  EXPECT_GT(ran.report.profile.network_ns, 0);
}

/// A network that violates its contract in one way.
class Liar final : public Network {
 public:
  enum class Lie { unknown, twice, early, late, other_bytes, past_event, other_node };
  explicit Liar(Lie lie) : lie_(lie), honest_(Duration::from_us(500)) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override {
    return honest_.init(nodes, seed);
  }
  Result<void> set_poses(std::span<const Pose> poses) override { return honest_.set_poses(poses); }
  Result<void> inject(const Packet& packet) override { return honest_.inject(packet); }
  Result<void> advance(Time end) override {
    end_ = end;
    return honest_.advance(end);
  }
  Time next_event_time() const override {
    return lie_ == Lie::past_event && end_.ns > 0 ? Time{end_.ns - 1} : honest_.next_event_time();
  }
  Result<void> poll(std::vector<Outcome>& outcomes) override {
    auto told = honest_.poll(outcomes);
    if (outcomes.empty()) return told;
    Outcome& first = outcomes.front();
    if (lie_ == Lie::unknown) first.id += 1000;
    if (lie_ == Lie::twice) outcomes.push_back(first);
    if (lie_ == Lie::early) first.time = {first.time.ns - 500'001};
    if (lie_ == Lie::late) first.time = end_;
    if (lie_ == Lie::other_bytes) first.bytes = Buffer::copy_of("something else");
    if (lie_ == Lie::other_node) first.to = 7;
    return told;
  }

 private:
  Lie lie_;
  ConstantDelay honest_;
  Time end_;
};

TEST(CosimEngine, a_violation_of_the_contract_is_detected) {
  using Lie = Liar::Lie;
  for (const Lie lie : {Lie::unknown, Lie::twice, Lie::early, Lie::late, Lie::other_bytes,
                        Lie::past_event, Lie::other_node}) {
    Liar network(lie);
    PingPong programs({.first = {1'000'000}});
    const Ran ran = run({}, network, programs);
    ASSERT_FALSE(ran.result.ok()) << static_cast<int>(lie);
    EXPECT_EQ(ran.result.error().code, Code::corrupt) << ran.result.error().to_string();
    EXPECT_TRUE(ran.report.packets.balanced());
  }
}

TEST(CosimEngine, a_packet_to_an_unknown_node_ends_the_run) {
  class Lost final : public Programs {
    void step(Time, std::span<const Delivery>, std::span<const Pose>, Outbox& outbox) override {
      outbox.send(0, 9, Buffer::copy_of("?"));
    }
    Time next_event_time() const override { return {}; }
  };
  ConstantDelay network({});
  Lost programs;
  const Ran ran = run({}, network, programs);
  ASSERT_FALSE(ran.result.ok());
  EXPECT_EQ(ran.result.error().code, Code::not_found);
}

/// Random delays. Half of the deliveries fall on an instant of the grid.
class RandomDelay final : public Network {
 public:
  RandomDelay(std::uint64_t seed, const Step& step) : random_(seed), step_(step) {}

  Result<void> init(std::uint32_t, std::uint64_t) override { return success(); }
  Result<void> set_poses(std::span<const Pose>) override { return success(); }
  Result<void> inject(const Packet& packet) override {
    past_ += packet.stamp < now_ ? 1 : 0;
    const auto delay =
        static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(5 * step_.longest().ns));
    Time arrival = packet.stamp + Duration{delay};
    if (random_() % 2 == 0) arrival = step_.at(step_.index_at_or_after(arrival)).value();
    Outcome outcome;
    outcome.id = packet.id;
    outcome.to = packet.to;
    outcome.time = arrival;
    outcome.bytes = packet.bytes;
    due_.push_back(outcome);
    return success();
  }
  Result<void> advance(Time end) override {
    past_ += end < now_ ? 1 : 0;
    now_ = end;
    return success();
  }
  Time next_event_time() const override {
    Time next = kNever;
    for (const Outcome& outcome : due_) {
      if (outcome.time >= now_) next = std::min(next, outcome.time);
    }
    return next;
  }
  Result<void> poll(std::vector<Outcome>& outcomes) override {
    std::erase_if(due_, [&](const Outcome& outcome) {
      if (outcome.time >= now_) return false;
      outcomes.push_back(outcome);
      return true;
    });
    return success();
  }
  [[nodiscard]] int past() const { return past_; }

 private:
  std::mt19937_64 random_;
  Step step_;
  Time now_;
  int past_ = 0;
  std::vector<Outcome> due_;
};

/// Sends at random and checks the order of its deliveries.
class Watching final : public Programs {
 public:
  Watching(std::uint64_t seed, Step step, bool one_step)
      : random_(seed), step_(step), one_step_(one_step) {}

  void step(Time now, std::span<const Delivery> inbox, std::span<const Pose>,
            Outbox& outbox) override {
    wrong_ += now < last_ ? 1 : 0;
    last_ = now;
    Time before;
    for (const Delivery& delivery : inbox) {
      wrong_ += delivery.delivered < delivery.sent ? 1 : 0;  // read before its send
      wrong_ += delivery.delivered >= now ? 1 : 0;           // not from the future
      wrong_ += delivery.delivered < before ? 1 : 0;         // in the order of keys
      before = delivery.delivered;
      // With windows of one step, every packet is read at the first instant after its delivery.
      const std::int64_t first = step_.index_at_or_before(delivery.delivered) + 1;
      wrong_ += one_step_ && step_.at(first).value() != now ? 1 : 0;
      ++read_;
    }
    if (now < next_) return;
    outbox.send(static_cast<NodeId>(random_() % 2), 2, Buffer::copy_of("x"));
    const auto pause = static_cast<std::int64_t>(random_() % 6);
    next_ = step_.at(step_.index_at_or_after(now) + pause + 1).value();
  }
  Time next_event_time() const override { return next_; }
  [[nodiscard]] int wrong() const { return wrong_; }
  [[nodiscard]] std::uint64_t read() const { return read_; }

 private:
  std::mt19937_64 random_;
  Step step_;
  bool one_step_;
  Time last_;
  Time next_;
  int wrong_ = 0;
  std::uint64_t read_ = 0;
};

TEST(CosimEngine, causes_precede_effects_in_a_hundred_thousand_random_runs) {
  std::mt19937_64 random(20261122);
  const std::vector<std::string> methods{
      "lockstep",         "time_stepped", "global_event",          "sliding_window",
      "variable_stepped", "adaptive",     "time_stepped_scheduler"};
  std::uint64_t read = 0;
  for (int i = 0; i < 100'000; ++i) {
    Trial trial;
    trial.paths.resize(3, ConstantVelocity{});
    const auto denominator = static_cast<std::int64_t>(1 + random() % 7);
    trial.step =
        Step::make(static_cast<std::int64_t>(10 + random() % 1000) * denominator + 1, denominator)
            .value();
    const auto steps = static_cast<std::int64_t>(1 + random() % 5);
    trial.window = {trial.step.at(steps).value().ns};
    trial.method = methods[random() % methods.size()];
    trial.skip = random() % 2 == 0;
    trial.end = {trial.step.at(15).value().ns};
    RandomDelay network(random(), trial.step);
    const bool exact = trial.method == "global_event" || trial.method == "adaptive" ||
                       trial.method == "variable_stepped";
    const bool one_step =
        exact ||
        (steps == 1 && (trial.method == "lockstep" || trial.method.ends_with("scheduler")));
    Watching programs(random(), trial.step, one_step);
    const Ran ran = run(trial, network, programs);
    ASSERT_TRUE(ran.result.ok()) << trial.method << ": " << ran.result.error().to_string();
    ASSERT_EQ(programs.wrong(), 0) << "case " << i << " with " << trial.method;
    ASSERT_EQ(network.past(), 0) << "case " << i << " with " << trial.method;
    ASSERT_TRUE(ran.report.packets.balanced());
    read += programs.read();
  }
  EXPECT_GT(read, 100'000U);
}

}  // namespace
}  // namespace hyphos::cosim
