#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "cosim/adapter/c_adapter.hpp"
#include "cosim/remote/remote.hpp"
#include "tests/cosim/conformance.hpp"
#include "tests/cosim/ns3/traffic.hpp"
#include "tests/cosim/rig.hpp"

namespace hyphos::cosim {
namespace {

std::unique_ptr<RemoteNetwork> ns3(const std::string& options) {
  return std::make_unique<RemoteNetwork>(
      Worker::start({}, {COSIM_WORKER, "--adapter", COSIM_NS3, "--options", options}).or_throw());
}

struct Ns3Udp {
  static std::unique_ptr<Network> make() { return ns3(""); }
};
struct Ns3Tcp {
  static std::unique_ptr<Network> make() { return ns3("transport tcp"); }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PhysicsConformance);
struct Ns3Named {
  static std::unique_ptr<Network> make() { return ns3("kind 802.11ax; rate mcs3; fading rician"); }
};
struct Ns3Cell {
  static std::unique_ptr<Network> make() { return ns3("kind cell; station 5 5 25 43 0"); }
};
using Networks = testing::Types<Ns3Udp, Ns3Tcp, Ns3Named, Ns3Cell>;
INSTANTIATE_TYPED_TEST_SUITE_P(Ns3, NetworkConformance, Networks);

/// Sends scripted packets at scripted times.
class Script final : public Programs {
 public:
  explicit Script(std::vector<Sent> sends) : sends_(std::move(sends)) {}
  void step(Time now, std::span<const Delivery>, std::span<const Pose>, Outbox& outbox) override {
    for (; next_ < sends_.size() && at(next_) <= now; ++next_) {
      const Sent& sent = sends_[next_];
      std::vector<std::byte> bytes(sent.size, static_cast<std::byte>(sent.id));
      outbox.send(sent.from, sent.to, Buffer::adopt(std::move(bytes)));
    }
  }
  Time next_event_time() const override { return next_ < sends_.size() ? at(next_) : kNever; }

 private:
  [[nodiscard]] Time at(std::size_t index) const { return {sends_[index].ms * 1'000'000}; }
  std::vector<Sent> sends_;
  std::size_t next_ = 0;
};

Trial standing_trial() {
  Trial trial;
  trial.paths.clear();
  for (const Pose& pose : standing()) trial.paths.emplace_back(ConstantVelocity{pose.position, {}});
  trial.seed = kTrafficSeed;
  trial.end = Duration::from_ms(kTrafficEndMs);
  return trial;
}

using Arrivals = std::set<std::tuple<PacketId, NodeId, std::int64_t>>;

Arrivals plain(const char* scene) {
  Arrivals arrivals;
  std::FILE* lines = ::popen((std::string(COSIM_PLAIN_NS3) + " " + scene).c_str(), "r");
  unsigned long id = 0;
  unsigned to = 0;
  long time = 0;
  while (std::fscanf(lines, "%lu %u %ld", &id, &to, &time) == 3) arrivals.emplace(id, to, time);
  EXPECT_EQ(::pclose(lines), 0);
  return arrivals;
}

struct Outcomes {
  Arrivals arrivals;
  Report report;
};

Outcomes cosimulated(bool walls, Trial trial) {
  const auto network = ns3(to_text(standing_options(walls)));
  Script script(standing_traffic());
  Outcomes outcomes;
  auto ran = run(trial, *network, script, [&](const Outcome& outcome, const Packet&) {
    if (outcome.fate != Fate::delivered) return;
    outcomes.arrivals.emplace(outcome.id, outcome.to, outcome.time.ns);
  });
  EXPECT_TRUE(ran.result.ok()) << ran.result.error().to_string();
  outcomes.report = ran.report;
  return outcomes;
}

class Ns3Scene : public testing::TestWithParam<bool> {};

TEST_P(Ns3Scene, a_static_scene_matches_plain_ns3_to_the_nanosecond) {
  const auto alone = plain(GetParam() ? "walls" : "open");
  const auto together = cosimulated(GetParam(), standing_trial());
  EXPECT_GT(alone.size(), 100U);
  EXPECT_EQ(together.arrivals, alone);
  const PacketCounts& counts = together.report.packets;
  EXPECT_EQ(counts.delivered, alone.size());
  EXPECT_EQ(counts.delivered + counts.all_dropped() + counts.in_flight, counts.sent);
  EXPECT_GT(counts.all_dropped(), 0U);
  EXPECT_EQ(counts.in_flight, 0U) << "every packet had time to arrive";
}
INSTANTIATE_TEST_SUITE_P(Ns3, Ns3Scene, testing::Bool(), [](const auto& scene) {
  return scene.param ? "walls_and_shadowing" : "open_field";
});

TEST(Ns3, window_length_and_skipping_change_no_outcome) {
  Trial trial = standing_trial();
  const auto reference = cosimulated(true, trial);
  trial.skip = false;
  EXPECT_EQ(cosimulated(true, trial).arrivals, reference.arrivals);
  trial.skip = true;
  trial.window = Duration::from_ms(50);
  EXPECT_EQ(cosimulated(true, trial).arrivals, reference.arrivals);
}

TEST(Ns3, a_packet_over_tcp_that_fills_many_segments_arrives_verbatim) {
  const auto network = ns3("transport tcp; rate_mbit 54");
  ASSERT_TRUE(network->init(2, 1).ok());
  ASSERT_TRUE(network->set_poses(std::vector<Pose>{{{0, 0, 1}, {}}, {{20, 0, 1}, {}}}).ok());
  std::vector<std::byte> bytes(293'797);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  const Buffer file = Buffer::adopt(std::move(bytes));
  ASSERT_TRUE(network->inject({1, 0, 1, {1'000'000}, file}).ok());
  ASSERT_TRUE(network->inject({2, 0, 1, {1'000'000}, {}}).ok()) << "an empty packet after it";
  ASSERT_TRUE(network->advance({2'000'000'000}).ok());
  std::vector<Outcome> outcomes;
  ASSERT_TRUE(network->poll(outcomes).ok());
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].fate, Fate::delivered);
  EXPECT_EQ(outcomes[0].bytes.text(), file.text());
  EXPECT_EQ(outcomes[1].id, 2U);
  EXPECT_TRUE(outcomes[1].bytes.empty());
}

TEST(Ns3, a_failed_connection_drops_its_packets_and_a_later_one_works) {
  const auto network = ns3("transport tcp");
  ASSERT_TRUE(network->init(2, 1).ok());
  const auto place = [&](double x) {
    ASSERT_TRUE(network->set_poses(std::vector<Pose>{{{0, 0, 1}, {}}, {{x, 0, 1}, {}}}).ok());
  };
  place(5000);
  ASSERT_TRUE(network->inject({1, 0, 1, {0}, Buffer::copy_of(std::vector<std::byte>(10))}).ok());
  ASSERT_TRUE(network->advance({600'000'000'000}).ok());
  std::vector<Outcome> outcomes;
  ASSERT_TRUE(network->poll(outcomes).ok());
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].reason, DropReason::retry_limit);
  place(10);
  const Packet second{2, 0, 1, {600'000'000'000}, Buffer::copy_of(std::vector<std::byte>(10))};
  ASSERT_TRUE(network->inject(second).ok());
  ASSERT_TRUE(network->advance({601'000'000'000}).ok());
  outcomes.clear();
  ASSERT_TRUE(network->poll(outcomes).ok());
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].fate, Fate::delivered);
}

TEST(Ns3, every_reason_of_a_loss_is_distinguished) {
  const auto network = ns3("queue_packets 2; box 40 -50 0 41 50 9 200");
  ASSERT_TRUE(network->init(3, 1).ok());
  const std::vector<Pose> poses{{{0, 0, 1}, {}}, {{10, 0, 1}, {}}, {{60, 0, 1}, {}}};
  ASSERT_TRUE(network->set_poses(poses).ok());
  const Buffer bytes = Buffer::copy_of(std::vector<std::byte>(1000));
  ASSERT_TRUE(network->inject({1, 0, 2, {0}, bytes}).ok());
  ASSERT_TRUE(network->inject({2, 0, kEveryone, {500'000'000}, bytes}).ok());
  for (PacketId id = 3; id < 10; ++id) {
    ASSERT_TRUE(network->inject({id, 1, 0, {1'000'000'000}, bytes}).ok());
  }
  ASSERT_TRUE(network->advance({2'000'000'000}).ok());
  std::vector<Outcome> outcomes;
  ASSERT_TRUE(network->poll(outcomes).ok());
  std::map<DropReason, std::uint32_t> copies;
  for (const Outcome& outcome : outcomes) copies[outcome.reason] += outcome.copies;
  EXPECT_EQ(copies[DropReason::out_of_range], 2U) << "one packet each behind the wall";
  EXPECT_EQ(copies[DropReason::queue_full], 5U)
      << "there is room for one packet on the air and one in the queue";
  EXPECT_EQ(copies[DropReason::none], 3U);
}

TEST(Ns3, wrong_options_are_refused_by_name) {
  for (const auto& [options, name] :
       {std::pair("rate_mbit 7", "rate_mbit"), std::pair("box 1 2 3", "box"),
        std::pair("transport pigeon", "transport"), std::pair("colour 3", "colour"),
        std::pair("cw_min 31; cw_max 15", "cw_min")}) {
    const auto refused = ns3(options)->init(2, 1);
    ASSERT_FALSE(refused.ok()) << options;
    EXPECT_EQ(refused.error().code, Code::invalid_config);
    EXPECT_NE(refused.error().message.find(name), std::string::npos) << refused.error().to_string();
  }
}

TEST(Ns3, options_survive_a_round_trip_through_text) {
  Ns3Options options = standing_options(true);
  options.transport = Transport::tcp;
  options.radio.retry_limit = 3;
  options.radio.noise_dbm = -91.3;
  const auto read = ns3_options(to_text(options));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(to_text(*read), to_text(options));
  EXPECT_EQ(read->boxes.size(), 2U);
  EXPECT_EQ(read->radio.retry_limit, 3U);
}

}  // namespace
}  // namespace hyphos::cosim
