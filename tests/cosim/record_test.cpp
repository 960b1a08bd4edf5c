#include "cosim/scenario/record.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>

#include "cosim/scenario/record_json.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {
namespace {

constexpr const char* kText = R"(
duration_s: 4
method: {name: adaptive, window_ms: 50}
world: {boxes: [{low: [30, -50, 0], high: [31, 50, 3], loss_db: 12}]}
robots:
  a: {at: [0, 0, 1], velocity: [1, 0, 0]}
  b: {at: [60, 0, 1], velocity: [80, 0, 0]}
  c: {circle: {centre: [20, 0, 1], radius_m: 5, speed: 2}}
radio: {shadowing_db: 6}
traffic:
  via: c
  flows:
    imu: {kind: accelerometer, from: a, to: b}
    all: {from: b, to: everyone, rate_hz: 20}
    bag: {kind: file, from: a, to: c, bytes: 50000, transport: acknowledged}
)";

struct Taken {
  Report report;
  std::string trace;
};

Taken run(const Scenario& scenario, Record* record) {
  Trace trace;
  auto report = run_scenario(scenario, {.record = record}, trace);
  EXPECT_TRUE(report.ok()) << report.error().to_string();
  return {report.value(), std::string(trace.text())};
}

TEST(CosimRecord, recording_a_run_does_not_change_it) {
  const Scenario scenario = parse_scenario(kText, "cosim.yaml").or_throw();
  Record record(3, scenario.scene, scenario.duration);
  const Taken with = run(scenario, &record);
  const Taken without = run(scenario, nullptr);
  EXPECT_EQ(with.trace, without.trace);
  EXPECT_EQ(with.report.windows, without.report.windows);
}

TEST(CosimRecord, bins_rows_and_flows_agree_with_the_ledger) {
  const Scenario scenario = parse_scenario(kText, "cosim.yaml").or_throw();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> csv(std::tmpfile(), &std::fclose);
  ASSERT_NE(csv, nullptr);
  Record record(3, scenario.scene, scenario.duration, csv.get());
  const Taken ran = run(scenario, &record);
  ASSERT_TRUE(record.finish().ok());
  const PacketCounts& packets = ran.report.packets;
  EXPECT_GT(packets.all_dropped(), 0U);
  Record::Distance all;
  for (const auto& [key, distance] : record.distances()) {
    all.copies += distance.copies;
    all.delivered += distance.delivered;
    for (std::size_t i = 0; i < kDropReasons; ++i) all.dropped[i] += distance.dropped[i];
  }
  EXPECT_EQ(all.copies, packets.sent - packets.in_flight);
  EXPECT_EQ(all.delivered, packets.delivered);
  EXPECT_EQ(all.dropped, packets.dropped);

  std::rewind(csv.get());
  std::uint64_t rows = 0;
  std::uint64_t delivered = 0;
  for (std::array<char, 256> line{}; std::fgets(line.data(), line.size(), csv.get()) != nullptr;) {
    ++rows;
    if (std::string_view(line.data()).find(",delivered,,") != std::string_view::npos) ++delivered;
  }
  EXPECT_EQ(rows, 1 + packets.sent);
  EXPECT_EQ(delivered, packets.delivered);

  ASSERT_EQ(record.flows().size(), 3U);
  EXPECT_GT(record.flows()[0].messages.size(), 390U);
  EXPECT_EQ(record.flows()[1].messages.size() % 2, 0U);
  EXPECT_EQ(record.flows()[2].messages.size(), 36U);
}

TEST(CosimRecord, windows_are_merged_without_gaps_and_samples_are_few) {
  const Scene open;
  Record record(1, open, Duration::from_ms(10'000));
  const std::vector<Pose> poses(1);
  for (std::int64_t i = 1; i <= 10'000; ++i) record.window({i * 1'000'000}, poses);
  EXPECT_LE(record.windows().size(), 2000U);
  EXPECT_LE(record.samples().size(), 501U);
  Time end{};
  std::uint64_t count = 0;
  for (const Record::Windows& windows : record.windows()) {
    EXPECT_EQ(windows.begin, end);
    EXPECT_EQ(windows.shortest, Duration::from_ms(1));
    end = windows.end;
    count += windows.count;
  }
  EXPECT_EQ(end.ns, 10'000'000'000);
  EXPECT_EQ(count, 10'000U);
}

TEST(CosimRecord, errors_in_flows_have_line_and_key) {
  const auto refused = [](const std::string& part, const std::string& with,
                          const std::string& text) {
    std::string changed = kText;
    const auto at = changed.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    changed.replace(at, part.size(), with);
    const auto scenario = parse_scenario(changed, "cosim.yaml");
    ASSERT_FALSE(scenario.ok()) << with;
    EXPECT_NE(scenario.error().to_string().find(text), std::string::npos)
        << scenario.error().to_string();
  };
  refused("from: a, to: b", "from: a, to: d", "traffic.flows.imu.to");
  refused("from: a, to: b", "from: a, to: a", "must not be the sender");
  refused("from: a, to: b", "to: b", "traffic.flows.imu.from: is missing");
  refused("kind: accelerometer", "kind: accelerometer, bytes: 3", "only valid with `kind:` stream");
  refused("rate_hz: 20", "rate_hz: 20, bytes: 23", "traffic.flows.all.bytes");
  refused("rate_hz: 20", "transport: acknowledged", "`everyone` is only valid");
  refused("via: c", "via: c\n  rate_hz: 3", "not valid with `flows`");
  refused("via: c", "via: everyone", "traffic.via");
  refused("kind: accelerometer", "kind: recording, recording: nowhere.csv", "cannot read");
  refused("kind: accelerometer", "kind: recording, recording: /dev/zero", "cannot read");
  refused("kind: file", "kind: flie", "did you mean 'file'?");
}

}  // namespace
}  // namespace hyphos::cosim
