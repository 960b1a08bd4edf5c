#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "hyphos/export.hpp"

/// Messages for people. Not for the data path: each call formats and writes one line to stderr,
/// "2026-11-21T10:00:00.123Z WARN shm: text", in a single write() so that lines never interleave.
namespace hyphos::log {

enum class Level : std::uint8_t { debug, info, warn, error, fatal, off };

/// Lines below this level are not written. Process-wide; the default is `info`.
HYPHOS_EXPORT void set_level(Level level);
[[nodiscard]] HYPHOS_EXPORT Level level();

HYPHOS_EXPORT void write(Level level, std::string_view room, std::string_view text);
/// The same, for lines that the listener has from elsewhere, or whatever the level: to stderr
/// alone.
HYPHOS_EXPORT void write_stderr(Level level, std::string_view room, std::string_view text);
inline void debug(std::string_view room, std::string_view text) { write(Level::debug, room, text); }
inline void info(std::string_view room, std::string_view text) { write(Level::info, room, text); }
inline void warn(std::string_view room, std::string_view text) { write(Level::warn, room, text); }
inline void error(std::string_view room, std::string_view text) { write(Level::error, room, text); }

/// Gets the lines of write() as well. Called in the thread that writes, which may hold any lock:
/// it must not block, and what it writes itself it does not get.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void take(Level level, std::string_view room, std::string_view text) = 0;
};
/// Of several that listen, the one that began first gets the lines.
void listen(Listener* listener);
/// On return the listener is not being called.
void unlisten(Listener* listener);

/// While it lives, the lines of this thread go to stderr alone: for threads that send lines, whose
/// own trouble would feed them.
class Unheard {
 public:
  Unheard();
  Unheard(const Unheard&) = delete;
  Unheard& operator=(const Unheard&) = delete;
  ~Unheard();
};

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
