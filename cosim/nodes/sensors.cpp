#include "cosim/nodes/sensors.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "cosim/core/random.hpp"
#include "cosim/nodes/proto_bytes.hpp"
#include "wire/packet.hpp"

namespace hyphos::cosim {
namespace {

using wire::ProtoWriter;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kHead = 64;  // bytes: most of a header

void put(ProtoWriter& writer, std::uint32_t field, const std::vector<std::byte>& part) {
  writer.open(field, part.size());
  writer.raw(part);
}

std::vector<std::byte> header(Time now, std::string_view frame) {
  return proto_bytes(kHead, [&](ProtoWriter& writer) {
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

}  // namespace

TypeId type_of(SensorKind kind) {
  return make_type_id(kind == SensorKind::imu ? "hyphos.msgs.Imu" : "hyphos.msgs.LaserScan",
                      Encoding::protobuf);
}

Sensor::Sensor(SensorOptions options, NodeId robot, std::uint64_t seed)
    : options_(std::move(options)),
      robot_(robot),
      seed_(seed ^ wire::fnv1a(options_.channel)),
      sender_(wire::fnv1a("sensor/" + std::to_string(robot) + "/" + options_.channel)),
      step_(Step::from_rate(options_.rate_hz).value()) {
  if (options_.kind != SensorKind::lidar) return;
  rays_.mount = options_.mount;
  rays_.range_m = options_.range_m;
  for (std::uint32_t i = 0; i < options_.rays; ++i) {
    const double share = options_.rays > 1 ? static_cast<double>(i) / (options_.rays - 1) : 0;
    const double angle = options_.from + (options_.to - options_.from) * share;
    rays_.directions.push_back({std::cos(angle), std::sin(angle), 0});
  }
}

/// A normal number (Box and Muller).
double Sensor::normal(Time now, std::uint64_t which) const {
  const auto at = static_cast<std::uint64_t>(now.ns);
  const double radius = draw_unit(seed_, at, robot_, 2 * which);
  const double angle = draw_unit(seed_, at, robot_, 2 * which + 1);
  return std::sqrt(-2 * std::log(1 - radius)) * std::cos(2 * std::numbers::pi * angle);
}

Result<Buffer> Sensor::measure(Physics& physics, const Pose& pose, Time now) {
  auto payload = options_.kind == SensorKind::imu ? imu(physics, pose, now) : lidar(physics, now);
  if (!payload) return payload.error();
  count_ = step_.index_at_or_before(now) + 1;
  Envelope envelope;
  envelope.payload = Buffer::adopt(std::move(*payload));
  const TypeId type = type_of(options_.kind);
  envelope.meta.type_hash = type.hash;
  envelope.meta.sender = sender_;
  envelope.meta.sequence = static_cast<std::uint64_t>(count_);
  envelope.meta.stamps.publish = now.ns;
  return Buffer::adopt(wire::encode_packet(options_.channel, type, envelope, {}));
}

Result<std::vector<std::byte>> Sensor::imu(Physics& physics, const Pose& pose, Time now) {
  auto felt = physics.felt(robot_);
  if (!felt) return felt.error();
  Vec3 force = *felt;
  Vec3 turn = pose.turn;
  std::uint64_t which = 0;
  for (double* const one : {&force.x, &force.y, &force.z})
    *one += options_.noise * normal(now, which++);
  for (double* const one : {&turn.x, &turn.y, &turn.z}) {
    *one += options_.turn_noise * normal(now, which++);
  }
  const Quaternion& q = pose.orientation;
  return proto_bytes(kHead + 160, [&](ProtoWriter& writer) {
    put(writer, 1, header(now, "base"));
    put(writer, 2, proto_doubles({q.x, q.y, q.z, q.w}));
    put(writer, 4, proto_doubles({turn.x, turn.y, turn.z}));
    put(writer, 6, proto_doubles({force.x, force.y, force.z}));
  });
}

Result<std::vector<std::byte>> Sensor::lidar(Physics& physics, Time now) {
  auto cast = physics.cast(robot_, rays_);
  if (!cast) return cast.error();
  std::vector<double>& ranges = *cast;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    double& range = ranges[i];
    if (range > options_.range_m) {
      range = kInfinite;
    } else {
      range = std::max(0.0, range + options_.noise * normal(now, i));
    }
  }
  const double between =
      options_.rays > 1 ? (options_.to - options_.from) / (options_.rays - 1) : 0;
  return proto_bytes(kHead + 64 + 4 * ranges.size(), [&](ProtoWriter& writer) {
    put(writer, 1, header(now, "lidar"));
    put_float(writer, 2, options_.from);
    put_float(writer, 3, options_.to);
    put_float(writer, 4, between);
    put_float(writer, 6, 1.0 / static_cast<double>(options_.rate_hz));
    put_float(writer, 7, options_.nearest_m);
    put_float(writer, 8, options_.range_m);
    writer.open(9, 4 * ranges.size());
    for (const double range : ranges) {
      wire::put_le(writer.room(4), std::bit_cast<std::uint32_t>(static_cast<float>(range)), 4);
    }
  });
}

}  // namespace hyphos::cosim
