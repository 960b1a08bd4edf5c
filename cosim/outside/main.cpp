// Runs the real programs of one robot of a co-simulation, and its body as channels:
//
//   hyphos-cosim-outside step --robot NAME --domain D [OPTION]... --link-fd N
//   hyphos-cosim-outside follow --robot NAME --domain D [OPTION]... --socket-fd N
//
// `step` runs the programs in lock step with an engine, which starts this process. N is the shared
// memory of the engine. `follow` serves programs that others start, in real time, for an emulation.
// N is a socket of the emulation.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "cosim/nodes/in_step.hpp"
#include "cosim/outside/children.hpp"
#include "cosim/outside/follow.hpp"
#include "cosim/outside/outside_robot.hpp"

namespace {

using namespace hyphos;
using namespace hyphos::cosim;

struct Words {
  bool follows = false;
  OutsideOptions robot;
  int fd = -1;
};

template <typename Number>
bool read(std::string_view text, Number& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc{} && end == text.data() + text.size();
}

bool take(std::string_view key, const std::string& value, Words& to) {
  OutsideOptions& robot = to.robot;
  if (key == "--robot")
    robot.names.robot = value;
  else if (key == "--domain")
    robot.names.domain = value;
  else if (key == "--prefix")
    robot.names.prefix = value;
  else if (key == "--pose-channel")
    robot.names.pose_channel = value;
  else if (key == "--command-channel")
    robot.names.command_channel = value;
  else if (key == "--folder")
    robot.folder = value;
  else if (key == "--gateway")
    robot.gateway.push_back(value);
  else if (key == "--run")
    robot.run.push_back(value);
  else if (key == "--wait-for")
    robot.wait_for.push_back(value);
  else if (key == "--clock-rate")
    return read(value, robot.clock_rate_hz);
  else if (key == "--rest-ns")
    return read(value, robot.rest.ns);
  else if (key == "--discovery-ns")
    return read(value, robot.discovery.ns);
  else if (key == "--timeout-ns")
    return read(value, robot.timeout.ns);
  else if (key == "--link-fd" || key == "--socket-fd")
    return read(value, to.fd);
  else if (key == "--sensor") {
    auto sensor = sensor_of(value);
    if (!sensor) return false;
    robot.names.sensors.push_back(std::move(*sensor));
  } else if (key == "--transforms") {
    robot.names.transforms = value == "true";
  } else {
    return false;
  }
  return true;
}

bool parse(int argc, char** argv, Words& to) {
  if (argc < 2 || argc % 2 != 0) return false;
  const std::string_view command = argv[1];
  to.follows = command == "follow";
  if (!to.follows && command != "step") return false;
  for (int i = 2; i + 1 < argc; i += 2) {
    if (!take(argv[i], argv[i + 1], to)) return false;
  }
  return !to.robot.names.robot.empty() && to.fd >= 0;
}

int step(const Words& words) {
  return serve_robot("hyphos-cosim-outside", words.fd,
                     [&]() -> Result<std::unique_ptr<RobotNodes>> {
                       auto robot = OutsideRobot::open(words.robot);
                       if (!robot) return robot.error();
                       return std::unique_ptr<RobotNodes>(std::move(*robot));
                     });
}

/// Runs `work` in a child process, and ends everything that it has started, however it ends: the
/// descendants of a killed child become children of this process.
int keep(int (*work)(const Words&), const Words& words) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // if the engine dies, in place of SIGKILL
  sigset_t all;
  sigfillset(&all);
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t keeper = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != keeper) ::_exit(1);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    const int code = work(words);
    std::fflush(nullptr);
    ::_exit(code);
  }
  int status = 0;
  for (int number = 0; child > 0;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (::sigwait(&all, &number) == 0 && (number == SIGTERM || number == SIGHUP)) {
      ::kill(child, SIGKILL);
      status = 1 << 8;
      break;
    }
  }
  end_descendants(Duration::from_ms(2000));
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  // The engine reports the signal of this process.
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  std::signal(WTERMSIG(status), SIG_DFL);
  ::kill(keeper, WTERMSIG(status));
  return 1;
}

int follow_socket(const Words& words) {
  auto done = follow(words.robot.names, words.fd);
  if (done) return 0;
  std::fprintf(stderr, "hyphos-cosim-outside: %s\n", done.error().to_string().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C is for the engine, which ends this process
  Words words;
  if (!parse(argc, argv, words)) {
    std::fputs(
        "usage: hyphos-cosim-outside step|follow --robot NAME --domain D [OPTION]... "
        "--link-fd N|--socket-fd N\n(the co-simulator starts this program)\n",
        stderr);
    return 2;
  }
  return words.follows ? follow_socket(words) : keep(&step, words);
}
