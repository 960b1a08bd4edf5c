#include "cosim/sense/messages.hpp"

#include <array>
#include <bit>

#include "cosim/sense/proto_bytes.hpp"

namespace hyphos::cosim {
namespace {

using wire::ProtoWriter;

void put(ProtoWriter& writer, std::uint32_t field, const Bytes& part) {
  writer.open(field, part.size());
  writer.raw(part);
}

Bytes vector(const Vec3& v) { return proto_doubles({v.x, v.y, v.z}); }
Bytes quaternion(const Quaternion& q) { return proto_doubles({q.x, q.y, q.z, q.w}); }

Bytes header(Time now, std::string_view frame) {
  return proto_bytes(32 + frame.size(), [&](ProtoWriter& writer) {
    writer.varint(1, static_cast<std::uint64_t>(now.ns));
    writer.text(2, frame);
  });
}

void put_float(ProtoWriter& writer, std::uint32_t field, double value) {
  const auto number = static_cast<float>(value);
  if (number == 0) return;
  writer.tag(field, wire::kFixed32);
  wire::put_le(writer.room(4), std::bit_cast<std::uint32_t>(number), 4);
}

/// A repeated field of doubles.
void put_list(ProtoWriter& writer, std::uint32_t field, std::span<const double> values) {
  writer.open(field, 8 * values.size());
  for (const double value : values) {
    wire::put_le(writer.room(8), std::bit_cast<std::uint64_t>(value), 8);
  }
}

}  // namespace

Bytes encode_imu(Time now, std::string_view frame, const Quaternion& orientation, const Vec3& turn,
                 const Vec3& force) {
  return proto_bytes(frame.size() + 200, [&](ProtoWriter& writer) {
    put(writer, 1, header(now, frame));
    put(writer, 2, quaternion(orientation));
    put(writer, 4, vector(turn));
    put(writer, 6, vector(force));
  });
}

Bytes encode_scan(Time now, std::string_view frame, const ScanHead& head,
                  std::span<const double> ranges) {
  return proto_bytes(frame.size() + 128 + 4 * ranges.size(), [&](ProtoWriter& writer) {
    put(writer, 1, header(now, frame));
    put_float(writer, 2, head.from);
    put_float(writer, 3, head.to);
    put_float(writer, 4, head.between);
    put_float(writer, 6, head.period);
    put_float(writer, 7, head.nearest);
    put_float(writer, 8, head.farthest);
    writer.open(9, 4 * ranges.size());
    for (const double range : ranges) {
      wire::put_le(writer.room(4), std::bit_cast<std::uint32_t>(static_cast<float>(range)), 4);
    }
  });
}

Bytes encode_image(Time now, std::string_view frame, std::uint32_t width, std::uint32_t height,
                   std::string_view encoding, std::uint32_t pixel_bytes) {
  return proto_bytes(frame.size() + encoding.size() + 96, [&](ProtoWriter& writer) {
    put(writer, 1, header(now, frame));
    writer.varint(2, height);
    writer.varint(3, width);
    writer.text(4, encoding);
    writer.varint(6, std::uint64_t{width} * pixel_bytes);
  });
}

Bytes encode_camera_info(Time now, std::string_view frame, std::uint32_t width,
                         std::uint32_t height, double focal_px) {
  // The centre of the first pixel is at 0.
  const double cx = (width - 1) / 2.0;
  const double cy = (height - 1) / 2.0;
  const double f = focal_px;
  return proto_bytes(frame.size() + 400, [&](ProtoWriter& writer) {
    put(writer, 1, header(now, frame));
    writer.varint(2, height);
    writer.varint(3, width);
    writer.text(4, "plumb_bob");
    put_list(writer, 5, std::array{0.0, 0.0, 0.0, 0.0, 0.0});
    put_list(writer, 6, std::array{f, 0.0, cx, 0.0, f, cy, 0.0, 0.0, 1.0});
    put_list(writer, 7, std::array{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0});
    put_list(writer, 8, std::array{f, 0.0, cx, 0.0, 0.0, f, cy, 0.0, 0.0, 0.0, 1.0, 0.0});
  });
}

Bytes encode_transforms(Time now, std::span<const FramePlace> places) {
  Bytes all;
  for (const FramePlace& place : places) {
    const Bytes transform = proto_bytes(96, [&](ProtoWriter& writer) {
      put(writer, 1, vector(place.position));
      put(writer, 2, quaternion(place.orientation));
    });
    const Bytes stamped =
        proto_bytes(place.parent.size() + place.child.size() + 192, [&](auto& to) {
          put(to, 1, header(now, place.parent));
          to.text(2, place.child);
          put(to, 3, transform);
        });
    const Bytes one = proto_bytes(stamped.size() + 12, [&](auto& to) { put(to, 1, stamped); });
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

}  // namespace hyphos::cosim
