#pragma once

#include <map>
#include <string>
#include <string_view>

#include "gateway/ros1/value.hpp"
#include "hyphos/param_types.hpp"
#include "hyphos/result.hpp"

/// Converts parameters of nodes to and from values of the ROS parameter server. Pure functions.
namespace hyphos::gateway::ros1 {

/// Errors: unsupported (an integer of more than 32 bits, which XML-RPC lacks).
[[nodiscard]] Result<Value> to_ros(const ParamVariant& value);
/// Integers in a list with floating-point numbers become floating-point. Errors: unsupported
/// (a struct, which is a namespace, a time, a nested list, a list of several types).
[[nodiscard]] Result<ParamVariant> from_ros(const Value& value);

/// Of a tree that all nodes share. Errors: as to_ros() above.
[[nodiscard]] Result<Value> to_ros(const ParamValue& value);
/// A value that the shared tree can hold. Errors: unsupported (bytes, a time).
[[nodiscard]] Result<ParamValue> tree_from_ros(const Value& value);

/// "left_arm.laser.rate_hz" for "/left_arm/laser/rate_hz".
[[nodiscard]] std::string dotted(std::string_view ros_param);

/// Collects all values inside `value` by their full names. `name` is the name of `value`, and
/// structs inside it are namespaces. Empty structs have no values.
void collect_leaves(const Value& value, const std::string& name,
                    std::map<std::string, const Value*>& leaves);

}  // namespace hyphos::gateway::ros1
