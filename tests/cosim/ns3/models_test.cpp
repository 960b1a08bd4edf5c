// The formulas of cosim/radio against ns-3's own: path losses, error rates and fading.
#include <gtest/gtest.h>

#include "cosim/network/ns3/propagation.hpp"
#include "ns3/boolean.h"
#include "ns3/channel-condition-model.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/lr-wpan-error-model.h"
#include "ns3/nist-error-rate-model.h"
#include "ns3/three-gpp-propagation-loss-model.h"
#include "ns3/wifi-phy.h"

namespace hyphos::cosim {
namespace {

using ns3::ConstantPositionMobilityModel;
using ns3::CreateObject;
using ns3::Ptr;

struct Places {
  Ptr<ConstantPositionMobilityModel> a = CreateObject<ConstantPositionMobilityModel>();
  Ptr<ConstantPositionMobilityModel> b = CreateObject<ConstantPositionMobilityModel>();

  Places(double distance, double low, double high) {
    a->SetPosition({0, 0, low});
    b->SetPosition({distance, 0, high});
  }
};

Link link_of(double distance, double low, double high) {
  return Link::between({0, {0, 0, low}}, {1, {distance, 0, high}});
}

TEST(Ns3Models, path_losses_on_the_ground_equal_those_of_ns3) {
  constexpr double kFrequency = 2.437e9;
  for (const char* name : {"log_distance", "free_space", "two_ray"}) {
    RadioOptions radio;
    radio.channel.path_loss = name;
    const auto theirs = ns3_path_loss(radio, kFrequency);
    ASSERT_NE(theirs, nullptr) << name;
    const auto ours = find_path_loss(name)->make({.frequency_hz = kFrequency});
    for (double distance = 2; distance < 5000; distance *= 1.3) {
      const Places places(distance, 1, 2.5);
      EXPECT_NEAR(ours->loss_db(link_of(distance, 1, 2.5), true),
                  -theirs->CalcRxPower(0, places.a, places.b), 0.02)
          << name << " " << distance;
    }
  }
  RadioOptions air;
  air.channel.path_loss = "air_to_ground";
  EXPECT_EQ(ns3_path_loss(air, kFrequency), nullptr) << "ours, over the adapter";
}

TEST(Ns3Models, error_rates_of_ofdm_equal_the_nist_model) {
  const auto nist = CreateObject<ns3::NistErrorRateModel>();
  const auto compare = [&](const char* kind, const char* rate, const ns3::WifiMode& mode) {
    Radio::Setup setup{kind, rate};
    setup.channel.frequency_hz = 0;
    const Radio radio = Radio::make(setup).or_throw();
    const auto& rates = radio.kind().rates;
    const auto found = std::ranges::find(rates, rate, &Rate::name);
    ns3::WifiTxVector vector;
    vector.SetMode(mode);
    vector.SetChannelWidth(20);
    for (double db = 0; db < 40; db += 0.5) {
      const double snr = std::pow(10, db / 10);
      const double theirs =
          nist->GetChunkSuccessRate(mode, vector, snr, 8000, 1, ns3::WIFI_PPDU_FIELD_DATA);
      const double raw = raw_bit_error(found->modulation, snr, 0);
      const double ours = no_errors(decoded_bit_error(found->coding, raw), 8000);
      EXPECT_NEAR(ours, theirs, 0.01) << kind << " " << rate << " " << db;
    }
  };
  for (const int mbit : {6, 9, 12, 18, 24, 36, 48, 54}) {
    const std::string text = std::to_string(mbit);
    compare("802.11g", text.c_str(), ns3::WifiMode("ErpOfdmRate" + text + "Mbps"));
  }
  for (const int mcs : {0, 1, 2, 3, 4, 5, 6, 7, 8}) {
    compare("802.11ac", ("mcs" + std::to_string(mcs)).c_str(),
            ns3::WifiMode("VhtMcs" + std::to_string(mcs)));
  }
  for (const int mcs : {9, 10, 11}) {
    compare("802.11ax", ("mcs" + std::to_string(mcs)).c_str(),
            ns3::WifiMode("HeMcs" + std::to_string(mcs)));
  }
}

TEST(Ns3Models, error_rates_of_802_15_4_equal_those_of_lr_wpan) {
  const auto theirs = CreateObject<ns3::LrWpanErrorModel>();
  for (double db = -10; db < 10; db += 0.5) {
    const double snr = std::pow(10, db / 10);
    EXPECT_NEAR(no_errors(raw_bit_error(Modulation::oqpsk_dsss, snr), 800),
                theirs->GetChunkSuccessRate(snr, 800), 0.01)
        << db;
  }
}

TEST(Ns3Models, the_gamma_of_nakagami_has_mean_1_and_variance_1_over_m) {
  const Places places(50, 1, 1);
  for (const double m : {0.75, 1.0, 3.0}) {
    const auto fading = ns3_nakagami(m);
    fading->AssignStreams(7);
    double sum = 0;
    double squares = 0;
    constexpr int kDraws = 40'000;
    for (int i = 0; i < kDraws; ++i) {
      const double gain = std::pow(10, fading->CalcRxPower(0, places.a, places.b) / 10);
      sum += gain;
      squares += gain * gain;
    }
    const double mean = sum / kDraws;
    EXPECT_NEAR(mean, 1, 0.03) << m;
    EXPECT_NEAR(squares / kDraws - mean * mean, 1 / m, 0.06 / m) << m;
  }
}

/// ns-3's model of 3GPP TR 38.901, with or without a line of sight.
template <typename Model>
double three_gpp(double distance, double user_m, double base_m, double frequency_hz, bool clear) {
  const auto model = CreateObject<Model>();
  model->SetFrequency(frequency_hz);
  model->SetAttribute("ShadowingEnabled", ns3::BooleanValue(false));
  if (clear) {
    model->SetChannelConditionModel(CreateObject<ns3::AlwaysLosChannelConditionModel>());
  } else {
    model->SetChannelConditionModel(CreateObject<ns3::NeverLosChannelConditionModel>());
  }
  const Places places(distance, user_m, base_m);
  // Near an urban macro station, 3GPP is up to 0.7 dB below free space. Ours is not.
  return std::max(free_space_db(std::hypot(distance, base_m - user_m), frequency_hz),
                  -model->CalcRxPower(0, places.a, places.b));
}

TEST(Ns3Models, a_base_station_has_the_path_losses_of_tr_38_901) {
  constexpr double kFrequency = 3.5e9;
  const auto ours = [&](const char* place, double distance, double user_m, double base_m,
                        bool clear) {
    const auto model =
        find_path_loss("air_to_ground")
            ->make({.frequency_hz = kFrequency, .environment = place, .base_station = true});
    return model->loss_db(Link::between({0, {0, 0, base_m}}, {1, {distance, 0, user_m}}), clear);
  };
  for (double distance = 60; distance < 4000; distance *= 1.17) {
    for (const bool clear : {true, false}) {
      const auto micro = three_gpp<ns3::ThreeGppUmiStreetCanyonPropagationLossModel>(
          distance, 1.5, 10, kFrequency, clear);
      EXPECT_NEAR(ours("urban_micro", distance, 1.5, 10, clear), micro, 0.02) << distance << clear;
      const auto macro =
          three_gpp<ns3::ThreeGppUmaPropagationLossModel>(distance, 1.5, 25, kFrequency, clear);
      EXPECT_NEAR(ours("urban_macro", distance, 1.5, 25, clear), macro, 0.02) << distance << clear;
      const auto rural =
          three_gpp<ns3::ThreeGppRmaPropagationLossModel>(distance, 1.5, 35, kFrequency, clear);
      EXPECT_NEAR(ours("rural", distance, 1.5, 35, clear), rural, 0.02) << distance << clear;
    }
  }
}

}  // namespace
}  // namespace hyphos::cosim
