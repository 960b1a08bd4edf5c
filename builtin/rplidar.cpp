#include "builtin/rplidar.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "builtin/device_reader.hpp"
#include "hyphos/hyphos.hpp"

namespace hyphos::builtin {

namespace {

constexpr double kTurn = 2 * std::numbers::pi;  // rad

}  // namespace

namespace rplidar {
namespace {

constexpr std::array<std::uint8_t, 7> kAnswer = {0xa5, 0x5a, 0x05, 0x00, 0x00, 0x40, 0x81};
constexpr std::size_t kSampleBytes = 5;

// The start bit and its inverse, and the check bit, which is always 1.
std::optional<Sample> parse(std::span<const std::uint8_t> bytes) {
  const bool starts = (bytes[0] & 1) != 0;
  const bool inverse = (bytes[0] & 2) != 0;
  if (starts == inverse || (bytes[1] & 1) == 0) return std::nullopt;
  const unsigned angle_q6 = (bytes[2] << 7U) | (bytes[1] >> 1U);
  const unsigned distance_q2 = (bytes[4] << 8U) | bytes[3];
  const double degrees = angle_q6 / 64.0;
  if (degrees >= 361) return std::nullopt;
  return Sample{starts, std::fmod(degrees / 180 * std::numbers::pi, kTurn),
                distance_q2 / 4.0 / 1000, static_cast<std::uint8_t>(bytes[0] >> 2U)};
}

}  // namespace

void Decoder::feed(std::span<const std::byte> bytes,
                   const std::function<void(const Sample&)>& sample) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  rest_.insert(rest_.end(), data, data + bytes.size());
  std::size_t at = 0;
  if (!answered_) {
    const auto found = std::search(rest_.begin(), rest_.end(), kAnswer.begin(), kAnswer.end());
    if (found == rest_.end()) {
      const std::size_t keep = std::min(rest_.size(), kAnswer.size() - 1);
      skipped_ += rest_.size() - keep;
      rest_.erase(rest_.begin(), rest_.end() - static_cast<std::ptrdiff_t>(keep));
      return;
    }
    answered_ = true;
    skipped_ = 0;
    at = static_cast<std::size_t>(found - rest_.begin()) + kAnswer.size();
  }
  while (rest_.size() - at >= kSampleBytes) {
    if (const auto made = parse(std::span(rest_).subspan(at, kSampleBytes))) {
      sample(*made);
      at += kSampleBytes;
    } else {
      ++skipped_;
      ++at;
    }
  }
  rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace rplidar

namespace {

constexpr std::uint64_t kMostUnanswered = 8'192;

Result<speed_t> baud_of(std::int64_t rate) {
  switch (rate) {
    case 115'200:
      return B115200;
    case 230'400:
      return B230400;
    case 460'800:
      return B460800;
    case 1'000'000:
      return B1000000;
    default:
      return Error{Code::invalid_config, "baud: use 115200, 230400, 460800 or 1000000", ""};
  }
}

class Rplidar final : public Builtin {
 public:
  explicit Rplidar(const Node& node)
      : node_(node),
        path_(node.param("device", "/dev/ttyUSB0")),
        baud_(baud_of(node.param("baud", std::int64_t{115'200})).or_throw()),
        frame_(node.param("frame_id", "laser")),
        range_min_m_(node.param("range_min", 0.15)),
        range_max_m_(node.param("range_max", 12.0)),
        revolution_(points(node)),
        output_(node.publisher<msgs::LaserScan>("scan")) {
    reader_.emplace(
        node.log(), path_,
        DeviceReader::Functions{.open = [this] { return open(); },
                                .data = [this](std::span<const std::byte> bytes) { take(bytes); },
                                .lost = [] {},
                                .stop = [](int device) { stop(device); }});
  }

 private:
  static std::size_t points(const Node& node) {
    const std::int64_t points = node.param("points", std::int64_t{720});
    if (points < 36 || points > 36'000) {
      throw Exception(Error{Code::invalid_config, "points: use 36 to 36000 directions",
                            "nodes." + node.name() + ".params.points"});
    }
    return static_cast<std::size_t>(points);
  }

  [[nodiscard]] Error failed(const std::string& what) const {
    return Error{errno == ENOENT ? Code::not_found : Code::io,
                 what + ": " + std::generic_category().message(errno) +
                     (errno == EACCES ? ". Add the user to the group dialout" : ""),
                 path_};
  }

  static bool send(int device, std::span<const std::uint8_t> bytes) {
    return ::write(device, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  }

  Result<UniqueFd> open() {
    UniqueFd device(::open(path_.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    if (!device.valid()) return failed("cannot open the laser");
    termios mode{};
    if (::tcgetattr(device.get(), &mode) != 0) return failed("the laser is not a serial line");
    ::cfmakeraw(&mode);
    mode.c_cflag |= CLOCAL | CREAD;
    ::cfsetspeed(&mode, baud_);
    if (::tcsetattr(device.get(), TCSANOW, &mode) != 0) return failed("cannot set the serial line");
    // The motor of the A1 turns while DTR is off. Lines without DTR refuse this.
    const int dtr = TIOCM_DTR;
    (void)::ioctl(device.get(), TIOCMBIC, &dtr);
    if (!send(device.get(), rplidar::kStop) || !send(device.get(), rplidar::kMotorOn) ||
        !send(device.get(), rplidar::kScan)) {
      return failed("cannot start the laser");
    }
    decoder_ = rplidar::Decoder();
    skipped_ = 0;
    revolution_.clear();
    whole_ = false;
    return device;
  }

  static void stop(int device) {
    (void)send(device, rplidar::kStop);
    (void)send(device, rplidar::kMotorOff);
    const int dtr = TIOCM_DTR;
    (void)::ioctl(device, TIOCMBIS, &dtr);
    (void)::tcdrain(device);
  }

  // In the thread of the reader, as open().
  void take(std::span<const std::byte> bytes) {
    const Time now = node_.clock().now();
    decoder_.feed(bytes, [&](const rplidar::Sample& sample) {
      if (sample.starts) finish(now);
      revolution_.add(sample);
    });
    const std::uint64_t skipped = decoder_.skipped_bytes();
    // A scan that was still running sends samples before the answer.
    if (skipped > (decoder_.answered() ? skipped_ : kMostUnanswered)) {
      node_.log()
          .every(Duration::from_ms(1'000))
          .warn(path_, ": ", skipped,
                " bytes are no sample. Check the parameter baud and the cable");
    }
    skipped_ = decoder_.answered() ? skipped : 0;
  }

  void finish(Time now) {
    // The first revolution has begun before its first sample.
    if (whole_ && !revolution_.empty()) {
      msgs::LaserScan scan =
          revolution_.scan(start_, Duration{now.ns - start_.ns}, range_min_m_, range_max_m_);
      scan.mutable_header()->set_frame_id(frame_);
      output_.publish(std::move(scan));
    }
    whole_ = true;
    start_ = now;
    revolution_.clear();
  }

  const Node node_;
  const std::string path_;
  const speed_t baud_;
  const std::string frame_;
  const double range_min_m_;
  const double range_max_m_;
  rplidar::Decoder decoder_;
  std::uint64_t skipped_ = 0;
  Revolution revolution_;
  bool whole_ = false;
  Time start_;
  const Publisher<msgs::LaserScan> output_;
  std::optional<DeviceReader> reader_;  // its thread uses the members above
};

}  // namespace

void Revolution::add(const rplidar::Sample& sample) {
  ++samples_;
  if (sample.distance_m <= 0) return;
  const double angle = sample.angle_rad == 0 ? 0 : kTurn - sample.angle_rad;
  const auto place =
      static_cast<std::size_t>(std::lround(angle / kTurn * static_cast<double>(ranges_.size()))) %
      ranges_.size();
  const auto distance = static_cast<float>(sample.distance_m);
  if (distance >= ranges_[place]) return;
  ranges_[place] = distance;
  intensities_[place] = sample.quality;
}

msgs::LaserScan Revolution::scan(Time start, Duration took, double range_min_m,
                                 double range_max_m) const {
  const auto count = static_cast<double>(ranges_.size());
  msgs::LaserScan out;
  out.mutable_header()->set_stamp_ns(start.ns);
  out.set_angle_min(0);
  out.set_angle_increment(static_cast<float>(kTurn / count));
  out.set_angle_max(static_cast<float>(kTurn * (count - 1) / count));
  out.set_scan_time(static_cast<float>(static_cast<double>(took.ns) / 1e9));
  // The device turns clockwise, so a later ray of the scan is an earlier one in time.
  out.set_time_increment(-out.scan_time() / static_cast<float>(count));
  out.set_range_min(static_cast<float>(range_min_m));
  out.set_range_max(static_cast<float>(range_max_m));
  out.mutable_ranges()->Reserve(static_cast<int>(ranges_.size()));
  for (const float range : ranges_) {
    out.add_ranges(range > out.range_max() ? std::numeric_limits<float>::infinity() : range);
  }
  out.mutable_intensities()->Add(intensities_.begin(), intensities_.end());
  return out;
}

void Revolution::clear() {
  std::ranges::fill(ranges_, std::numeric_limits<float>::infinity());
  std::ranges::fill(intensities_, 0.0F);
  samples_ = 0;
}

std::unique_ptr<Builtin> open_rplidar(const Node& node) { return std::make_unique<Rplidar>(node); }

}  // namespace hyphos::builtin
