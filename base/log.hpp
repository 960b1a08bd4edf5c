#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "hyphos/export.hpp"

/// Messages for people. Not for the data path: each call formats and writes one line to stderr,
/// "2026-11-21T10:00:00.123Z WARN shm: text", in a single write() so that lines never interleave.
namespace hyphos::log {

enum class Level : std::uint8_t { debug, info, warn, error, off };

/// Lines below this level are not written. Process-wide; the default is `info`.
HYPHOS_EXPORT void set_level(Level level);
[[nodiscard]] HYPHOS_EXPORT Level level();

HYPHOS_EXPORT void write(Level level, std::string_view room, std::string_view text);
inline void debug(std::string_view room, std::string_view text) { write(Level::debug, room, text); }
inline void info(std::string_view room, std::string_view text) { write(Level::info, room, text); }
inline void warn(std::string_view room, std::string_view text) { write(Level::warn, room, text); }
inline void error(std::string_view room, std::string_view text) { write(Level::error, room, text); }

/// Lets one line a second through per instance, for what bad input can provoke at any rate.
/// Thread-safe, lock-free.
class OncePerSecond {
 public:
  /// True if a line may be written now; `suppressed` then tells how many were swallowed before.
  [[nodiscard]] bool allow(std::uint64_t& suppressed);

 private:
  std::atomic<std::int64_t> next_ns_{0};
  std::atomic<std::uint64_t> suppressed_{0};
};

}  // namespace hyphos::log
