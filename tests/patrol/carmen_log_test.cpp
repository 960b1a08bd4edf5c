#include "carmen_log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <numbers>

namespace patrol {
namespace {

class CarmenLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("carmen_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& text) {
    const std::string path = folder_ / "test.log";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string write_gz(const std::string& text) {
    const std::string path = folder_ / "test.log.gz";
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
  }
  static std::string error_of(const std::string& path, const CarmenLimits& limits = {}) {
    try {
      (void)read_carmen_log(path, 50.0, limits);
    } catch (const CarmenLogError& e) {
      return e.what();
    }
    return "no error";
  }

  std::filesystem::path folder_;
};

// A scan with the odometry `odometry` and the annotated pose `pose`.
std::string flaser(const std::string& pose, const std::string& odometry, const std::string& stamp) {
  return "FLASER 4 1.0 2.5 3.0 81.9 " + pose + " " + odometry + " " + stamp + " host 0\n";
}

TEST_F(CarmenLogTest, plain_and_gzipped_logs_read_the_same) {
  const std::string text = "# a comment\nPARAM robot_width 0.5\nODOM 0 0 0 0 0 0 1 host 1\n" +
                           flaser("1 2 0.5", "1.5 2.5 0.25", "12.5") +
                           "ODOM 2 0 0 0 0 0 13 host 13\n";
  for (const std::string& path : {write(text), write_gz(text)}) {
    const CarmenLog log = read_carmen_log(path);
    ASSERT_EQ(log.scans.size(), 1U);
    EXPECT_EQ(log.odometry_lines, 2U);
    EXPECT_EQ(log.skipped_lines, 1U);
    const CarmenScan& scan = log.scans[0];
    EXPECT_EQ(scan.scan.stamp_ns, 12'500'000'000);
    ASSERT_EQ(scan.scan.ranges.size(), 4U);
    EXPECT_FLOAT_EQ(scan.scan.ranges[1], 2.5F);
    EXPECT_TRUE(scan.scan.valid(2));
    EXPECT_FALSE(scan.scan.valid(3)) << "81.9 m is the laser's word for nothing";
    EXPECT_DOUBLE_EQ(scan.scan.angle_min, -std::numbers::pi / 2.0);
    EXPECT_DOUBLE_EQ(scan.scan.angle_increment, std::numbers::pi / 4.0);
    EXPECT_DOUBLE_EQ(scan.odometry.x, 1.5);
    EXPECT_DOUBLE_EQ(scan.annotated.theta, 0.5);
  }
}

TEST_F(CarmenLogTest, corrections_are_removed_from_the_odometry) {
  // The wheels move 1 m, the log jumps to the corrected (5, 5, pi/2), the wheels move 1 m again.
  const CarmenLog log =
      read_carmen_log(write("ODOM 0 0 0 0 0 0 1 host 1\nODOM 1 0 0 0 0 0 2 host 2\n" +
                            flaser("5 5 1.5707963267948966", "5 5 1.5707963267948966", "2") +
                            "ODOM 5 5 1.5707963267948966 0 0 0 0 host 0\n"
                            "ODOM 5 6 1.5707963267948966 0 0 0 3 host 3\n" +
                            flaser("7 7 0", "7 7 0", "3") + "ODOM 7 7 0 0 0 0 0 host 0\n"));
  ASSERT_EQ(log.scans.size(), 2U);
  EXPECT_EQ(log.corrections, 2U);
  EXPECT_NEAR(log.scans[0].odometry.x, 1.0, 1e-12);
  EXPECT_NEAR(log.scans[0].odometry.theta, 0.0, 1e-12);
  EXPECT_NEAR(log.scans[1].odometry.x, 2.0, 1e-12);
  EXPECT_NEAR(log.scans[1].odometry.y, 0.0, 1e-12);
  EXPECT_DOUBLE_EQ(log.scans[1].annotated.x, 7.0);
}

TEST_F(CarmenLogTest, errors_name_file_and_line) {
  const std::string good = "ODOM 0 0 0 0 0 0 1 host 1\n";
  const std::string path = write(good + "FLASER 4 1.0 two 3.0 4.0 0 0 0 0 0 0 1 host 1\n");
  EXPECT_EQ(error_of(path), path + ":2: a range is not a number: 'two'");
  EXPECT_EQ(error_of(write(good + good + "FLASER 4 1.0 2.0\n")),
            path + ":3: the line ends before a range");
  EXPECT_NE(error_of(write("FLASER -1\n")).find(":1: the number of beams must be"),
            std::string::npos);
  EXPECT_NE(error_of(write("FLASER 1e9\n")).find("the number of beams must be"), std::string::npos);
  EXPECT_NE(error_of(write("ODOM nan 0 0\n")).find("is not a number: 'nan'"), std::string::npos);
  EXPECT_NE(error_of(write("ODOM 1 0\n")).find("the line ends before"), std::string::npos);
  EXPECT_NE(error_of(folder_ / "absent").find("cannot be opened"), std::string::npos);
}

TEST_F(CarmenLogTest, logs_beyond_the_limits_are_refused) {
  CarmenLimits limits;
  limits.max_line_bytes = 64;
  EXPECT_NE(error_of(write(std::string(65, 'x')), limits).find(":1: the line is longer"),
            std::string::npos);
  limits = {};
  limits.max_scans = 1;
  const std::string scan = flaser("0 0 0", "0 0 0", "1");
  EXPECT_NE(error_of(write(scan + scan), limits).find(":2: more scans than allowed"),
            std::string::npos);
  limits = {};
  limits.max_file_bytes = 1000;  // a small file that decompresses to a large one
  EXPECT_NE(error_of(write_gz(std::string(100'000, '#')), limits).find("the file is larger"),
            std::string::npos);
}

TEST_F(CarmenLogTest, a_truncated_file_is_detected) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "ODOM " + std::to_string(i * 7919 % 1000) + " 0 0\n";
  const std::string path = write_gz(text);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_NE(error_of(path).find("cannot be read"), std::string::npos) << error_of(path);
}

}  // namespace
}  // namespace patrol
