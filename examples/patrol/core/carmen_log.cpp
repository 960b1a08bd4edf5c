#include "carmen_log.hpp"

#include <zlib.h>

#include <charconv>
#include <memory>
#include <numbers>
#include <optional>
#include <string_view>

namespace patrol {
namespace {

// The lines of a plain or gzipped file. Each line has a bounded length.
class LineReader {
 public:
  LineReader(const std::string& path, const CarmenLimits& limits)
      : path_(path), limits_(limits), file_(gzopen(path.c_str(), "rb")) {
    if (!file_) throw CarmenLogError(path + ": cannot be opened");
  }

  // Returns false at the end of the file.
  bool next(std::string& line) {
    line.clear();
    ++number_;
    while (true) {
      if (at_ == end_) {
        const int got = gzread(file_.get(), buffer_, sizeof buffer_);
        int code = Z_OK;
        const char* why = gzerror(file_.get(), &code);
        // A truncated stream yields its beginning, and then Z_BUF_ERROR.
        if (got < 0 || code == Z_BUF_ERROR) fail(std::string("cannot be read: ") + why);
        if (got == 0) return !line.empty();
        total_ += static_cast<std::uint64_t>(got);
        if (total_ > limits_.max_file_bytes) fail("the file is larger than allowed");
        at_ = 0, end_ = static_cast<std::size_t>(got);
      }
      const char c = buffer_[at_++];
      if (c == '\n') return true;
      if (line.size() == limits_.max_line_bytes) fail("the line is longer than allowed");
      line.push_back(c);
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw CarmenLogError(path_ + ":" + std::to_string(number_) + ": " + why);
  }

 private:
  struct Close {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };
  std::string path_;
  CarmenLimits limits_;
  std::unique_ptr<gzFile_s, Close> file_;
  char buffer_[1 << 16];
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t total_ = 0;
  std::size_t number_ = 0;
};

// The blank-separated words of a line, read one by one.
class Words {
 public:
  Words(std::string_view line, const LineReader& where) : rest_(line), where_(where) {}

  std::string_view word(const char* what) {
    const std::size_t begin = rest_.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) where_.fail(std::string("the line ends before ") + what);
    rest_.remove_prefix(begin);
    const std::size_t size = std::min(rest_.find_first_of(" \t\r"), rest_.size());
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }

  double number(const char* what) {
    const std::string_view text = word(what);
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
      where_.fail(std::string(what) + " is not a number: '" + std::string(text.substr(0, 40)) +
                  "'");
    }
    return value;
  }

  Pose2 pose(const char* what) {
    const double x = number(what), y = number(what);
    return {x, y, number(what)};
  }

 private:
  std::string_view rest_;
  const LineReader& where_;
};

std::int64_t stamp_of(double seconds, const LineReader& where) {
  if (std::abs(seconds) > 9e9) where.fail("the time stamp is out of range");
  return static_cast<std::int64_t>(seconds * 1e9);
}

CarmenScan parse_scan(Words& words, const LineReader& reader, double range_max_m,
                      const CarmenLimits& limits) {
  const double count = words.number("the number of beams");
  if (count < 2 || count > static_cast<double>(limits.max_beams) || count != std::floor(count)) {
    reader.fail("the number of beams must be a whole number from 2 to " +
                std::to_string(limits.max_beams));
  }
  CarmenScan out;
  out.scan.ranges.reserve(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    out.scan.ranges.push_back(static_cast<float>(words.number("a range")));
  }
  out.annotated = words.pose("the laser's pose");
  out.odometry = words.pose("the odometry");
  out.scan.stamp_ns = stamp_of(words.number("the time stamp"), reader);
  out.scan.angle_min = -std::numbers::pi / 2.0;
  // 180 beams are one per degree. 181 are the same with both ends. 360 and 361 are the same at half
  // a degree.
  const double intervals = count - std::fmod(count, 2.0);
  out.scan.angle_increment = std::numbers::pi / intervals;
  out.scan.range_min = 0.02;
  out.scan.range_max = range_max_m;
  return out;
}

bool same(const Pose2& a, const Pose2& b) { return a.x == b.x && a.y == b.y && a.theta == b.theta; }

}  // namespace

CarmenLog read_carmen_log(const std::string& path, double range_max_m, const CarmenLimits& limits) {
  LineReader reader(path, limits);
  CarmenLog log;
  std::string line;
  Pose2 wheels;                // the sum of all increments
  std::optional<Pose2> last;   // the odometry last written in the log
  bool just_scanned = false;   // the last message was a scan
  std::vector<Pose2> chained;  // the wheels' sum, per scan
  while (reader.next(line)) {
    if (line.empty() || line[0] == '#') continue;
    Words words(line, reader);
    const std::string_view kind = words.word("the kind of message");
    if (kind == "ODOM") {
      const Pose2 now = words.pose("the odometry");
      if (just_scanned && same(log.scans.back().annotated, now)) {
        ++log.corrections;
      } else if (last) {
        wheels = compose(wheels, between(*last, now));
      } else {
        wheels = now;
      }
      ++log.odometry_lines;
      last = now;
      just_scanned = false;
    } else if (kind == "FLASER") {
      if (log.scans.size() == limits.max_scans) reader.fail("more scans than allowed");
      CarmenScan scan = parse_scan(words, reader, range_max_m, limits);
      just_scanned = true;
      chained.push_back(last ? wheels : scan.odometry);
      log.scans.push_back(std::move(scan));
    } else {
      ++log.skipped_lines;
    }
  }
  // In a corrected log a correction follows every scan. Occasional equal poses mean a robot that
  // stands still. In that case the scan's own odometry is used.
  if (10 * log.corrections >= 9 * log.scans.size()) {
    for (std::size_t i = 0; i < chained.size(); ++i) log.scans[i].odometry = chained[i];
  } else {
    log.corrections = 0;
  }
  return log;
}

}  // namespace patrol
