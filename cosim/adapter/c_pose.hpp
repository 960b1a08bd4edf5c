#pragma once

#include "cosim/adapter/cosim_adapter.h"
#include "cosim/core/geometry.hpp"

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

}  // namespace hyphos::cosim
