#pragma once

#include <string>
#include <string_view>

#include "hyphos/param_types.hpp"
#include "hyphos/plan.hpp"

/// What a parameter may be: pure functions.
namespace hyphos::params {

/// What is wrong with it, or "".
[[nodiscard]] std::string name_problem(std::string_view name);
/// Whether a value fits what the node says about the parameter, its type aside.
[[nodiscard]] std::string value_problem(const ParamInfo& info, const ParamVariant& value);
/// Whether the description makes sense: its range, its choices, its default.
[[nodiscard]] std::string description_problem(const ParamInfo& info);
/// The value as one of `type` if nothing is lost: an integer becomes a real, an empty list a list
/// of anything. Otherwise type_mismatch.
[[nodiscard]] Result<ParamVariant> convert(ParamType type, ParamVariant value);
/// A value of a YAML file; the error names its place.
[[nodiscard]] Result<ParamVariant> read(ParamType type, const ParamValue& value);
/// Roughly what it takes on the wire.
[[nodiscard]] std::size_t size_of(const ParamVariant& value);
[[nodiscard]] std::size_t size_of(const ParamInfo& info);
/// "0.5" → "0.5 m/s"; shortened for a message.
[[nodiscard]] std::string shown(const ParamVariant& value);

}  // namespace hyphos::params
