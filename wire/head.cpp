#include "wire/head.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "hyphos/policy.hpp"
#include "wire/corrupt.hpp"

namespace hyphos::wire {
namespace {

// The head is encoded by hand. This needs a few hundred bytes of code instead of several kilobytes
// of the protobuf library, which are never cached at 100 Hz. Measured on the ipc path: 5 µs less to
// encode and 5 µs less to decode. proto/hyphos/wire/head.proto remains the specification, and the
// tests compare the bytes with those of the protobuf library.
enum HeadField : std::uint32_t {
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
  kSubmitted,
  kArrived,
  kScheduled,
  kDecoded,
  kCallback,
  kHost,
  kClockOffset,
  kCallClient,
  kCallId,
  kCallKind,
  kLatch,
  kLatchedDepth
};

void write_sizes(ProtoWriter& out, HeadField field, const BufferList& buffers) {
  if (buffers.empty()) return;
  std::array<std::byte, 10 * kMaxAttachedBuffers> packed;
  ProtoWriter inner(packed.data());
  for (const Buffer& buffer : buffers) inner.raw_varint(buffer.size());
  const auto size = static_cast<std::size_t>(inner.end() - packed.data());
  out.open(field, size);
  out.raw(std::span(packed).first(size));
}

bool add_size(Header& out, std::uint64_t size) {
  if (out.buffer_count == kMaxAttachedBuffers) return false;
  out.buffer_bytes[out.buffer_count++] = size;
  return true;
}

bool read_sizes(std::uint32_t type, const ProtoValue& value, Header& out) {
  if (type == kVarint) return add_size(out, value.number);  // from a writer that does not pack
  ProtoReader packed(value.bytes);
  while (!packed.done()) {
    std::uint64_t size = 0;
    if (!packed.varint(size) || !add_size(out, size)) return false;
  }
  return true;
}

/// The required wire type of a known field. Unknown fields may have any type.
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
    case kLatch:
    case kLatchedDepth:
      return type == kVarint;
    case kBufferBytes:
      return type == kBytes || type == kVarint;
    default:
      return field > kLatchedDepth || type == kFixed64;
  }
}

bool assign(std::uint64_t field, std::uint32_t type, const ProtoValue& value, Header& out) {
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
    case kSubmitted:
      stamps.submitted = ns;
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
    case kLatch:
      out.meta.latch = value.number <= static_cast<std::uint64_t>(Latch::gone)
                           ? static_cast<Latch>(value.number)
                           : Latch::none;  // from a later version
      break;
    case kLatchedDepth:
      out.meta.latched_depth =
          static_cast<std::uint16_t>(std::clamp<std::uint64_t>(value.number, 1, kMaxLatchedDepth));
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
                      const Envelope& message, const ClockInfo& clock, std::byte*& submitted) {
  const Meta& meta = message.meta;
  const auto ns = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  ProtoWriter out(at);
  out.text(kChannel, channel);
  out.text(kTypeName, type.name);
  out.fixed(kTypeHash, type.hash);
  out.varint(kEncoding, static_cast<std::uint64_t>(type.encoding) + 1);
  out.varint(kSequence, meta.sequence);
  out.fixed(kSender, meta.sender);
  out.varint(kReplayed, meta.replayed ? 1 : 0);
  out.varint(kPayloadBytes, message.payload.size());
  write_sizes(out, kBufferBytes, message.buffers);
  out.fixed(kPublish, ns(meta.stamps.publish));
  out.fixed(kEncoded, ns(meta.stamps.encoded));
  out.fixed(kSubmitted, ns(meta.stamps.submitted));
  submitted = meta.stamps.submitted != 0 ? out.end() - sizeof meta.stamps.submitted : nullptr;
  out.fixed(kArrived, ns(meta.stamps.arrived));
  out.fixed(kScheduled, ns(meta.stamps.scheduled));
  out.fixed(kDecoded, ns(meta.stamps.decoded));
  out.fixed(kCallback, ns(meta.stamps.callback));
  out.fixed(kHost, clock.host);
  out.fixed(kClockOffset, ns(clock.offset_ns));
  out.fixed(kCallClient, meta.call.client);
  out.varint(kCallId, meta.call.id);
  out.varint(kCallKind, meta.call.kind);
  out.varint(kLatch, static_cast<std::uint64_t>(meta.latch));
  out.varint(kLatchedDepth, meta.latched_depth > 1 ? meta.latched_depth : 0);
  return out.end();
}

Result<void> parse_head(std::span<const std::byte> bytes, Header& out) {
  reset(out);
  bool has_encoding = false;
  ProtoReader in(bytes);
  while (!in.done()) {
    std::uint64_t field = 0;
    std::uint32_t type = 0;
    ProtoValue value;
    if (!in.field(field, type, value) || !type_fits(field, type) ||
        !assign(field, type, value, out)) {
      return corrupt("the head has a broken field");
    }
    has_encoding |= field == kEncoding;
  }
  if (!has_encoding) return corrupt("the head has no encoding");
  if (!is_channel_name(out.channel)) return corrupt("the head has an invalid channel name");
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
