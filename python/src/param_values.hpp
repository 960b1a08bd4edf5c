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
/// Also accepts NumPy scalars and arrays, and tuples. A list of int and float becomes a list of
/// float. Throws TypeError for other types, OverflowError for an int beyond 64 bits.
ParamVariant to_param(nb::handle value);
/// The type for a word of to_string(ParamType). Throws ValueError.
ParamType parse_param_type(const std::string& word);

std::vector<ParamAssignment> to_assignments(
    const std::vector<std::pair<std::string, nb::object>>& values);

}  // namespace hyphos::python
