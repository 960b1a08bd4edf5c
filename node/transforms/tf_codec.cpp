#include "node/transforms/tf_codec.hpp"

#include <bit>

#include "wire/protobuf.hpp"

namespace hyphos::tf {
namespace {

using wire::ProtoReader;
using wire::ProtoValue;
using wire::ProtoWriter;
using wire::varint_size;

// Field numbers of tf.proto, geometry.proto and std.proto.
enum MessageField : std::uint32_t { kTransforms = 1 };
enum StampedField : std::uint32_t { kHeader = 1, kChild = 2, kTransform = 3 };
enum HeaderField : std::uint32_t { kStamp = 1, kParent = 2 };
enum TransformField : std::uint32_t { kTranslation = 1, kRotation = 2 };

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// Every field number here is below 16, so that a tag takes one byte.

std::size_t text_size(std::size_t length) {
  return length == 0 ? 0 : 1 + varint_size(length) + length;
}
std::size_t number_size(std::uint64_t value) { return value == 0 ? 0 : 1 + varint_size(value); }
std::size_t double_size(double value) { return bits(value) == 0 ? 0 : 9; }

struct Sizes {
  std::size_t header = 0;
  std::size_t translation = 0;
  std::size_t rotation = 0;
  std::size_t transform = 0;
  std::size_t stamped = 0;
};

Sizes sizes_of(const Transform& t) {
  Sizes s;
  s.header = number_size(static_cast<std::uint64_t>(t.stamp.ns)) + text_size(t.parent.size());
  s.translation =
      double_size(t.translation.x) + double_size(t.translation.y) + double_size(t.translation.z);
  s.rotation = double_size(t.rotation.x) + double_size(t.rotation.y) + double_size(t.rotation.z) +
               double_size(t.rotation.w);
  s.transform = 2 + s.translation + 2 + s.rotation;
  s.stamped = 1 + varint_size(s.header) + s.header + text_size(t.child.size()) + 1 +
              varint_size(s.transform) + s.transform;
  return s;
}

void write_one(ProtoWriter& out, const Transform& t) {
  const Sizes s = sizes_of(t);
  out.open(kTransforms, s.stamped);
  out.open(kHeader, s.header);
  out.varint(kStamp, static_cast<std::uint64_t>(t.stamp.ns));
  out.text(kParent, t.parent);
  out.text(kChild, t.child);
  out.open(kTransform, s.transform);
  out.open(kTranslation, s.translation);
  out.fixed(1, bits(t.translation.x));
  out.fixed(2, bits(t.translation.y));
  out.fixed(3, bits(t.translation.z));
  out.open(kRotation, s.rotation);
  out.fixed(1, bits(t.rotation.x));
  out.fixed(2, bits(t.rotation.y));
  out.fixed(3, bits(t.rotation.z));
  out.fixed(4, bits(t.rotation.w));
}

/// Calls `take(number, type, value)` for every field. False if a field is malformed or refused.
template <typename F>
bool for_each_field(std::span<const std::byte> bytes, F take) {
  ProtoReader in(bytes);
  while (!in.done()) {
    std::uint64_t number = 0;
    std::uint32_t type = 0;
    ProtoValue value;
    if (!in.field(number, type, value) || !take(number, type, value)) return false;
  }
  return true;
}

/// Reads doubles 1 to N of a message. Unknown fields are skipped.
template <std::size_t N>
bool read_doubles(std::span<const std::byte> bytes, double* const (&to)[N]) {
  return for_each_field(bytes, [&to](std::uint64_t number, std::uint32_t type, const auto& value) {
    if (number > N) return true;
    if (type != wire::kFixed64) return false;
    *to[number - 1] = std::bit_cast<double>(value.number);
    return true;
  });
}

bool read_header(std::span<const std::byte> bytes, Transform& t) {
  return for_each_field(bytes, [&t](std::uint64_t number, std::uint32_t type, const auto& value) {
    if (number == kStamp) {
      t.stamp = Time{static_cast<std::int64_t>(value.number)};
      return type == wire::kVarint;
    }
    if (number == kParent) {
      t.parent.assign(value.text());
      return type == wire::kBytes;
    }
    return true;
  });
}

bool read_pose(std::span<const std::byte> bytes, Transform& t) {
  return for_each_field(bytes, [&t](std::uint64_t number, std::uint32_t type, const auto& value) {
    if (number == kTranslation) {
      Vector3& v = t.translation;
      return type == wire::kBytes && read_doubles(value.bytes, {&v.x, &v.y, &v.z});
    }
    if (number == kRotation) {
      Quaternion& q = t.rotation;
      return type == wire::kBytes && read_doubles(value.bytes, {&q.x, &q.y, &q.z, &q.w});
    }
    return true;
  });
}

bool read_stamped(std::span<const std::byte> bytes, Transform& t) {
  t.parent.clear();
  t.child.clear();
  t.stamp = {};
  t.translation = {};
  t.rotation = {0, 0, 0, 0};
  return for_each_field(bytes, [&t](std::uint64_t number, std::uint32_t type, const auto& value) {
    if (number < kHeader || number > kTransform) return true;
    if (type != wire::kBytes) return false;
    if (number == kHeader) return read_header(value.bytes, t);
    if (number == kTransform) return read_pose(value.bytes, t);
    t.child.assign(value.text());
    return true;
  });
}

}  // namespace

TypeId message_type() { return make_type_id("hyphos.msgs.TfMessage", Encoding::protobuf); }

std::size_t size(std::span<const Transform> transforms) {
  std::size_t sum = 0;
  for (const Transform& t : transforms) {
    const std::size_t one = sizes_of(t).stamped;
    sum += 1 + varint_size(one) + one;
  }
  return sum;
}

void write(std::span<const Transform> transforms, std::byte* out) {
  ProtoWriter writer(out);
  for (const Transform& t : transforms) write_one(writer, t);
}

Result<void> read(std::span<const std::byte> bytes,
                  const std::function<void(const Transform&)>& take) {
  Transform t;
  const bool good =
      for_each_field(bytes, [&](std::uint64_t number, std::uint32_t type, const ProtoValue& value) {
        if (number != kTransforms) return true;
        if (type != wire::kBytes || !read_stamped(value.bytes, t)) return false;
        take(t);
        return true;
      });
  if (!good) return Error{Code::corrupt, "the bytes are not a hyphos.msgs.TfMessage", {}};
  return success();
}

}  // namespace hyphos::tf
