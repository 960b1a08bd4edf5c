// Cells in ns-3: LTE, its losses, delays, handovers and lost links.
#include <gtest/gtest.h>

#include <algorithm>

#include "cosim/network/cell.hpp"
#include "cosim/network/ns3/options.hpp"
#include "cosim/remote/remote.hpp"

namespace hyphos::cosim {
namespace {

Ns3Options one_station() {
  Ns3Options options;
  options.models = Models::hyphos;
  options.radio.kind = "cell";
  options.radio.tx_power_dbm = 23;
  options.radio.host_jitter = {};
  options.radio.reference_loss_db = 43.3;  // free space at 3.5 GHz
  options.radio.cell.stations = {{"mast", {0, 0, 25}, 43, 0}};
  return options;
}

/// A network, its robots, and their outcomes.
struct Cell {
  Cell(std::unique_ptr<Network> made, std::vector<Vec3> at, std::uint64_t seed = 3)
      : network(std::move(made)), places(std::move(at)) {
    network->init(static_cast<std::uint32_t>(places.size()), seed).or_throw();
    stand();
  }
  Cell(const Ns3Options& options, std::vector<Vec3> at, std::uint64_t seed = 3)
      : Cell(
            std::make_unique<RemoteNetwork>(Worker::start({}, {COSIM_WORKER, "--adapter", COSIM_NS3,
                                                               "--options", to_text(options)})
                                                .or_throw()),
            std::move(at), seed) {}

  void stand() {
    std::vector<Pose> poses;
    for (const Vec3& place : places) poses.push_back({place, {}});
    network->set_poses(poses).or_throw();
  }
  void send(NodeId from, NodeId to, Time at, std::size_t size = 100) {
    sent.push_back(at);
    network->inject({sent.size(), from, to, at, Buffer::adopt(std::vector<std::byte>(size))})
        .or_throw();
  }
  void run(Time end) {
    network->advance(end).or_throw();
    network->poll(outcomes).or_throw();
  }
  [[nodiscard]] int count(DropReason reason) const {
    int sum = 0;
    for (const Outcome& one : outcomes) {
      if (one.reason == reason) sum += static_cast<int>(one.copies);
    }
    return sum;
  }
  /// Of the packets that arrived, from the send to the arrival.
  [[nodiscard]] std::vector<double> delays_ms() const {
    std::vector<double> delays;
    for (const Outcome& one : outcomes) {
      if (one.fate != Fate::delivered) continue;
      delays.push_back((one.time - sent[one.id - 1]).ms());
    }
    return delays;
  }
  [[nodiscard]] std::string lines() {
    std::ranges::sort(outcomes, {}, [](const Outcome& one) { return std::pair(one.id, one.to); });
    std::string text;
    for (const Outcome& one : outcomes) {
      text += std::to_string(one.id) + " " + std::to_string(one.to) + " " +
              std::to_string(one.time.ns) + " " + std::string(to_string(one.reason)) + "\n";
    }
    return text;
  }

  std::unique_ptr<Network> network;
  std::vector<Vec3> places;
  std::vector<Time> sent;
  std::vector<Outcome> outcomes;
};

constexpr int kPackets = 100;

void send_all(Cell& cell) {
  for (int i = 1; i <= kPackets; ++i) cell.send(0, 1, {i * 20'000'000LL + i * 13'000});
  cell.run({4'000'000'000});
}

TEST(Ns3Lte, a_lone_packet_is_later_than_the_floor_of_the_analytic_cell) {
  const Ns3Options options = one_station();
  const std::vector<Vec3> near{{50, 0, 1.5}, {0, 50, 1.5}};
  Cell theirs(options, near);
  send_all(theirs);
  Cell ours(std::make_unique<CellNetwork>(options.radio, nullptr), near);
  send_all(ours);
  ASSERT_EQ(theirs.count(DropReason::none), kPackets);
  const double floor = std::ranges::min(ours.delays_ms());
  for (const double delay : theirs.delays_ms()) {
    EXPECT_GT(delay, floor);
    // Slots of 1 ms, and no repetition.
    EXPECT_GT(delay, 17.9);
    EXPECT_LT(delay, 20.1);
  }
}

TEST(Ns3Lte, the_core_delays_every_packet) {
  Ns3Options options = one_station();
  std::vector<double> means;
  for (const std::int64_t core_ms : {0, 30}) {
    options.radio.cell.core_delay = Duration::from_ms(core_ms);
    Cell cell(options, {{50, 0, 1.5}, {0, 50, 1.5}});
    send_all(cell);
    const std::vector<double> delays = cell.delays_ms();
    ASSERT_EQ(delays.size(), kPackets);
    double sum = 0;
    for (const double delay : delays) sum += delay;
    means.push_back(sum / kPackets);
  }
  EXPECT_NEAR(means[1] - means[0], 30, 1);
}

TEST(Ns3Lte, losses_grow_with_distance) {
  Ns3Options options = one_station();
  options.radio.channel.fading = "rayleigh";
  options.radio.channel.scatterer_speed = 30;
  std::vector<int> arrived;
  for (const double distance : {50.0, 600.0, 1200.0, 6000.0}) {
    Cell cell(options, {{distance, 0, 1.5}, {0, 50, 1.5}});
    send_all(cell);
    EXPECT_EQ(cell.outcomes.size(), kPackets) << distance;
    arrived.push_back(cell.count(DropReason::none));
    if (!arrived.empty() && arrived.back() == 0) {
      EXPECT_EQ(cell.count(DropReason::out_of_range), kPackets);
    }
  }
  EXPECT_TRUE(std::ranges::is_sorted(arrived, std::greater{})) << testing::PrintToString(arrived);
  EXPECT_GE(arrived.front(), 98);
  EXPECT_EQ(arrived.back(), 0);
}

TEST(Ns3Lte, a_frame_to_everyone_goes_up_once_and_down_to_each) {
  Cell cell(one_station(), {{40, 0, 1.5}, {0, 40, 1.5}, {-40, 0, 1.5}});
  cell.send(0, kEveryone, {1'000'000}, 4000);
  cell.run({1'000'000'000});
  ASSERT_EQ(cell.outcomes.size(), 2U);
  EXPECT_EQ(cell.outcomes[0].to + cell.outcomes[1].to, 3U);
  EXPECT_EQ(cell.outcomes[0].bytes.size(), 4000U);
}

TEST(Ns3Lte, a_full_queue_drops_the_newest_packets) {
  Ns3Options options = one_station();
  options.radio.queue_packets = 5;
  Cell cell(options, {{40, 0, 1.5}, {0, 40, 1.5}});
  for (int i = 0; i < 20; ++i) cell.send(0, 1, {1'000'000});
  cell.run({2'000'000'000});
  EXPECT_EQ(cell.count(DropReason::queue_full), 15);
  EXPECT_EQ(cell.count(DropReason::none), 5);
}

/// A robot drives from one station past the place of another while it sends. Returns the number of
/// packets that arrived in the last fifth of the way.
int arrived_at_the_end(Cell& cell) {
  constexpr int kSteps = 1750;
  for (int i = 0; i < kSteps; ++i) {
    const Time now{i * 10'000'000LL};
    cell.places[0].x = 50 + 40 * 0.01 * i;
    cell.stand();
    if (i % 2 == 0) cell.send(0, 1, now);
    cell.run(now + Duration::from_ms(10));
  }
  cell.run({(kSteps + 300) * 10'000'000LL});
  EXPECT_EQ(cell.outcomes.size(), cell.sent.size());
  return static_cast<int>(std::ranges::count_if(cell.outcomes, [&](const Outcome& one) {
    return one.fate == Fate::delivered && cell.sent[one.id - 1].ns > kSteps / 5 * 4 * 10'000'000LL;
  }));
}

TEST(Ns3Lte, a_robot_is_handed_over_to_the_stronger_station) {
  Ns3Options options = one_station();
  Cell alone(options, {{50, 0, 1.5}, {0, 50, 1.5}});
  const int without = arrived_at_the_end(alone);
  options.radio.cell.stations.push_back({"east", {600, 0, 25}, 43, 0});
  Cell both(options, {{50, 0, 1.5}, {0, 50, 1.5}});
  const int with = arrived_at_the_end(both);
  EXPECT_LT(without, 10);
  EXPECT_GE(with, 172) << "of 175 packets";
  EXPECT_GE(both.count(DropReason::none), static_cast<int>(both.sent.size()) - 5)
      << "packets wait for the handover";
}

TEST(Ns3Lte, a_robot_that_comes_back_into_range_connects_again) {
  Cell cell(one_station(), {{50, 0, 1.5}, {0, 50, 1.5}});
  const auto arrived = [&](std::int64_t from_ms, std::int64_t to_ms) {
    return std::ranges::count_if(cell.outcomes, [&](const Outcome& one) {
      const Time at = cell.sent[one.id - 1];
      return one.fate == Fate::delivered && at.ns >= from_ms * 1'000'000 &&
             at.ns < to_ms * 1'000'000;
    });
  };
  for (int i = 0; i < 600; ++i) {
    const Time now{i * 20'000'000LL};
    cell.places[0].x = i < 100 || i >= 300 ? 50 : 60'000;
    cell.stand();
    cell.send(0, 1, now);
    cell.run(now + Duration::from_ms(20));
  }
  cell.run({15'000'000'000});
  EXPECT_EQ(cell.outcomes.size(), cell.sent.size());
  EXPECT_GE(arrived(0, 1900), 94);
  EXPECT_EQ(arrived(2100, 5900), 0);
  EXPECT_GE(arrived(9000, 12'000), 145) << "of 150 packets";
}

TEST(Ns3Lte, windows_change_no_outcome_and_a_seed_changes_them) {
  Ns3Options options = one_station();
  options.radio.channel.fading = "rayleigh";
  options.radio.channel.scatterer_speed = 30;
  options.radio.cell.stations.push_back({"east", {900, 0, 25}, 43, 0});
  for (const Models models : {Models::hyphos, Models::ns3}) {
    options.models = models;
    const auto lines = [&](Duration window, std::uint64_t seed) {
      Cell cell(options, {{400, 0, 1.5}, {500, 50, 1.5}, {800, 0, 1.5}}, seed);
      for (int i = 1; i <= 200; ++i) {
        const auto from = static_cast<NodeId>(i % 3);
        cell.send(from, i % 4 == 0 ? kEveryone : (from + 1) % 3, {i * 5'000'000LL}, 20 + 7 * i);
      }
      for (Time now{}; now < Time{3'000'000'000};) {
        now = now + window;
        cell.run(now);
      }
      EXPECT_EQ(cell.count(DropReason::none) + cell.count(DropReason::retry_limit) +
                    cell.count(DropReason::out_of_range),
                250);
      EXPECT_GT(cell.count(DropReason::none), 150);
      return cell.lines();
    };
    const std::string once = lines(Duration::from_ms(3000), 3);
    EXPECT_EQ(lines(Duration::from_ms(3000), 3), once);
    EXPECT_EQ(lines(Duration::from_us(700), 3), once);
    EXPECT_NE(lines(Duration::from_ms(3000), 4), once);
  }
}

TEST(Ns3Lte, options_survive_a_round_trip_and_limits_have_a_remedy) {
  Ns3Options options = one_station();
  options.radio.cell.stations.push_back({"", {1, 2, 3}, 40, 8});
  options.radio.cell.handover_db = 4.5;
  options.radio.cell.time_to_trigger = Duration::from_ms(320);
  const auto read = ns3_options(to_text(options));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(to_text(*read), to_text(options));
  EXPECT_EQ(read->radio.cell.stations[1].gain_dbi, 8);
  for (const auto& [text, nodes, part] :
       {std::tuple("kind cell", 2, "write `cells`"),
        std::tuple("kind cell; transport tcp; station 0 0 25 43 0", 2, "`transport: udp`"),
        std::tuple("kind cell; station 0 0 25 43 0", 301, "`simulator: analytic`"),
        std::tuple("kind cell; station 0 0 25", 2, "station")}) {
    auto worker = Worker::start({}, {COSIM_WORKER, "--adapter", COSIM_NS3, "--options", text});
    const auto refused =
        RemoteNetwork(std::move(worker).or_throw()).init(static_cast<std::uint32_t>(nodes), 1);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().to_string();
  }
}

}  // namespace
}  // namespace hyphos::cosim
