#pragma once

#include "cosim/adapter/cosim_adapter.h"
#include "cosim/core/geometry.hpp"
#include "cosim/core/simulator.hpp"

/// Conversions between the C interface and the types of simulator.hpp.
namespace hyphos::cosim {

inline hyphos_cosim_pose pose_to_c(const Pose& pose) {
  const auto& [p, v, q, turn] = pose;
  return {{p.x, p.y, p.z}, {v.x, v.y, v.z}, {q.x, q.y, q.z, q.w}, {turn.x, turn.y, turn.z}};
}

inline Pose pose_from_c(const hyphos_cosim_pose& pose) {
  const auto& [p, v, q, turn] = pose;
  return {{p[0], p[1], p[2]},
          {v[0], v[1], v[2]},
          {q[0], q[1], q[2], q[3]},
          {turn[0], turn[1], turn[2]}};
}

inline hyphos_cosim_motion motion_to_c(const Motion& motion) {
  const auto& [v, turn] = motion;
  return {{v.x, v.y, v.z}, turn};
}

inline Motion motion_from_c(const hyphos_cosim_motion& motion) {
  const auto& [v, turn] = motion;
  return {{v[0], v[1], v[2]}, turn};
}

inline hyphos_cosim_view view_to_c(const View& view) {
  const auto& [p, q, width, height, focal, nearest, range, depth] = view;
  return {{p.x, p.y, p.z}, {q.x, q.y, q.z, q.w}, width, height, focal, nearest, range};
}

inline View view_from_c(const hyphos_cosim_view& view, bool depth) {
  const auto& [p, q, width, height, focal, nearest, range] = view;
  return {
      {p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}, width, height, focal, nearest, range, depth};
}

inline void parts_to_c(const DelayParts& parts, std::int64_t (&to)[5]) {
  to[0] = parts.processing.ns;
  to[1] = parts.queueing.ns;
  to[2] = parts.retransmission.ns;
  to[3] = parts.transmission.ns;
  to[4] = parts.propagation.ns;
}

inline DelayParts parts_from_c(const std::int64_t (&from)[5]) {
  return {{from[0]}, {from[1]}, {from[2]}, {from[3]}, {from[4]}};
}

}  // namespace hyphos::cosim
