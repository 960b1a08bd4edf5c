// Runs a program on slowed-down processors: `hyphos-lab-slow SHARE -- PROGRAM …`. On each
// processor, a real-time thread takes the rest of every 200 µs, so that work takes 1 / SHARE times
// as long. The effect resembles a lower clock frequency, except for memory, and in steps of 200 µs.
// It slows down everything on these processors, including the kernel. This program ends with
// PROGRAM.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::int64_t kPeriodNs = 200'000;
constexpr int kPriority = 50;
// The kernel suspends a real-time thread that runs for more than 95 % of the time.
constexpr double kLeastShare = 0.1;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void sleep_until(std::int64_t ns) {
  const timespec until{ns / 1'000'000'000, ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

/// Binds this thread to the processor, with real-time priority.
bool seize(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  sched_param how{};
  how.sched_priority = kPriority;
  return sched_setaffinity(0, sizeof only, &only) == 0 &&
         sched_setscheduler(0, SCHED_FIFO, &how) == 0;
}

/// After a late start, the rest keeps its full length. Programs get their share in each period, and
/// never wait for two busy phases in a row.
[[noreturn]] void take(std::int64_t busy_ns, std::int64_t offset_ns) {
  for (std::int64_t next = now_ns() + offset_ns;;) {
    sleep_until(next);
    const std::int64_t begin = now_ns();
    while (now_ns() - begin < busy_ns) {
    }
    next = begin + kPeriodNs;
  }
}

int fail(const std::string& what) {
  std::fprintf(stderr, "hyphos-lab-slow: %s\n", what.c_str());
  return 1;
}

/// Returns 0, or the error number if a processor is not available.
int slow_down(double share) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return errno;
  const auto busy = static_cast<std::int64_t>(kPeriodNs * (1 - share));
  std::atomic<int> ready{0}, error{0};
  int count = 0;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed)) continue;
    // The offsets are spread over the period, so that not all processors are busy at once.
    const std::int64_t offset = kPeriodNs * count / CPU_COUNT(&allowed);
    ++count;
    std::thread([processor, busy, offset, &ready, &error] {
      if (!seize(processor)) error.store(errno);
      const bool good = error.load() == 0;
      ready.fetch_add(1);
      if (good) take(busy, offset);
    }).detach();
  }
  while (ready.load() < count) std::this_thread::yield();
  return error.load();
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || std::strcmp(argv[2], "--") != 0) return fail("SHARE -- PROGRAM …");
  const double share = std::atof(argv[1]);
  if (!(share >= kLeastShare && share < 1)) return fail("SHARE: from 0.1 to less than 1");
  const pid_t own = getpid();
  const pid_t child = fork();  // before the threads: the child must not have any
  if (child < 0) return fail(std::strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != own) _exit(127);
    execvp(argv[3], argv + 3);
    std::fprintf(stderr, "hyphos-lab-slow: %s: %s\n", argv[3], std::strerror(errno));
    _exit(127);
  }
  if (const int error = slow_down(share); error != 0) {
    kill(child, SIGKILL);
    wait_for(child);
    return fail(std::string("no real-time thread: ") + std::strerror(error) +
                ": run as root, with a real-time budget in its cgroup");
  }
  const int code = wait_for(child);
  std::fflush(nullptr);
  _exit(code);
}
