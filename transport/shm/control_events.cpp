#include "transport/shm/control_events.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "hyphos/time.hpp"

namespace hyphos::transport::shm_detail {
namespace {

// For peers whose death the kernel cannot report (another pid namespace).
constexpr std::int64_t kPollMs = 500;

Result<void> watch(const UniqueFd& epoll, const UniqueFd& fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd.get();
  if (!fd.valid() || ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd.get(), &event) != 0) {
    return shm::os_error(errno, "cannot watch a descriptor", "shm");
  }
  return {};
}

}  // namespace

Result<void> ControlEvents::start(const UniqueFd& notices) {
  epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  wake_fd_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  timer_ = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  poll_timer_ = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!epoll_.valid()) return shm::os_error(errno, "cannot make an epoll descriptor", "shm");
  const std::array<const UniqueFd*, 4> watched = {&wake_fd_, &timer_, &poll_timer_, &notices};
  for (const UniqueFd* fd : watched) {
    if (auto added = watch(epoll_, *fd); !added) return added;
  }
  notices_ = notices.get();
  return {};
}

void ControlEvents::signal() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_fd_.get(), &one, sizeof one);
}

bool ControlEvents::watch_exit(const UniqueFd& pid_fd) const {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.fd = pid_fd.get();
  return pid_fd.valid() && ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pid_fd.get(), &event) == 0;
}

void ControlEvents::poll_regularly() {
  if (polling_) return;
  polling_ = true;
  arm(poll_timer_, kPollMs, true);
}

void ControlEvents::arm(const UniqueFd& timer, std::int64_t in_ms, bool repeat) {
  itimerspec spec{};
  spec.it_value.tv_sec = in_ms / 1000;
  spec.it_value.tv_nsec = Duration::from_ms(in_ms % 1000).ns;
  if (repeat) spec.it_interval = spec.it_value;
  ::timerfd_settime(timer.get(), 0, &spec, nullptr);
}

void ControlEvents::wait() const {
  constexpr int kEvents = 16;
  std::array<epoll_event, kEvents> ready;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), kEvents, -1);
  for (int i = 0; i < count; ++i) {
    const int fd = ready[static_cast<std::size_t>(i)].data.fd;
    if (fd == wake_fd_.get() || fd == timer_.get() || fd == poll_timer_.get()) {
      std::uint64_t value = 0;
      (void)!::read(fd, &value, sizeof value);
    } else if (fd == notices_) {
      std::array<char, 16> bytes;
      while (::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
      }
    }
    // Any other descriptor is the pidfd of a peer. The directory finds the peer dead.
  }
}

}  // namespace hyphos::transport::shm_detail
