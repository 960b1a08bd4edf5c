#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "cosim/core/packet.hpp"

namespace hyphos::cosim {

/// The events of a run, one line each, in the order of event keys. The same scenario and seed give
/// the same bytes, independent of the machine, its load, the processes and skipped windows.
///
///     1000000 send 1 from 0 to 2 bytes 64 hash 9ae16a3b2f90404f
///     1434000 delivered 1 to 2 read 2000000
///     1434000 dropped 1 to 3 channel_error
///
/// The trace keeps the text in memory, streams it to a file, or only counts and hashes it.
class Trace {
 public:
  Trace() = default;
  /// Writes to a file. The caller opens and closes the file.
  explicit Trace(std::FILE* file) : file_(file), keeps_(false) {}
  [[nodiscard]] static Trace hash_only() { return Trace(nullptr); }

  void send(const Packet& packet);
  /// `read` is the first instant at which a program can read the packet.
  void outcome(const Outcome& outcome, Time read);
  /// Errors: the error of the file system.
  [[nodiscard]] Result<void> flush();

  /// All lines since the start, if the trace keeps its text in memory.
  [[nodiscard]] std::string_view text() const { return text_; }
  /// FNV-1a over all lines.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::uint64_t lines() const { return lines_; }

 private:
  void end_line();

  std::FILE* file_ = nullptr;
  bool keeps_ = true;  // in memory
  std::string text_;
  std::string line_;
  std::uint64_t hash_ = 14695981039346656037U;
  std::uint64_t lines_ = 0;
};

/// FNV-1a, 64 bits.
[[nodiscard]] std::uint64_t hash_bytes(std::span<const std::byte> bytes,
                                       std::uint64_t start = 14695981039346656037U);

}  // namespace hyphos::cosim
