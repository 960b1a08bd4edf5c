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

/// What the first bytes of a unit tell of its length. A unit is what a protocol handles in one
/// piece: a frame, a header, a message.
struct Measured {
  std::size_t size = 0;
  bool whole = false;  ///< `size` is the unit's; else so many bytes have to be there to tell more

  [[nodiscard]] static Measured unit(std::size_t size) { return {size, true}; }
  [[nodiscard]] static Measured at_least(std::size_t size) { return {size, false}; }
};

/// Asked of the bytes at hand, which may be a part of a unit or several of them; never of none. It
/// has to refuse what is too large, before anything is allocated for it.
using Measure = std::function<Result<Measured>(std::span<const std::byte>)>;
/// Gives memory for a large unit, of so many bytes, that begins with the bytes at hand: for what it
/// is passed on as. An empty one: for nothing better than any.
using Memory = std::function<WritableBuffer(std::span<const std::byte> begin, std::size_t size)>;

/// Cuts a stream of bytes into units. Small ones lie in the buffer that was read into, a large one
/// is read into one of its size. Does no I/O. Not thread-safe.
class UnitReader {
 public:
  /// Of this size is the buffer that is read into, and no head of a unit may be larger.
  static constexpr std::size_t kBlock = std::size_t{64} << 10;
  /// Units beyond this get a buffer of their own.
  static constexpr std::size_t kLarge = kBlock / 4;
  /// A buffer of a large unit is kept for the next one up to this size: fresh memory costs more
  /// than to read into it.
  static constexpr std::size_t kKept = std::size_t{16} << 20;

  /// Bytes that may be read, and say nothing, lie behind a large unit.
  static constexpr std::size_t kTail = 64;
  /// Of a large unit so much is read at once: what looks at it as it comes finds it in the cache.
  static constexpr std::size_t kBite = std::size_t{256} << 10;

  /// A part of a large unit, which begins at its byte `at`.
  struct Part {
    std::span<std::byte> bytes;
    std::size_t at = 0;
  };

  /// Where the next bytes are to be read to; the second part may be empty.
  [[nodiscard]] std::array<iovec, 2> space();
  /// So many bytes were read there.
  void filled(std::size_t size);
  /// The next unit that is complete, if there is one. Whoever keeps a copy of a small one keeps
  /// kBlock alive. Errors: those of `measure`, and corrupt for a head that is too large.
  /// `memory` may be none; what it gives is not written again once the unit is complete.
  [[nodiscard]] Result<std::optional<Buffer>> next(const Measure& measure,
                                                   const Memory& memory = nullptr);
  /// Of a large unit, what came since this was asked last; may be changed until it is complete.
  [[nodiscard]] Part arrived();
  /// Of a large unit, the bytes that have to come still; 0: none is being read.
  [[nodiscard]] std::size_t missing() const { return large_size_ - large_filled_; }
  /// Forgets what is there.
  void discard();

 private:
  /// A buffer that is written again when nobody else holds it any more.
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
  std::size_t begin_ = 0;  ///< of block_, what is not cut yet
  std::size_t end_ = 0;

  Block large_;
  bool lent_ = false;           ///< large_ is of whoever gives memory
  bool expects_large_ = false;  ///< as the last unit was
  std::size_t large_size_ = 0;  ///< 0: none is being read
  std::size_t large_filled_ = 0;
  std::size_t large_told_ = 0;  ///< of these, by arrived()
};

}  // namespace hyphos::gateway::net
