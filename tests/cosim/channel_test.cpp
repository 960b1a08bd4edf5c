// Each part of a channel against its formula, and the properties of a whole channel.
#include "cosim/radio/channel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "cosim/radio/obstacles.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kFrequency = 2.437e9;
constexpr double kWavelength = kSpeedOfLight / kFrequency;
constexpr std::uint32_t kLinks = 20'000;

Link link_at(std::uint32_t number, const Vec3& a, const Vec3& b) {
  return {{2 * number, a}, {2 * number + 1, b}};
}

double bessel(double x) { return std::cyl_bessel_j(0, std::abs(x)); }

/// The mean over many links of the field at one place times its conjugate at another.
double correlation(const Waves& waves, const Vec3& low, const Vec3& high, Duration later) {
  double sum = 0;
  const Vec3 a{3, 4, 1};
  const Vec3 b{80, -20, 2};
  for (std::uint32_t i = 0; i < kLinks; ++i) {
    const auto here = waves.at(link_at(i, a, b), {1'000'000});
    const auto there = waves.at(link_at(i, a + low, b + high), Time{1'000'000} + later);
    sum += (here * std::conj(there)).real();
  }
  return sum / kLinks;
}

TEST(CosimWaves, the_fast_cosine_is_a_cosine) {
  double worst = 0;
  for (int i = -40'000; i <= 40'000; ++i) {
    const double x = i * 1.37e-4;
    worst = std::max(worst, std::abs(cos_turns(x) - std::cos(2 * std::numbers::pi * x)));
  }
  EXPECT_LT(worst, 4e-6);
  EXPECT_NEAR(cos_turns(1e9 + 0.25), 0, 1e-6);
}

TEST(CosimWaves, clarkes_field_has_power_1_and_the_correlation_of_jakes) {
  const Waves waves(5, 1, clarke_waves(1 / kWavelength, 8, 16));
  EXPECT_NEAR(correlation(waves, {}, {}, {}), 1, 0.03);
  for (const double metres : {0.01, 0.03, 0.05, 0.08, 0.12, 0.2}) {
    const double one = bessel(2 * std::numbers::pi * metres / kWavelength);
    EXPECT_NEAR(correlation(waves, {metres, 0, 0}, {}, {}), one, 0.03) << metres;
    EXPECT_NEAR(correlation(waves, {}, {0, metres, 0}, {}), one, 0.03) << metres;
    EXPECT_NEAR(correlation(waves, {metres, 0, 0}, {metres, 0, 0}, {}), one * one, 0.03) << metres;
  }
  for (const std::int64_t ms : {5, 20, 48, 90}) {
    const double turns = 8 * static_cast<double>(ms) * 1e-3;
    EXPECT_NEAR(correlation(waves, {}, {}, Duration::from_ms(ms)),
                bessel(2 * std::numbers::pi * turns), 0.03)
        << ms;
  }
}

TEST(CosimWaves, the_doppler_shift_is_the_speed_over_the_wavelength) {
  // A robot at 12 m/s for 2 ms: the correlation of Jakes' spectrum with 12 / λ Hz.
  const Waves waves(6, 1, clarke_waves(1 / kWavelength, 0, 16));
  const double doppler = 12 / kWavelength;
  EXPECT_NEAR(correlation(waves, {12 * 2e-3, 0, 0}, {}, {}),
              bessel(2 * std::numbers::pi * doppler * 2e-3), 0.03);
}

TEST(CosimWaves, wide_and_plain_sums_are_equal_bit_by_bit) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> place(-3000, 3000);
  for (const auto& numbers : {clarke_waves(1 / kWavelength, 3, 16), gudmundson_waves(10, 32)}) {
    const Waves waves(7, 3, numbers);
    Waves plain = waves;
    plain.use_plain_sums();
    for (std::uint32_t i = 0; i < 5000; ++i) {
      const Link link =
          link_at(i, {place(random), place(random), 1}, {place(random), place(random), 2});
      const Time time{static_cast<std::int64_t>(random() >> 20)};
      ASSERT_EQ(waves.at(link, time), plain.at(link, time));
      ASSERT_EQ(waves.real_at(link, time), plain.real_at(link, time));
    }
  }
}

TEST(CosimShadowing, deviation_and_correlation_are_those_that_were_asked) {
  for (const double distance : {5.0, 40.0}) {
    const Shadowing shadowing(5, 6, distance);
    const auto covariance = [&](double low, double high) {
      double sum = 0;
      for (std::uint32_t i = 0; i < kLinks; ++i) {
        sum += shadowing.loss_db(link_at(i, {1, 2, 0}, {50, 0, 0})) *
               shadowing.loss_db(link_at(i, {1 + low, 2, 0}, {50, high, 0}));
      }
      return sum / kLinks / 36;
    };
    EXPECT_NEAR(covariance(0, 0), 0.986, 0.04) << "cut at three deviations";
    for (const double share : {0.25, 0.5, 1.0, 2.0, 4.0}) {
      EXPECT_NEAR(covariance(share * distance, 0), std::exp(-share), 0.04) << share;
      EXPECT_NEAR(covariance(share * distance, share * distance), std::exp(-2 * share), 0.06);
    }
  }
  const Shadowing still(3, 6, 0);
  EXPECT_EQ(still.loss_db(link_at(7, {}, {9, 9, 9})), still.loss_db(link_at(7, {500, 0, 0}, {})));
}

TEST(CosimShadowing, a_line_of_sight_has_the_probability_that_was_asked) {
  const Sight sight(4, 50);
  for (const double wanted : {0.02, 0.3, 0.8, 0.99}) {
    double clear = 0;
    for (std::uint32_t i = 0; i < kLinks; ++i) {
      clear += sight.clear(link_at(i, {static_cast<double>(i), 0, 0}, {0, 9, 0}), wanted) ? 1 : 0;
    }
    EXPECT_NEAR(clear / kLinks, wanted, 0.015) << wanted;
  }
  EXPECT_TRUE(sight.clear(link_at(1, {}, {1, 0, 0}), 1));
}

/// Mean, variance and the share below 1/10 of the gains of a model.
struct Moments {
  double mean = 0;
  double variance = 0;
  double deep = 0;
};
Moments moments(const Fading& fading, bool line_of_sight) {
  double sum = 0;
  double squares = 0;
  double deep = 0;
  constexpr int kEach = 4;
  for (std::uint32_t i = 0; i < kLinks; ++i) {
    for (int k = 0; k < kEach; ++k) {
      const double gain = fading.gain(link_at(i, {k * 7.3, 0, 0}, {40, k * 3.1, 0}),
                                      {k * 900'000'000LL}, line_of_sight);
      sum += gain;
      squares += gain * gain;
      deep += gain < 0.1 ? 1 : 0;
    }
  }
  const double mean = sum / kLinks / kEach;
  return {mean, squares / kLinks / kEach - mean * mean, deep / kLinks / kEach};
}

TEST(CosimFading, every_model_has_mean_power_1_and_its_own_spread) {
  for (const KnownFading& known : known_fadings()) {
    const auto fading = known.make({.k_los_db = 6, .k_nlos_db = -3, .m_los = 3, .m_nlos = 0.7});
    for (const bool clear : {true, false}) {
      const Moments found = moments(*fading, clear);
      EXPECT_NEAR(found.mean, 1, 0.015) << known.name << clear;
      double spread = 0;
      if (known.name == "rayleigh") spread = 1;
      if (known.name == "rician") {
        const double k = std::pow(10, clear ? 0.6 : -0.3);
        spread = (1 + 2 * k) / ((1 + k) * (1 + k));
      }
      if (known.name == "nakagami") spread = 1 / (clear ? 3 : 0.7);
      // A sum of 16 waves has 1/16 less than a normal field.
      EXPECT_NEAR(found.variance, spread, 0.09 * spread + 1e-9) << known.name << clear;
      if (known.name == "rayleigh") {
        EXPECT_NEAR(found.deep, 1 - std::exp(-0.1), 0.006);
      }
    }
  }
}

TEST(CosimFading, no_gain_exceeds_the_largest_one_of_its_model) {
  FadingOptions options;
  options.k_los_db = 9;
  options.k_nlos_db = 0;
  for (const KnownFading& known : known_fadings()) {
    const auto fading = known.make(options);
    for (const bool clear : {false, true}) {
      double most = 0;
      for (std::uint32_t i = 0; i < 10 * kLinks; ++i) {
        most = std::max(most, fading->gain(link_at(i, {}, {40, 0, 0}), {i * 1'000'000LL}, clear));
      }
      EXPECT_LE(10 * std::log10(most), fading->most_db(clear)) << known.name;
      EXPECT_GT(10 * std::log10(most), fading->most_db(clear) - 7) << known.name << ": loose";
    }
  }
}

TEST(CosimFading, the_power_of_one_link_along_a_way_is_1) {
  const auto fading = find_fading("rayleigh")->make({.seed = 3});
  for (std::uint32_t link = 0; link < 5; ++link) {
    double sum = 0;
    constexpr int kSteps = 40'000;
    for (int i = 0; i < kSteps; ++i) {
      sum += fading->gain(link_at(link, {i * 0.05, i * 0.02, 0}, {100, 0, 0}), {}, false);
    }
    EXPECT_NEAR(sum / kSteps, 1, 0.06) << link;
  }
}

TEST(CosimFading, nakagami_with_m_1_is_rayleigh) {
  const auto one = find_fading("nakagami")->make({.m_los = 1});
  const auto other = find_fading("rayleigh")->make({});
  for (std::uint32_t i = 0; i < 500; ++i) {
    const Link link = link_at(i, {}, {30, 1, 0});
    EXPECT_NEAR(one->gain(link, {}, true), other->gain(link, {}, true),
                0.01 * other->gain(link, {}, true));
  }
}

std::unique_ptr<PathLoss> path_loss(const char* name, const char* environment = "") {
  return find_path_loss(name)->make({.frequency_hz = kFrequency, .environment = environment});
}
double loss(const PathLoss& model, double distance, double low, double high, bool clear = true) {
  return model.loss_db({{0, {0, 0, low}}, {1, {distance, 0, high}}}, clear);
}

TEST(CosimPathLoss, the_ground_models_follow_their_formulas) {
  EXPECT_NEAR(loss(*path_loss("log_distance"), 100, 1, 1), 40.05 + 60, 1e-9);
  EXPECT_NEAR(loss(*path_loss("free_space"), 100, 1, 1),
              20 * std::log10(4 * std::numbers::pi * 100 / kWavelength), 1e-9);
  const auto two_ray = path_loss("two_ray");
  // Beyond 4π h1 h2 / λ = 204 m: the fourth power of the distance.
  EXPECT_NEAR(loss(*two_ray, 1000, 1, 2), 120 - 20 * std::log10(2.0), 1e-3);
  EXPECT_NEAR(loss(*two_ray, 1000, 1, 1) - loss(*two_ray, 500, 1, 1), 40 * std::log10(2.0), 1e-3);
  EXPECT_NEAR(loss(*two_ray, 50, 2, 2), loss(*path_loss("free_space"), 50, 2, 2), 1e-9);
}

TEST(CosimPathLoss, air_to_ground_has_the_numbers_of_3gpp) {
  const double frequency = 20 * std::log10(2.437);
  const double distance = std::hypot(300, 49.0);
  const double log = std::log10(distance);
  EXPECT_NEAR(loss(*path_loss("air_to_ground", "urban_macro"), 300, 1, 50),
              28 + 22 * log + frequency, 0.01);
  EXPECT_NEAR(loss(*path_loss("air_to_ground", "urban_macro"), 300, 1, 50, false),
              -17.5 + (46 - 7 * std::log10(50.0)) * log +
                  20 * std::log10(40 * std::numbers::pi * 2.437 / 3),
              0.01);
  EXPECT_NEAR(loss(*path_loss("air_to_ground", "urban_micro"), 300, 1, 50),
              30.9 + (22.25 - 0.5 * std::log10(50.0)) * log + frequency, 0.01);
  EXPECT_NEAR(loss(*path_loss("air_to_ground", "urban_micro"), 300, 1, 50, false),
              32.4 + (43.2 - 7.6 * std::log10(50.0)) * log + frequency, 0.01);
  EXPECT_NEAR(
      loss(*path_loss("air_to_ground", "rural"), 300, 1, 50),
      (23.9 - 1.8 * std::log10(50.0)) * log + 20 * std::log10(40 * std::numbers::pi * 2.437 / 3),
      0.02);
  const auto sight = [](const char* place, double ground, double height) {
    return path_loss("air_to_ground", place)
        ->los_probability({{0, {0, 0, 1}}, {1, {ground, 0, height}}});
  };
  EXPECT_EQ(sight("urban_macro", 900, 150), 1);
  EXPECT_EQ(sight("rural", 5000, 60), 1);
  const double sure = 460 * std::log10(80.0) - 700;  // d1 at 80 m
  EXPECT_EQ(sight("urban_macro", sure, 80), 1);
  EXPECT_NEAR(sight("urban_macro", 2 * sure, 80),
              0.5 + 0.5 * std::exp(-2 * sure / (4300 * std::log10(80.0) - 3800)), 1e-9);
  EXPECT_NEAR(sight("urban_micro", 100, 1.5), 0.18 + std::exp(-100.0 / 36) * 0.82, 1e-9);
}

TEST(CosimPathLoss, elevation_makes_a_line_of_sight_likely) {
  const auto model = path_loss("elevation", "urban");
  const auto at = [&](double height) {
    return model->los_probability({{0, {0, 0, 0}}, {1, {100, 0, height}}});
  };
  const double degrees = std::atan2(50, 100) * 180 / std::numbers::pi;
  EXPECT_NEAR(at(50), 1 / (1 + 9.61 * std::exp(-0.16 * (degrees - 9.61))), 1e-12);
  EXPECT_LT(at(5), 0.1);
  EXPECT_GT(at(300), 0.99);
  EXPECT_NEAR(loss(*model, 100, 0, 0, false) - loss(*model, 100, 0, 0), 19, 1e-9);
}

TEST(CosimPathLoss, no_model_gains_with_distance) {
  for (const KnownPathLoss& known : known_path_losses()) {
    std::vector<std::string_view> places(known.environments.begin(), known.environments.end());
    if (places.empty()) places.emplace_back("");
    for (const std::string_view place : places) {
      const auto model = path_loss(known.name.data(), place.data());
      for (const double high : {0.5, 2.0, 15.0, 30.0, 80.0, 250.0}) {
        for (const bool clear : {true, false}) {
          double last = 0;
          double sight = 1;
          for (double distance = 1; distance < 3000; distance *= 1.07) {
            const double now = loss(*model, distance, 0.4, high, clear);
            EXPECT_GE(now, last - 1e-9) << known.name << place << high << " " << distance;
            last = now;
            const Link link{{0, {0, 0, 0.4}}, {1, {distance, 0, high}}};
            EXPECT_GE(now, model->least_db(link.distance()) - 1e-9) << known.name << place;
            const double probability = model->los_probability(link);
            EXPECT_GE(probability, 0);
            EXPECT_LE(probability, sight + 1e-12) << known.name << place << high << " " << distance;
            sight = probability;
          }
        }
      }
    }
  }
}

TEST(CosimObstacles, a_knife_edge_has_the_loss_of_itu_p526) {
  EXPECT_NEAR(knife_edge_db(0), 6.03, 0.01);
  EXPECT_NEAR(knife_edge_db(1), 13.93, 0.01);
  EXPECT_NEAR(knife_edge_db(2.4), 20.54, 0.05);
  EXPECT_EQ(knife_edge_db(-0.78), 0);
  EXPECT_NEAR(knife_edge_db(-0.7799), 0, 0.02) << "continuous";
}

TEST(CosimObstacles, a_wall_is_passed_over_its_top_or_its_side) {
  constexpr double kLambda = 0.125;
  const Vec3 a{0, 0, 1};
  const Vec3 b{100, 0, 1};
  // 2 m over the path, 50 m from both ends: v = 2 √(2 · 100 / (0.125 · 2500)) = 1.6.
  const Box wide{{50, -1000, 0}, {50, 1000, 3}, 100};
  EXPECT_NEAR(diffraction_db(wide, a, b, kLambda), knife_edge_db(1.6), 0.01);
  const Box aside{{50, -1000, 0}, {50, 1, 30}, 100};
  EXPECT_NEAR(diffraction_db(aside, a, b, kLambda), knife_edge_db(0.8), 0.01);
  const Box thin{{50, -1000, 0}, {50, 1000, 3}, 4};
  EXPECT_EQ(diffraction_db(thin, a, b, kLambda), 4) << "through it is easier";
  const Box bridge{{50, -1000, 1.5}, {50, 1000, 30}, 100};
  EXPECT_NEAR(diffraction_db(bridge, a, b, kLambda), knife_edge_db(-0.4), 0.01);
  const Box beside{{20, 8, 0}, {80, 9, 10}, 100};
  EXPECT_EQ(diffraction_db(beside, a, b, kLambda), 0);
  const Box along{{20, 0.5, 0}, {80, 9, 10}, 100};
  EXPECT_NEAR(diffraction_db(along, a, b, kLambda), knife_edge_db(-0.4), 0.01) << "nearest midway";
  const Box behind{{120, -10, 0}, {130, 10, 10}, 100};
  EXPECT_EQ(diffraction_db(behind, a, b, kLambda), 0);
}

TEST(CosimObstacles, deeper_shadow_costs_more_and_never_more_than_the_box) {
  const Box hill{{40, -200, 0}, {60, 200, 12}, 60};
  double last = 100;
  for (double height = 1; height < 40; height += 0.5) {
    const double now = diffraction_db(hill, {0, 0, 1}, {100, 0, height}, 0.125);
    EXPECT_LE(now, last + 1e-9) << height;
    EXPECT_LE(now, 60);
    last = now;
  }
  EXPECT_EQ(last, 0);
}

TEST(CosimAntenna, a_dipole_has_its_gain_at_the_side_and_tilts_with_the_robot) {
  const Antenna dipole{.height_m = 0.5, .gain_dbi = 1, .pattern = Pattern::dipole};
  Pose robot{{0, 0, 0}, {}};
  EXPECT_NEAR(dipole.towards(robot, {10, 0, 0.5}), 1 + 2.15, 0.01);
  EXPECT_NEAR(dipole.towards(robot, {0, 0, 30}), 1 - 20, 0.01);
  EXPECT_EQ(dipole.place(robot), (Vec3{0, 0, 0.5}));
  const double half = std::sqrt(0.5);
  robot.orientation = {0, half, 0, half};  // z now points along x
  EXPECT_NEAR(dipole.place(robot).x, 0.5, 1e-12);
  EXPECT_NEAR(dipole.towards(robot, {30, 0, 0}), 1 - 20, 0.01);
  EXPECT_NEAR(dipole.towards(robot, {0.5, 0, 30}), 1 + 2.15, 0.01);
}

// --- Whole channels
// -------------------------------------------------------------------------------

std::vector<Channel::Setup> setups(const Scene& scene) {
  std::vector<Channel::Setup> all;
  for (const KnownPathLoss& path : known_path_losses()) {
    for (const KnownFading& fading : known_fadings()) {
      Channel::Setup setup;
      setup.options.path_loss = path.name;
      setup.options.fading = fading.name;
      setup.options.knife_edge = all.size() % 2 == 0;
      setup.shadowing_db = 5;
      setup.antennas = {{}, {0.5, 2, Pattern::dipole, true}, {1.5, -1, Pattern::isotropic, true}};
      setup.scene = &scene;
      setup.seed = all.size() + 1;
      all.push_back(std::move(setup));
    }
  }
  return all;
}

Pose random_pose(std::mt19937_64& random) {
  std::uniform_real_distribution<double> place(-150, 150);
  std::uniform_real_distribution<double> height(0.2, 60);
  return {{place(random), place(random), height(random)}, {}, about_z(place(random)), {}};
}

TEST(CosimChannel, both_directions_of_a_link_are_equal_bit_by_bit) {
  const Scene scene({{{-20, -20, 0}, {20, 30, 15}, 18}, {{60, -90, 0}, {70, 90, 4}, 9}});
  std::mt19937_64 random(8);
  int blocked = 0;
  for (const Channel::Setup& setup : setups(scene)) {
    const Channel channel = Channel::make(setup).or_throw();
    for (NodeId i = 0; i < 200; ++i) {
      const Pose a = random_pose(random);
      const Pose b = random_pose(random);
      const Time time{static_cast<std::int64_t>(random() % 1'000'000'000'000)};
      const auto there = channel.gain_db(i, a, i % 3 + 300, b, time, -500);
      const auto back = channel.gain_db(i % 3 + 300, b, i, a, time, -500);
      ASSERT_TRUE(there.has_value());
      ASSERT_EQ(*there, *back) << setup.options.path_loss << " " << setup.options.fading;
      const Channel::Parts parts = channel.parts(i, a, i % 3 + 300, b, time);
      EXPECT_NEAR(parts.sum_db(), *there, 1e-9);
      blocked += parts.line_of_sight ? 0 : 1;
      EXPECT_GE(parts.obstacles_db, 0);
      EXPECT_LE(parts.fading_db, Fading::kMostDb);
    }
  }
  EXPECT_GT(blocked, 400);
}

TEST(CosimChannel, a_gain_is_left_out_only_if_it_is_too_small) {
  const Scene scene({{{-20, -20, 0}, {20, 30, 15}, 18}});
  std::mt19937_64 random(9);
  int weak = 0;
  int strong = 0;
  for (const Channel::Setup& setup : setups(scene)) {
    const Channel channel = Channel::make(setup).or_throw();
    const double range = channel.range_m(-95);
    for (NodeId i = 0; i < 300; ++i) {
      const Pose a = random_pose(random);
      const Pose b = random_pose(random);
      const double whole = channel.parts(i, a, 400, b, {}).sum_db();
      const auto found = channel.gain_db(i, a, 400, b, {}, -95);
      ASSERT_EQ(found.has_value(), whole >= -95) << whole;
      if (found) EXPECT_LE(length(a.position - b.position), range);
      (found ? strong : weak) += 1;
    }
  }
  EXPECT_GT(weak, 500);
  EXPECT_GT(strong, 500);
}

TEST(CosimChannel,
     a_moving_robot_sees_its_channel_change_and_a_standing_one_only_its_surroundings) {
  Channel::Setup setup;
  setup.options.fading = "rayleigh";
  setup.options.scatterer_speed = 0;
  const Channel still = Channel::make(setup).or_throw();
  const Pose a{{0, 0, 1}, {}};
  const Pose b{{30, 0, 1}, {}};
  const Pose c{{30.03, 0, 1}, {}};
  EXPECT_EQ(still.gain_db(0, a, 1, b, {}, -500), still.gain_db(0, a, 1, b, {5'000'000'000}, -500));
  EXPECT_NE(still.gain_db(0, a, 1, b, {}, -500), still.gain_db(0, a, 1, c, {}, -500));
  setup.options.scatterer_speed = 1;
  const Channel windy = Channel::make(setup).or_throw();
  EXPECT_NE(windy.gain_db(0, a, 1, b, {}, -500), windy.gain_db(0, a, 1, b, {50'000'000}, -500));
}

TEST(CosimChannel, wrong_names_are_refused_with_the_right_ones) {
  const auto refused = [](auto change) {
    Channel::Setup setup;
    change(setup.options);
    const auto made = Channel::make(setup);
    return made.ok() ? std::string() : made.error().where + ": " + made.error().message;
  };
  EXPECT_EQ(refused([](ChannelOptions& o) { o.path_loss = "hata"; }),
            "path_loss: 'hata' is not one of: log_distance, free_space, two_ray, air_to_ground, "
            "elevation");
  EXPECT_EQ(refused([](ChannelOptions& o) { o.fading = "weibull"; }),
            "fading: 'weibull' is not one of: none, rayleigh, rician, nakagami");
  EXPECT_EQ(refused([](ChannelOptions& o) { o.environment = "rural"; }),
            "environment: only valid with `path_loss: air_to_ground` or `elevation`");
}

}  // namespace
}  // namespace hyphos::cosim
