#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gateway/types/types.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// The sources of the ROS types that a gateway knows.
struct TypeSource {
  std::string file;              ///< a FileDescriptorSet, empty: run `hyphos msg descriptors`
  std::vector<std::string> ros;  ///< additional packages for that program
  std::vector<std::string> proto_path;  ///< folders of .proto files for that program
};

/// Reads the types from the file, or runs a program: `hyphos` on PATH, or `$HYPHOS_PYTHON -m
/// hyphos`, a variable that `hyphos run` sets. The program takes up to some seconds and leaves no
/// files behind. Errors: the errors of Types::read(), not_found (no program `hyphos` on PATH),
/// invalid_config (the program failed).
Result<std::shared_ptr<Types>> read_types(const TypeSource& source);

}  // namespace hyphos::gateway
