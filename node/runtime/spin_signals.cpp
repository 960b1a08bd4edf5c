#include "node/runtime/spin_signals.hpp"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace hyphos {
namespace {

constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};

// A signal handler can access only static variables. The main thread alone writes them, and it
// writes the saved actions before it installs the handler that reads them.
std::atomic<int> stop_event{-1};  // of the spinning runtime
std::atomic<int> own_event{-1};   // of the spinning thread
std::array<struct sigaction, kSignals.size()> before{};
// Not a ForkMark: a child may get a signal before the handlers of pthread_atfork() run there.
std::atomic<pid_t> process{0};

extern "C" void hyphos_on_signal(int number, siginfo_t* info, void* context);

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &hyphos_on_signal;
}

bool has_handler(const struct sigaction& action) {
  if ((action.sa_flags & SA_SIGINFO) != 0) return action.sa_sigaction != nullptr;
  return action.sa_handler != SIG_DFL;
}

void wake(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event, &one, sizeof one);
}

extern "C" void hyphos_on_signal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  const struct sigaction& action = before[number == SIGINT ? 0 : 1];
  if (::getpid() != process.load()) {  // a forked child shares the parent's events
    ::sigaction(number, &action, nullptr);
    ::raise(number);
  } else if (!has_handler(action)) {
    wake(stop_event.load());
  } else {
    if ((action.sa_flags & SA_SIGINFO) != 0) {
      action.sa_sigaction(number, info, context);
    } else {
      action.sa_handler(number);
    }
    wake(own_event.load());
  }
  errno = saved;
}

}  // namespace

SpinSignals::SpinSignals(int stop) {
  if (::syscall(SYS_gettid) != ::getpid()) return;
  own_event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  outer_stop_ = stop_event.exchange(stop);
  outer_own_ = own_event.exchange(own_event_);
  process.store(::getpid());
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now{};
    ::sigaction(kSignals[i], nullptr, &now);
    if (is_ours(now)) continue;  // a callback of an outer spin() spins
    if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN) continue;
    before[i] = now;
    struct sigaction ours{};
    ours.sa_sigaction = &hyphos_on_signal;
    ours.sa_flags = SA_SIGINFO | (now.sa_flags & (SA_ONSTACK | SA_NODEFER));
    ours.sa_mask = now.sa_mask;
    ::sigaction(kSignals[i], &ours, nullptr);
  }
}

SpinSignals::~SpinSignals() {
  if (own_event_ < 0) return;
  stop_event.store(outer_stop_);
  own_event.store(outer_own_);
  for (std::size_t i = 0; outer_own_ < 0 && i < kSignals.size(); ++i) {
    struct sigaction now{};
    ::sigaction(kSignals[i], nullptr, &now);
    // A handler that the program installed meanwhile stays.
    if (is_ours(now)) ::sigaction(kSignals[i], &before[i], nullptr);
  }
  ::close(own_event_);
}

bool SpinSignals::take() {
  std::uint64_t count = 0;
  return own_event_ >= 0 && ::read(own_event_, &count, sizeof count) > 0;
}

}  // namespace hyphos
