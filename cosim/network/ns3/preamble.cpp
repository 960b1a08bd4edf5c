#include "cosim/network/ns3/preamble.hpp"

#include <cmath>

#include "cosim/core/random.hpp"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

namespace hyphos::cosim {
namespace {

constexpr std::uint64_t kDetection = 4;  // the purpose of a random draw

}  // namespace

NS_OBJECT_ENSURE_REGISTERED(PreambleDetector);

ns3::TypeId PreambleDetector::GetTypeId() {
  static const ns3::TypeId id = ns3::TypeId("hyphos::cosim::PreambleDetector")
                                    .SetParent<ns3::PreambleDetectionModel>()
                                    .AddConstructor<PreambleDetector>();
  return id;
}

bool PreambleDetector::IsPreambleDetected(double /*rssi_w*/, double snr,
                                          double /*width_mhz*/) const {
  const auto now = static_cast<std::uint64_t>(ns3::Simulator::Now().GetNanoSeconds());
  const double chance = draw_unit(ns3::RngSeedManager::GetRun(), now, kDetection, node_);
  return chance < model_->detection(10 * std::log10(snr));
}

}  // namespace hyphos::cosim
