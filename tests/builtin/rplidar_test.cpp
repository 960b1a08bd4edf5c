#include "builtin/rplidar.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <thread>

#include "base/unique_fd.hpp"
#include "rig.hpp"

namespace hyphos::builtin {
namespace {

using rplidar::Sample;
using Raw = std::vector<std::uint8_t>;

const Raw kAnswer = {0xa5, 0x5a, 0x05, 0x00, 0x00, 0x40, 0x81};

/// A sample as the device sends it.
void append(Raw& to, bool starts, double degrees, double metres, unsigned quality = 15) {
  const auto angle = static_cast<unsigned>(std::lround(degrees * 64));
  const auto distance = static_cast<unsigned>(std::lround(metres * 4000));
  to.push_back(static_cast<std::uint8_t>(quality << 2U | (starts ? 1U : 2U)));
  to.push_back(static_cast<std::uint8_t>((angle << 1U & 0xffU) | 1U));
  to.push_back(static_cast<std::uint8_t>(angle >> 7U));
  to.push_back(static_cast<std::uint8_t>(distance & 0xffU));
  to.push_back(static_cast<std::uint8_t>(distance >> 8U));
}

std::span<const std::byte> bytes(const Raw& raw) { return std::as_bytes(std::span(raw)); }

std::vector<Sample> decode_all(rplidar::Decoder& decoder, const Raw& raw, std::size_t piece) {
  std::vector<Sample> found;
  for (std::size_t at = 0; at < raw.size(); at += piece) {
    decoder.feed(bytes(raw).subspan(at, std::min(piece, raw.size() - at)),
                 [&](const Sample& sample) { found.push_back(sample); });
  }
  return found;
}

TEST(RplidarDecoder, samples_are_found_in_pieces_of_any_size) {
  Raw raw = {1, 2, 3};  // of a scan that was still running
  raw.insert(raw.end(), kAnswer.begin(), kAnswer.end());
  append(raw, true, 0, 1.5);
  append(raw, false, 90, 0.25, 47);
  append(raw, false, 359.5, 12);
  for (std::size_t piece = 1; piece <= raw.size(); ++piece) {
    rplidar::Decoder decoder;
    const auto found = decode_all(decoder, raw, piece);
    ASSERT_EQ(found.size(), 3U) << piece;
    EXPECT_TRUE(found[0].starts);
    EXPECT_DOUBLE_EQ(found[0].distance_m, 1.5);
    EXPECT_NEAR(found[1].angle_rad, std::numbers::pi / 2, 1e-3);
    EXPECT_EQ(found[1].quality, 47);
    EXPECT_NEAR(found[2].distance_m, 12, 1e-3);
    EXPECT_EQ(decoder.skipped_bytes(), 0U);
  }
}

TEST(RplidarDecoder, lost_bytes_cost_few_samples_and_are_counted) {
  Raw raw = kAnswer;
  for (int i = 0; i < 100; ++i) append(raw, i == 0, i * 3.0, 2);
  raw.erase(raw.begin() + 7 + 251);  // inside the 51st sample
  rplidar::Decoder decoder;
  const auto found = decode_all(decoder, raw, 64);
  EXPECT_GE(found.size(), 96U);
  EXPECT_GT(decoder.skipped_bytes(), 0U);
  EXPECT_NEAR(found.back().angle_rad, 99 * 3.0 / 180 * std::numbers::pi, 1e-3);
}

TEST(RplidarDecoder, noise_gives_only_samples_within_the_protocol) {
  std::mt19937 random(7);
  Raw raw = kAnswer;
  for (int i = 0; i < 100'000; ++i) raw.push_back(static_cast<std::uint8_t>(random()));
  rplidar::Decoder decoder;
  for (const Sample& sample : decode_all(decoder, raw, 1000)) {
    EXPECT_GE(sample.angle_rad, 0);
    EXPECT_LT(sample.angle_rad, 2 * std::numbers::pi);
    EXPECT_LE(sample.distance_m, 17);
  }
}

TEST(Revolution, a_scan_turns_counter_clockwise) {
  Revolution turn(360);
  turn.add({.starts = true, .angle_rad = 0, .distance_m = 1, .quality = 10});
  turn.add({.angle_rad = std::numbers::pi / 2, .distance_m = 2, .quality = 20});  // to the right
  turn.add({.angle_rad = std::numbers::pi / 2, .distance_m = 3, .quality = 30});
  turn.add({.angle_rad = std::numbers::pi, .distance_m = 20});  // beyond the maximum
  turn.add({.angle_rad = 1, .distance_m = 0});                  // no echo
  const auto scan = turn.scan(Time{9}, Duration::from_ms(100), 0.15, 12);
  ASSERT_EQ(scan.ranges_size(), 360);
  EXPECT_EQ(scan.header().stamp_ns(), 9);
  EXPECT_FLOAT_EQ(scan.ranges(0), 1);
  EXPECT_FLOAT_EQ(scan.ranges(270), 2);
  EXPECT_FLOAT_EQ(scan.intensities(270), 20);
  EXPECT_TRUE(std::isinf(scan.ranges(180)));
  EXPECT_TRUE(std::isinf(scan.ranges(303)));
  EXPECT_FLOAT_EQ(scan.scan_time(), 0.1F);
  EXPECT_LT(scan.time_increment(), 0);
}

/// A pseudo terminal that behaves as the laser: it answers the request for a scan.
class Device {
 public:
  Device() : master_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    if (::grantpt(master_.get()) != 0 || ::unlockpt(master_.get()) != 0) std::abort();
    path_ = ::ptsname(master_.get());
    // Without an open slave, a read of the master fails.
    slave_ = UniqueFd(::open(path_.c_str(), O_RDWR | O_NOCTTY));
  }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Reads until the request has come.
  void wait_for(std::span<const std::uint8_t> request) {
    Raw got;
    while (std::search(got.begin(), got.end(), request.begin(), request.end()) == got.end()) {
      std::uint8_t one = 0;
      if (::read(master_.get(), &one, 1) != 1) std::abort();
      got.push_back(one);
    }
  }
  void send(const Raw& raw) {
    std::size_t at = 0;
    while (at < raw.size()) {
      const ssize_t sent = ::write(master_.get(), raw.data() + at, raw.size() - at);
      if (sent <= 0) std::abort();
      at += static_cast<std::size_t>(sent);
    }
  }

 private:
  UniqueFd master_;
  std::string path_;
  UniqueFd slave_;
};

TEST(RplidarNode, revolutions_become_scans) {
  Device device;
  Rig rig("rplidar", "{device: " + device.path() + ", points: 360, frame_id: front}");
  Inbox<msgs::LaserScan> inbox(rig.node(), "scan");
  rig.start();
  device.wait_for(rplidar::kScan);
  Raw raw = kAnswer;
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < 360; ++i) append(raw, i == 0, i, 1 + i / 100.0);
  }
  device.send(raw);
  const auto scan = inbox.next();
  EXPECT_EQ(scan->header().frame_id(), "front");
  EXPECT_NEAR(scan->ranges(0), 1, 1e-3);
  EXPECT_NEAR(scan->ranges(1), 4.59, 1e-3);
  (void)inbox.next();
  rig.end();
  device.wait_for(rplidar::kMotorOff);
}

TEST(RplidarNode, an_absent_device_does_not_stop_the_robot) {
  Rig rig("rplidar", "{device: /nowhere/ttyUSB0}");
  rig.start();
  rig.end();
}

TEST(RplidarNode, wrong_parameters_are_errors) {
  for (const char* params : {"{baud: 1234}", "{points: 3}"}) {
    Rig rig("rplidar", params);
    EXPECT_THROW(rig.start(), Exception) << params;
  }
}

}  // namespace
}  // namespace hyphos::builtin
