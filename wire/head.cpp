#include "wire/head.hpp"

#include <array>
#include <cstring>
#include <string_view>

namespace hyphos::wire {
namespace {

Error corrupt(std::string message) { return {Code::corrupt, std::move(message), {}}; }

// The head is written and read by hand: a few hundred bytes of code in place of several kilobytes
// of the protobuf library, which at 100 Hz are never in the cache. Measured on the ipc path: 5 µs
// less to encode and 5 µs less to decode. proto/hyphos/wire/head.proto remains the specification,
// and the tests compare with what protobuf makes of it.
enum Field : std::uint32_t {
  kChannel = 1,
  kTypeName,
  kTypeHash,
  kEncoding,
  kSequence,
  kSender,
  kReplayed,
  kPayloadBytes,
  kBufferBytes,
  kPublish,
  kEncoded,
  kHanded,
  kArrived,
  kScheduled,
  kDecoded,
  kCallback,
  kHost,
  kClockOffset,
  kCallClient,
  kCallId,
  kCallKind
};
enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Writes protobuf fields in ascending order; zero values are left out, as proto3 has it.
class HeadWriter {
 public:
  explicit HeadWriter(std::byte* at) : at_(at) {}

  void raw_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<std::byte>(value | 0x80);
    *at_++ = static_cast<std::byte>(value);
  }
  void tag(Field field, WireType type) { raw_varint(field << 3 | type); }
  void varint(Field field, std::uint64_t value) {
    if (value == 0) return;
    tag(field, kVarint);
    raw_varint(value);
  }
  void fixed(Field field, std::uint64_t value) {
    if (value == 0) return;
    tag(field, kFixed64);
    put_le(at_, value, 8);
    at_ += 8;
  }
  void text(Field field, std::string_view value) {
    if (value.empty()) return;
    tag(field, kBytes);
    raw_varint(value.size());
    std::memcpy(at_, value.data(), value.size());
    at_ += value.size();
  }
  void sizes(Field field, const BufferList& buffers) {
    if (buffers.empty()) return;
    std::array<std::byte, 10 * kMaxAttachedBuffers> packed;
    HeadWriter inner(packed.data());
    for (const Buffer& buffer : buffers) inner.raw_varint(buffer.size());
    const auto size = static_cast<std::size_t>(inner.at_ - packed.data());
    tag(field, kBytes);
    raw_varint(size);
    std::memcpy(at_, packed.data(), size);
    at_ += size;
  }
  [[nodiscard]] std::byte* end() const { return at_; }

 private:
  std::byte* at_;
};

/// Reads the protobuf wire format. After the first failure every read fails.
class HeadReader {
 public:
  explicit HeadReader(std::span<const std::byte> in) : in_(in) {}

  [[nodiscard]] bool done() const { return in_.empty(); }
  bool varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !in_.empty(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(in_[0]);
      in_ = in_.subspan(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool fixed(std::uint64_t& value, std::size_t bytes) {
    if (in_.size() < bytes) return false;
    value = get_le(in_.data(), bytes);
    in_ = in_.subspan(bytes);
    return true;
  }
  bool bytes(std::span<const std::byte>& value) {
    std::uint64_t size = 0;
    if (!varint(size) || size > in_.size()) return false;
    value = in_.first(size);
    in_ = in_.subspan(size);
    return true;
  }

 private:
  std::span<const std::byte> in_;
};

/// One field, whatever it is: a number, or bytes.
struct FieldValue {
  std::uint64_t number = 0;
  std::span<const std::byte> bytes;

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

bool read_value(HeadReader& in, std::uint32_t type, FieldValue& value) {
  switch (type) {
    case kVarint:
      return in.varint(value.number);
    case kFixed64:
      return in.fixed(value.number, 8);
    case kFixed32:
      return in.fixed(value.number, 4);
    case kBytes:
      return in.bytes(value.bytes);
    default:
      return false;  // groups have not existed since proto3
  }
}

bool add_size(Header& out, std::uint64_t size) {
  if (out.buffer_count == kMaxAttachedBuffers) return false;
  out.buffer_bytes[out.buffer_count++] = size;
  return true;
}

bool read_sizes(std::uint32_t type, const FieldValue& value, Header& out) {
  if (type == kVarint) return add_size(out, value.number);  // a writer that does not pack
  HeadReader packed(value.bytes);
  while (!packed.done()) {
    std::uint64_t size = 0;
    if (!packed.varint(size) || !add_size(out, size)) return false;
  }
  return true;
}

/// The wire type that a known field must have; unknown fields may have any.
bool type_fits(std::uint64_t field, std::uint32_t type) {
  switch (field) {
    case kChannel:
    case kTypeName:
      return type == kBytes;
    case kEncoding:
    case kSequence:
    case kReplayed:
    case kPayloadBytes:
    case kCallId:
    case kCallKind:
      return type == kVarint;
    case kBufferBytes:
      return type == kBytes || type == kVarint;
    default:
      return field > kCallKind || type == kFixed64;
  }
}

bool assign(std::uint64_t field, std::uint32_t type, const FieldValue& value, Header& out) {
  const auto ns = static_cast<std::int64_t>(value.number);
  Stamps& stamps = out.meta.stamps;
  switch (field) {
    case kChannel:
      out.channel.assign(value.text());
      break;
    case kTypeName:
      out.type.name.assign(value.text());
      break;
    case kTypeHash:
      out.type.hash = value.number;
      break;
    case kEncoding:
      if (value.number == 0 || value.number > static_cast<std::uint64_t>(Encoding::custom) + 1) {
        return false;
      }
      out.type.encoding = static_cast<Encoding>(value.number - 1);
      break;
    case kSequence:
      out.meta.sequence = value.number;
      break;
    case kSender:
      out.meta.sender = value.number;
      break;
    case kReplayed:
      out.meta.replayed = value.number != 0;
      break;
    case kPayloadBytes:
      out.payload_bytes = value.number;
      break;
    case kBufferBytes:
      return read_sizes(type, value, out);
    case kPublish:
      stamps.publish = ns;
      break;
    case kEncoded:
      stamps.encoded = ns;
      break;
    case kHanded:
      stamps.handed = ns;
      break;
    case kArrived:
      stamps.arrived = ns;
      break;
    case kScheduled:
      stamps.scheduled = ns;
      break;
    case kDecoded:
      stamps.decoded = ns;
      break;
    case kCallback:
      stamps.callback = ns;
      break;
    case kHost:
      out.clock.host = value.number;
      break;
    case kClockOffset:
      out.clock.offset_ns = ns;
      break;
    case kCallClient:
      out.meta.call.client = value.number;
      break;
    case kCallId:
      out.meta.call.id = value.number;
      break;
    case kCallKind:
      out.meta.call.kind = value.number;
      break;
    default:
      break;  // from a later version
  }
  return true;
}

void reset(Header& out) {
  out.channel.clear();
  out.type.name.clear();
  out.type.encoding = Encoding::bytes;
  out.type.hash = 0;
  out.meta = {};
  out.clock = {};
  out.payload_bytes = 0;
  out.buffer_count = 0;
}

}  // namespace

std::byte* write_head(std::byte* at, std::string_view channel, const TypeId& type,
                      const Envelope& message, const ClockInfo& clock) {
  const Meta& meta = message.meta;
  const auto ns = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  HeadWriter out(at);
  out.text(kChannel, channel);
  out.text(kTypeName, type.name);
  out.fixed(kTypeHash, type.hash);
  out.varint(kEncoding, static_cast<std::uint64_t>(type.encoding) + 1);
  out.varint(kSequence, meta.sequence);
  out.fixed(kSender, meta.sender);
  out.varint(kReplayed, meta.replayed ? 1 : 0);
  out.varint(kPayloadBytes, message.payload.size());
  out.sizes(kBufferBytes, message.buffers);
  out.fixed(kPublish, ns(meta.stamps.publish));
  out.fixed(kEncoded, ns(meta.stamps.encoded));
  out.fixed(kHanded, ns(meta.stamps.handed));
  out.fixed(kArrived, ns(meta.stamps.arrived));
  out.fixed(kScheduled, ns(meta.stamps.scheduled));
  out.fixed(kDecoded, ns(meta.stamps.decoded));
  out.fixed(kCallback, ns(meta.stamps.callback));
  out.fixed(kHost, clock.host);
  out.fixed(kClockOffset, ns(clock.offset_ns));
  out.fixed(kCallClient, meta.call.client);
  out.varint(kCallId, meta.call.id);
  out.varint(kCallKind, meta.call.kind);
  return out.end();
}

Result<void> parse_head(std::span<const std::byte> bytes, Header& out) {
  reset(out);
  bool has_encoding = false;
  HeadReader in(bytes);
  while (!in.done()) {
    std::uint64_t tag = 0;
    FieldValue value;
    if (!in.varint(tag) || tag < 8 || tag > UINT32_MAX)
      return corrupt("the head has a broken field");
    const std::uint64_t field = tag >> 3;
    const auto type = static_cast<std::uint32_t>(tag & 7);
    if (!read_value(in, type, value) || !type_fits(field, type) ||
        !assign(field, type, value, out)) {
      return corrupt("the head has a broken field");
    }
    has_encoding |= field == kEncoding;
  }
  if (!has_encoding) return corrupt("the head names no encoding");
  if (!is_channel_name(out.channel)) return corrupt("the head has no valid channel name");
  if (out.type.name.size() > kMaxTypeNameBytes) return corrupt("the type name is too long");
  out.meta.type_hash = out.type.hash;
  std::uint64_t left = kMaxPacketBytes;
  const auto fits = [&left](std::uint64_t size) {
    if (size > left) return false;
    left -= size;
    return true;
  };
  if (!fits(out.payload_bytes)) return corrupt("the payload size is impossible");
  for (std::uint32_t i = 0; i < out.buffer_count; ++i) {
    if (!fits(out.buffer_bytes[i])) return corrupt("the size of a buffer is impossible");
  }
  return success();
}

}  // namespace hyphos::wire
