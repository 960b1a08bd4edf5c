// Jammers: their bursts, their effect on frames and on the sense of a busy channel.
#include "cosim/radio/jammers.hpp"

#include <random>

#include "cosim/scenario/scenario.hpp"
#include "rig.hpp"

namespace hyphos::cosim {
namespace {

RadioOptions options_of(const char* rate = "24") {
  RadioOptions options;
  options.kind = "802.11g";
  options.rate = rate;
  options.host_jitter = {};
  options.queue_packets = 10'000;
  return options;
}

Radio radio_of(const RadioOptions& options) {
  Radio::Setup setup{options.kind, options.rate};
  setup.channel.frequency_hz = 0;
  return Radio::make(setup).or_throw();
}

struct Result2 {
  int delivered = 0;
  int lost = 0;
  std::uint64_t hash = 0;
};

/// Frames of 300 bytes from 0 to `to`, one each 4 ms. The robots stand 40 m apart.
Result2 frames(const RadioOptions& options, NodeId to, int count = 1500, std::uint64_t seed = 3) {
  AnalyticRadio radio(options, nullptr);
  radio.init(2, seed).or_throw();
  radio.set_poses(std::vector<Pose>{{{0, 0, 1}, {}}, {{40, 0, 1}, {}}}).or_throw();
  for (int i = 1; i <= count; ++i) {
    const Buffer bytes = Buffer::adopt(std::vector<std::byte>(300));
    radio.inject({static_cast<PacketId>(i), 0, to, {i * 4'000'000LL}, bytes}).or_throw();
  }
  radio.advance({(count + 1000) * 4'000'000LL}).or_throw();
  std::vector<Outcome> outcomes;
  radio.poll(outcomes).or_throw();
  Result2 result;
  Trace trace;
  for (const Outcome& one : outcomes) {
    (one.fate == Fate::delivered ? result.delivered : result.lost) += 1;
    trace.outcome(one, one.time);
  }
  result.hash = trace.hash();
  return result;
}

TEST(CosimJammers, bursts_have_the_duty_and_the_period_that_were_asked) {
  const RadioOptions options = options_of();
  const Radio radio = radio_of(options);
  for (const double duty : {0.1, 0.5, 0.9}) {
    const std::vector<Jammer> one{{.place = {5, 0, 1}, .duty = duty}};
    const Jammers jammers(one, radio, 2, 9);
    std::int64_t on = 0;
    int changes = 0;
    Time now{};
    while (now < Time{1'000'000'000}) {
      const Time next = jammers.next_change(now);
      ASSERT_GT(next, now);
      EXPECT_NE(jammers.on(0, now), jammers.on(0, next)) << "a change is a change";
      if (jammers.on(0, now)) on += (std::min(next, {1'000'000'000}) - now).ns;
      now = next;
      ++changes;
    }
    EXPECT_NEAR(static_cast<double>(on) * 1e-9, duty, 0.01);
    EXPECT_NEAR(changes, 200, 2) << "two for each 10 ms";
  }
}

TEST(CosimJammers, parts_of_a_time_have_the_mean_power_of_the_bursts) {
  const Radio radio = radio_of(options_of());
  const std::vector<Pose> poses{{{0, 0, 1}, {}}, {{40, 0, 1}, {}}};
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Jammer> several;
    for (int i = 0; i < 3; ++i) {
      several.push_back(
          {.place = {static_cast<double>(random() % 50), 9, 1},
           .power_dbm = static_cast<double>(random() % 30),
           .duty = static_cast<double>(random() % 5) / 4,
           .period = Duration{static_cast<std::int64_t>(200'000 + random() % 9'000'000)}});
    }
    const Jammers jammers(several, radio, 2, trial);
    const Time from{static_cast<std::int64_t>(random() % 1'000'000'000)};
    const Time to{from.ns + static_cast<std::int64_t>(random() % 20'000'000)};
    std::vector<Jammers::Part> parts;
    jammers.over(1, poses, from, to, parts);
    double share = 0;
    double mean = 0;
    for (const auto& part : parts) {
      share += part.share;
      mean += part.share * part.power_mw;
    }
    EXPECT_NEAR(share, 1, 1e-9);
    double sampled = 0;
    constexpr int kSamples = 4000;
    for (int i = 0; i < kSamples; ++i) {
      const Time at{from.ns + (to - from).ns * i / kSamples};
      for (std::size_t j = 0; j < jammers.size(); ++j) {
        if (jammers.on(j, at)) sampled += jammers.power_mw(j, 1, poses, from) / kSamples;
      }
    }
    EXPECT_NEAR(mean, sampled, 0.01 * sampled + 1e-12);
  }
}

TEST(CosimJammers, frames_that_are_jammed_all_the_time_are_lost_as_by_that_much_noise) {
  RadioOptions options = options_of();
  const Radio radio = radio_of(options);
  int between = 0;
  for (double power = -4; power < 10; power += 0.5) {
    options.jammers = {{.place = {40, 30, 1}, .power_dbm = power}};
    const Jammers jammers(options.jammers, radio, 2, 3);
    const std::vector<Pose> poses{{{0, 0, 1}, {}}, {{40, 0, 1}, {}}};
    const double noise = std::pow(10, radio.noise_dbm() / 10) + jammers.power_mw(1, poses, {});
    const double sinr = *radio.received_dbm(0, poses[0], 1, poses[1], {}) - 10 * std::log10(noise);
    const double kept = radio.detection(sinr) * (1 - radio.frame_error(4, sinr, 300));
    const double lost = frames(options, kEveryone).lost / 1500.0;
    EXPECT_NEAR(lost, 1 - kept, 4.5 * std::sqrt(kept * (1 - kept) / 1500) + 1e-3) << power;
    between += lost > 0.03 && lost < 0.97 ? 1 : 0;
  }
  EXPECT_GE(between, 1);
}

TEST(CosimJammers, more_power_or_duty_never_saves_a_frame) {
  int last = -1;
  for (double power = -30; power <= 6; power += 3) {
    RadioOptions options = options_of();
    options.jammers = {{.place = {40, 30, 1}, .power_dbm = power, .duty = 0.5}};
    const int lost = frames(options, kEveryone).lost;
    EXPECT_GE(lost, last) << power << ": the same draws at more noise";
    last = lost;
  }
  last = -1;
  for (double duty = 0; duty <= 1; duty += 0.125) {
    RadioOptions options = options_of();
    options.jammers = {{.place = {40, 30, 1}, .power_dbm = 9, .duty = duty}};
    const int lost = frames(options, kEveryone).lost;
    EXPECT_GE(lost, last) << duty;
    last = lost;
  }
  EXPECT_EQ(last, 1500);
}

TEST(CosimJammers, a_jammer_without_effect_changes_nothing) {
  const std::uint64_t plain = frames(options_of(), 1).hash;
  const std::vector<std::pair<const char*, Jammer>> harmless{
      {"duty 0", {.place = {1, 0, 1}, .duty = 0}},
      {"another band", {.place = {1, 0, 1}, .low_hz = 5e9, .high_hz = 5.1e9}},
      {"far away", {.place = {1e6, 0, 1}}}};
  for (const auto& [what, jammer] : harmless) {
    RadioOptions options = options_of();
    options.jammers = {jammer};
    EXPECT_EQ(frames(options, 1).hash, plain) << what;
  }
}

TEST(CosimJammers, a_wide_band_reaches_a_radio_with_its_share) {
  const Radio radio = radio_of(options_of());
  const std::vector<Pose> poses{{{0, 0, 1}, {}}, {{40, 0, 1}, {}}};
  const std::vector<Jammer> narrow{{.place = {9, 0, 1}}};
  std::vector<Jammer> wide = narrow;
  wide[0].low_hz = 2.4e9;
  wide[0].high_hz = 2.48e9;
  const double share = Jammers(wide, radio, 2, 1).power_mw(0, 1, poses, {}) /
                       Jammers(narrow, radio, 2, 1).power_mw(0, 1, poses, {});
  EXPECT_NEAR(share, 20.0 / 80, 1e-9);
}

TEST(CosimJammers, a_sender_waits_for_the_end_of_a_burst) {
  RadioOptions options = options_of();
  options.jammers = {
      {.place = {-2, 0, 1}, .power_dbm = 10, .duty = 0.5, .period = Duration::from_ms(100)}};
  EXPECT_GT(frames(options, 1).delivered, 1450) << "40 m away, the receiver is hardly disturbed";
  options.jammers[0].duty = 1;
  options.queue_packets = 5;
  const Result2 silent = frames(options, 1);
  EXPECT_EQ(silent.delivered, 0);
  EXPECT_EQ(silent.lost, 1495) << "five wait in the queue";
}

TEST(CosimJammers, a_countdown_is_the_idle_time_that_it_needs) {
  const Radio radio = radio_of(options_of());
  const std::vector<Pose> poses{{{0, 0, 1}, {}}, {{40, 0, 1}, {}}};
  const std::vector<Jammer> one{{.place = {1, 0, 1}, .duty = 0.5, .period = Duration::from_ms(1)}};
  const Jammers jammers(one, radio, 2, 5);
  const Duration slot = Duration::from_us(9);
  const Duration wait = Duration::from_us(34);
  for (std::int64_t start = 0; start < 3'000'000; start += 17'011) {
    for (const std::int64_t slots : {0, 7, 15, 200}) {
      const auto found = jammers.count_down(0, poses, 1e-7, {start}, wait, slot, slots);
      // Slot by slot.
      std::int64_t left = slots;
      Time now{start};
      Time idle = now;
      while (true) {
        if (jammers.on(0, now)) {
          now = jammers.next_change(now);
          idle = now;
          continue;
        }
        const Time change = jammers.next_change(now);
        const Time end = idle + wait + slot * left;
        if (end <= change) {
          now = end;
          break;
        }
        left -= std::clamp<std::int64_t>((change - (idle + wait)).ns / slot.ns, 0, left);
        now = change;
      }
      EXPECT_EQ(found.end, now) << start << " " << slots;
    }
  }
}

constexpr const char* kScenario = R"(
duration_s: 1
robots:
  a: {at: [0, 0, 1]}
  b: {at: [40, 0, 1], velocity: [2, 0, 0]}
  c: {at: [20, 30, 1]}
radio:
  kind: 802.11g
  rate: 24
  channel: {fading: rayleigh}
  jammers:
    van: {at: [60, 5, 2], power_dbm: 10, duty: 0.4, period_ms: 7, band_mhz: [2400, 2480]}
    spy: {robot: c, power_dbm: -10}
traffic: {rate_hz: 50, bytes: 200}
)";

std::string changed(std::string text, const std::string& part, const std::string& with) {
  const auto at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), with);
}

TEST(CosimJammers, a_scenario_has_one_trace_in_all_ways_of_running) {
  for (int seed = 1; seed <= 10; ++seed) {
    const auto scenario = parse_scenario(kScenario, "j.yaml", {"", std::to_string(seed)});
    ASSERT_TRUE(scenario.ok()) << scenario.error().to_string();
    ASSERT_EQ(scenario->radio.jammers.size(), 2U);
    EXPECT_EQ(scenario->radio.jammers[1].robot, 2U);
    std::uint64_t first = 0;
    for (const RunOptions& options :
         {RunOptions{}, RunOptions{.skip = false}, RunOptions{.radio_process = true}}) {
      Trace trace = Trace::hash_only();
      const auto report = run_scenario(*scenario, options, trace);
      ASSERT_TRUE(report.ok()) << report.error().to_string();
      EXPECT_TRUE(report->packets.balanced());
      EXPECT_GT(report->packets.all_dropped(), 0U);
      if (first == 0) first = trace.hash();
      EXPECT_EQ(trace.hash(), first) << seed;
    }
  }
}

TEST(CosimJammers, wrong_keys_have_line_and_remedy) {
  const auto refused = [](const std::string& part, const std::string& with) {
    const auto scenario = parse_scenario(changed(kScenario, part, with), "j.yaml");
    return scenario.ok() ? std::string() : scenario.error().to_string();
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refused("at: [60, 5, 2], ", ""), "j.yaml:12:10: radio.jammers.van: needs one of `at`");
  has(refused("robot: c", "robot: d"), "radio.jammers.spy.robot: expected one of a, b, c");
  has(refused("robot: c", "robot: c, at: [1, 2, 3]"), "radio.jammers.spy: needs one of `at`");
  has(refused("duty: 0.4", "duty: 1.4"), "radio.jammers.van.duty");
  has(refused("duty: 0.4", "duty: 1"), "period_ms: only valid with a `duty` between 0 and 1");
  has(refused("period_ms: 7", "period_ms: 0.01"), "radio.jammers.van.period_ms");
  has(refused("[2400, 2480]", "[2480, 2400]"), "expected [low, high], with low below high");
  has(refused("[2400, 2480]", "[2400, fast]"), "expected a frequency in MHz, found 'fast'");
  has(refused("power_dbm: 10", "power_dbm: loud"), "radio.jammers.van.power_dbm");
  has(refused("power_dbm: 10", "colour: red"), "radio.jammers.van.colour: unknown key");
  has(refused("  kind: 802.11g\n", ""), "radio.jammers: only valid with `radio.kind`");
}

}  // namespace
}  // namespace hyphos::cosim
