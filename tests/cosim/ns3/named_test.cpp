// Named radios, ns-3's own channel models and jammers in ns-3.
#include <gtest/gtest.h>

#include <map>

#include "cosim/remote/remote.hpp"
#include "tests/cosim/ns3/agreement.hpp"

namespace hyphos::cosim {
namespace {

std::unique_ptr<RemoteNetwork> ns3(const Ns3Options& options) {
  auto worker =
      Worker::start({}, {COSIM_WORKER, "--adapter", COSIM_NS3, "--options", to_text(options)});
  return std::make_unique<RemoteNetwork>(std::move(worker).or_throw());
}

Ns3Options named(const std::string& kind, const std::string& control = "fixed") {
  Ns3Options options;
  options.radio.kind = kind;
  options.radio.rate_control = control;
  return options;
}

struct Sums {
  int delivered = 0;
  std::map<DropReason, int> lost;
  std::string lines;
};

/// Sends frames from 0 to 1 and to everyone, every 5 ms, over windows of this length.
Sums traffic(Network& network, const std::vector<Pose>& poses, int packets,
             Duration window = Duration::from_ms(1000), std::uint64_t seed = 3) {
  network.init(static_cast<std::uint32_t>(poses.size()), seed).or_throw();
  network.set_poses(poses).or_throw();
  for (int i = 1; i <= packets; ++i) {
    const Buffer bytes = Buffer::adopt(std::vector<std::byte>(300));
    const NodeId to = i % 2 == 0 ? 1 : kEveryone;
    network.inject({static_cast<PacketId>(i), 0, to, {i * 5'000'000LL}, bytes}).or_throw();
  }
  std::vector<Outcome> outcomes;
  const Time end{(packets + 400) * 5'000'000LL};
  for (Time now{}; now < end;) {
    now = std::min(end, now + window);
    network.advance(now).or_throw();
    network.poll(outcomes).or_throw();
  }
  Sums sums;
  std::ranges::sort(outcomes, {}, [](const Outcome& one) { return std::pair(one.id, one.to); });
  for (const Outcome& one : outcomes) {
    if (one.fate == Fate::delivered) {
      ++sums.delivered;
    } else {
      sums.lost[one.reason] += static_cast<int>(one.copies);
    }
    sums.lines += std::to_string(one.id) + " " + std::to_string(one.to) + " " +
                  std::to_string(one.time.ns) + "\n";
  }
  return sums;
}

std::vector<Pose> two(double distance) { return {{{0, 0, 1}, {}}, {{distance, 0, 1}, {}}}; }

TEST(Ns3Named, every_radio_of_802_11_delivers_near_and_nothing_far) {
  for (const char* kind : {"802.11g", "802.11n", "802.11ac", "802.11ax"}) {
    for (const char* control : {"fixed", "minstrel", "ideal"}) {
      const Sums near = traffic(*ns3(named(kind, control)), two(8), 100);
      EXPECT_GE(near.delivered, 98) << kind << control;
      const Sums far = traffic(*ns3(named(kind, control)), two(4000), 20);
      EXPECT_EQ(far.delivered, 0) << kind << control;
      EXPECT_EQ(far.lost.at(DropReason::out_of_range), 20) << kind << control;
    }
  }
}

TEST(Ns3Named, lr_wpan_divides_packets_and_names_its_losses) {
  for (const double distance : {20.0, 5000.0}) {
    const auto network = ns3(named("802.15.4"));
    network->init(3, 1).or_throw();
    network
        ->set_poses(
            std::vector<Pose>{{{0, 0, 1}, {}}, {{distance, 0, 1}, {}}, {{0, distance, 1}, {}}})
        .or_throw();
    std::vector<std::byte> bytes(700);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
    const Buffer long_one = Buffer::adopt(std::move(bytes));
    for (PacketId id = 1; id <= 20; ++id) {
      const NodeId to = id % 2 == 0 ? 1 : kEveryone;
      network->inject({id, 0, to, {static_cast<std::int64_t>(id) * 200'000'000}, long_one})
          .or_throw();
    }
    network->advance({6'000'000'000}).or_throw();
    std::vector<Outcome> outcomes;
    network->poll(outcomes).or_throw();
    ASSERT_EQ(outcomes.size(), 30U) << distance;
    for (const Outcome& one : outcomes) {
      if (distance > 1000) {
        EXPECT_EQ(one.reason, DropReason::out_of_range);
        continue;
      }
      ASSERT_EQ(one.fate, Fate::delivered);
      EXPECT_EQ(one.bytes.text(), long_one.text());
    }
  }
}

TEST(Ns3Named, a_hill_costs_its_loss_as_in_the_analytic_radio) {
  for (const char* kind : {"802.11g", "802.15.4"}) {
    for (const double height : {0.0, 12.0}) {
      Ns3Options options = named(kind);
      options.models = Models::hyphos;
      options.terrain.emplace();
      options.terrain->size_x = options.terrain->size_y = 200;
      options.terrain->hills.push_back({0, 0, 8, height});
      options.terrain->loss_db = 60;
      const Scene scene(
          {}, std::make_shared<const Terrain>(Terrain::make(*options.terrain).or_throw()));
      AnalyticRadio ours(options.radio, &scene);
      const std::vector<Pose> across{{{-30, 0, 1}, {}}, {{30, 0, 1}, {}}};
      const Sums mine = traffic(ours, across, 100);
      const Sums theirs = traffic(*ns3(options), across, 100);
      EXPECT_EQ(mine.delivered, theirs.delivered) << kind << height;
      EXPECT_EQ(theirs.delivered, height == 0 ? 100 : 0) << kind;
    }
  }
}

TEST(Ns3Named, windows_change_no_outcome_with_fading_of_ns3_and_jammers) {
  for (const char* fading : {"rayleigh", "nakagami", "rician"}) {
    Ns3Options options = named("802.11g");
    options.radio.rate = "24";
    options.radio.channel.fading = fading;
    options.radio.jammers.push_back({.place = {60, 40, 1}, .power_dbm = 10, .duty = 0.3});
    const Sums one = traffic(*ns3(options), two(75), 200);
    const Sums other = traffic(*ns3(options), two(75), 200, Duration::from_us(700));
    EXPECT_EQ(one.lines, other.lines) << fading;
    EXPECT_GT(one.delivered, 20) << fading;
    EXPECT_GT(one.lost.size(), 0U) << fading;
    const Sums reseeded = traffic(*ns3(options), two(75), 200, Duration::from_ms(1000), 4);
    EXPECT_NE(one.lines, reseeded.lines) << fading;
  }
}

TEST(Ns3Named, the_fading_of_ns3_loses_as_much_as_ours) {
  for (const char* fading : {"rayleigh", "nakagami"}) {
    int lost[2] = {0, 0};
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      for (const Models models : {Models::ns3, Models::hyphos}) {
        Ns3Options options = named("802.11g");
        options.models = models;
        options.radio.rate = "24";
        options.radio.channel.fading = fading;
        options.radio.channel.scatterer_speed = 30;
        const Sums sums = traffic(*ns3(options), two(75), 600, Duration::from_ms(1000), seed);
        lost[models == Models::ns3 ? 0 : 1] += 600 - sums.delivered;
      }
    }
    EXPECT_NEAR(lost[0], lost[1], 0.05 * 2400) << fading;
    EXPECT_GT(lost[0], 100) << fading;
  }
}

TEST(Ns3Named, a_jammer_at_the_receiver_costs_the_share_of_its_duty) {
  for (const double duty : {0.0, 0.4, 1.0}) {
    Ns3Options options = named("802.11g");
    options.radio.rate = "24";
    options.radio.host_jitter = {};
    options.radio.jammers.push_back(
        {.place = {60, 5, 1}, .power_dbm = 0, .duty = duty, .period = Duration::from_us(7300)});
    AnalyticRadio ours(options.radio, nullptr);
    const Sums theirs = traffic(*ns3(options), two(50), 1000);
    const Sums mine = traffic(ours, two(50), 1000);
    EXPECT_NEAR(mine.delivered, theirs.delivered, 0.05 * 1000) << duty;
    if (duty == 0) {
      EXPECT_EQ(theirs.delivered, 1000);
    }
    if (duty == 1) {
      EXPECT_EQ(theirs.delivered, 0);
    }
  }
}

TEST(Ns3Named, a_jammer_at_the_sender_keeps_the_channel_busy) {
  for (const double duty : {0.5, 1.0}) {
    Ns3Options options = named("802.11g");
    options.radio.rate = "24";
    options.radio.queue_packets = 10;
    options.radio.jammers.push_back(
        {.place = {-3, 0, 1}, .power_dbm = 10, .duty = duty, .period = Duration::from_ms(80)});
    AnalyticRadio ours(options.radio, nullptr);
    const Sums theirs = traffic(*ns3(options), two(12), 1000);
    const Sums mine = traffic(ours, two(12), 1000);
    EXPECT_NEAR(mine.delivered, theirs.delivered, 0.05 * 1000) << duty;
    if (duty == 1) {
      EXPECT_EQ(theirs.delivered, 0);
    }
    if (duty == 0.5) {
      EXPECT_GT(theirs.delivered, 900) << "frames wait for the end of a burst";
    }
  }
}

TEST(Ns3Named, options_survive_a_round_trip_through_text) {
  Ns3Options options = named("802.11ax", "minstrel");
  options.models = Models::hyphos;
  options.radio.shadowing_db = 4;
  options.radio.channel.path_loss = "air_to_ground";
  options.radio.channel.environment = "rural";
  options.radio.channel.fading = "nakagami";
  options.radio.channel.m_los = 2.5;
  options.radio.channel.knife_edge = true;
  options.radio.antennas = {{.height_m = 1, .gain_dbi = 2, .pattern = Pattern::dipole}, {}};
  options.radio.jammers = {{.robot = 1, .duty = 0.25, .low_hz = 2.4e9, .high_hz = 2.48e9},
                           {.place = {1, 2, 3}, .power_dbm = 30, .period = Duration::from_ms(3)}};
  const auto read = ns3_options(to_text(options));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(to_text(*read), to_text(options));
  EXPECT_EQ(read->radio.jammers.size(), 2U);
  EXPECT_EQ(read->radio.jammers[0].robot, 1U);
  EXPECT_EQ(read->radio.antennas[0].pattern, Pattern::dipole);
  EXPECT_TRUE(read->radio.channel.knife_edge);
}

TEST(Ns3Named, wrong_options_are_refused_by_name) {
  for (const auto& [text, name] :
       {std::pair("kind 802.11h", "kind"), std::pair("kind lora", "lora"),
        std::pair("models best", "models"), std::pair("kind 802.11g; rate 7", "rate"),
        std::pair("jammer 1 2", "jammer"), std::pair("antenna 1", "antenna"),
        std::pair("kind 802.15.4; transport tcp", "tcp"),
        std::pair("kind 802.11g; fading fog", "fading")}) {
    auto worker = Worker::start({}, {COSIM_WORKER, "--adapter", COSIM_NS3, "--options", text});
    const auto refused = RemoteNetwork(std::move(worker).or_throw()).init(2, 1);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_NE(refused.error().message.find(name), std::string::npos) << refused.error().to_string();
  }
}

}  // namespace
}  // namespace hyphos::cosim
