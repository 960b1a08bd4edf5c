#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "hyphos/param_types.hpp"

namespace hyphos::python {

namespace nb = nanobind;

/// bool, int, float, str, bytes, or a list of one of the first four.
nb::object to_python(const ParamVariant& value);
/// Also NumPy's scalars and arrays, and tuples; a list of int and float is one of float. TypeError
/// for anything else, OverflowError for an int beyond 64 bits.
ParamVariant to_param(nb::handle value);
/// The type that the word of to_string(ParamType) names; ValueError.
ParamType parse_param_type(const std::string& word);

std::vector<ParamAssignment> to_assignments(
    const std::vector<std::pair<std::string, nb::object>>& values);

}  // namespace hyphos::python
