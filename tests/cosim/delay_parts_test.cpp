// The parts of a delay: they add up, and each has its cause.
#include <gtest/gtest.h>

#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {
namespace {

Scenario scenario_of(const std::string& radio, const std::string& flow, const std::string& via) {
  return parse_scenario(
             "duration_s: 3\nphysics: {rate_hz: 1000}\n"
             "robots:\n  a: {at: [0, 0, 1]}\n  b: {at: [60, 0, 1]}\n"
             "  m: {at: [30, 10, 1]}\nradio: {" +
                 radio + "}\ntraffic:\n  " + via +
                 "flows: {f: {from: a, to: b, rate_hz: 200, bytes: 300, " + flow + "}}\n",
             "parts.yaml")
      .or_throw();
}

std::vector<Message> messages(const Scenario& scenario, bool process = false) {
  Record record(3, scenario.scene, scenario.duration);
  Trace trace = Trace::hash_only();
  RunOptions options;
  options.record = &record;
  options.radio_process = process;
  const auto report = run_scenario(scenario, options, trace);
  EXPECT_TRUE(report.ok()) << report.error().to_string();
  return record.flows().front().messages;
}

std::size_t check_sums(const std::vector<Message>& all) {
  std::size_t delivered = 0;
  for (const Message& message : all) {
    if (message.delivered == kNever) continue;
    ++delivered;
    EXPECT_TRUE(message.parts.has_value());
    if (!message.parts) return delivered;
    EXPECT_EQ(message.parts->sum().ns, (message.delivered - message.sent).ns);
    for (const Duration part :
         {message.parts->processing, message.parts->queueing, message.parts->retransmission,
          message.parts->transmission, message.parts->propagation}) {
      EXPECT_GE(part.ns, 0);
    }
  }
  return delivered;
}

TEST(CosimDelayParts, they_add_up_to_the_delay_of_each_message) {
  const char* fading = "kind: 802.11g, rate: 24, tx_power_dbm: 24, channel: {fading: rayleigh}";
  for (const char* flow : {"transport: plain", "transport: acknowledged", "kind: ping"}) {
    for (const char* via : {"", "via: m\n  "}) {
      const Scenario scenario = scenario_of(fading, flow, via);
      EXPECT_GT(check_sums(messages(scenario)), 50U) << flow << via;
      EXPECT_GT(check_sums(messages(scenario, true)), 50U) << "in a process of its own";
    }
  }
}

TEST(CosimDelayParts, a_free_channel_has_the_parts_of_its_numbers) {
  const Scenario scenario = scenario_of("rate_mbit: 6, host_jitter_us: 0", "start_s: 0", "");
  const auto all = messages(scenario);
  ASSERT_GT(check_sums(all), 500U);
  for (const Message& message : all) {
    if (message.delivered == kNever) continue;
    EXPECT_EQ(message.parts->retransmission.ns, 0);
    EXPECT_EQ(message.parts->processing.ns, 0);
    EXPECT_NEAR(static_cast<double>(message.parts->propagation.ns), 60 / 0.299792458, 1);
    EXPECT_GT(message.parts->transmission, Duration::from_us(400)) << "300 bytes at 6 Mbit/s";
  }
}

TEST(CosimDelayParts, losses_make_retransmissions_longer) {
  const auto mean = [](const Scenario& scenario) {
    double sum = 0;
    double count = 0;
    for (const Message& message : messages(scenario)) {
      if (!message.parts) continue;
      sum += static_cast<double>(message.parts->retransmission.ns);
      ++count;
    }
    EXPECT_GT(count, 50);
    return sum / count;
  };
  const char* radio = "kind: 802.11g, rate: 24, channel: {fading: rayleigh}, tx_power_dbm: ";
  const double near = mean(scenario_of(radio + std::string("30"), "transport: plain", ""));
  const double far = mean(scenario_of(radio + std::string("12"), "transport: plain", ""));
  EXPECT_GT(far, 3 * near + 1000);
}

TEST(CosimDelayParts, the_time_in_the_master_is_processing) {
  const Scenario scenario = scenario_of("host_jitter_us: 0", "start_s: 0", "via: m\n  ");
  std::size_t waited = 0;
  for (const Message& message : messages(scenario)) {
    if (!message.parts) continue;
    waited += message.parts->processing.ns > 0 ? 1 : 0;
    EXPECT_LE(message.parts->processing, Duration::from_ms(1)) << "one step of physics";
  }
  EXPECT_GT(waited, 400U);
}

}  // namespace
}  // namespace hyphos::cosim
