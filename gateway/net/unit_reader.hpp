#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::net {

/// The information that the first bytes of a unit give about its length. A unit is a piece that a
/// protocol handles as a whole: a frame, a header, a message.
struct Measured {
  std::size_t size = 0;
  /// true: `size` is the size of the unit. false: `size` bytes are needed to determine it
  bool whole = false;

  [[nodiscard]] static Measured unit(std::size_t size) { return {size, true}; }
  [[nodiscard]] static Measured at_least(std::size_t size) { return {size, false}; }
};

/// Measures the unit at the begin of the bytes, which hold a part of a unit or several units, and
/// are never empty. It must refuse a unit that is too large, before memory is allocated for it.
using Measure = std::function<Result<Measured>(std::span<const std::byte>)>;
/// Provides memory of `size` bytes for a large unit that begins with the bytes `begin`, so that the
/// unit can be passed on without a copy. Empty: ordinary memory will do.
using Memory = std::function<WritableBuffer(std::span<const std::byte> begin, std::size_t size)>;

/// Cuts a stream of bytes into units. A small unit stays in the read buffer. A large unit is read
/// into a buffer of its size. Does no I/O. Not thread-safe.
class UnitReader {
 public:
  /// Size of the read buffer. The head of a unit may not be larger.
  static constexpr std::size_t kBlock = std::size_t{64} << 10;
  /// A unit above this size gets its own buffer.
  static constexpr std::size_t kLarge = kBlock / 4;
  /// The buffer of a large unit is kept for the next one up to this size, because fresh memory
  /// costs more than reading into it.
  static constexpr std::size_t kKept = std::size_t{16} << 20;

  /// Bytes after a large unit that a parser may read. Their content is undefined.
  static constexpr std::size_t kTail = 64;
  /// Bytes of a large unit that are read at once, so that a callback finds them in the cache.
  static constexpr std::size_t kBite = std::size_t{256} << 10;

  /// A part of a large unit. It begins at byte `at`.
  struct Part {
    std::span<std::byte> bytes;
    std::size_t at = 0;
  };

  /// The memory for the next read. The second part may be empty.
  [[nodiscard]] std::array<iovec, 2> space();
  /// Reports that `size` bytes were read there.
  void filled(std::size_t size);
  /// The next complete unit, if any. A reference to a small unit keeps kBlock bytes alive. `memory`
  /// may be null. Its memory is not written after the unit is complete. Errors: the errors of
  /// `measure`, and corrupt if a head is too large.
  [[nodiscard]] Result<std::optional<Buffer>> next(const Measure& measure,
                                                   const Memory& memory = nullptr);
  /// The part of a large unit that arrived since the last call. It may be changed until the unit is
  /// complete.
  [[nodiscard]] Part arrived();
  /// The missing bytes of a large unit. 0: no large unit is being read.
  [[nodiscard]] std::size_t missing() const { return large_size_ - large_filled_; }
  /// Discards all bytes.
  void discard();

 private:
  /// A buffer that is reused once no other reference to it exists.
  struct Block {
    std::byte* data = nullptr;
    Buffer all;

    void take(WritableBuffer fresh);
    [[nodiscard]] bool free() const { return data != nullptr && all.owner()->unique(); }
  };

  [[nodiscard]] std::size_t waiting() const { return end_ - begin_; }
  void make_room();
  void begin_large(std::size_t size, const Memory& memory);

  Block block_;
  std::size_t begin_ = 0;  ///< start of the bytes in block_ that are not yet cut
  std::size_t end_ = 0;

  Block large_;
  bool lent_ = false;           ///< large_ came from `memory`
  bool expects_large_ = false;  ///< the last unit was large
  std::size_t large_size_ = 0;  ///< 0: no large unit is being read
  std::size_t large_filled_ = 0;
  std::size_t large_told_ = 0;  ///< bytes of it that arrived() has returned
};

}  // namespace hyphos::gateway::net
