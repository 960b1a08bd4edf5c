#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cosim/network/ns3/options.hpp"
#include "ns3/mobility-model.h"
#include "ns3/propagation-loss-model.h"

namespace hyphos::cosim {

/// The received power of every frame in ns-3.
///
/// Antennas, obstacles, shadowing and lines of sight are those of the RadioModel, and so are all
/// parts of a radio without a `kind`. With Models::ns3, ns-3's LogDistance, Friis or
/// TwoRayGroundPropagationLossModel replaces the path loss, and its NakagamiPropagationLossModel
/// the fading, with m = 1 for `rayleigh`. ns-3 draws new fading for each frame and receiver.
class Propagation {
 public:
  void init(const RadioModel& model, Models models, std::uint32_t nodes);
  void set_poses(std::span<const Pose> poses);

  [[nodiscard]] std::span<const Pose> poses() const { return poses_; }
  [[nodiscard]] const Pose& pose(NodeId node) const { return poses_[node]; }
  /// Nothing if the frame is too weak to matter. Call it in an order that does not depend on
  /// chance, since ns-3's models draw from a stream of numbers.
  [[nodiscard]] std::optional<double> received_dbm(NodeId from, NodeId to, Time now) const;
  /// The gain of a named radio in dB, without a limit. The same rule holds for its order.
  [[nodiscard]] double gain_db(NodeId from, NodeId to, Time now) const;

 private:
  std::optional<RadioModel> model_;
  std::vector<Pose> poses_;
  std::vector<ns3::Ptr<ns3::MobilityModel>> places_;  // of the antennas, for ns-3's models
  ns3::Ptr<ns3::PropagationLossModel> path_loss_;     // null: the RadioModel's
  ns3::Ptr<ns3::PropagationLossModel> clear_fading_;  // null: the RadioModel's
  ns3::Ptr<ns3::PropagationLossModel> blocked_fading_;
};

/// ns-3's model with these options, or null if ns-3 has none of this name.
[[nodiscard]] ns3::Ptr<ns3::PropagationLossModel> ns3_path_loss(const RadioOptions& radio,
                                                                double frequency_hz);
/// Nakagami fading of shape `m`, at all distances.
[[nodiscard]] ns3::Ptr<ns3::PropagationLossModel> ns3_nakagami(double m);

}  // namespace hyphos::cosim
