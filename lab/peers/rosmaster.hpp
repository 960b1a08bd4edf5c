#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/common/peer.hpp"

namespace hyphos::lab {

// What the peers of ROS 1 share, from C++ and from Python: TCPROS, and a master of their own.

/// `nagle`: TCP as it comes, which holds a small packet back while another is not acknowledged.
/// Absent from the flood: a full queue drops.
inline std::vector<Variant> tcpros_variants() {
  const std::vector<Shape> shapes = {Shape::kPair,   Shape::kEcho,  Shape::kPipeline,
                                     Shape::kFanout, Shape::kFanin, Shape::kUncapped};
  return {{"", shapes, 64u << 20, false, true, true, true},
          {"nagle", shapes, 64u << 20, false, true, true, true}};
}

/// After those of the edges.
inline std::uint16_t master_port(const Options& options) {
  return options.port(Options::kMaxEdges);
}

inline std::vector<std::string> rosmaster(const Options& options) {
  return {"rosmaster", "--core", "-p", std::to_string(master_port(options))};
}

}  // namespace hyphos::lab
