#pragma once

#include "hyphos/result.hpp"
#include "hyphos/runtime.hpp"

namespace hyphos {

/// The `--hyphos-...` arguments, which `hyphos run` passes to each process.
struct Arguments {
  RuntimeOptions options;
  bool strict = false;
  bool supervised = false;  ///< a launcher names the process
};

/// Reads the arguments of a program. Other arguments belong to the program and are left out.
[[nodiscard]] Result<Arguments> read_arguments(int argc, char** argv);

}  // namespace hyphos
