// Named radios: error rates and airtimes against their sources, and the analytic radio over them.
#include <random>

#include "cosim/radio/radio.hpp"
#include "rig.hpp"

namespace hyphos::cosim {
namespace {

Radio radio_of(const char* kind, const char* rate = "") {
  Radio::Setup setup{kind, rate};
  setup.channel.frequency_hz = 0;
  return Radio::make(setup).or_throw();
}

/// The ratio in dB at which this share of detected frames is lost.
double ratio_for(const Radio& radio, std::uint32_t rate, std::size_t payload, double share) {
  double low = -40;
  double high = 60;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (radio.frame_error(rate, middle, payload) > share ? low : high) = middle;
  }
  return low;
}

TEST(CosimErrorRate, bits_follow_the_closed_forms) {
  const auto ratio = [](double db) { return std::pow(10, db / 10); };
  EXPECT_NEAR(raw_bit_error(Modulation::bpsk, ratio(4)), 1.25e-2, 1e-4);
  EXPECT_NEAR(raw_bit_error(Modulation::bpsk, ratio(9.6)), 9.7e-6, 3e-7);
  EXPECT_NEAR(raw_bit_error(Modulation::qpsk, ratio(7)),
              raw_bit_error(Modulation::bpsk, ratio(7) / 2), 1e-15);
  EXPECT_NEAR(raw_bit_error(Modulation::qam16, 100), 0.375 * std::erfc(std::sqrt(10.0)), 1e-15);
  EXPECT_NEAR(raw_bit_error(Modulation::qam64, 100), 7.0 / 24 * std::erfc(std::sqrt(100 / 42.0)),
              1e-12);
  // IEEE Std 802.15.4, equation E.1, at 0 dB.
  double sum = 0;
  for (int k = 2; k <= 16; ++k) {
    const double ways = std::tgamma(17) / std::tgamma(k + 1) / std::tgamma(17 - k);
    sum += std::pow(-1, k) * ways * std::exp(20 * (1.0 / k - 1));
  }
  EXPECT_NEAR(raw_bit_error(Modulation::oqpsk_dsss, 1), sum / 30, 1e-9);
  // D = √(4 p (1 - p)) = 0.2 at this p. Two terms of the union bound.
  const double p = (1 - std::sqrt(1 - 0.04)) / 2;
  const double bound = 0.5 * (36 * std::pow(0.2, 10) + 211 * std::pow(0.2, 12));
  EXPECT_GT(decoded_bit_error(Coding::half, p), bound);
  EXPECT_LT(decoded_bit_error(Coding::half, p), 1.2 * bound);
  EXPECT_EQ(decoded_bit_error(Coding::three_quarters, 0.5), 0.5);
  EXPECT_EQ(decoded_bit_error(Coding::none, 0.01), 0.01);
}

TEST(CosimErrorRate, a_preamble_is_found_around_minus_two_decibels) {
  EXPECT_LT(preamble_detection(std::pow(10, -0.6), 144), 1e-6);
  EXPECT_NEAR(preamble_detection(std::pow(10, -0.168), 144), 0.5, 0.03);
  EXPECT_GT(preamble_detection(std::pow(10, 0.2), 144), 0.999);
  EXPECT_EQ(preamble_detection(0, 144), 0);
  double last = 0;
  for (double db = -20; db < 30; db += 0.1) {
    const double now = preamble_detection(std::pow(10, db / 10), 144);
    EXPECT_GE(now, last - 1e-12) << db;
    last = now;
  }
}

TEST(CosimNamedRadio, losses_are_a_falling_curve_between_1_and_0) {
  for (const RadioKind* kind : known_radios()) {
    const Radio radio = radio_of(kind->name.data());
    for (std::uint32_t rate = 0; rate < kind->rates.size(); ++rate) {
      double last = 1;
      int between = 0;
      for (double db = -30; db < 45; db += 0.1) {
        const double now = radio.frame_error(rate, db, 200);
        ASSERT_GE(now, 0);
        ASSERT_LE(now, last + 1e-12) << kind->name << " " << kind->rates[rate].name << " " << db;
        ASSERT_LE(now, radio.frame_error(rate, db, 400) + 1e-12) << "longer frames fail more often";
        between += now > 0.02 && now < 0.98 ? 1 : 0;
        last = now;
      }
      EXPECT_GT(radio.frame_error(rate, -30, 200), 0.999) << kind->name << rate;
      EXPECT_LT(last, 1e-6) << kind->name << rate;
      EXPECT_GE(between, 5) << kind->name << rate;
    }
  }
}

TEST(CosimNamedRadio, wifi_g_needs_the_ratios_of_the_standard_less_its_margin) {
  // IEEE Std 802.11-2020, 17.3.10.2: 10 % of 1,000 bytes are lost at -82 to -65 dBm, with 10 dB of
  // noise figure and 5 dB of implementation loss over -101 dBm.
  const Radio radio = radio_of("802.11g");
  const std::array<double, 8> standard{4, 5, 7, 9, 12, 16, 20, 21};
  for (std::uint32_t rate = 0; rate < standard.size(); ++rate) {
    EXPECT_NEAR(ratio_for(radio, rate, 1000 - 64, 0.1), standard[rate], 2) << rate;
  }
}

TEST(CosimNamedRadio, lora_reaches_the_sensitivity_of_its_datasheet) {
  // SX1276 datasheet, table 13: ratios of -20 to -7.5 dB for SF 12 to 7.
  const Radio radio = radio_of("lora");
  const std::array<double, 6> sheet{-20, -17.5, -15, -12.5, -10, -7.5};
  for (std::uint32_t rate = 0; rate < sheet.size(); ++rate) {
    EXPECT_NEAR(ratio_for(radio, rate, 20, 0.1), sheet[rate], 2) << rate;
  }
}

TEST(CosimNamedRadio, airtimes_match_the_standards) {
  const RadioModel plain = RadioModel::make({.rate_mbit = 24}, nullptr, 1).or_throw();
  for (const std::size_t bytes : {0UL, 100UL, 1472UL, 1473UL, 9000UL}) {
    const Duration extensions = Duration::from_us(6) * (bytes > 2944 ? 7 : bytes > 1472 ? 2 : 1);
    const Duration gaps = Duration::from_us(6) * (bytes > 2944 ? 6 : bytes > 1472 ? 1 : 0);
    EXPECT_EQ(radio_of("802.11g").airtime(4, bytes), plain.airtime(bytes) + extensions - gaps)
        << bytes;
  }
  // 1,066 bytes: 22 + 8528 bits in symbols of 260, 312 and 1950 bits.
  EXPECT_EQ(radio_of("802.11n").airtime(7, 1000), Duration::from_us(36 + 6 + 4 * 33));
  EXPECT_EQ(radio_of("802.11ac").airtime(8, 1000), Duration::from_us(40 + 4 * 28));
  EXPECT_EQ(radio_of("802.11ax").airtime(11, 1000), Duration{43'200 + 5 * 13'600});
  // A frame of 127 bytes and its 6 bytes before: 32 µs each.
  EXPECT_EQ(radio_of("802.15.4").airtime(0, 105), Duration::from_us(133 * 32));
  // 10 bytes in LoRaWAN: 61.696 ms at SF 7, 1482.752 ms at SF 12.
  EXPECT_EQ(radio_of("lora").airtime(5, 10), Duration::from_us(61'696));
  EXPECT_EQ(radio_of("lora").airtime(0, 10), Duration::from_us(1'482'752));
}

TEST(CosimNamedRadio, rates_have_the_speed_of_their_symbols) {
  for (const RadioKind* kind : known_radios()) {
    for (const Rate& rate : kind->rates) {
      const Duration one = kind->airtime(*kind, rate, 1000);
      const Duration two = kind->airtime(*kind, rate, 11'000);
      EXPECT_NEAR(80'000 / static_cast<double>((two - one).ns) * 1e3, rate.mbit, 0.01 * rate.mbit)
          << kind->name << " " << rate.name;
    }
  }
}

// --- Over the analytic radio
// ----------------------------------------------------------------------

RadioOptions named(const char* kind, const char* rate = "") {
  RadioOptions options;
  options.kind = kind;
  options.rate = rate;
  options.host_jitter = {0};
  options.queue_packets = 10'000;
  return options;
}

struct Air {
  Air(const std::vector<Vec3>& places, const RadioOptions& options, std::uint64_t seed = 3)
      : radio(options, nullptr), nodes(static_cast<std::uint32_t>(places.size())) {
    radio.init(nodes, seed).or_throw();
    std::vector<Pose> poses;
    for (const Vec3& place : places) poses.push_back({place, {}});
    radio.set_poses(poses).or_throw();
  }
  void send(NodeId from, NodeId to, Time at, std::size_t size) {
    radio.inject({++sent, from, to, at, Buffer::adopt(std::vector<std::byte>(size))}).or_throw();
  }
  [[nodiscard]] double run(Time end) {
    radio.advance(end).or_throw();
    radio.poll(outcomes).or_throw();
    double lost = 0;
    for (const Outcome& outcome : outcomes) lost += outcome.fate == Fate::dropped ? 1 : 0;
    return lost / static_cast<double>(outcomes.size());
  }
  AnalyticRadio radio;
  std::uint32_t nodes;
  PacketId sent = 0;
  std::vector<Outcome> outcomes;
};

TEST(CosimNamedRadio, the_loss_over_distance_is_that_of_the_closed_form) {
  int between = 0;
  for (const char* rate : {"6", "24", "54"}) {
    const RadioOptions options = named("802.11g", rate);
    const RadioModel model = RadioModel::make(options, nullptr, 3).or_throw();
    for (double distance = 60; distance < 500; distance *= 1.06) {
      Air air({{0, 0, 1}, {distance, 0, 1}}, options);
      constexpr int kFrames = 1500;
      for (int i = 0; i < kFrames; ++i) air.send(0, kEveryone, {i * 3'000'000LL}, 300);
      const double lost = air.run({60'000'000'000});
      const auto number = static_cast<std::uint32_t>(rate[0] == '6' ? 0 : rate[0] == '2' ? 4 : 7);
      const double sinr = model.power_dbm(0, {0, 0, 1}, 1, {distance, 0, 1}) - model.noise_dbm();
      const double kept = model.detection(sinr) * (1 - model.frame_error(number, sinr, 300));
      const double deviation = std::sqrt(kept * (1 - kept) / kFrames);
      EXPECT_NEAR(lost, 1 - kept, 4.5 * deviation + 1e-6) << rate << " " << distance;
      between += lost > 0.03 && lost < 0.97 ? 1 : 0;
    }
  }
  EXPECT_GE(between, 3) << "the curve is no switch";
}

TEST(CosimNamedRadio, with_fading_losses_grow_over_a_hundred_metres) {
  RadioOptions options = named("802.11g", "24");
  options.channel.fading = "rayleigh";
  int between = 0;
  double last = 0;
  for (double distance = 20; distance < 300; distance += 20) {
    // A receiver every 7 m on an arc: places with independent fading.
    std::vector<Vec3> places{{0, 0, 1}};
    for (int i = 0; i < 60; ++i) {
      places.push_back({distance * std::cos(0.1 * i), distance * std::sin(0.1 * i), 1});
    }
    Air air(places, options);
    for (int i = 0; i < 40; ++i) air.send(0, kEveryone, {i * 300'000'000LL}, 300);
    const double lost = air.run({60'000'000'000});
    EXPECT_GE(lost, last - 0.08) << distance;
    between += lost > 0.03 && lost < 0.97 ? 1 : 0;
    last = lost;
  }
  EXPECT_GE(between, 5);
}

TEST(CosimNamedRadio, a_frame_that_is_too_weak_to_be_detected_interferes) {
  const RadioOptions options = named("802.11g", "54");
  const RadioModel model = RadioModel::make(options, nullptr, 1).or_throw();
  const auto distance = [&](double ratio_db) {
    return std::pow(10, (16 - 40.05 - model.noise_dbm() - ratio_db) / 30);
  };
  const double near = distance(ratio_for(radio_of("802.11g"), 7, 1400, 0.05));
  // At -4 dB, one preamble in 300 is detected. The noise rises by 1.5 dB.
  int collided = 0;
  Air air({{0, 0, 1}, {near, 0, 1}, {-distance(-4), 0, 1}}, options);
  for (int i = 0; i < 800; ++i) {
    air.send(2, kEveryone, {i * 5'000'000LL}, 1400);
    air.send(1, kEveryone, {i * 5'000'000LL + 30'000}, 1400);
  }
  (void)air.run({10'000'000'000});
  int clean = 0;
  for (const Outcome& one : air.outcomes) {
    if (one.to != 0 || one.id % 2 != 0) continue;
    collided += one.reason == DropReason::collision ? 1 : 0;
    clean += one.reason == DropReason::channel_error ? 1 : 0;
  }
  EXPECT_NEAR(clean, 40, 25) << "5 % without the other";
  EXPECT_GT(collided, 3 * clean);
}

TEST(CosimNamedRadio, minstrel_finds_a_fast_rate_near_and_a_safe_rate_far) {
  const auto took = [](const char* rate, double distance, double& lost) {
    RadioOptions options = named("802.11g", rate);
    if (*rate == '\0') options.rate_control = "minstrel";
    Air air({{0, 0, 1}, {distance, 0, 1}}, options);
    for (int i = 0; i < 6000; ++i) air.send(0, 1, {}, 1200);
    lost = air.run({60'000'000'000});
    return static_cast<double>(air.outcomes.back().time.ns) * 1e-9;
  };
  double lost = 0;
  const double fastest = took("54", 10, lost);
  EXPECT_LT(took("", 10, lost), 1.25 * fastest) << "near: within a quarter of the best rate";
  EXPECT_LT(lost, 0.01);
  double hopeless = 0;
  (void)took("54", 130, hopeless);
  EXPECT_GT(hopeless, 0.9);
  const double safe = took("6", 130, lost);
  EXPECT_LT(took("", 130, lost), 1.1 * safe);
  EXPECT_LT(lost, 0.02) << "far: the rate falls";
}

TEST(CosimNamedRadio, aloha_collides_where_carrier_sense_does_not) {
  const auto collisions = [](const char* kind, std::int64_t apart_ns) {
    Air air({{0, 0, 1}, {30, 0, 1}, {15, 20, 1}}, named(kind));
    for (int i = 0; i < 100; ++i) {
      air.send(0, kEveryone, {i * 4'000'000'000LL}, 20);
      air.send(1, kEveryone, {i * 4'000'000'000LL + apart_ns}, 20);
    }
    (void)air.run({500'000'000'000});
    int collided = 0;
    for (const Outcome& one : air.outcomes) collided += one.reason == DropReason::collision ? 1 : 0;
    return collided;
  };
  EXPECT_GT(collisions("lora", 100'000'000), 150);
  EXPECT_EQ(collisions("802.15.4", 1'500'000), 0);
}

TEST(CosimNamedRadio, a_saved_radio_with_fading_and_minstrel_continues_identically) {
  RadioOptions options = named("802.11n");
  options.rate_control = "minstrel";
  options.shadowing_db = 4;
  options.channel.fading = "rician";
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> place(0, 160);
  std::vector<Vec3> places(8);
  for (Vec3& one : places) one = {place(random), place(random), 1};
  const auto feed = [](AnalyticRadio& radio, Time begin, Time end) {
    for (PacketId id = 1; id <= 900; ++id) {
      const Time stamp{static_cast<std::int64_t>(id) * 500'000};
      if (stamp < begin || stamp >= end) continue;
      const auto from = static_cast<NodeId>(id * 7 % 8);
      const NodeId to = id % 4 == 0 ? kEveryone : (from + 1 + static_cast<NodeId>(id % 5)) % 8;
      EXPECT_TRUE(
          radio.inject({id, from, to, stamp, Buffer::adopt(std::vector<std::byte>(400))}).ok());
    }
    EXPECT_TRUE(radio.advance(end).ok());
    std::vector<Outcome> outcomes;
    EXPECT_TRUE(radio.poll(outcomes).ok());
    Trace trace;
    for (const Outcome& outcome : outcomes) trace.outcome(outcome, outcome.time);
    return std::string(trace.text());
  };
  for (std::int64_t ms = 130; ms < 400; ms += 37) {
    Air one(places, options);
    (void)feed(one.radio, {}, {ms * 1'000'000LL});
    const auto state = one.radio.save().or_throw();
    AnalyticRadio other(options, nullptr);
    ASSERT_TRUE(other.init(8, 3).ok());
    ASSERT_TRUE(other.restore(state).ok());
    const std::string rest = feed(one.radio, {ms * 1'000'000LL}, {600'000'000});
    EXPECT_EQ(feed(other, {ms * 1'000'000LL}, {600'000'000}), rest) << ms;
    EXPECT_NE(rest.find("deliver"), std::string::npos);
  }
}

TEST(CosimNamedRadio, wrong_options_are_refused_with_the_right_ones) {
  const auto refused = [](auto change) {
    Radio::Setup setup;
    change(setup);
    const auto made = Radio::make(setup);
    return made.ok() ? std::string() : made.error().where + ": " + made.error().message;
  };
  EXPECT_EQ(
      refused([](Radio::Setup& s) { s.kind = "wimax"; }),
      "kind: 'wimax' is not one of: 802.11g, 802.11n, 802.11ac, 802.11ax, 802.15.4, lora, cell");
  EXPECT_EQ(refused([](Radio::Setup& s) { s.rate = "11"; }),
            "rate: the rates of 802.11g are: 6, 9, 12, 18, 24, 36, 48, 54, found '11'");
  EXPECT_EQ(refused([](Radio::Setup& s) { s.rate_control = "arf"; }),
            "rate_control: 'arf' is not one of: fixed, minstrel, ideal");
  EXPECT_NE(refused([](Radio::Setup& s) {
              s.kind = "lora";
              s.rate_control = "minstrel";
            }).find("no acknowledgements"),
            std::string::npos);
}

}  // namespace
}  // namespace hyphos::cosim
