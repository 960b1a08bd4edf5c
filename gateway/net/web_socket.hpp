#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "hyphos/result.hpp"

/// The frames of WebSocket (RFC 6455) as a server sees them, without sockets. Beast's stream is not
/// used, since it owns its socket: a thread of the pool could not write a message itself, nor head
/// and payload without a copy.
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

/// Why a connection ends (RFC 6455, 7.4.1).
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

/// The head of a client's frame; nothing if more bytes are needed. Errors: corrupt.
[[nodiscard]] Result<std::optional<FrameHead>> parse_frame_head(std::span<const std::byte> bytes);

inline constexpr std::size_t kMaxServerHead = 10;
/// The head of a server's frame, which is the whole message; how many bytes of `out` it takes.
std::size_t write_frame_head(std::span<std::byte, kMaxServerHead> out, Opcode opcode,
                             std::uint64_t size);

/// Copies a payload without its mask, or with it; `to` has to be as large, and may be the payload.
void copy_unmasked(std::span<const std::byte> payload, Mask mask, std::byte* to);
/// That of what is left of a payload behind its first `size` bytes.
[[nodiscard]] Mask mask_behind(Mask mask, std::size_t size);

/// Bytes that may be read, not written, behind every message: simdjson looks beyond the end.
inline constexpr std::size_t kPadding = 64;

/// Joins a client's frames to messages, and takes their mask off. Cost: one pass over the payload;
/// that of a large frame is unmasked where it lies, and needs no joining if it is a whole message.
class MessageJoiner {
 public:
  struct Message {
    Opcode kind = Opcode::text;
    std::span<const std::byte> payload;  ///< kPadding bytes follow; until the next join()
  };

  explicit MessageJoiner(std::size_t max_message) : max_message_(max_message) {}
  ~MessageJoiner();
  MessageJoiner(const MessageJoiner&) = delete;
  MessageJoiner& operator=(const MessageJoiner&) = delete;

  /// Whether a data frame may come now. Before anything is allocated for it. Errors: corrupt
  /// (against the protocol), exhausted (larger than allowed).
  [[nodiscard]] Result<void> admit(const FrameHead& head) const;
  /// Whether a frame that was admitted is a message by itself, which needs not be joined.
  [[nodiscard]] bool is_whole(const FrameHead& head) const { return !in_message_ && head.last; }
  /// A frame that was admitted. The message, if this was its last frame.
  [[nodiscard]] std::optional<Message> join(const FrameHead& head,
                                            std::span<const std::byte> payload);

 private:
  void reserve(std::size_t size);

  const std::size_t max_message_;
  bool in_message_ = false;
  Opcode kind_ = Opcode::text;
  std::byte* message_ = nullptr;  // malloc: grows without being cleared
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace hyphos::gateway::net
