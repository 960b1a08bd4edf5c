#include "cosim/sense/scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "cosim/core/random.hpp"
#include "wire/protobuf.hpp"

namespace hyphos::cosim {
namespace {

using wire::ProtoWriter;

constexpr double kNothing = std::numeric_limits<double>::infinity();
constexpr double kBodyHeight = 0.6;  // m, of another robot, centred at its position

/// The distance at which a ray enters a box. 0 if it begins inside.
double to_box(const Vec3& from, const Vec3& along, const Box& box) {
  double enter = 0;
  double leave = kNothing;
  const std::array<std::array<double, 4>, 3> axes{{{from.x, along.x, box.low.x, box.high.x},
                                                   {from.y, along.y, box.low.y, box.high.y},
                                                   {from.z, along.z, box.low.z, box.high.z}}};
  for (const auto& [at, step, low, high] : axes) {
    if (step == 0) {
      if (at < low || at > high) return kNothing;
      continue;
    }
    const double a = (low - at) / step;
    const double b = (high - at) / step;
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
  }
  return enter <= leave ? enter : kNothing;
}

/// The distance at which a ray enters an upright cylinder. A scanner inside does not see it.
double to_body(const Vec3& from, const Vec3& along, const Vec3& centre, double radius) {
  const double dx = from.x - centre.x;
  const double dy = from.y - centre.y;
  const double a = along.x * along.x + along.y * along.y;
  const double b = dx * along.x + dy * along.y;
  const double c = dx * dx + dy * dy - radius * radius;
  if (a == 0 || c <= 0) return kNothing;
  const double under = b * b - a * c;
  if (under < 0) return kNothing;
  const double distance = (-b - std::sqrt(under)) / a;
  if (distance < 0) return kNothing;
  const double height = from.z + distance * along.z - centre.z;
  return std::abs(height) <= kBodyHeight / 2 ? distance : kNothing;
}

double to_ground(const Vec3& from, const Vec3& along) {
  return along.z < 0 && from.z > 0 ? -from.z / along.z : kNothing;
}

double increment(const ScanOptions& options) {
  return options.beams < 2 ? 0 : (options.to - options.from) / (options.beams - 1);
}

/// A normal deviate by the method of Box and Muller, from two draws of one beam.
double normal(std::uint64_t seed, std::uint64_t scan, std::uint64_t beam) {
  const double a = 1 - draw_unit(seed, scan, beam, 0);  // in (0, 1]
  const double b = draw_unit(seed, scan, beam, 1);
  return std::sqrt(-2 * std::log(a)) * std::cos(2 * std::numbers::pi * b);
}

}  // namespace

std::vector<float> scan_ranges(const Scene& scene, std::span<const Pose> poses, NodeId robot,
                               const ScanOptions& options) {
  const Pose& pose = poses[robot];
  const Vec3 from = pose.position + turned(pose.orientation, {0, 0, options.height_m});
  std::vector<float> ranges;
  ranges.reserve(options.beams);
  for (std::uint32_t i = 0; i < options.beams; ++i) {
    const double angle = options.from + increment(options) * i;
    const Vec3 along = turned(pose.orientation, {std::cos(angle), std::sin(angle), 0});
    double nearest = to_ground(from, along);
    for (const Box& box : scene.boxes()) nearest = std::min(nearest, to_box(from, along, box));
    for (NodeId other = 0; options.body_m > 0 && other < poses.size(); ++other) {
      if (other == robot) continue;
      nearest = std::min(nearest, to_body(from, along, poses[other].position, options.body_m));
    }
    ranges.push_back(static_cast<float>(nearest <= options.most_m ? nearest : kNothing));
  }
  return ranges;
}

TypeId scan_type() { return make_type_id("hyphos.msgs.LaserScan", Encoding::protobuf); }

std::vector<std::byte> encode_scan(std::span<const float> ranges, Time now,
                                   const ScanOptions& options) {
  std::vector<std::byte> bytes(128 + options.frame.size() + 4 * ranges.size());
  ProtoWriter writer(bytes.data());
  const auto number = [&](std::uint32_t field, double value) {
    writer.tag(field, wire::kFixed32);
    wire::put_le(writer.room(4), std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4);
  };
  std::vector<std::byte> head(32 + options.frame.size());
  ProtoWriter header(head.data());
  header.varint(1, static_cast<std::uint64_t>(now.ns));
  header.text(2, options.frame);
  head.resize(static_cast<std::size_t>(header.end() - head.data()));
  writer.open(1, head.size());
  writer.raw(head);
  number(2, options.from);
  number(3, options.to);
  number(4, increment(options));
  number(6, 1.0 / static_cast<double>(options.rate_hz));
  number(7, options.least_m);
  number(8, options.most_m);
  writer.open(9, 4 * ranges.size());
  for (const float range : ranges) {
    wire::put_le(writer.room(4), std::bit_cast<std::uint32_t>(range), 4);
  }
  bytes.resize(static_cast<std::size_t>(writer.end() - bytes.data()));
  return bytes;
}

Result<std::unique_ptr<Scans>> Scans::make(const Scene& scene,
                                           std::vector<std::optional<ScanOptions>> robots,
                                           std::uint64_t seed) {
  std::unique_ptr<Scans> made(new Scans(scene, seed));
  for (auto& options : robots) {
    if (!options) {
      made->scanners_.emplace_back();
      continue;
    }
    auto step = Step::from_rate(options->rate_hz);
    if (!step) return step.error();
    made->scanners_.push_back(Scanner{std::move(*options), *step});
  }
  return made;
}

std::vector<SensorChannel> Scans::channels(NodeId robot) const {
  if (!scanners_[robot]) return {};
  return {{scanners_[robot]->options.channel, scan_type()}};
}

Time Scans::next(NodeId robot) const {
  const auto& scanner = scanners_[robot];
  return scanner ? scanner->step.at(scanner->done).value() : kNever;
}

Result<void> Scans::read(NodeId robot, Time now, std::span<const Pose> poses,
                         std::vector<Reading>& readings) {
  auto& scanner = scanners_[robot];
  if (!scanner || next(robot) > now) return success();
  const ScanOptions& options = scanner->options;
  const std::int64_t number = scanner->step.index_at_or_before(now);
  scanner->done = number + 1;
  auto ranges = scan_ranges(scene_, poses, robot, options);
  for (std::uint32_t i = 0; options.noise_m > 0 && i < ranges.size(); ++i) {
    const auto scan = static_cast<std::uint64_t>(number) << 20 | robot;
    const double noise = options.noise_m * normal(seed_, scan, i);
    ranges[i] = std::max(0.0F, ranges[i] + static_cast<float>(noise));
  }
  readings.push_back({0, Buffer::adopt(encode_scan(ranges, now, options)), {}});
  return success();
}

}  // namespace hyphos::cosim
