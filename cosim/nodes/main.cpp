// Runs the nodes of one robot of a co-simulation:
//
//   hyphos-cosim-robot --robot NAME --plan FILE [--set KEY=VALUE]... [--node NODE]... --link-fd N
//
// N is the shared memory of the engine. The engine starts and ends this process. `python -m
// hyphos.cosim.robot` takes the same arguments and runs plans with Python nodes.

#include <charconv>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "cosim/nodes/in_step.hpp"
#include "cosim/nodes/local_robot.hpp"

namespace {

using namespace hyphos;
using namespace hyphos::cosim;

struct Words {
  RobotOptions robot;
  int fd = -1;
};

bool parse(int argc, char** argv, Words& to) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view key = argv[i];
    const std::string_view value = argv[i + 1];
    if (key == "--robot") {
      to.robot.name = value;
    } else if (key == "--plan") {
      to.robot.plan = value;
    } else if (key == "--set") {
      to.robot.settings.emplace_back(value);
    } else if (key == "--node") {
      to.robot.nodes.emplace_back(value);
    } else if (key == "--link-fd") {
      std::from_chars(value.data(), value.data() + value.size(), to.fd);
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && !to.robot.name.empty() && to.fd >= 0;
}

Result<std::unique_ptr<RobotNodes>> make(const RobotOptions& options) {
  auto robot = LocalRobot::open(options);
  if (!robot) return robot.error();
  if (auto loaded = (*robot)->load(); !loaded) return loaded.error();
  return std::unique_ptr<RobotNodes>(std::move(*robot));
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C is for the engine, which ends this process
  Words words;
  if (!parse(argc, argv, words)) {
    std::fputs(
        "usage: hyphos-cosim-robot --robot NAME --plan FILE [--set KEY=VALUE]... [--node NODE]... "
        "--link-fd N\n(the co-simulator starts this program and passes the shared memory N)\n",
        stderr);
    return 2;
  }
  return serve_robot("hyphos-cosim-robot", words.fd, [&] { return make(words.robot); });
}
