// The nodes of examples/patrol without their channels. Messages with arbitrary fields, in any
// order, pass the checks of the nodes and reach the mapper, the planner, the camera and the world.
// The input bytes choose fields instead of being protobuf, so that most messages are almost valid.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "camera.hpp"
#include "check.hpp"
#include "convert.hpp"
#include "mapper.hpp"
#include "odometry_track.hpp"
#include "planner.hpp"
#include "png.hpp"
#include "simulator.hpp"
#include "world.hpp"

namespace {

using namespace patrol;
namespace msgs = hyphos::msgs;

void require(bool holds) {
  if (!holds) std::abort();
}

class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> rest) : rest_(rest) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  unsigned byte() {
    if (rest_.empty()) return 0;
    const unsigned first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  std::uint64_t word() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8U | byte();
    return value;
  }
  // Usually `usual`, else a value of faulty drivers, or any value.
  double number(double usual) {
    using Limits = std::numeric_limits<double>;
    constexpr double kOdd[] = {0,
                               -0.0,
                               1,
                               -1,
                               1e-9,
                               1e9,
                               -1e9,
                               1e38,
                               1e300,
                               -1e300,
                               1e-310,
                               30,
                               3.15,
                               -0.01,
                               1e6,
                               -1e6,
                               200,
                               -200,
                               Limits::infinity(),
                               -Limits::infinity(),
                               Limits::quiet_NaN()};
    const unsigned choice = byte();
    if (choice >= 64) return usual;
    if (choice < std::size(kOdd)) return kOdd[choice];
    return choice == 63 ? std::bit_cast<double>(word()) : usual + (choice - 40.0) / 20;
  }
  float single(double usual) { return static_cast<float>(number(usual)); }
  std::int64_t stamp(std::int64_t usual) {
    const unsigned choice = byte();
    if (choice >= 16) return usual;
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t kOdd[] = {0, -1, 1, kEnd, -kEnd - 1, kEnd / 2, -kEnd / 2};
    return choice < std::size(kOdd) ? kOdd[choice] : std::bit_cast<std::int64_t>(word());
  }
  // A size of data, usually `usual`.
  std::uint32_t size(std::uint32_t usual) {
    const unsigned choice = byte();
    if (choice >= 16) return usual;
    return choice == 15 ? static_cast<std::uint32_t>(word()) : choice;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

void fill(Bytes& bytes, msgs::Pose& pose, double x) {
  pose.mutable_position()->set_x(bytes.number(x));
  pose.mutable_position()->set_y(bytes.number(0));
  pose.mutable_position()->set_z(bytes.number(0));
  pose.mutable_orientation()->set_z(bytes.number(0));
  pose.mutable_orientation()->set_w(bytes.number(1));
}

msgs::LaserScan make_scan(Bytes& bytes, std::int64_t stamp_ns) {
  msgs::LaserScan scan;
  constexpr std::uint32_t kBeams = 60;
  scan.mutable_header()->set_stamp_ns(bytes.stamp(stamp_ns));
  scan.set_angle_min(bytes.single(-3));
  scan.set_angle_max(bytes.single(2.9));
  scan.set_angle_increment(bytes.single(0.1));
  scan.set_range_min(bytes.single(0.05));
  scan.set_range_max(bytes.single(30));
  const std::uint32_t count = std::min(bytes.size(kBeams), 20'000U);
  for (std::uint32_t i = 0; i < count; ++i) {
    scan.add_ranges(i < 8 ? bytes.single(2) : 2 + 0.01F * static_cast<float>(i % 30));
  }
  return scan;
}

msgs::OccupancyGrid make_map(Bytes& bytes) {
  msgs::OccupancyGrid map;
  const std::uint32_t side = 16;
  map.mutable_info()->set_resolution(bytes.single(0.1));
  map.mutable_info()->set_width(bytes.size(side));
  map.mutable_info()->set_height(bytes.size(side));
  fill(bytes, *map.mutable_info()->mutable_origin(), -0.5);
  const std::uint64_t fits = std::uint64_t{map.info().width()} * map.info().height();
  const std::uint64_t cells = bytes.byte() < 8 ? bytes.size(3) : fits;
  std::string data(std::min<std::uint64_t>(cells, 1U << 16U), '\0');
  for (std::size_t i = 0; i < std::min<std::size_t>(data.size(), 40); ++i) {
    data[i * data.size() / 40] = static_cast<char>(bytes.byte());
  }
  map.set_data(data);
  return map;
}

bool sane(const Pose2& pose) {
  return std::abs(pose.x) < 2e6 && std::abs(pose.y) < 2e6 && std::abs(pose.theta) < 4;
}

// The state of the nodes, and their handling of a message.
class Robot {
 public:
  void take(Bytes& bytes) {
    now_ns_ += 50'000'000;
    switch (bytes.byte() % 8) {
      case 0:
      case 1:
        return odometry(bytes);
      case 2:
      case 3:
      case 4:
        return scan(bytes);
      case 5:
        return map(bytes);
      case 6:
        return pose(bytes);
      default:
        return drive(bytes);
    }
  }
  void finish() {
    mapper_.finish();
    const GridMap map = mapper_.grid().snapshot();
    require(map.percents.size() ==
            static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height));
    (void)draw_map(map, mapper_.trajectory());
    if (map.width == 0) return;
    const msgs::OccupancyGrid message = to_message(map, 1);
    require(unusable(message).empty());
  }

 private:
  static MapperConfig mapper_config() {
    MapperConfig config;
    config.grid.max_extent_m = 60;
    return config;
  }
  static CameraConfig camera_config() {
    CameraConfig config;
    config.width = 32;
    config.height = 24;
    return config;
  }

  void odometry(Bytes& bytes) {
    msgs::Odometry message;
    message.mutable_header()->set_stamp_ns(bytes.stamp(now_ns_));
    fill(bytes, *message.mutable_pose()->mutable_pose(), static_cast<double>(now_ns_) * 1e-9);
    if (!unusable(message).empty()) return;
    track_.add(message.header().stamp_ns(), get_pose(message.pose().pose()));
  }
  void scan(Bytes& bytes) {
    const msgs::LaserScan message = make_scan(bytes, now_ns_);
    if (!unusable(message).empty()) return;
    const auto at = track_.at(message.header().stamp_ns());
    if (!at) return;
    require(sane(*at));
    require(sane(mapper_.add_scan(from_message(message, {0.1, 0, 0}), *at)));
  }
  void map(Bytes& bytes) {
    const msgs::OccupancyGrid message = make_map(bytes);
    if (unusable(message).empty()) planner_.set_map(from_message(message));
  }
  void pose(Bytes& bytes) {
    msgs::PoseStamped message;
    message.mutable_header()->set_stamp_ns(bytes.stamp(now_ns_));
    fill(bytes, *message.mutable_pose(), 0.3);
    if (!unusable(message).empty()) return;
    const double now_s = static_cast<double>(message.header().stamp_ns()) * 1e-9;
    const Drive drive = planner_.update(get_pose(message.pose()), now_s);
    require(std::abs(drive.speed) <= 1 && std::abs(drive.turn_rate) <= 2);
    for (const Point2 p : planner_.path()) require(std::isfinite(p.x) && std::isfinite(p.y));
    camera_.render(world_, get_pose(message.pose()), pixels_);
  }
  void drive(Bytes& bytes) {
    msgs::Twist message;
    message.mutable_linear()->set_x(bytes.number(0.5));
    message.mutable_angular()->set_z(bytes.number(0.2));
    if (!unusable(message).empty()) return;
    simulator_.command(message.linear().x(), message.angular().z());
    simulator_.step(0.01);
    require(sane(simulator_.truth()) && sane(simulator_.odometry()));
    require(unusable(to_message(simulator_.scan())).empty());
  }

  std::int64_t now_ns_ = 1'000'000'000;
  const World world_ = World::building();
  Simulator simulator_{world_};
  OdometryTrack track_;
  Mapper mapper_{mapper_config()};
  Planner planner_;
  Camera camera_{camera_config()};
  std::vector<std::uint8_t> pixels_ = std::vector<std::uint8_t>(camera_.bytes());
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes({data, size});
  Robot robot;
  for (int i = 0; i < 40 && !bytes.empty(); ++i) robot.take(bytes);
  robot.finish();
  return 0;
}
