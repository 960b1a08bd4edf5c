#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <string>

#include "hyphos/time.hpp"
#include "view/core/words.hpp"
#include "view/offscreen.hpp"
#include "view/options.hpp"
#include "view/panels/session.hpp"
#include "view/video/encoder.hpp"

namespace hyphos::view {
namespace {

constexpr std::int64_t kOneSecond = 1'000'000'000;
constexpr std::int64_t kReportPeriod = kOneSecond / 2;

std::atomic<int> stopped_by{0};  // the signal

/// Between two frames SIGINT and SIGTERM end the video. A second signal ends the program.
class EndsBySignal {
 public:
  EndsBySignal() {
    struct sigaction action = {};
    action.sa_handler = [](int signal) { stopped_by = signal; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
  }
};

/// A line on a terminal, twice a second.
class Progress {
 public:
  explicit Progress(std::int64_t frames) : frames_(frames) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::int64_t done) {
    const std::int64_t now = monotonic_now().ns;
    if (!terminal_ || now - shown_ns_ < kReportPeriod) return;
    shown_ns_ = now;
    const double passed = static_cast<double>(now - begin_ns_) / 1e9;
    const double left = passed * static_cast<double>(frames_ - done) / static_cast<double>(done);
    std::fprintf(stderr, "\r%s of %s frames, %.0f s left \033[K",
                 grouped(static_cast<std::uint64_t>(done)).c_str(),
                 grouped(static_cast<std::uint64_t>(frames_)).c_str(), left);
  }
  void clear() {
    if (terminal_ && shown_ns_ != 0) std::fputs("\r\033[K", stderr);
    shown_ns_ = 0;
  }

 private:
  const std::int64_t frames_;
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  const std::int64_t begin_ns_ = monotonic_now().ns;
  std::int64_t shown_ns_ = 0;
};

std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g s", value);
  return text;
}

/// The end of the video, in s after the begin of the recording.
Result<double> end_of(const Options& options, const Timeline& timeline) {
  if (timeline.live) {
    return Error{Code::invalid_config,
                 "a video needs a recording. Record the robot first: hyphos record -o run.mcap",
                 "--video"};
  }
  const double length = static_cast<double>(timeline.range.end_ns - timeline.range.begin_ns) / 1e9;
  if (options.from_s > length) {
    return Error{Code::out_of_range,
                 "the recording is " + seconds(length) + " long, so it has nothing at " +
                     seconds(options.from_s),
                 "--from"};
  }
  return options.to_s < 0 ? length : std::min(options.to_s, length);
}

}  // namespace

Result<void> run_video(const Options& options) {
  const EndsBySignal signals;
  Options first = options;
  first.app.at_s = options.from_s;
  auto opened = Offscreen::open(first);
  if (!opened) return opened.error();
  Offscreen& screen = **opened;
  const auto end = end_of(options, screen.app().session().timeline());
  if (!end) return end.error();
  VideoSettings settings;
  settings.path = options.video;
  settings.width = screen.width();
  settings.height = screen.height();
  settings.fps = options.fps;
  auto writer = open_video(settings);
  if (!writer) return writer.error();

  const auto frames = std::max<std::int64_t>(
      static_cast<std::int64_t>(std::ceil((*end - options.from_s) * options.fps - 1e-6)), 1);
  Progress progress(frames);
  std::int64_t done = 0;
  while (done < frames && (done == 0 || stopped_by == 0)) {
    if (done > 0) screen.app().play_to(options.from_s + static_cast<double>(done) / options.fps);
    screen.complete(done == 0 ? kFirstFrames : 1);
    if (auto added = (*writer)->add(screen.read()); !added) return added;
    progress.show(++done);
  }
  if (auto finished = (*writer)->finish(); !finished) return finished;
  progress.clear();
  std::printf("%s: %s frames, %s, %dx%d, %s\n", options.video.c_str(),
              grouped(static_cast<std::uint64_t>(done)).c_str(),
              seconds(static_cast<double>(done) / options.fps).c_str(), settings.width,
              settings.height, (*writer)->codec().c_str());
  if (stopped_by == 0) return success();
  return Error{Code::canceled,
               "stopped by a signal. The video ends at " +
                   seconds(options.from_s + static_cast<double>(done) / options.fps),
               options.video};
}

}  // namespace hyphos::view
