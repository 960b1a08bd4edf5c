#pragma once

#include "cosim/core/packet.hpp"
#include "ns3/constant-position-mobility-model.h"

namespace hyphos::cosim {

/// The place of a node, as a channel of ns-3 passes it to models of propagation.
class NodePlace final : public ns3::ConstantPositionMobilityModel {
 public:
  explicit NodePlace(NodeId node) : node_(node) {}
  [[nodiscard]] static NodeId of(const ns3::Ptr<ns3::MobilityModel>& place) {
    return dynamic_cast<const NodePlace&>(*place).node_;
  }

 private:
  NodeId node_;
};

}  // namespace hyphos::cosim
