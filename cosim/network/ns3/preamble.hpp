#pragma once

#include <optional>

#include "cosim/network/radio_model.hpp"
#include "ns3/preamble-detection-model.h"

namespace hyphos::cosim {

/// The detection of preambles by a named radio, for ns-3's receivers. ns-3's own
/// ThresholdPreambleDetectionModel detects all frames above a ratio and none below.
class PreambleDetector final : public ns3::PreambleDetectionModel {
 public:
  static ns3::TypeId GetTypeId();

  void attach(const RadioModel& model, NodeId node) {
    model_ = model;
    node_ = node;
  }
  /// A random draw with the probability of the RadioModel. It depends on node and time only, since
  /// a receiver detects at most one frame at a time.
  bool IsPreambleDetected(double rssi_w, double snr, double width_mhz) const override;

 private:
  std::optional<RadioModel> model_;
  NodeId node_ = 0;
};

}  // namespace hyphos::cosim
