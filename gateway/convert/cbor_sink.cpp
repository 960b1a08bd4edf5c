#include "gateway/convert/cbor_sink.hpp"

#include <string>

#include "gateway/convert/cbor_head.hpp"
#include "gateway/convert/ros_sink.hpp"
#include "gateway/convert/utf.hpp"

namespace hyphos::gateway {

namespace {

/// The tag of a typed array. 0 if there is none for the field.
std::uint64_t typed_array_tag(const Field& field) {
  switch (field.kind) {
    case Kind::uint8:
    case Kind::character:
      return 64;
    case Kind::byte:
      return field.is_signed ? 72 : 64;
    case Kind::int8:
      return 72;
    case Kind::uint16:
      return 69;
    case Kind::uint32:
      return 70;
    case Kind::uint64:
      return 71;
    case Kind::int16:
      return 77;
    case Kind::int32:
      return 78;
    case Kind::int64:
      return 79;
    case Kind::float32:
      return 85;
    case Kind::float64:
      return 86;
    default:
      return 0;
  }
}

}  // namespace

void CborSink::head(unsigned major, std::uint64_t value) { append_cbor_head(out_, major, value); }

void CborSink::plain(std::string_view text) {
  head(kCborText, text.size());
  const auto bytes = std::as_bytes(std::span(text));
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

void CborSink::little(std::uint64_t bits, std::size_t width) {
  std::byte bytes[8];
  wire::put_le(bytes, bits, width);
  out_.insert(out_.end(), bytes, bytes + width);
}

void CborSink::whole(std::int64_t value) {
  if (value >= 0) {
    head(kCborUnsigned, static_cast<std::uint64_t>(value));
  } else {
    head(kCborNegative, ~static_cast<std::uint64_t>(value));
  }
}

bool CborSink::open(const Shape& shape) {
  head(kCborMap, shape.fields.size());
  return true;
}

bool CborSink::key(const Field& field) {
  plain(field.name);
  return true;
}

bool CborSink::number(const Field& field, std::uint64_t bits) {
  if (typed_) {
    little(bits, field.width);
  } else if (field.kind == Kind::boolean) {
    head(kCborSimple, bits != 0 ? 21 : 20);
  } else if (field.is_float()) {
    out_.push_back(static_cast<std::byte>(kCborSimple << 5U | (field.width == 4 ? 26U : 27U)));
    for (unsigned left = field.width; left > 0; --left) {
      out_.push_back(static_cast<std::byte>(bits >> (8 * (left - 1))));
    }
  } else if (field.is_signed) {
    whole(static_cast<std::int64_t>(bits));
  } else {
    head(kCborUnsigned, bits);
  }
  return true;
}

bool CborSink::text(const Field& /*field*/, std::string_view text) {
  if (is_utf8(text)) {
    plain(text);
    return true;
  }
  std::string repaired;
  append_utf8(text, repaired);
  plain(repaired);
  return true;
}

bool CborSink::time(const Field& field, std::int64_t ns) {
  const RosTime time = ros_time(ns);
  head(kCborMap, 2);
  plain(field.ros2 ? "sec" : "secs");
  whole(time.seconds);
  plain(field.ros2 ? "nanosec" : "nsecs");
  whole(time.nanoseconds);
  return true;
}

bool CborSink::list(const Field& field, std::size_t count) {
  const std::uint64_t tag = typed_array_tag(field);
  if (tag == 0) {
    head(kCborArray, count);
    return true;
  }
  typed_ = true;
  head(kCborTag, tag);
  head(kCborBytes, count * field.width);
  return true;
}

bool CborSink::end_list(const Field& /*field*/) {
  typed_ = false;
  return true;
}

bool CborSink::packed(const Field& /*field*/, Bytes numbers) {
  out_.insert(out_.end(), numbers.begin(), numbers.end());
  return true;
}

bool CborSink::blob(const Field& field, std::size_t size) {
  if (field.is_signed) head(kCborTag, typed_array_tag(field));
  head(kCborBytes, size);
  return true;
}

bool CborSink::piece(const Field& /*field*/, Bytes bytes) {
  if (!bytes.empty() && bytes.data() == array_ && bytes.size() == size_) {
    hole_ = out_.size();
  } else {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  return true;
}

}  // namespace hyphos::gateway
