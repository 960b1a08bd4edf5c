#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "hyphos/export.hpp"

/// Log lines for people. Not for the data path: each call formats one line and writes it to stderr,
/// "2026-11-21T10:00:00.123Z WARN shm: text". The single write() keeps lines from interleaving.
namespace hyphos::log {

enum class Level : std::uint8_t { debug, info, warn, error, fatal, off };

/// Lines below this level are not written. Process-wide. The default is `info`.
HYPHOS_EXPORT void set_level(Level level);
[[nodiscard]] HYPHOS_EXPORT Level level();

HYPHOS_EXPORT void write(Level level, std::string_view room, std::string_view text);
/// Writes to stderr only, at any level. For lines that the listener receives in another way.
HYPHOS_EXPORT void write_stderr(Level level, std::string_view room, std::string_view text);
inline void debug(std::string_view room, std::string_view text) { write(Level::debug, room, text); }
inline void info(std::string_view room, std::string_view text) { write(Level::info, room, text); }
inline void warn(std::string_view room, std::string_view text) { write(Level::warn, room, text); }
inline void error(std::string_view room, std::string_view text) { write(Level::error, room, text); }

/// Receives the lines of write(). Called in the writing thread, which may hold any lock. It must
/// not block, and it does not receive its own lines.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void take(Level level, std::string_view room, std::string_view text) = 0;
};
/// Registers a listener. If there are several, only the first registered one receives the lines.
void listen(Listener* listener);
/// On return the listener is not being called.
void unlisten(Listener* listener);

/// While it lives, the lines of this thread go to stderr only. For threads that publish lines,
/// because their own log lines would otherwise loop back.
class Unheard {
 public:
  Unheard();
  Unheard(const Unheard&) = delete;
  Unheard& operator=(const Unheard&) = delete;
  ~Unheard();
};

/// Allows one line per second and instance. For lines that bad input can trigger at any rate.
/// Thread-safe, lock-free.
class OncePerSecond {
 public:
  /// Returns true if a line may be written now, and sets `suppressed` to the number of lines
  /// suppressed before.
  [[nodiscard]] HYPHOS_EXPORT bool allow(std::uint64_t& suppressed);

 private:
  std::atomic<std::int64_t> next_ns_{0};
  std::atomic<std::uint64_t> suppressed_{0};
};

}  // namespace hyphos::log
