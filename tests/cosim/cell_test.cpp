// Cells: rates by channel quality, delays of slots, shared base stations and handovers.
#include "cosim/network/cell.hpp"

#include "cosim/scenario/curves.hpp"
#include "cosim/scenario/scenario.hpp"
#include "rig.hpp"

namespace hyphos::cosim {
namespace {

RadioOptions one_station() {
  RadioOptions options;
  options.kind = "cell";
  options.tx_power_dbm = 23;
  options.host_jitter = {};
  options.cell.stations = {{"mast", {0, 0, 25}, 43, 0}};
  options.channel.path_loss = "air_to_ground";
  options.channel.environment = "rural";
  options.channel.sight_distance_m = 0;
  return options;
}

struct Cell {
  Cell(const RadioOptions& options, std::vector<Vec3> at, std::uint64_t seed = 3)
      : network(options, nullptr), places(std::move(at)) {
    network.init(static_cast<std::uint32_t>(places.size()), seed).or_throw();
    stand();
  }
  void stand() {
    std::vector<Pose> poses;
    for (const Vec3& place : places) poses.push_back({place, {}});
    network.set_poses(poses).or_throw();
  }
  void send(NodeId from, NodeId to, Time at, std::size_t size) {
    network.inject({++sent, from, to, at, Buffer::adopt(std::vector<std::byte>(size))}).or_throw();
  }
  void run(Time end) {
    network.advance(end).or_throw();
    network.poll(outcomes).or_throw();
  }
  [[nodiscard]] int count(DropReason reason) const {
    int sum = 0;
    for (const Outcome& one : outcomes) {
      if (one.reason == reason) sum += static_cast<int>(one.copies);
    }
    return sum;
  }
  CellNetwork network;
  std::vector<Vec3> places;
  PacketId sent = 0;
  std::vector<Outcome> outcomes;
};

TEST(CosimCell, a_lone_packet_has_the_delay_of_its_slots) {
  const RadioOptions options = one_station();
  double sum = 0;
  constexpr int kPackets = 500;
  Cell cell(options, {{50, 0, 1.5}, {0, 50, 1.5}});
  for (int i = 1; i <= kPackets; ++i) cell.send(0, 1, {i * 50'000'000LL + i * 5'000}, 100);
  cell.run({60'000'000'000});
  ASSERT_EQ(cell.count(DropReason::none), kPackets);
  double least = 1e9;
  double most = 0;
  for (const Outcome& one : cell.outcomes) {
    const auto sent = static_cast<std::int64_t>(one.id) * 50'005'000;
    const double ms = static_cast<double>(one.time.ns - sent) * 1e-6;
    sum += ms;
    least = std::min(least, ms);
    most = std::max(most, ms);
  }
  // Up: 0 to 2.5 ms to the request, 2.5 ms to the slot, 0.5 ms in it and 0.5 ms of decoding. The
  // core: 4 ms. Down: the slot after it has 1 ms, with decoding, and no wait if it is no U.
  EXPECT_GE(least, 2.5 + 1 + 4 + 1);
  EXPECT_LE(most, 2.5 + 2.5 + 1 + 4 + 0.5 + 1 + 15.5) << "with three repetitions";
  EXPECT_NEAR(sum / kPackets, 1.25 + 2.5 + 1 + 4 + 1, 0.75);
}

TEST(CosimCell, the_rate_is_that_of_the_channel_quality_and_the_slots) {
  for (const auto& [kind, distance] : {std::pair("near", 40.0), std::pair("far", 1500.0)}) {
    RadioOptions options = one_station();
    options.queue_packets = 1'000'000;
    Cell cell(options, {{distance, 0, 1.5}, {0, 40, 1.5}});
    const double sinr = cell.network.sinr_db(0, 0, false, {});
    const Radio radio = [&] {
      Radio::Setup setup{"cell"};
      setup.channel.frequency_hz = 0;
      return Radio::make(setup).or_throw();
    }();
    double mbit = 0;
    double first = 0;
    for (std::uint32_t rate = 0; rate < radio.kind().rates.size(); ++rate) {
      const double lost = radio.frame_error(rate, sinr, 0);
      if (lost > 0.1) continue;
      mbit = radio.kind().rates[rate].mbit;
      first = lost;
    }
    ASSERT_GT(mbit, 0);
    for (int i = 0; i < 4000; ++i) cell.send(0, 1, {}, 1164);
    cell.run({900'000'000});
    double bits = 0;
    for (const Outcome& one : cell.outcomes) bits += one.fate == Fate::delivered ? 9600 : 0;
    // One slot of five goes up. Repetitions take slots as well.
    EXPECT_NEAR(bits / 0.9e6, mbit / 5 * (1 - first), 0.08 * mbit / 5) << kind << " " << sinr;
  }
}

TEST(CosimCell, robots_share_a_station_evenly) {
  RadioOptions options = one_station();
  options.queue_packets = 1'000'000;
  Cell cell(options, {{40, 0, 1.5}, {0, 40, 1.5}, {-40, 0, 1.5}, {0, -40, 1.5}});
  for (int i = 0; i < 3000; ++i) {
    for (NodeId from = 0; from < 3; ++from) cell.send(from, 3, {}, 1164);
  }
  cell.run({800'000'000});
  std::array<int, 3> arrived{};
  for (const Outcome& one : cell.outcomes) ++arrived[(one.id - 1) % 3];
  for (const int count : arrived) EXPECT_NEAR(count, arrived[0], 0.05 * arrived[0]);
  EXPECT_GT(arrived[0], 200);
}

TEST(CosimCell, a_robot_beyond_the_slowest_rate_loses_its_packets_after_a_second) {
  Cell cell(one_station(), {{40, 0, 1.5}, {90'000, 0, 1.5}});
  for (int i = 0; i < 50; ++i) cell.send(0, 1, {i * 10'000'000LL}, 100);
  for (int i = 0; i < 50; ++i) cell.send(1, 0, {i * 10'000'000LL}, 100);
  cell.run({3'000'000'000});
  EXPECT_EQ(cell.count(DropReason::out_of_range), 100);
  EXPECT_EQ(cell.outcomes.size(), 100U);
}

TEST(CosimCell, a_frame_to_everyone_is_one_packet_up_and_one_down_for_each) {
  Cell cell(one_station(), {{40, 0, 1.5}, {0, 40, 1.5}, {-40, 0, 1.5}});
  cell.send(0, kEveryone, {}, 100);
  cell.run({1'000'000'000});
  ASSERT_EQ(cell.outcomes.size(), 2U);
  EXPECT_EQ(cell.outcomes[0].to + cell.outcomes[1].to, 3U);
  RadioOptions full = one_station();
  full.queue_packets = 1;
  Cell other(full, {{40, 0, 1.5}, {0, 40, 1.5}, {-40, 0, 1.5}});
  for (int i = 0; i < 5; ++i) other.send(0, kEveryone, {}, 100);
  other.run({1'000'000'000});
  EXPECT_EQ(other.count(DropReason::queue_full), 8);
  EXPECT_EQ(other.count(DropReason::none), 2);
}

/// Two stations 1000 m apart, and a robot that drives from one to the other while it sends.
struct Drive {
  explicit Drive(RadioOptions options, double speed = 20) {
    options.cell.stations = {{"west", {0, 0, 25}, 43, 0}, {"east", {1000, 0, 25}, 43, 0}};
    Cell cell(options, {{50, 0, 1.5}, {500, 50, 1.5}});
    const auto steps = static_cast<int>(900 / speed * 100);
    for (int i = 0; i < steps; ++i) {
      const Time now{i * 10'000'000LL};
      cell.places[0].x = 50 + speed * 0.01 * i;
      cell.stand();
      cell.send(0, 1, now, 100);
      const std::uint32_t before = cell.network.station_of(0);
      cell.run(now + Duration::from_ms(10));
      if (cell.network.station_of(0) != before) changed_at.push_back(cell.places[0].x);
    }
    cell.run({static_cast<std::int64_t>(steps + 300) * 10'000'000});
    delivered = cell.count(DropReason::none);
    sent = steps;
    for (const Outcome& one : cell.outcomes) {
      const auto at = static_cast<std::int64_t>(one.id - 1) * 10'000'000;
      longest_ms = std::max(longest_ms, static_cast<double>(one.time.ns - at) * 1e-6);
    }
  }
  std::vector<double> changed_at;
  int delivered = 0;
  int sent = 0;
  double longest_ms = 0;
};

TEST(CosimCell, a_robot_changes_to_the_stronger_station_once) {
  const Drive drive(one_station());
  ASSERT_EQ(drive.changed_at.size(), 1U);
  EXPECT_GT(drive.changed_at[0], 530) << "3 dB beyond the middle, for 160 ms";
  EXPECT_LT(drive.changed_at[0], 640);
  EXPECT_GE(drive.delivered, drive.sent - 1) << "packets wait during the interruption";
  EXPECT_GT(drive.longest_ms, 50);
  EXPECT_LT(drive.longest_ms, 100);
}

TEST(CosimCell, margin_and_time_put_a_handover_off) {
  RadioOptions options = one_station();
  double last = 0;
  for (const double margin : {0.0, 3.0, 6.0}) {
    options.cell.handover_db = margin;
    const Drive drive(options);
    ASSERT_EQ(drive.changed_at.size(), 1U) << margin;
    EXPECT_GT(drive.changed_at[0], last) << margin;
    last = drive.changed_at[0];
  }
  options.cell.time_to_trigger = Duration::from_ms(2000);
  const Drive later(options);
  EXPECT_NEAR(later.changed_at.at(0), last + 20 * (2 - 0.16), 1.5);
  options = one_station();
  options.cell.interruption = Duration::from_ms(300);
  EXPECT_GT(Drive(options).longest_ms, 300);
}

TEST(CosimCell, interference_of_other_stations_costs_quality) {
  RadioOptions options = one_station();
  options.cell.stations.push_back({"other", {1000, 0, 25}, 43, 0});
  double last = 1000;
  for (const double load : {0.0, 0.3, 1.0}) {
    options.cell.load = load;
    Cell cell(options, {{450, 0, 1.5}, {0, 9, 1.5}});
    const double sinr = cell.network.sinr_db(0, 0, true, {});
    EXPECT_LT(sinr, last) << load;
    last = sinr;
  }
  EXPECT_NEAR(last, 22 * std::log10(550.0 / 450), 1.5) << "the ratio of both distances";
}

constexpr const char* kScenario = R"(
duration_s: 3
robots:
  a: {at: [50, 0, 1.5], velocity: [30, 0, 0]}
  b: {at: [60, 20, 40], velocity: [25, 0, 0]}
  c: {at: [300, 0, 1.5]}
radio:
  kind: cell
  tx_power_dbm: 23
  shadowing_db: 6
  channel: {path_loss: air_to_ground, environment: urban_macro, fading: rayleigh}
  cells:
    west: {at: [0, 0, 25]}
    east: {at: [120, 0, 25], tx_power_dbm: 40, gain_dbi: 3}
  cell: {core_delay_ms: 3, load: 0.2}
traffic: {rate_hz: 50, bytes: 300}
)";

std::string changed(std::string text, const std::string& part, const std::string& with) {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), with);
}

TEST(CosimCell, a_scenario_has_one_trace_in_all_ways_of_running) {
  for (int seed = 1; seed <= 10; ++seed) {
    const auto scenario = parse_scenario(kScenario, "c.yaml", {"", std::to_string(seed)});
    ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
    ASSERT_EQ(scenario->radio.cell.stations.size(), 2U);
    EXPECT_EQ(scenario->radio.cell.stations[1].gain_dbi, 3);
    EXPECT_EQ(scenario->radio.cell.core_delay, Duration::from_ms(3));
    std::uint64_t first = 0;
    for (const RunOptions& options :
         {RunOptions{}, RunOptions{.skip = false}, RunOptions{.radio_process = true}}) {
      Trace trace = Trace::hash_only();
      const auto report = run_scenario(*scenario, options, trace);
      ASSERT_TRUE(report.ok()) << report.error().to_string();
      EXPECT_TRUE(report->packets.balanced());
      EXPECT_GT(report->packets.delivered, 0U);
      if (first == 0) first = trace.hash();
      EXPECT_EQ(trace.hash(), first) << seed;
    }
  }
}

TEST(CosimCell, curves_start_at_a_base_station) {
  const Scenario scenario = parse_scenario(kScenario, "c.yaml").or_throw();
  const auto curves = radio_curves(scenario, {"east", "b"});
  ASSERT_TRUE(curves.ok()) << curves.error().to_string();
  EXPECT_NE(curves->find("\"from\": \"east\""), std::string::npos);
  EXPECT_NE(curves->find("\"tx_power_dbm\": 40"), std::string::npos);
  const auto unknown = radio_curves(scenario, {"a", "b"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message, "no base station 'a': the base stations are west, east");
}

TEST(CosimCell, wrong_keys_have_line_and_remedy) {
  const auto refused = [](const std::string& part, const std::string& with) {
    const auto scenario = parse_scenario(changed(kScenario, part, with), "c.yaml");
    return scenario.ok() ? std::string() : scenario.error().to_string();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refused("kind: cell", "kind: 802.11g"),
      "c.yaml:13:5: radio.cells: only valid with `kind: cell`");
  has(refused("kind: cell", "kind: cell\n  rate: cqi3"), "radio.rate: a cell chooses rates");
  has(refused("kind: cell", "kind: cell\n  retry_limit: 3"), "radio.retry_limit: a cell chooses");
  has(refused("kind: cell", "kind: cell\n  jammers: {x: {at: [1, 2, 3]}}"),
      "radio.jammers: not with");
  has(refused("kind: cell", "kind: cell\n  simulator: ns3"), "radio.cell.load: ns-3 simulates the");
  has(refused("west: {at: [0, 0, 25]}", "west: {}"), "radio.cells.west.at: is missing");
  has(refused("gain_dbi: 3", "tilt: 3"), "radio.cells.east.tilt: unknown key");
  has(refused("load: 0.2", "load: 2"), "radio.cell.load");
  has(refused("core_delay_ms: 3", "core_delay_ms: -3"), "radio.cell.core_delay_ms");
  has(refused("    west: {at: [0, 0, 25]}\n    east: {at: [120, 0, 25], tx_power_dbm: 40, "
              "gain_dbi: 3}\n",
              ""),
      "expected a map of 1 to 1000 base stations");
}

}  // namespace
}  // namespace hyphos::cosim
