#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/common/peer.hpp"

namespace hyphos::lab {

// The common part of the ROS 1 peers in C++ and Python: TCPROS, and a separate master.

/// `nagle`: TCP with its default, which delays a small packet while another is not acknowledged.
/// Not in the flood, because a full queue drops.
inline std::vector<Variant> tcpros_variants() {
  const std::vector<Shape> shapes = {Shape::kPair,   Shape::kEcho,  Shape::kPipeline,
                                     Shape::kFanout, Shape::kFanin, Shape::kUncapped};
  return {{"", shapes, 64u << 20, false, true, true, true},
          {"nagle", shapes, 64u << 20, false, true, true, true}};
}

/// The port after the ports of the edges.
inline std::uint16_t master_port(const Options& options) {
  return options.port(Options::kMaxEdges);
}

inline std::vector<std::string> rosmaster(const Options& options) {
  return {"rosmaster", "--core", "-p", std::to_string(master_port(options))};
}

}  // namespace hyphos::lab
