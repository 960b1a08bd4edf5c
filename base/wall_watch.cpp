#include "base/wall_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/log.hpp"

namespace hyphos {
namespace {

// Smaller differences are measurement noise, not steps.
constexpr std::int64_t kLeastStepNs = 10'000;
constexpr time_t kNever = 9'000'000'000;  // in the year 2255, below the kernel's limit in 2262

bool arm(int timer) {
  itimerspec never{};
  never.it_value.tv_sec = kNever;
  return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, nullptr) == 0;
}

}  // namespace

WallWatch::WallWatch(std::shared_ptr<detail::ClockCore> clock)
    : clock_(std::move(clock)),
      timer_(timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK)),
      end_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (timer_ < 0 || end_ < 0 || !arm(timer_)) {
    log::warn("clock", std::string("changes of the wall clock will not be detected: ") +
                           std::strerror(errno));
    return;
  }
  thread_ = std::thread([this] { run(); });
}

WallWatch::~WallWatch() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto n = ::write(end_, &one, sizeof one);
    thread_.join();
  }
  if (timer_ >= 0) ::close(timer_);
  if (end_ >= 0) ::close(end_);
}

void WallWatch::run() {
  std::int64_t known = detail::measure_wall_offset();
  while (true) {
    pollfd fds[] = {{timer_, POLLIN, 0}, {end_, POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    if (fds[0].revents == 0) continue;
    std::uint64_t expired = 0;
    [[maybe_unused]] const auto n = ::read(timer_, &expired, sizeof expired);  // ECANCELED: set
    if (!arm(timer_)) return;
    const std::int64_t offset = detail::measure_wall_offset();
    if (offset - known < kLeastStepNs && known - offset < kLeastStepNs) continue;
    known = offset;
    clock_->set_wall_offset(offset);
  }
}

}  // namespace hyphos
