#pragma once

#include <cstdint>

#include "cosim/core/method.hpp"

namespace hyphos::cosim {

/// The constants that distinguish the names of one method. Each method reads those that it knows.
struct Variant {
  Exchange exchange = Exchange::exact;   ///< fixed_window
  bool float_seconds = false;            ///< variable_stepped: network time as a sum in double
  std::int64_t unit_ns = 1'000'000'000;  ///< velocity_aware, algorithm_1: of the quotient
  bool updates_window = false;           ///< velocity_aware: w is modified by each window
  bool lenient = false;                  ///< velocity_aware: w while idle, never below a step
};

}  // namespace hyphos::cosim
