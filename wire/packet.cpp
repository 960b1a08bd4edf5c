#include "wire/packet.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "hyphos/wire/head.pb.h"

namespace hyphos::wire {
namespace {

// The generated class keeps the capacity of its strings when cleared, so one per thread makes
// encoding and decoding free of allocations after the first message.
v1::Head& scratch() {
  thread_local v1::Head head;
  head.Clear();
  return head;
}

Error corrupt(std::string message) { return {Code::corrupt, std::move(message), {}}; }

void put_le(std::byte* at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<std::byte>(value >> (8 * i));
}
std::uint64_t get_le(const std::byte* at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::to_integer<std::uint64_t>(at[i]) << (8 * i);
  return value;
}

void fill(v1::Head& head, std::string_view channel, const TypeId& type, const Envelope& message,
          const ClockInfo& clock) {
  const Meta& meta = message.meta;
  head.set_channel(channel.data(), channel.size());
  head.set_type_name(type.name);
  head.set_type_hash(type.hash);
  head.set_encoding(static_cast<v1::Encoding>(static_cast<int>(type.encoding) + 1));
  head.set_sequence(meta.sequence);
  head.set_sender(meta.sender);
  head.set_replayed(meta.replayed);
  head.set_payload_bytes(message.payload.size());
  for (const Buffer& buffer : message.buffers) head.add_buffer_bytes(buffer.size());
  head.set_publish_ns(meta.stamps.publish);
  head.set_encoded_ns(meta.stamps.encoded);
  head.set_handed_ns(meta.stamps.handed);
  head.set_arrived_ns(meta.stamps.arrived);
  head.set_scheduled_ns(meta.stamps.scheduled);
  head.set_decoded_ns(meta.stamps.decoded);
  head.set_callback_ns(meta.stamps.callback);
  head.set_host(clock.host);
  head.set_clock_offset_ns(clock.offset_ns);
}

Result<void> extract(const v1::Head& head, Header& out) {
  if (!is_channel_name(head.channel())) return corrupt("the head has no valid channel name");
  if (head.type_name().size() > kMaxTypeNameBytes) return corrupt("the type name is too long");
  const int encoding = static_cast<int>(head.encoding()) - 1;
  if (encoding < 0 || encoding > static_cast<int>(hyphos::Encoding::custom)) {
    return corrupt("the head names no known encoding");
  }
  if (head.buffer_bytes_size() > static_cast<int>(kMaxAttachedBuffers)) {
    return corrupt("the head names more than 8 attached buffers");
  }
  std::uint64_t left = kMaxPacketBytes;
  const auto fits = [&left](std::uint64_t bytes) {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  };
  if (!fits(head.payload_bytes())) return corrupt("the payload size is impossible");
  out.buffer_count = 0;
  for (const std::uint64_t bytes : head.buffer_bytes()) {
    if (!fits(bytes)) return corrupt("the size of an attached buffer is impossible");
    out.buffer_bytes[out.buffer_count++] = bytes;
  }
  out.channel.assign(head.channel());
  out.type.name.assign(head.type_name());
  out.type.encoding = static_cast<hyphos::Encoding>(encoding);
  out.type.hash = head.type_hash();
  out.payload_bytes = head.payload_bytes();
  out.meta = {head.type_hash(), head.sequence(), head.sender(), head.replayed(), {}};
  out.meta.stamps = {head.publish_ns(),   head.encoded_ns(), head.handed_ns(), head.arrived_ns(),
                     head.scheduled_ns(), head.decoded_ns(), head.callback_ns()};
  out.clock = {head.host(), head.clock_offset_ns()};
  return success();
}

}  // namespace

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

void append_head(std::string_view channel, const TypeId& type, const Envelope& message,
                 const ClockInfo& clock, std::vector<std::byte>& out) {
  assert(is_channel_name(channel) && type.name.size() <= kMaxTypeNameBytes);
  v1::Head& head = scratch();
  fill(head, channel, type, message, clock);
  const std::size_t size = head.ByteSizeLong();
  assert(size <= kMaxHeadBytes);
  const std::size_t at = out.size();
  out.resize(at + kPrefixBytes + size);
  put_le(&out[at], size, 4);
  put_le(&out[at + 4], kSeparator, 2);
  head.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(&out[at + kPrefixBytes]));
}

Result<std::size_t> read_head(std::span<const std::byte> in, Header& out) {
  if (in.size() < kPrefixBytes) return corrupt("shorter than the prefix of a packet");
  const std::size_t size = get_le(in.data(), 4);
  if (get_le(in.data() + 4, 2) != kSeparator) return corrupt("the separator is missing");
  if (size > kMaxHeadBytes) return corrupt("the head is longer than 4096 bytes");
  if (in.size() - kPrefixBytes < size) return corrupt("the head is cut off");
  v1::Head& head = scratch();
  if (!head.ParseFromArray(in.data() + kPrefixBytes, static_cast<int>(size))) {
    return corrupt("the head is no protobuf message");
  }
  if (auto extracted = extract(head, out); !extracted) return extracted.error();
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
    return corrupt("the head names " + std::to_string(packet.header.body_bytes()) +
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
    return corrupt("the key has no valid channel name");
  }
  if (text.size() < end + 17) return corrupt("the key has no type hash");
  Key key{text.substr(0, end), 0, {}};
  for (const char c : text.substr(end + 1, 16)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c >= 'a' && c <= 'f')) return corrupt("the type hash is not hexadecimal");
    key.type_hash = key.type_hash << 4 | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  if (text.size() > end + 17) {
    if (text[end + 17] != '\0') return corrupt("the key has bytes behind the type hash");
    key.rest = in.subspan(end + 18);
  }
  return key;
}

void convert_stamps(Stamps& stamps, const ClockInfo& from, const ClockInfo& to) {
  if (from.host == to.host || from.host == 0) return;
  // Unsigned arithmetic: offsets come from the network and may be anything.
  const std::uint64_t shift =
      static_cast<std::uint64_t>(from.offset_ns) - static_cast<std::uint64_t>(to.offset_ns);
  for (std::int64_t* stamp :
       {&stamps.publish, &stamps.encoded, &stamps.handed, &stamps.arrived, &stamps.scheduled,
        &stamps.decoded, &stamps.callback}) {
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
