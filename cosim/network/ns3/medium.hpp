#pragma once

#include <optional>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/network/cells.hpp"
#include "cosim/network/ns3/fates.hpp"
#include "cosim/network/ns3/propagation.hpp"
#include "ns3/wifi-ppdu.h"
#include "ns3/yans-wifi-helper.h"
#include "ns3/yans-wifi-phy.h"

namespace hyphos::cosim {

class RadioPhy;

/// The air between ns-3's receivers. Propagation computes the power. A frame too weak to be
/// detected at a node costs nothing there.
class Medium {
 public:
  explicit Medium(Fates& fates) : fates_(fates) {}

  void init(const RadioModel& model, Models models, const std::vector<ns3::Ptr<RadioPhy>>& phys);
  void set_poses(std::span<const Pose> poses);
  /// Starts the jammers of the radio. Call it at instant 0.
  void start_jammers(std::uint64_t seed);
  /// A sender starts a frame now.
  void send(NodeId from, const ns3::Ptr<const ns3::WifiPpdu>& ppdu);

 private:
  /// A frame to everyone, until its receivers are known.
  struct Broadcast {
    PacketId id = 0;
    std::uint16_t sequence = 0;
    Time start;
    Time end;
    std::vector<NodeId> heard_at{};
    std::vector<NodeId> detectable_at{};
  };
  struct OnAir {
    Time start;
    Time end;
    NodeId from = 0;
  };

  void reach(NodeId from, const ns3::Ptr<const ns3::WifiPpdu>& ppdu);
  void arrive(NodeId to, const ns3::Ptr<ns3::WifiPpdu>& ppdu, double power_dbm);
  void jam(std::size_t jammer);
  void judge(const Broadcast& frame, NodeId from);
  [[nodiscard]] bool detectable(double power_dbm) const;
  [[nodiscard]] bool disturbed(NodeId node, NodeId from, const Broadcast& frame) const;

  struct Reached {
    NodeId node = 0;
    double power_dbm = 0;
    double distance_m = 0;
  };

  Fates& fates_;
  std::optional<RadioModel> model_;
  std::vector<ns3::Ptr<RadioPhy>> phys_;
  Propagation propagation_;
  Jammers jammers_;
  Cells cells_;
  std::vector<NodeId> near_;                // of the frame being sent
  std::vector<Reached> reached_;            // by the frame being sent
  std::vector<std::vector<OnAir>> around_;  // at each node, including its own frames
};

/// ns-3's receiver and sender for one channel without a spectrum, attached to our Medium.
class RadioPhy final : public ns3::YansWifiPhy {
 public:
  static ns3::TypeId GetTypeId();

  void attach(Medium& medium, NodeId node) {
    medium_ = &medium;
    node_ = node;
  }
  /// Noise of a jammer, from now on.
  void jam(ns3::Time duration, double power_w);
  void StartTx(ns3::Ptr<const ns3::WifiPpdu> ppdu, const ns3::WifiTxVector& vector) override;

 private:
  Medium* medium_ = nullptr;
  NodeId node_ = 0;
};

/// Creates RadioPhys in place of the PHYs of ns-3's own channel.
class RadioPhyHelper final : public ns3::YansWifiPhyHelper {
 public:
  RadioPhyHelper();
};

}  // namespace hyphos::cosim
