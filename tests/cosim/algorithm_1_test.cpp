#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "rig.hpp"

namespace hyphos::cosim {
namespace {

constexpr Duration kDelay = Duration::from_us(900);

/// Delivers or drops each copy by a rule, 0.9 ms after its entry. Copies to everyone that are
/// dropped are reported without names, if `unnamed`.
class RuledNetwork final : public Network {
 public:
  using Rule = std::function<bool(const Packet&, NodeId to)>;
  explicit RuledNetwork(Rule delivers, bool unnamed = false)
      : delivers_(std::move(delivers)), unnamed_(unnamed) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t) override {
    nodes_ = nodes;
    return success();
  }
  Result<void> set_poses(std::span<const Pose>) override { return success(); }
  Result<void> inject(const Packet& packet) override {
    waiting_.emplace(packet.stamp + kDelay, packet);
    entries.push_back(packet.stamp);
    return success();
  }
  Result<void> advance(Time end) override {
    while (!waiting_.empty() && waiting_.begin()->first < end) {
      settle(waiting_.begin()->first, waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
    return success();
  }
  Time next_event_time() const override {
    return waiting_.empty() ? kNever : waiting_.begin()->first;
  }
  Result<void> poll(std::vector<Outcome>& outcomes) override {
    for (Outcome& outcome : outcomes_) outcomes.push_back(std::move(outcome));
    outcomes_.clear();
    return success();
  }
  std::vector<Time> entries;

 private:
  void settle(Time at, const Packet& packet) {
    std::uint32_t dropped = 0;
    for (NodeId to = 0; to < nodes_; ++to) {
      if (to == packet.from || (packet.to != kEveryone && packet.to != to)) continue;
      if (delivers_(packet, to)) {
        outcomes_.push_back(
            {packet.id, to, at, Fate::delivered, DropReason::none, 1, packet.bytes});
      } else if (unnamed_ && packet.to == kEveryone) {
        ++dropped;
      } else {
        outcomes_.push_back({packet.id, to, at, Fate::dropped, DropReason::channel_error});
      }
    }
    if (dropped > 0) {
      outcomes_.push_back(
          {packet.id, kEveryone, at, Fate::dropped, DropReason::out_of_range, dropped});
    }
  }

  Rule delivers_;
  bool unnamed_;
  std::uint32_t nodes_ = 0;
  std::multimap<Time, Packet> waiting_;
  std::vector<Outcome> outcomes_;
};

Trial team_of(std::initializer_list<double> speeds, const char* method) {
  Trial trial;
  trial.method = method;
  trial.window = Duration::from_ms(5);
  trial.paths.clear();
  double x = 0;
  for (const double speed : speeds) {
    trial.paths.emplace_back(ConstantVelocity{{x, 0, 1}, {speed, 0, 0}});
    x += 50;
  }
  return trial;
}

/// The numbers in front of words of a remark, by word.
std::map<std::string, std::uint64_t> counts_of(const std::vector<std::string>& remarks) {
  std::map<std::string, std::uint64_t> found;
  for (const std::string& remark : remarks) {
    for (std::size_t at = 0; at < remark.size();) {
      const std::size_t digit = remark.find_first_of("0123456789", at);
      if (digit == std::string::npos) break;
      const std::size_t space = remark.find(' ', digit);
      const std::size_t end = std::min(remark.find_first_of(" ,:", space + 1), remark.size());
      found.insert_or_assign(remark.substr(space + 1, end - space - 1),
                             std::stoull(remark.substr(digit, space - digit)));
      at = end;
    }
  }
  return found;
}

TEST(CosimAlgorithm1, a_satisfactory_loss_ends_a_round_at_once) {
  const Trial trial = team_of({2, 0}, "algorithm_1_s");
  RuledNetwork network([](const Packet&, NodeId) { return true; });
  PingPong programs({});
  const Ran ran = run(trial, network, programs);
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().to_string();
  const auto counts = counts_of(ran.report.remarks);
  EXPECT_GT(counts.at("rounds"), 10U);
  EXPECT_GE(counts.at("satisfied") + 1, counts.at("rounds"));
  EXPECT_EQ(counts.at("changes"), 0U);
  // Two metres per second add 2 ms to a window of 5 ms for a ping, and subtract 2 ms for its reply.
  EXPECT_EQ(ran.report.longest_window, Duration::from_ms(7));
  EXPECT_EQ(ran.report.shortest_window, Duration::from_ms(3));
}

TEST(CosimAlgorithm1, the_window_changes_until_the_loss_satisfies) {
  Trial trial = team_of({3, 0}, "algorithm_1_s");
  // Robot 1 receives nothing in the first 200 ms.
  RuledNetwork network(
      [](const Packet& packet, NodeId) { return packet.stamp > Time{Duration::from_ms(200).ns}; });
  Periodic programs({.nodes = 2, .rate_hz = 200, .bytes = 8});
  trial.publisher = 0;
  trial.subscriber = 1;
  const Ran ran = run(trial, network, programs);
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().to_string();
  const auto counts = counts_of(ran.report.remarks);
  EXPECT_GE(counts.at("changes"), 3U);
  EXPECT_GE(counts.at("after"), 0U);
  // Windows of 8, 11, 14 ms and so on.
  EXPECT_GE(ran.report.longest_window, Duration::from_ms(17));
}

TEST(CosimAlgorithm1, a_round_without_a_satisfactory_loss_ends_and_is_counted) {
  Trial trial = team_of({3, 0}, "algorithm_1_s");
  trial.most_changes = 4;
  RuledNetwork network([](const Packet&, NodeId) { return false; });
  Periodic programs({.nodes = 2, .rate_hz = 200, .bytes = 8});
  trial.publisher = 0;
  const Ran ran = run(trial, network, programs);
  ASSERT_TRUE(ran.result.ok()) << ran.result.error().to_string();
  ASSERT_EQ(ran.report.remarks.size(), 2U);
  EXPECT_NE(ran.report.remarks[0].find("0 satisfied at once, 0 after a change"), std::string::npos)
      << ran.report.remarks[0];
  EXPECT_NE(ran.report.remarks[0].find("unsatisfied after 4 changes"), std::string::npos);
  // w = 5 ms and four changes of 3 ms, then w_a = w + 3 ms.
  EXPECT_EQ(ran.report.longest_window, Duration::from_ms(5 + 4 * 3 + 3));
}

TEST(CosimAlgorithm1, a_threshold_of_everything_is_always_satisfied) {
  Trial trial = team_of({3, 0}, "algorithm_1_s");
  trial.loss_threshold = 1;
  RuledNetwork network([](const Packet&, NodeId) { return false; });
  Periodic programs({.nodes = 2, .rate_hz = 200, .bytes = 8});
  const Ran ran = run(trial, network, programs);
  ASSERT_TRUE(ran.result.ok());
  EXPECT_EQ(counts_of(ran.report.remarks).at("changes"), 0U);
}

/// Records the pair of each window by the length of the window: robot n has the speed n m/s.
TEST(CosimAlgorithm1, all_pairs_of_the_team_get_rounds_in_turn) {
  class Everyone final : public Programs {
    void step(Time, std::span<const Delivery>, std::span<const Pose>, Outbox& outbox) override {
      for (NodeId from = 0; from < 3; ++from) outbox.send(from, kEveryone, Buffer::copy_of("x"));
    }
    Time next_event_time() const override { return {}; }
  };
  Trial trial = team_of({0, 1, 3}, "algorithm_1_s");
  trial.window = Duration::from_ms(10);
  trial.end = Duration::from_ms(2000);
  RuledNetwork network([](const Packet&, NodeId) { return true; });
  Everyone programs;
  std::set<std::int64_t> lengths;
  const auto method = method_of(trial);
  // The six pairs have different speed differences: -1, -3, 1, -2, 3 and 2 m/s.
  Kinematic physics(trial.paths);
  Trace trace;
  EngineOptions options{trial.step, {trial.end.ns}};
  options.nodes = 3;
  Engine engine({physics, network, programs, *method, trace}, options);
  Time last{};
  engine.run_while([&](Time reached) {
    lengths.insert((reached - last).ns / 1'000'000);
    last = reached;
    return true;
  });
  ASSERT_TRUE(engine.run().ok());
  for (const std::int64_t expected : {7, 8, 9, 11, 12, 13}) {
    EXPECT_TRUE(lengths.contains(expected)) << expected;
  }
}

TEST(CosimAlgorithm1, unnamed_drops_count_for_the_subscriber_of_the_round) {
  for (const bool unnamed : {false, true}) {
    Trial trial = team_of({0, 0, 0}, "algorithm_1_ms");
    trial.publisher = 0;
    trial.subscriber = 2;
    // Robot 1 always receives, robot 2 never.
    RuledNetwork network([](const Packet&, NodeId to) { return to == 1; }, unnamed);
    Periodic programs({.nodes = 3, .rate_hz = 100, .bytes = 8});
    const Ran ran = run(trial, network, programs);
    ASSERT_TRUE(ran.result.ok());
    EXPECT_NE(ran.report.remarks[0].find("0 satisfied at once, 0 after"), std::string::npos)
        << ran.report.remarks[0];
    EXPECT_GT(counts_of(ran.report.remarks).at("changes"), 5U);
  }
}

TEST(CosimAlgorithm1, lenient_readings_run_where_the_literal_ones_end) {
  for (const char* method : {"velocity_aware_lenient_s", "velocity_aware_lenient_ms",
                             "algorithm_1_s", "algorithm_1_ms"}) {
    Trial trial = team_of({0, 20}, method);  // 20 ms less than w = 5 ms
    ConstantDelay network(kDelay);
    PingPong programs({.pause = Duration::from_ms(100)});
    const Ran ran = run(trial, network, programs);
    ASSERT_TRUE(ran.result.ok()) << method << ran.result.error().to_string();
    EXPECT_EQ(ran.report.end, Time{trial.end.ns}) << method;
    EXPECT_GE(ran.report.shortest_window, Duration::from_ms(1)) << method;
    EXPECT_GT(ran.report.packets.delivered, 2U) << method;
    EXPECT_TRUE(ran.report.packets.balanced());
  }
}

TEST(CosimAlgorithm1, a_lenient_reading_equals_the_literal_one_where_that_runs) {
  Trial trial = team_of({2, 0}, "velocity_aware_s");
  ConstantDelay network(kDelay);
  PingPong programs({});
  const Ran literal = run(trial, network, programs);
  ASSERT_TRUE(literal.result.ok());
  trial.method = "velocity_aware_lenient_s";
  ConstantDelay again(kDelay);
  PingPong same({});
  const Ran lenient = run(trial, again, same);
  ASSERT_TRUE(lenient.result.ok());
  EXPECT_EQ(literal.trace, lenient.trace);
  EXPECT_EQ(literal.report.windows, lenient.report.windows);
}

TEST(CosimAlgorithm1, skipping_windows_changes_nothing) {
  Trial trial = team_of({3, 1, 0}, "algorithm_1_s");
  const auto once = [&](bool skip) {
    trial.skip = skip;
    RuledNetwork network([](const Packet& packet, NodeId to) { return (packet.id + to) % 3 != 0; });
    Periodic programs({.nodes = 3, .rate_hz = 40, .bytes = 8});
    return run(trial, network, programs).trace;
  };
  EXPECT_EQ(once(true), once(false));
}

// --- requested bounds ---------------------------------------------------------------------------

TEST(CosimRequested, the_packet_that_exceeds_a_latency_is_reported) {
  Trial trial;
  trial.method = "sliding_window";
  trial.window = Duration::from_ms(50);
  trial.requested.latency = Duration::from_ms(4);
  ConstantDelay network(kDelay);
  PingPong programs({});
  const Ran ran = run(trial, network, programs);
  ASSERT_TRUE(ran.report.latency_exceeded.has_value());
  const Exceeded& exceeded = *ran.report.latency_exceeded;
  EXPECT_EQ(exceeded.first.packet, 1U);
  EXPECT_EQ(exceeded.first.from, 0U);
  EXPECT_EQ(exceeded.first.to, 1U);
  // Sent at 0, replayed from 50 ms, read at 100 ms. In an ideal run it is read at 1 ms.
  EXPECT_EQ(exceeded.first.at, Time{Duration::from_ms(100).ns});
  EXPECT_EQ(exceeded.worst.value, 99e6);
  EXPECT_EQ(exceeded.count, ran.report.packets.delivered);
  EXPECT_LE(exceeded.worst.value, static_cast<double>(ran.report.bounds.latency.ns));
}

TEST(CosimRequested, a_kept_bound_is_not_reported) {
  Trial trial;
  trial.method = "adaptive";
  trial.window = Duration::from_ms(50);
  trial.latency_budget = Duration::from_ms(4);
  trial.requested = {Duration::from_ms(4), 0.5};
  trial.paths = {ConstantVelocity{{0, 0, 1}, {5, 0, 0}}, ConstantVelocity{{40, 0, 1}, {}}};
  ConstantDelay network(kDelay);
  PingPong programs({});
  const Ran ran = run(trial, network, programs);
  EXPECT_FALSE(ran.report.latency_exceeded.has_value());
  EXPECT_FALSE(ran.report.power_exceeded.has_value());
  EXPECT_GT(ran.report.bounds.power_db, 0);
}

TEST(CosimRequested, the_packet_that_exceeds_a_power_error_is_reported) {
  Trial trial;
  trial.method = "lockstep";
  trial.window = Duration::from_ms(100);
  trial.requested.power_db = 0.5;
  trial.paths = {ConstantVelocity{{0, 0, 1}, {}}, ConstantVelocity{{60, 0, 1}, {-50, 0, 0}}};
  ConstantDelay network(kDelay);
  PingPong programs({});
  const Ran ran = run(trial, network, programs);
  ASSERT_TRUE(ran.report.power_exceeded.has_value());
  const Exceeded& exceeded = *ran.report.power_exceeded;
  EXPECT_GT(exceeded.first.packet, 0U);
  EXPECT_EQ(exceeded.first.from + exceeded.first.to, 1U);
  EXPECT_GT(exceeded.first.value, 0.5);
  EXPECT_GE(exceeded.worst.packet, exceeded.first.packet);
  EXPECT_EQ(exceeded.worst.value, ran.report.bounds.power_db);
  EXPECT_EQ(exceeded.worst.sight, 0);
}

TEST(CosimRequested, an_edge_inside_a_step_is_named) {
  Trial trial;
  trial.method = "adaptive";
  trial.window = Duration::from_ms(50);
  trial.requested.power_db = 0.5;
  const Scene scene({Box{{20, 0, 0}, {21, 30, 5}, 25}});
  trial.scene = &scene;
  // The path between the robots enters the box after half a second.
  trial.paths = {ConstantVelocity{{0, -5, 1}, {0, 10, 0}},
                 ConstantVelocity{{40, -5, 1}, {0, 10, 0}}};
  ConstantDelay network(kDelay);
  PingPong programs({});
  const Ran ran = run(trial, network, programs);
  ASSERT_TRUE(ran.report.power_exceeded.has_value());
  EXPECT_GE(ran.report.power_exceeded->worst.sight, 25);
  EXPECT_LE(ran.report.power_exceeded->count, 3U) << "only around the edge";
}

}  // namespace
}  // namespace hyphos::cosim
