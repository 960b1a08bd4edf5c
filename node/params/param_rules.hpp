#pragma once

#include <string>
#include <string_view>

#include "hyphos/param_types.hpp"
#include "hyphos/plan.hpp"

/// The rules for parameters and their values: pure functions.
namespace hyphos::params {

/// The problem of a name, or "".
[[nodiscard]] std::string name_problem(std::string_view name);
/// The problem of a value under the node's description of the parameter, or "". Ignores the type.
[[nodiscard]] std::string value_problem(const ParamInfo& info, const ParamVariant& value);
/// The problem of a description (its range, choices or default), or "".
[[nodiscard]] std::string description_problem(const ParamInfo& info);
/// Converts the value to `type` if nothing is lost: an integer to a real, an empty list to a list
/// of any type. Otherwise type_mismatch.
[[nodiscard]] Result<ParamVariant> convert(ParamType type, ParamVariant value);
/// Reads a value of a YAML file. The error names its location.
[[nodiscard]] Result<ParamVariant> read(ParamType type, const ParamValue& value);
/// The approximate size on the wire.
[[nodiscard]] std::size_t size_of(const ParamVariant& value);
[[nodiscard]] std::size_t size_of(const ParamInfo& info);
/// "0.5" → "0.5 m/s", shortened for an error text.
[[nodiscard]] std::string shown(const ParamVariant& value);

}  // namespace hyphos::params
