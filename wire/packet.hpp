#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/codec.hpp"
#include "hyphos/envelope.hpp"
#include "hyphos/result.hpp"

/// The packet format of docs/reference/wire.md: pure functions over spans, no I/O, no global state.
///
///   u32 head length | u16 separator | head (protobuf) | payload | attached buffers
///
/// Files contain this sequence of bytes. On a ZeroMQ link the same bytes follow a key with the
/// channel's name. A small packet is one frame. A large packet has one frame for the payload and
/// one for each buffer.
namespace hyphos::wire {

inline constexpr std::uint16_t kSeparator = 0x5948;  // the bytes "HY"
inline constexpr std::size_t kPrefixBytes = 6;
inline constexpr std::size_t kMaxHeadBytes = 4096;
inline constexpr std::size_t kMaxChannelBytes = 255;
inline constexpr std::size_t kMaxTypeNameBytes = 512;
/// Larger packets are rejected, even if the head is valid.
inline constexpr std::uint64_t kMaxPacketBytes = std::uint64_t{1} << 40;

/// The clock of a machine, needed to compare stamps of two machines.
struct ClockInfo {
  std::uint64_t host = 0;      ///< identifies the running kernel, 0 if unknown
  std::int64_t offset_ns = 0;  ///< realtime − monotonic clock of that kernel

  bool operator==(const ClockInfo&) const = default;
};

/// A decoded head. Decoding into the same object again allocates nothing once its strings are long
/// enough.
struct Header {
  std::string channel;
  TypeId type;
  Meta meta;
  ClockInfo clock;
  std::uint64_t payload_bytes = 0;
  std::array<std::uint64_t, kMaxAttachedBuffers> buffer_bytes{};
  std::uint32_t buffer_count = 0;

  /// Size of payload and buffers together. Never overflows for a decoded header.
  [[nodiscard]] std::uint64_t body_bytes() const;
};

/// 1 to 255 bytes without control characters (so that a key frame can be split at '\0').
[[nodiscard]] bool is_channel_name(std::string_view name);

/// Appends prefix and head of `message`. Allocates only if `out` must grow. `channel` must be a
/// channel name, and the type name at most kMaxTypeNameBytes long. Returns the offset of the stamp
/// `handed` in `out` for write_handed(), or 0 if the message has none.
std::size_t append_head(std::string_view channel, const TypeId& type, const Envelope& message,
                        const ClockInfo& clock, std::vector<std::byte>& out);

/// Overwrites the stamp `handed` at the position returned by append_head(). A transport needs this
/// if it queues a message before it submits it to its library.
void write_submitted(std::byte* at, std::int64_t ns);

/// Reads prefix and head from the beginning of `in`, which may continue with the body. Returns the
/// number of bytes read, or Code::corrupt if the head is invalid. Never reads more than
/// kPrefixBytes + kMaxHeadBytes.
[[nodiscard]] Result<std::size_t> read_head(std::span<const std::byte> in, Header& out);

/// True if these frame sizes match this header.
[[nodiscard]] bool sizes_match(const Header& header, std::size_t payload,
                               std::span<const std::size_t> buffers);

/// Encodes a whole packet as one block. Copies the payload.
[[nodiscard]] std::vector<std::byte> encode_packet(std::string_view channel, const TypeId& type,
                                                   const Envelope& message, const ClockInfo& clock);

struct Packet {
  Header header;
  Envelope envelope;  ///< shares the memory of the decoded packet
};
/// Decodes a whole packet without copying. Code::corrupt if bytes are missing or left over.
[[nodiscard]] Result<Packet> decode_packet(const Buffer& whole);

/// The key: channel, '\0', the type hash in 16 lower-case hexadecimal digits. The bytes after a
/// second '\0' belong to the link, not to the key.
[[nodiscard]] std::string make_key(std::string_view channel, std::uint64_t type_hash);
struct Key {
  std::string_view channel;
  std::uint64_t type_hash = 0;
  std::span<const std::byte> rest;  ///< after the second '\0', empty if there is none
};
[[nodiscard]] Result<Key> parse_key(std::span<const std::byte> in);

/// Converts stamps of the clock `from` to the clock `to`. Stamps of the same kernel are unchanged.
/// Otherwise the conversion uses the wall clocks, which must be synchronised (NTP, PTP).
void convert_stamps(Stamps& stamps, const ClockInfo& from, const ClockInfo& to);

/// FNV-1a 64, the hash of type ids, host ids and digests.
[[nodiscard]] std::uint64_t fnv1a(std::string_view text,
                                  std::uint64_t seed = 0xcbf29ce484222325ULL);

}  // namespace hyphos::wire
