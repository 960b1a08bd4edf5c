#pragma once

#include <map>
#include <string>
#include <string_view>

#include "gateway/ros1/value.hpp"
#include "hyphos/param_types.hpp"
#include "hyphos/result.hpp"

/// Parameters of nodes as values of ROS's parameter server, and back: pure functions.
namespace hyphos::gateway::ros1 {

/// Errors: unsupported (an integer of more than 32 bits, which XML-RPC does not know).
[[nodiscard]] Result<Value> to_ros(const ParamVariant& value);
/// Whole numbers among others in a list are reals, too. Errors: unsupported (a struct, which is a
/// namespace; a time; lists in lists; lists of several kinds).
[[nodiscard]] Result<ParamVariant> from_ros(const Value& value);

/// "left_arm.laser.rate_hz" of "/left_arm/laser/rate_hz".
[[nodiscard]] std::string dotted(std::string_view ros_param);

/// All values in `value`, which is what `name` is, by their names; structs within are namespaces.
/// Empty structs have none.
void collect_leaves(const Value& value, const std::string& name,
                    std::map<std::string, const Value*>& leaves);

}  // namespace hyphos::gateway::ros1
