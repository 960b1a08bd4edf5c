#pragma once

#include <string>

#include "cosim/core/geometry.hpp"
#include "cosim/core/time.hpp"

/// Parts of JSON messages with Foxglove's schemas.
namespace hyphos::cosim {

[[nodiscard]] std::string time_json(Time time);
[[nodiscard]] std::string vector_json(const Vec3& v);
[[nodiscard]] std::string pose_json(const Vec3& at, const Quaternion& turn = {});

}  // namespace hyphos::cosim
