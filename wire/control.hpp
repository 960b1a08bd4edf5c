#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hyphos/codec.hpp"
#include "hyphos/result.hpp"

/// The control messages of a link between two processes. docs/reference/wire_links.md, "Links",
/// defines their meaning and order. Pure functions. All values of a message from parse_control()
/// are within bounds.
namespace hyphos::wire {

inline constexpr std::uint32_t kLinkVersion = 1;
inline constexpr std::size_t kMaxControlBytes = 32 * 1024;
inline constexpr std::size_t kMaxProcessBytes = 255;

struct Welcome {
  std::uint64_t session = 0;
  std::string process;
  std::uint64_t host = 0;
  std::uint32_t version = kLinkVersion;
};
struct Hello {
  std::uint64_t session = 0;
  std::string process;
  std::uint64_t host = 0;
  std::uint32_t version = kLinkVersion;
  std::string via;
  std::vector<std::uint32_t> streams;
};
struct Subscribe {
  std::uint32_t stream = 0;
  std::string channel;
  TypeId type;
  std::uint32_t window_messages = 1;
  std::uint64_t window_bytes = 0;
  bool reliable = false;
  std::uint64_t resume_after = 0;
  std::string node = {};  ///< for errors. Empty: an older peer, which does not send it
};
struct Unsubscribe {
  std::uint32_t stream = 0;
  std::uint64_t taken = 0;
};
struct Accepted {
  std::uint32_t stream = 0;
  std::uint64_t first = 0;
};
struct Refused {
  std::uint32_t stream = 0;
  TypeId type;
  std::string node = {};  ///< as in Subscribe
};
struct Closed {
  std::uint32_t stream = 0;
  std::uint64_t sent = 0;
};
struct Ack {
  std::uint32_t stream = 0;
  std::uint64_t taken = 0;
};
struct Bye {};
struct Nothing {};
struct Ask {
  std::int64_t asked_ns = 0;
};
struct Answer {
  std::int64_t asked_ns = 0;
  std::int64_t heard_ns = 0;
  std::int64_t answered_ns = 0;
  std::int64_t clock_offset_ns = 0;
};

using Control = std::variant<Welcome, Hello, Subscribe, Unsubscribe, Accepted, Refused, Closed, Ack,
                             Bye, Nothing, Ask, Answer>;

/// The log line about a peer whose Welcome or Hello has another link version.
[[nodiscard]] std::string version_refusal(std::string_view process, std::uint32_t version);

/// An endpoint's owner in an error: "node 'talker' of process 'main'", or only the process.
[[nodiscard]] std::string owner_text(std::string_view node, std::string_view process);

/// A control message is one frame: a zero byte, which never begins a channel's name, then protobuf.
[[nodiscard]] std::string encode_control(const Control& message);
/// Code::corrupt for anything malformed, too long, or with an impossible value.
[[nodiscard]] Result<Control> parse_control(std::span<const std::byte> frame);

/// Follows the key in the first frame of a data message on a link, and precedes the packet.
struct Trailer {
  std::uint32_t stream = 0;
  std::uint64_t sequence = 0;  ///< counts from 1 per stream, without gaps
};
inline constexpr std::size_t kTrailerBytes = 12;
void write_trailer(const Trailer& trailer, std::span<std::byte, kTrailerBytes> out);
/// Reads the trailer at the beginning of `in`.
[[nodiscard]] Result<Trailer> parse_trailer(std::span<const std::byte> in);

/// A multicast announcement. `transport/announce.hpp` sends and evaluates it.
struct Beacon {
  std::string domain;
  std::uint64_t session = 0;
  std::string process;
  std::uint64_t host = 0;
  std::vector<std::string> endpoints;
  std::uint32_t period_ms = 0;
  bool leaving = false;
  std::string curve_key;
  std::vector<std::string> channels;
  std::uint64_t channels_digest = 0;

  bool operator==(const Beacon&) const = default;
};
inline constexpr std::uint32_t kBeaconVersion = 1;
inline constexpr std::size_t kMaxBeaconBytes = 1400;  // one Ethernet frame, so never fragmented
inline constexpr std::size_t kMaxBeaconEndpoints = 8;
inline constexpr std::size_t kMaxBeaconChannels = 64;
/// Channel names beyond the size limit are left out. The digest still covers them.
[[nodiscard]] Result<std::string> encode_beacon(const Beacon& beacon);
[[nodiscard]] Result<Beacon> parse_beacon(std::span<const std::byte> datagram);

}  // namespace hyphos::wire
