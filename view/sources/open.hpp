#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "hyphos/result.hpp"
#include "view/core/source.hpp"

namespace hyphos::view {

struct OpenOptions {
  std::string domain;                                 ///< live: replaces the domain of the plan
  std::size_t memory_bytes = std::size_t{64} << 20U;  ///< the past, or the cache of chunks
  /// Called while a recording without an index is read, with the part that is done, 0..1. Return
  /// false to stop there: the part that was read is shown.
  std::function<bool(double)> progress;
};

/// Opens the source of a command line: a recording (*.mcap), a plan (*.yaml: the domain of that
/// robot), or, if `what` is empty, the domain of the options. Errors: not_found, permission,
/// corrupt, unsupported (another kind of file, with the command that converts it).
[[nodiscard]] Result<std::unique_ptr<Source>> open_source(const std::string& what,
                                                          const OpenOptions& options = {});

/// A guest of a running robot. Never fails for want of a robot: it appears when it starts.
[[nodiscard]] Result<std::unique_ptr<Source>> open_live(const std::string& domain,
                                                        const OpenOptions& options = {});
[[nodiscard]] Result<std::unique_ptr<Source>> open_recording(const std::string& path,
                                                             const OpenOptions& options = {});

}  // namespace hyphos::view
