#include "cosim/nodes/motion_messages.hpp"

#include <bit>
#include <string_view>

#include "cosim/sense/messages.hpp"
#include "cosim/sense/proto_bytes.hpp"

namespace hyphos::cosim {
namespace {

using wire::ProtoReader;
using wire::ProtoValue;
using wire::ProtoWriter;

constexpr std::string_view kWorld = "world";

Bytes vector(const Vec3& v) { return proto_doubles({v.x, v.y, v.z}); }

struct Part {
  std::uint32_t field = 0;
  Bytes bytes;
};

Bytes parts(std::initializer_list<Part> all) {
  std::size_t most = 0;
  for (const Part& part : all) most += part.bytes.size() + 12;
  return proto_bytes(most, [&](ProtoWriter& writer) {
    for (const Part& part : all) {
      writer.open(part.field, part.bytes.size());
      writer.raw(part.bytes);
    }
  });
}

bool read_vector(std::span<const std::byte> bytes, Vec3& to) {
  ProtoReader reader(bytes);
  while (!reader.done()) {
    std::uint64_t field = 0;
    std::uint32_t type = 0;
    ProtoValue value;
    if (!reader.field(field, type, value)) return false;
    double* const place = field == 1 ? &to.x : field == 2 ? &to.y : field == 3 ? &to.z : nullptr;
    if (place == nullptr) continue;
    if (type != wire::kFixed64) return false;
    *place = std::bit_cast<double>(value.number);
  }
  return true;
}

}  // namespace

TypeId odometry_type() { return make_type_id("hyphos.msgs.Odometry", Encoding::protobuf); }
TypeId twist_type() { return make_type_id("hyphos.msgs.Twist", Encoding::protobuf); }

std::vector<std::byte> encode_odometry(const Pose& pose, Time now, std::string_view frame) {
  const Quaternion& q = pose.orientation;
  const Bytes header = proto_bytes(32, [&](ProtoWriter& writer) {
    writer.varint(1, static_cast<std::uint64_t>(now.ns));
    writer.text(2, kWorld);
  });
  const Bytes where = parts({{1, vector(pose.position)}, {2, proto_doubles({q.x, q.y, q.z, q.w})}});
  const Bytes speed = parts({{1, vector(turned_back(q, pose.velocity))}, {2, vector(pose.turn)}});
  const Bytes rest = parts({{3, parts({{1, where}})}, {4, parts({{1, speed}})}});
  return proto_bytes(header.size() + rest.size() + frame.size() + 64, [&](ProtoWriter& writer) {
    writer.open(1, header.size());
    writer.raw(header);
    writer.text(2, frame);
    writer.raw(rest);
  });
}

TypeId transforms_type() { return make_type_id("hyphos.msgs.TfMessage", Encoding::protobuf); }

std::vector<std::byte> encode_frame(const Pose& pose, Time now, std::string_view frame) {
  const FramePlace place{std::string(kWorld), std::string(frame), pose.position, pose.orientation};
  return encode_transforms(now, std::span(&place, 1));
}

PublisherOptions publisher_of(const SensorChannel& sensor) {
  PublisherOptions options;
  if (sensor.latched) {
    options.policy.emplace();
    options.policy->latched = true;
  }
  return options;
}

std::optional<Motion> decode_twist(std::span<const std::byte> bytes) {
  Motion motion;
  Vec3 turn;
  ProtoReader reader(bytes);
  while (!reader.done()) {
    std::uint64_t field = 0;
    std::uint32_t type = 0;
    ProtoValue value;
    if (!reader.field(field, type, value)) return std::nullopt;
    if (field != 1 && field != 2) continue;
    if (type != wire::kBytes) return std::nullopt;
    if (!read_vector(value.bytes, field == 1 ? motion.velocity : turn)) return std::nullopt;
  }
  motion.turn = turn.z;
  return motion;
}

}  // namespace hyphos::cosim
