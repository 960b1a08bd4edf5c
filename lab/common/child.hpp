#pragma once

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/common/clock.hpp"
#include "lab/common/cpus.hpp"

namespace hyphos::lab {

// A child process. Its CPU time is read from outside through its CPU clock. The reading costs the
// child nothing and covers exactly the measured window.
struct Child {
  pid_t pid = -1;
  std::string role;
  std::int64_t cpu_start_ns = 0, cpu_ns = 0;
  bool running = true;
  Cpus cpus;  // the processors that it could use, read while it ran

  [[nodiscard]] std::int64_t read_cpu_ns() const {
    clockid_t clock{};
    timespec ts{};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &ts) != 0) return 0;
    return ts.tv_sec * 1'000'000'000LL + ts.tv_nsec;
  }

  /// Also reaps the process when it has ended.
  bool has_ended() {
    if (running) running = waitpid(pid, nullptr, WNOHANG) != pid;
    return !running;
  }

  // Proportional set size: a page shared by n processes counts 1/n in each process, and therefore
  // once in their sum.
  [[nodiscard]] std::int64_t read_memory_kb() const {
    std::ifstream rollup("/proc/" + std::to_string(pid) + "/smaps_rollup");
    for (std::string line; std::getline(rollup, line);) {
      if (line.rfind("Pss:", 0) == 0) return std::atoll(line.c_str() + 4);
    }
    return 0;
  }
};

inline void enter_netns(const std::string& name) {
  const int fd = open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) {
    std::fprintf(stderr, "cannot enter network namespace %s\n", name.c_str());
    _exit(3);
  }
  close(fd);
}

/// `cpus` lists the processors that all threads of the child may use. Empty: any.
inline Child start_child(const std::vector<std::string>& command, const std::string& netns,
                         const std::string& role, const std::string& cpus = "") {
  std::vector<char*> argv;
  for (const auto& part : command) argv.push_back(const_cast<char*>(part.c_str()));
  argv.push_back(nullptr);
  const Cpus place = cpus.empty() ? Cpus() : Cpus::parse(role, cpus);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(3);
    // stdout is for the one result line. The output of a daemon is discarded.
    const int quiet = role == "daemon" ? open("/dev/null", O_WRONLY) : STDERR_FILENO;
    dup2(quiet, STDOUT_FILENO);
    if (!netns.empty()) enter_netns(netns);
    if (!cpus.empty() && !place.bind()) {
      std::fprintf(stderr, "cannot run on the processors %s\n", cpus.c_str());
      _exit(3);
    }
    execvp(argv[0], argv.data());
    std::fprintf(stderr, "cannot run %s\n", argv[0]);
    _exit(3);
  }
  Child child;
  child.pid = pid;
  child.role = role;
  return child;
}

/// Throws if the child has died.
inline void expect_running(Child& child) {
  if (child.has_ended()) throw std::runtime_error("process " + child.role + " died");
}

inline void expect_all_running(std::vector<Child>& children) {
  for (Child& child : children) expect_running(child);
}

inline void end_child(Child& child) {
  if (!child.running) return;
  if (child.role == "daemon") {
    kill(child.pid, SIGTERM);
    for (int i = 0; i < 300 && !child.has_ended(); ++i) sleep_until(now_ns() + 10'000'000);
  }
  if (child.running) {
    kill(child.pid, SIGKILL);
    waitpid(child.pid, nullptr, 0);
  }
  child.running = false;
}

}  // namespace hyphos::lab
