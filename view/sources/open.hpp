#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hyphos/result.hpp"
#include "view/core/source.hpp"

namespace hyphos::view {

struct OpenOptions {
  std::string domain;                                 ///< live: replaces the domain of the plan
  std::size_t memory_bytes = std::size_t{64} << 20U;  ///< the past, or the cache of chunks
  /// Called while a recording without an index is read, with the part that is done, 0..1. Return
  /// false to stop there: the part that was read is shown.
  std::function<bool(double)> progress;
  bool growing = false;  ///< a recording that this program still writes, see Source::refresh()
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

/// The common timeline of several sources.
enum class Alignment : std::uint8_t {
  start,  ///< recordings begin together. Beside a robot, they begin when they are opened
  time,   ///< Unix time
};
inline constexpr std::size_t kMaxParts = 4;

/// Shows one more source together with those of `shown`. The channels of the added source are named
/// "b/…", those of a third one "c/…". A robot that runs is the clock of all. Error: exhausted
/// (kMaxParts), which leaves `shown` as it is.
[[nodiscard]] Result<void> join_source(std::unique_ptr<Source>& shown, std::unique_ptr<Source> more,
                                       Alignment align = Alignment::start);
/// The offset of a part for an alignment, and `shift_ns` more.
[[nodiscard]] std::int64_t aligned_offset(const std::vector<Part>& parts, std::size_t part,
                                          Alignment align, std::int64_t shift_ns);

}  // namespace hyphos::view
