// hyphos-link: a user-space network between TUN devices in network namespaces.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "netem/loop.hpp"

namespace {

using namespace hyphos;

Result<int> signals_as_file() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&wanted, number);
  sigprocmask(SIG_BLOCK, &wanted, nullptr);
  const int file = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (file < 0) return Error{Code::io, std::string("signalfd: ") + std::strerror(errno), ""};
  return file;
}

/// A file descriptor that becomes readable when the parent process has ended. Unlike
/// PR_SET_PDEATHSIG it does not react to the end of a single thread. (glibc has pidfd_open only
/// since 2.36.)
Result<int> parent_as_file() {
  const auto file = static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0));
  if (file < 0) {
    return Error{Code::disconnected, std::string("pidfd_open: ") + std::strerror(errno),
                 "the process that started this one"};
  }
  return file;
}

void be_punctual(int priority) {
  prctl(PR_SET_TIMERSLACK, 1);
  if (priority == 0) return;
  const sched_param wanted{priority};
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &wanted) != 0) {
    std::fprintf(stderr, "hyphos-link: no real-time priority (%s): delays will be less exact\n",
                 std::strerror(errno));
  }
}

Result<void> work(std::span<const char* const> words) {
  auto options = lab::parse_options(words);
  if (!options) return options.error();
  auto parent = parent_as_file();
  if (!parent) return parent.error();
  auto signals = signals_as_file();
  if (!signals) return signals.error();
  std::vector<lab::Tun> devices;
  for (const lab::Host& host : options->hosts) {
    auto device = lab::Tun::open(host, options->device, options->mtu);
    if (!device) return device.error();
    devices.push_back(std::move(device).value());
  }
  lab::Loop loop(*options, std::move(devices));
  be_punctual(options->realtime_priority);
  std::puts("ready");
  std::fflush(stdout);
  auto done = loop.run(*signals, *parent);
  std::puts(loop.counters().c_str());
  return done;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "--help") == 0) {
    std::fputs(hyphos::lab::kUsage, stdout);
    return argc < 2 ? 2 : 0;
  }
  const auto done = work({argv + 1, static_cast<std::size_t>(argc - 1)});
  if (done) return 0;
  std::fprintf(stderr, "hyphos-link: %s\n", done.error().to_string().c_str());
  return 1;
}
