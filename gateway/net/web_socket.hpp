#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "hyphos/result.hpp"

/// The server side of WebSocket frames (RFC 6455), without sockets. Beast's stream is not used,
/// because it owns its socket: a pool thread could not write a message itself, nor write head and
/// payload without a copy.
namespace hyphos::gateway::net {

enum class Opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};
[[nodiscard]] constexpr bool is_control(Opcode opcode) { return opcode >= Opcode::close; }

/// The reason why a connection ends (RFC 6455, 7.4.1).
enum class CloseCode : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  policy = 1008,
  too_big = 1009,
};

using Mask = std::array<std::byte, 4>;

struct FrameHead {
  Opcode opcode = Opcode::text;
  bool last = true;
  std::uint64_t size = 0;  ///< of the payload
  Mask mask{};
  std::size_t head_size = 0;
};

/// The head of a client's frame. nullopt if more bytes are needed. Errors: corrupt.
[[nodiscard]] Result<std::optional<FrameHead>> parse_frame_head(std::span<const std::byte> bytes);

inline constexpr std::size_t kMaxServerHead = 10;
/// Writes the head of a server's frame, which holds the whole message. Returns the number of bytes
/// written to `out`.
std::size_t write_frame_head(std::span<std::byte, kMaxServerHead> out, Opcode opcode,
                             std::uint64_t size);

/// Applies or removes the mask while copying a payload. `to` must have the same size, and may be
/// the payload itself.
void copy_unmasked(std::span<const std::byte> payload, Mask mask, std::byte* to);
/// The mask for the rest of a payload after its first `size` bytes.
[[nodiscard]] Mask mask_behind(Mask mask, std::size_t size);

/// Readable bytes after every message, which are not written: simdjson reads beyond the end.
inline constexpr std::size_t kPadding = 64;

/// Unmasks a client's frames and joins them to messages. Cost: one pass over the payload. A large
/// frame is unmasked in place, and is not joined if it is a whole message.
class MessageJoiner {
 public:
  struct Message {
    Opcode kind = Opcode::text;
    std::span<const std::byte> payload;  ///< kPadding bytes follow, valid until the next join()
  };

  explicit MessageJoiner(std::size_t max_message) : max_message_(max_message) {}
  ~MessageJoiner();
  MessageJoiner(const MessageJoiner&) = delete;
  MessageJoiner& operator=(const MessageJoiner&) = delete;

  /// Checks if a data frame is allowed now, before memory is allocated for it. Errors: corrupt (a
  /// protocol violation), exhausted (too large).
  [[nodiscard]] Result<void> admit(const FrameHead& head) const;
  /// True if an admitted frame is a whole message, which needs no joining.
  [[nodiscard]] bool is_whole(const FrameHead& head) const { return !in_message_ && head.last; }
  /// Adds an admitted frame. Returns the message if this was its last frame.
  [[nodiscard]] std::optional<Message> join(const FrameHead& head,
                                            std::span<const std::byte> payload);

 private:
  void reserve(std::size_t size);

  const std::size_t max_message_;
  bool in_message_ = false;
  Opcode kind_ = Opcode::text;
  std::byte* message_ = nullptr;  // from malloc: grows without being cleared
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace hyphos::gateway::net
