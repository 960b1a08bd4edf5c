#include <gtest/gtest.h>

#include <deque>
#include <initializer_list>
#include <map>
#include <tuple>

#include "cosim/network/analytic.hpp"
#include "cosim/network/constant_delay.hpp"
#include "cosim/physics/kinematic.hpp"
#include "cosim/realtime/emulator.hpp"
#include "cosim/realtime/frames.hpp"
#include "cosim/realtime/machine.hpp"
#include "cosim/realtime/pace.hpp"
#include "cosim/realtime/rehearsal.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::size_t kHeaders = 42;  // of Ethernet, IP and UDP

Time at_ms(double ms) { return {static_cast<std::int64_t>(ms * 1e6)}; }

Buffer packet_of(char mark, std::size_t payload = 100) {
  return Buffer::copy_of(std::string(kHeaders, 'h') + std::string(payload, mark));
}

/// A machine whose clock advances only in wait(), by exactly the requested time. The exception is a
/// stall: it begins at `away.first` and ends at `away.second`.
class Machine final : public Outside {
 public:
  struct Sent {
    Time time;
    Captured captured;
  };
  struct Written {
    Time time;
    NodeId to = 0;
    std::string bytes;
  };

  void send(double ms, NodeId from, NodeId to, Buffer bytes) {
    sends_.push_back({kBoot + (at_ms(ms) - Time{}), {from, to, std::move(bytes)}});
  }

  Time now() override { return now_; }
  Result<void> wait(Time until, bool /*exact*/) override {
    Time wakes = until;
    for (const Sent& send : sends_) {
      const auto room = rooms.find(send.captured.from);
      if (room != rooms.end() && room->second == 0) continue;  // its device is not watched
      wakes = std::min(wakes, std::max(now_, send.time));
      break;
    }
    now_ = std::max(now_, wakes);
    if (away.second.ns > 0 && now_ >= kBoot + (away.first - Time{})) {
      now_ = now_ + std::exchange(away.second, Duration{0});
    }
    return success();
  }
  void read(std::vector<Captured>& packets) override {
    for (auto next = sends_.begin(); next != sends_.end() && next->time <= now_;) {
      const auto room = rooms.find(next->captured.from);
      if (room != rooms.end() && room->second == 0) {
        ++next;
        continue;
      }
      if (room != rooms.end()) --room->second;
      packets.push_back(std::move(next->captured));
      next = sends_.erase(next);
    }
  }
  void set_room(NodeId from, std::uint32_t room) override { rooms[from] = room; }
  void set_rate(NodeId from, double rate) override { rates[from].push_back(rate); }
  bool write(NodeId to, std::span<const std::byte> packet) override {
    if (refuses) return false;
    written.push_back(
        {{(now_ - kBoot).ns}, to, {reinterpret_cast<const char*>(packet.data()), packet.size()}});
    return true;
  }
  Losses losses() override { return lost; }

  std::vector<Written> written;
  std::map<NodeId, std::uint32_t> rooms;
  std::map<NodeId, std::vector<double>> rates;
  std::pair<Time, Duration> away;
  bool refuses = false;
  Losses lost;

 private:
  static constexpr Time kBoot{77'000'000'000'123};  // a run starts later than the machine

  Time now_ = kBoot;
  std::deque<Sent> sends_;
};

struct Trial {
  Machine machine;
  Kinematic physics{{ConstantVelocity{{0, 0, 1}, {}}, ConstantVelocity{{20, 0, 1}, {}},
                     ConstantVelocity{{0, 20, 1}, {}}}};
  ConstantDelay ideal{Duration::from_us(3'300)};
  Network* network = &ideal;
  EmulatorOptions options{Step::make(1'000'000).value(),
                          at_ms(50),
                          3,
                          1,
                          {Duration::from_ms(1), Duration::from_ms(20)}};
  std::function<bool(Time)> goes_on;

  RealTimeReport run() {
    Emulator emulator({physics, *network, machine, nullptr}, options);
    if (goes_on) emulator.run_while(goes_on);
    EXPECT_TRUE(emulator.start().ok());
    const auto ran = emulator.run();
    EXPECT_TRUE(ran.ok()) << ran.error().to_string();
    EXPECT_TRUE(emulator.report().packets.balanced());
    return emulator.report();
  }
};

TEST(CosimRealTime, a_packet_is_written_at_its_delivery_not_at_a_window_end) {
  Trial trial;
  trial.machine.send(1.25, 0, 1, packet_of('a'));
  const auto report = trial.run();
  ASSERT_EQ(trial.machine.written.size(), 1U);
  EXPECT_EQ(trial.machine.written[0].to, 1U);
  EXPECT_EQ(trial.machine.written[0].time.ns, at_ms(4.55).ns + 1);
  EXPECT_EQ(report.windows, 50U);
  EXPECT_EQ(report.late.max_ns, 1);
  EXPECT_EQ(report.lag.max_ns, 0);
  EXPECT_TRUE(why_invalid(report, trial.options.limits).empty());
}

TEST(CosimRealTime, the_network_gets_packets_without_ip_and_udp_headers) {
  Trial trial;
  std::string sent;
  Trace trace;
  trial.machine.send(1, 0, 1, packet_of('a'));
  trial.machine.send(2, 1, 2, Buffer::copy_of("short"));
  Emulator emulator({trial.physics, *trial.network, trial.machine, &trace}, trial.options);
  ASSERT_TRUE(emulator.start().ok());
  ASSERT_TRUE(emulator.run().ok());
  ASSERT_EQ(trial.machine.written.size(), 2U);
  EXPECT_EQ(trial.machine.written[0].bytes, packet_of('a').text());
  EXPECT_EQ(trial.machine.written[1].bytes, "short");
  EXPECT_NE(trace.text().find("send 1 from 0 to 1 bytes 100 hash"), std::string::npos);
  EXPECT_NE(trace.text().find("send 2 from 1 to 2 bytes 0 hash"), std::string::npos);
}

TEST(CosimRealTime, a_packet_to_everyone_reaches_all_but_its_sender) {
  Trial trial;
  trial.machine.send(5, 1, kEveryone, packet_of('m'));
  const auto report = trial.run();
  ASSERT_EQ(trial.machine.written.size(), 2U);
  EXPECT_EQ(trial.machine.written[0].to, 0U);
  EXPECT_EQ(trial.machine.written[1].to, 2U);
  EXPECT_EQ(report.packets.delivered, 2U);
}

TEST(CosimRealTime, a_stalled_machine_makes_the_run_invalid_with_reasons) {
  Trial trial;
  trial.options.end = at_ms(500);
  trial.machine.away = {at_ms(10), Duration::from_ms(100)};
  trial.machine.send(9, 0, 1, packet_of('a'));   // due at 12.3 ms, in the gap
  trial.machine.send(50, 1, 0, packet_of('b'));  // sent in the gap
  const auto report = trial.run();
  EXPECT_EQ(report.windows, 500U);
  EXPECT_GE(report.lag.max_ns, Duration::from_ms(99).ns);
  EXPECT_GE(report.late.max_ns, Duration::from_ms(97).ns);
  EXPECT_EQ(report.read_late, 1U);
  EXPECT_GE(report.longest_unread.ns, Duration::from_ms(100).ns);
  ASSERT_EQ(trial.machine.written.size(), 2U);
  EXPECT_EQ(trial.machine.written[0].bytes, packet_of('a').text());
  const auto reasons = why_invalid(report, trial.options.limits);
  ASSERT_EQ(reasons.size(), 6U);
  EXPECT_EQ(reasons[1], "the longest lag of a window was 100.000 ms, more than 20.000 ms");
  EXPECT_EQ(reasons[4], "1 of 2 packets were read late, more than 1 %");
}

TEST(CosimRealTime, late_work_is_caught_up_and_the_clock_is_kept) {
  Trial trial;
  trial.options.end = at_ms(500);
  trial.machine.away = {at_ms(10), Duration::from_ms(100)};
  trial.machine.send(300, 0, 1, packet_of('a'));
  trial.run();
  ASSERT_EQ(trial.machine.written.size(), 1U);
  EXPECT_EQ(trial.machine.written[0].time.ns, at_ms(303.3).ns + 1);
}

TEST(CosimRealTime, packets_lost_by_the_emulation_make_a_run_invalid) {
  Trial refused;
  refused.machine.refuses = true;
  refused.machine.send(1, 0, 1, packet_of('a'));
  const auto report = refused.run();
  EXPECT_EQ(report.refused, 1U);
  EXPECT_EQ(why_invalid(report, refused.options.limits).size(), 1U);

  Trial overrun;
  overrun.machine.lost.overrun = 2;  // before the run
  overrun.goes_on = [&](Time) {
    overrun.machine.lost.overrun = 5;
    return true;
  };
  const auto reasons = why_invalid(overrun.run(), overrun.options.limits);
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_EQ(reasons[0], "3 packets were lost by the emulation itself, not by the radio");
}

TEST(CosimRealTime, losses_that_a_real_robot_has_leave_a_run_valid) {
  Trial trial;
  trial.machine.lost = {.device_full = 5, .to_nobody = 6, .malformed = 7};
  const auto report = trial.run();
  EXPECT_EQ(report.device_full, 5U);
  EXPECT_EQ(report.to_nobody, 6U);
  EXPECT_EQ(report.malformed, 7U);
  EXPECT_TRUE(why_invalid(report, trial.options.limits).empty());
}

TEST(CosimRealTime, a_full_radio_leaves_packets_in_the_device_and_loses_none) {
  Trial trial;
  RadioOptions radio;
  radio.host_jitter = {0};
  radio.queue_packets = 5;
  AnalyticRadio network(radio, nullptr);
  trial.network = &network;
  trial.options.radio_queue = radio.queue_packets;
  trial.options.end = at_ms(500);
  for (int i = 0; i < 100; ++i) trial.machine.send(1 + i * 0.01, 0, 1, packet_of('a', 1000));
  for (int i = 0; i < 10; ++i) trial.machine.send(300 + i * 0.01, 0, kEveryone, packet_of('b'));
  const auto report = trial.run();
  EXPECT_EQ(report.packets.delivered, 100U + 2 * 10);
  EXPECT_EQ(report.packets.all_dropped(), 0U);
  EXPECT_EQ(trial.machine.rooms[0], 4U);
}

TEST(CosimRealTime, the_rate_of_a_device_follows_its_radio) {
  Trial trial;
  RadioOptions radio;
  radio.host_jitter = {0};
  radio.queue_packets = 20;
  AnalyticRadio network(radio, nullptr);
  trial.network = &network;
  trial.options.radio_queue = radio.queue_packets;
  trial.options.radio_rate = 750'000;
  trial.options.overhead = 200;
  trial.options.end = at_ms(3000);
  // Robot 0 sends all the time, and its radio shares the channel with that of robot 1.
  for (int i = 0; i < 400; ++i) {
    trial.machine.send(1 + i * 2, 0, 1, packet_of('a', 1000));
    trial.machine.send(1 + i * 2, 1, 2, packet_of('b', 1000));
  }
  trial.run();
  const auto& rates = trial.machine.rates[0];
  ASSERT_GE(rates.size(), 3U);
  EXPECT_EQ(rates.front(), 750'000);
  EXPECT_LT(*std::ranges::min_element(rates), 500'000);
  EXPECT_EQ(rates.back(), 750'000);  // the channel is free again
  EXPECT_EQ(trial.machine.rates[2].size(), 1U);
}

TEST(CosimRealTime, a_pace_settles_where_the_radio_has_half_a_queue) {
  const Duration step = Pace::kInterval;
  Pace pace(1e6, 100);
  EXPECT_FALSE(pace.update(step, 0));  // nothing is sent
  double held = 0;
  for (int i = 0; i < 100; ++i) {  // the radio sends 300 packets of 1,000 bytes per second
    const double sent = std::min(30.0, held + pace.rate() / 10'000);
    held = std::min(100.0, held + pace.rate() / 10'000 - sent);
    for (int packet = 0; packet < static_cast<int>(sent); ++packet) pace.left(1000);
    (void)pace.update(step, static_cast<std::uint32_t>(held));
  }
  EXPECT_NEAR(pace.rate(), 300'000, 60'000);
  EXPECT_GT(held, 15);
  EXPECT_LT(held, 95);
  for (int i = 0; i < 20; ++i) (void)pace.update(step, 0);
  EXPECT_EQ(pace.rate(), 1e6);
  Pace stuck(1e6, 10);
  for (int i = 0; i < 20; ++i) (void)stuck.update(step, 10);
  EXPECT_EQ(stuck.rate(), 12'500);
}

std::vector<std::byte> frame_to(std::initializer_list<int> to, std::size_t bytes = 60) {
  std::vector<std::byte> frame(bytes);
  std::ranges::transform(to, frame.begin(), [](int value) { return std::byte(value); });
  return frame;
}

TEST(CosimRealTime, a_frame_goes_to_the_robot_with_its_mac_address) {
  using Kind = Destination::Kind;
  const auto kind = [](const std::vector<std::byte>& frame, NodeId from = 0) {
    return destination_of(frame, from, 300, 1500).kind;
  };
  for (const NodeId robot : {1U, 254U, 255U, 256U, 299U}) {
    const auto mac = RealTimeOptions::mac(robot);
    const auto to =
        destination_of(frame_to({mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]}), 0, 300, 1500);
    EXPECT_EQ(to.kind, Kind::robot);
    EXPECT_EQ(to.robot, robot);
  }
  EXPECT_EQ(kind(frame_to({2, 0x48, 0x59, 0, 0, 1})), Kind::nobody);  // the sender itself
  EXPECT_EQ(kind(frame_to({2, 0x48, 0x59, 0, 0, 0})), Kind::nobody);
  EXPECT_EQ(kind(frame_to({2, 0x48, 0x59, 0, 1, 45})), Kind::nobody);  // robot 301 of 300
  EXPECT_EQ(kind(frame_to({2, 0x48, 0x58, 0, 0, 2})), Kind::nobody);
  EXPECT_EQ(kind(frame_to({255, 255, 255, 255, 255, 255})), Kind::everyone);
  EXPECT_EQ(kind(frame_to({0x01, 0, 0x5e, 0, 0, 1})), Kind::everyone);  // multicast, IPv4
  EXPECT_EQ(kind(frame_to({0x33, 0x33, 0, 0, 0, 1})), Kind::everyone);  // multicast, IPv6
}

TEST(CosimRealTime, frames_of_a_wrong_size_or_sender_are_malformed) {
  using Kind = Destination::Kind;
  const std::initializer_list<int> everyone{255, 255, 255, 255, 255, 255};
  const auto kind = [](const std::vector<std::byte>& frame) {
    return destination_of(frame, 0, 3, 1500).kind;
  };
  for (const std::size_t bytes : {14U, 42U, 1514U, 1518U}) {
    EXPECT_EQ(kind(frame_to(everyone, bytes)), Kind::everyone) << bytes;
  }
  for (const std::size_t bytes : {6U, 13U, 1519U, 9014U}) {
    EXPECT_EQ(kind(frame_to(everyone, bytes)), Kind::malformed) << bytes;
  }
  EXPECT_EQ(kind({}), Kind::malformed);
  EXPECT_EQ(kind(frame_to({255, 255, 255, 255, 255, 255, 1})), Kind::malformed);
}

TEST(CosimRealTime, late_ordinary_programs_make_a_run_invalid) {
  RealTimeReport report;
  const LagLimits limits{Duration::from_ms(1), Duration::from_ms(20)};
  Lateness programs;
  for (int i = 0; i < 99; ++i) programs.add(Duration::from_ms(5));
  programs.add(Duration::from_ms(500));
  report.programs = programs.snapshot();
  EXPECT_TRUE(why_invalid(report, limits).empty());
  for (int i = 0; i < 3; ++i) programs.add(Duration::from_ms(30));
  report.programs = programs.snapshot();
  const auto reasons = why_invalid(report, limits);
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_NE(reasons[0].find("an ordinary program"), std::string::npos);
}

TEST(CosimRealTime, a_run_can_end_at_any_whole_window) {
  Trial trial;
  trial.goes_on = [](Time reached) { return reached < at_ms(7); };
  EXPECT_EQ(trial.run().end, at_ms(7));
  Trial whole;
  whole.options.end = at_ms(9.5);
  EXPECT_EQ(whole.run().end, at_ms(10));
}

TEST(CosimRealTime, a_rehearsal_measures_the_simulators_and_names_the_limits) {
  Kinematic physics{{ConstantVelocity{{0, 0, 1}, {}}, ConstantVelocity{{20, 0, 1}, {}}}};
  AnalyticRadio network(RadioOptions{}, nullptr);
  RehearsalOptions options{Step::make(1'000'000).value(), 2};
  options.patience = Duration::from_seconds(600);  // it is not to end early on a busy machine
  const auto rehearsal = rehearse(physics, network, options);
  ASSERT_TRUE(rehearsal.ok()) << rehearsal.error().to_string();
  EXPECT_EQ(rehearsal->packets, 12U);  // 0.3 s of 40 packets per second
  EXPECT_GT(rehearsal->per_packet_s, 0);
  EXPECT_GT(rehearsal->packets_per_second(), 0);

  const Duration step = Duration::from_ms(1);
  const auto reasons = [&](const Rehearsal& one) { return why_doubtful(one, 10, step, step); };
  EXPECT_TRUE(reasons({0.1, Duration::from_us(200), 0.0005, 100}).empty());
  const auto slow = reasons({0.9, Duration::from_us(900), 0.0001, 100});
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_NE(slow[0].find("physics alone needs 90 % of real time"), std::string::npos) << slow[0];
  const auto jerky = reasons({0.5, Duration::from_ms(9), 0.0001, 100});
  ASSERT_EQ(jerky.size(), 1U);
  EXPECT_NE(jerky[0].find("lower physics.rate_hz"), std::string::npos) << jerky[0];
  const auto busy = reasons({0.1, Duration::from_us(200), 0.006, 100});
  ASSERT_EQ(busy.size(), 2U);
  EXPECT_NE(busy[0].find("about 100 packets per second of all 10 robots"), std::string::npos);
  EXPECT_NE(busy[1].find("6.000 ms for a packet"), std::string::npos);
}

TEST(CosimRealTime, frames_last_as_long_as_their_bytes_and_headers) {
  const auto took = [](std::size_t payload) {
    Trial trial;
    RadioOptions radio;
    radio.host_jitter = {0};
    AnalyticRadio network(radio, nullptr);
    trial.network = &network;
    trial.machine.send(1, 0, kEveryone, packet_of('a', payload));
    trial.run();
    EXPECT_EQ(trial.machine.written.size(), 2U);
    return trial.machine.written[0].time - at_ms(1);
  };
  const auto model = RadioModel::make({}, nullptr, 1).or_throw();
  const Duration slack = Duration::from_us(1);  // through the air
  for (const std::size_t payload : {0U, 100U, 1472U}) {
    const Duration expected = model.difs() + model.airtime(payload);
    EXPECT_GE(took(payload), expected) << payload;
    EXPECT_LE(took(payload), expected + slack) << payload;
  }
}

/// Reports a next event in the past.
class Stuck final : public Network {
 public:
  Result<void> init(std::uint32_t, std::uint64_t) override { return success(); }
  Result<void> set_poses(std::span<const Pose>) override { return success(); }
  Result<void> inject(const Packet&) override { return success(); }
  Result<void> advance(Time) override { return success(); }
  Time next_event_time() const override { return {0}; }
  Result<void> poll(std::vector<Outcome>&) override { return success(); }
};

TEST(CosimRealTime, a_network_with_an_event_in_the_past_is_an_error) {
  Trial trial;
  Stuck stuck;
  Emulator emulator({trial.physics, stuck, trial.machine, nullptr}, trial.options);
  ASSERT_TRUE(emulator.start().ok());
  const auto ran = emulator.run();
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().code, Code::corrupt);
}

TEST(CosimRealTime, processor_time_is_read_from_the_kernel) {
  const ProcessorTicks ticks = parse_ticks("cpu  100 20 30 4000 50 6 7 8 0 0");
  EXPECT_EQ(ticks.busy, 163U);
  EXPECT_EQ(ticks.stolen, 8U);
  EXPECT_EQ(ticks.all, 4221U);
  for (const char* other : {"", "cpu0 1 2 3 4", "cpu", "cpu x y"}) {
    EXPECT_EQ(parse_ticks(other).all, 0U) << other;
  }
}

constexpr const char* kRobots = R"(
physics: {rate_hz: 200}
robots:
  a: {at: [0, 0, 1], run: [hyphos, run, team.yaml]}
  b: {at: [9, 0, 1]}
)";

TEST(CosimRealTime, a_scenario_lists_programs_addresses_and_lag_limits) {
  const auto plain = parse_scenario(kRobots, "cosim.yaml");
  ASSERT_TRUE(plain.ok()) << plain.error().to_string();
  EXPECT_EQ(plain->commands[0], (std::vector<std::string>{"hyphos", "run", "team.yaml"}));
  EXPECT_TRUE(plain->commands[1].empty());
  EXPECT_EQ(plain->realtime.limits.p99, Duration::from_ms(5));
  EXPECT_EQ(plain->realtime.limits.longest, Duration::from_ms(20));
  EXPECT_EQ(plain->realtime.address(0), "10.231.77.1");
  EXPECT_EQ(plain->realtime.address6(9), "fd48:5900:77::a");
  const auto told = parse_scenario(
      std::string(kRobots) +
          "realtime: {lag_p99_ms: 0.5, lag_longest_ms: 7, subnet: 192.168.255.0/16, spin_us: 0}",
      "cosim.yaml");
  ASSERT_FALSE(told.ok());
  const auto right = parse_scenario(
      std::string(kRobots) +
          "realtime: {lag_p99_ms: 0.5, lag_longest_ms: 7, subnet: 192.168.0.0/16, spin_us: 0}",
      "cosim.yaml");
  ASSERT_TRUE(right.ok()) << right.error().to_string();
  EXPECT_EQ(right->realtime.limits.p99, Duration::from_us(500));
  EXPECT_EQ(right->realtime.address(299), "192.168.1.44");
  const auto narrow =
      parse_scenario(std::string(kRobots) + "realtime: {mtu: 576, subnet6: none}", "cosim.yaml");
  ASSERT_TRUE(narrow.ok()) << narrow.error().to_string();
  EXPECT_EQ(narrow->realtime.mtu, 576U);
  EXPECT_EQ(narrow->realtime.address6(0), "");
}

TEST(CosimRealTime, errors_in_the_realtime_section_have_their_line) {
  for (const auto& [text, what] :
       {std::tuple{"realtime: {lag_p99: 1}", "keys here are: lag_p99_ms"},
        std::tuple{"realtime: {subnet: 10.0.0.0}", "expected an IPv4 network"},
        std::tuple{"realtime: {subnet: 10.0.0.0/31}", "expected an IPv4 network"},
        std::tuple{"realtime: {subnet: 10.0.0.1/24}", "expected an IPv4 network"},
        std::tuple{"realtime: {priority: 100}", "realtime.priority"},
        std::tuple{"realtime: {mtu: 1501}", "realtime.mtu"},
        std::tuple{"realtime: {mtu: 1279}", "IPv6 needs at least 1280 bytes"},
        std::tuple{"realtime: {subnet6: 10.0.0.0/24}", "expected an IPv6 network"},
        std::tuple{"realtime: {subnet6: 'fd00::'}", "expected an IPv6 network"},
        std::tuple{"realtime: {subnet6: 'fd00::/97'}", "expected an IPv6 network"},
        std::tuple{"realtime: {subnet6: 'fd00::1/64'}", "expected an IPv6 network"},
        std::tuple{"realtime: {subnet6: 'fe80::/64'}", "expected an IPv6 network"},
        std::tuple{"realtime: {subnet6: 'ff02::/64'}", "expected an IPv6 network"}}) {
    const auto wrong = parse_scenario(std::string(kRobots) + text, "x.yaml");
    ASSERT_FALSE(wrong.ok()) << text;
    EXPECT_NE(wrong.error().to_string().find("x.yaml:6"), std::string::npos)
        << wrong.error().to_string();
    EXPECT_NE(wrong.error().to_string().find(what), std::string::npos) << wrong.error().to_string();
  }
  const auto words =
      parse_scenario("robots: {a: {at: [0, 0, 0], run: 'ping b'}, b: {at: [1, 0, 0]}}", "x.yaml");
  ASSERT_FALSE(words.ok());
  EXPECT_NE(words.error().to_string().find("a list"), std::string::npos);
  const auto many = parse_scenario(
      "robots: {a: {at: [0, 0, 0]}, b: {at: [1, 0, 0]}, c: {at: [2, 0, 0]}}\n"
      "realtime: {subnet: 10.0.0.0/30}",
      "x.yaml");
  ASSERT_FALSE(many.ok());
  EXPECT_NE(many.error().to_string().find("too few addresses for 3 robots"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::cosim
