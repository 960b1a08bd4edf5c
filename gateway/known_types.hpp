#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gateway/types/types.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// Where the types that a gateway speaks come from.
struct TypeSource {
  std::string file;              ///< a FileDescriptorSet; empty: `hyphos msg descriptors` is asked
  std::vector<std::string> ros;  ///< packages besides, for it
  std::vector<std::string> proto_path;  ///< folders of .proto files, for it
};

/// The program that is asked is `hyphos` on PATH, or `$HYPHOS_PYTHON -m hyphos`, which `hyphos run`
/// sets. It takes up to some seconds, and leaves nothing behind. Errors: those of
/// Types::read(), not_found (no program `hyphos` on PATH), invalid_config (what it complains of).
Result<std::shared_ptr<Types>> read_types(const TypeSource& source);

}  // namespace hyphos::gateway
