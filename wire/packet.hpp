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

/// The packet format of docs/wire.md: pure functions over spans, no I/O, no global state.
///
///   u32 head length | u16 separator | head (protobuf) | payload | attached buffers
///
/// This one sequence of bytes is what files hold. On a ZeroMQ link the same bytes follow a key that
/// names the channel: small packets in one frame, large ones with a frame for the payload and one
/// for each buffer.
namespace hyphos::wire {

inline constexpr std::uint16_t kSeparator = 0x5948;  // the bytes "HY"
inline constexpr std::size_t kPrefixBytes = 6;
inline constexpr std::size_t kMaxHeadBytes = 4096;
inline constexpr std::size_t kMaxChannelBytes = 255;
inline constexpr std::size_t kMaxTypeNameBytes = 512;
/// Nothing larger is believed, whatever a head says.
inline constexpr std::uint64_t kMaxPacketBytes = std::uint64_t{1} << 40;

/// What is needed to compare stamps of two machines.
struct ClockInfo {
  std::uint64_t host = 0;      ///< identifies the running kernel; 0: unknown
  std::int64_t offset_ns = 0;  ///< realtime − monotonic clock of that kernel

  bool operator==(const ClockInfo&) const = default;
};

/// A decoded head. Reusable: decoding into the same object again allocates nothing once its
/// strings are long enough.
struct Header {
  std::string channel;
  TypeId type;
  Meta meta;
  ClockInfo clock;
  std::uint64_t payload_bytes = 0;
  std::array<std::uint64_t, kMaxAttachedBuffers> buffer_bytes{};
  std::uint32_t buffer_count = 0;

  /// Payload and buffers together. Never overflows for a decoded header.
  [[nodiscard]] std::uint64_t body_bytes() const;
};

/// 1 to 255 bytes without control characters (so that a key frame can be split at '\0').
[[nodiscard]] bool is_channel_name(std::string_view name);

/// Appends prefix and head of `message`. Allocates only if `out` must grow.
/// `channel` must be a channel name and the type name at most kMaxTypeNameBytes long. Returns where
/// in `out` the stamp `handed` stands, for write_handed(); 0: the message has none.
std::size_t append_head(std::string_view channel, const TypeId& type, const Envelope& message,
                        const ClockInfo& clock, std::vector<std::byte>& out);

/// Writes another stamp `handed` into a head, at the place that append_head() returned: a transport
/// may keep a message for some time before it hands it to its library.
void write_submitted(std::byte* at, std::int64_t ns);

/// Reads prefix and head from the beginning of `in`, which may continue with the body.
/// Returns the number of bytes read, Code::corrupt if they are no valid head, and never reads
/// more than kPrefixBytes + kMaxHeadBytes.
[[nodiscard]] Result<std::size_t> read_head(std::span<const std::byte> in, Header& out);

/// Do these frame sizes belong to this header?
[[nodiscard]] bool sizes_match(const Header& header, std::size_t payload,
                               std::span<const std::size_t> buffers);

/// The whole packet as one block. Copies the payload.
[[nodiscard]] std::vector<std::byte> encode_packet(std::string_view channel, const TypeId& type,
                                                   const Envelope& message, const ClockInfo& clock);

struct Packet {
  Header header;
  Envelope envelope;  ///< shares the memory of what was decoded
};
/// Takes a whole packet apart without copying. Code::corrupt if anything is missing or left over.
[[nodiscard]] Result<Packet> decode_packet(const Buffer& whole);

/// The key: channel, '\0', the type hash in 16 lower-case hexadecimal digits. What follows a
/// second '\0' belongs to the link and is no part of the key.
[[nodiscard]] std::string make_key(std::string_view channel, std::uint64_t type_hash);
struct Key {
  std::string_view channel;
  std::uint64_t type_hash = 0;
  std::span<const std::byte> rest;  ///< behind the second '\0'; empty if there is none
};
[[nodiscard]] Result<Key> parse_key(std::span<const std::byte> in);

/// Makes stamps of the clock `from` comparable with the clock `to`: unchanged on the same kernel,
/// otherwise by way of the wall clocks, which must then be synchronised (NTP, PTP).
void convert_stamps(Stamps& stamps, const ClockInfo& from, const ClockInfo& to);

/// FNV-1a 64, the hash of type ids, host ids and digests.
[[nodiscard]] std::uint64_t fnv1a(std::string_view text,
                                  std::uint64_t seed = 0xcbf29ce484222325ULL);

}  // namespace hyphos::wire
