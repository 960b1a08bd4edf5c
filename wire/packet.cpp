#include "wire/packet.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "wire/corrupt.hpp"
#include "wire/head.hpp"

namespace hyphos::wire {
std::uint64_t Header::body_bytes() const {
  std::uint64_t sum = payload_bytes;
  for (std::uint32_t i = 0; i < buffer_count; ++i) sum += buffer_bytes[i];
  return sum;
}

bool is_channel_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxChannelBytes &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::size_t append_head(std::string_view channel, const TypeId& type, const Envelope& message,
                        const ClockInfo& clock, std::vector<std::byte>& out) {
  assert(is_channel_name(channel) && type.name.size() <= kMaxTypeNameBytes);
  std::array<std::byte, kPrefixBytes + kLongestHead> head;
  std::byte* submitted = nullptr;
  const std::byte* end =
      write_head(head.data() + kPrefixBytes, channel, type, message, clock, submitted);
  put_le(head.data(), static_cast<std::size_t>(end - head.data()) - kPrefixBytes, 4);
  put_le(head.data() + 4, kSeparator, 2);
  const std::size_t begin = out.size();
  out.insert(out.end(), static_cast<const std::byte*>(head.data()), end);
  return submitted == nullptr ? 0 : begin + static_cast<std::size_t>(submitted - head.data());
}

void write_submitted(std::byte* at, std::int64_t ns) {
  put_le(at, static_cast<std::uint64_t>(ns), sizeof ns);
}

Result<std::size_t> read_head(std::span<const std::byte> in, Header& out) {
  if (in.size() < kPrefixBytes) return corrupt("shorter than the prefix of a packet");
  const std::size_t size = get_le(in.data(), 4);
  if (get_le(in.data() + 4, 2) != kSeparator) return corrupt("the separator is missing");
  if (size > kMaxHeadBytes) return corrupt("the head is longer than 4096 bytes");
  if (in.size() - kPrefixBytes < size) return corrupt("the head is cut off");
  if (auto parsed = parse_head(in.subspan(kPrefixBytes, size), out); !parsed) return parsed.error();
  return kPrefixBytes + size;
}

bool sizes_match(const Header& header, std::size_t payload, std::span<const std::size_t> buffers) {
  return header.payload_bytes == payload && header.buffer_count == buffers.size() &&
         std::equal(buffers.begin(), buffers.end(), header.buffer_bytes.begin());
}

std::vector<std::byte> encode_packet(std::string_view channel, const TypeId& type,
                                     const Envelope& message, const ClockInfo& clock) {
  std::vector<std::byte> out;
  append_head(channel, type, message, clock, out);
  const auto append = [&out](const Buffer& part) {
    out.insert(out.end(), part.bytes().begin(), part.bytes().end());
  };
  append(message.payload);
  for (const Buffer& buffer : message.buffers) append(buffer);
  return out;
}

Result<Packet> decode_packet(const Buffer& whole) {
  Packet packet;
  const auto head = read_head(whole.bytes(), packet.header);
  if (!head) return head.error();
  if (whole.size() - *head != packet.header.body_bytes()) {
    return corrupt("the head announces " + std::to_string(packet.header.body_bytes()) +
                   " bytes of payload and buffers, but " + std::to_string(whole.size() - *head) +
                   " follow");
  }
  std::size_t at = *head;
  const auto take = [&](std::uint64_t bytes) {
    Buffer part = whole.slice(at, bytes);
    at += bytes;
    return part;
  };
  packet.envelope.meta = packet.header.meta;
  packet.envelope.payload = take(packet.header.payload_bytes);
  for (std::uint32_t i = 0; i < packet.header.buffer_count; ++i) {
    packet.envelope.buffers.push_back(take(packet.header.buffer_bytes[i]));
  }
  return packet;
}

std::string make_key(std::string_view channel, std::uint64_t type_hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string key;
  key.reserve(channel.size() + 17);
  key.append(channel).push_back('\0');
  for (int shift = 60; shift >= 0; shift -= 4) key.push_back(kDigits[(type_hash >> shift) & 15]);
  return key;
}

Result<Key> parse_key(std::span<const std::byte> in) {
  const std::string_view text(reinterpret_cast<const char*>(in.data()), in.size());
  const std::size_t end = text.substr(0, kMaxChannelBytes + 1).find('\0');
  if (end == std::string_view::npos || !is_channel_name(text.substr(0, end))) {
    return corrupt("the key has an invalid channel name");
  }
  if (text.size() < end + 17) return corrupt("the key has no type hash");
  Key key{text.substr(0, end), 0, {}};
  for (const char c : text.substr(end + 1, 16)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c >= 'a' && c <= 'f')) return corrupt("the type hash is not hexadecimal");
    key.type_hash = key.type_hash << 4 | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  if (text.size() > end + 17) {
    if (text[end + 17] != '\0') return corrupt("the key has bytes after the type hash");
    key.rest = in.subspan(end + 18);
  }
  return key;
}

void convert_stamps(Stamps& stamps, const ClockInfo& from, const ClockInfo& to) {
  if (from.host == to.host || from.host == 0) return;
  // Unsigned arithmetic, because offsets come from the network and may have any value.
  const std::uint64_t shift =
      static_cast<std::uint64_t>(from.offset_ns) - static_cast<std::uint64_t>(to.offset_ns);
  for (std::int64_t* stamp : {&stamps.publish, &stamps.encoded, &stamps.submitted, &stamps.arrived,
                              &stamps.scheduled, &stamps.decoded, &stamps.callback}) {
    if (*stamp != 0) {
      *stamp = static_cast<std::int64_t>(static_cast<std::uint64_t>(*stamp) + shift);
    }
  }
}

std::uint64_t fnv1a(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace hyphos::wire
