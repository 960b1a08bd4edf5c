#include <algorithm>
#include <cmath>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>

#include "hyphos/action.hpp"
#include "hyphos/hyphos.hpp"
#include <hyphos/msgs/geometry.pb.h>
#include <hyphos/msgs/std.pb.h>

// The robot of the tests of live panels: view_panel_robot DOMAIN. The node `base` has parameters of
// all kinds, a service, an action, and a channel `cmd_vel`. It prints "ready", each change and each
// call. The line "limits" on stdin adds the node `limits`, whose parameter has an upper bound only,
// and prints "limits ready". Every other line publishes on `numbers` and writes a log line. The
// program ends with stdin.

namespace {

using namespace hyphos;
using Goal = GoalHandle<msgs::Point, msgs::Float64, msgs::String>;

std::mutex g_output;

void print(const std::string& line) {
  const std::lock_guard lock(g_output);
  std::cout << line << std::endl;
}

Params declare(const Node& node) {
  const Params params = node.params();
  params.declare<double>(
      "max_speed",
      {.value = 0.6, .unit = "m/s", .description = "how fast the robot drives", .range = {0, 2}});
  params.declare<std::int64_t>(
      "beams", {.value = 360, .description = "beams of a scan", .range = {2, 1'000}});
  params.declare<std::string>("mode", {.value = "idle", .choices = {"idle", "patrol", "dock"}});
  params.declare<bool>("lights", {.value = false, .description = "the lamps in front"});
  params.declare<std::string>("name", {.value = "carla"});
  params.declare<std::vector<double>>("gains", {.value = {1.5, 0.2, 0.05}, .unit = "1/s"});
  params.declare<std::string>("serial", {.value = "HY-0042", .read_only = true});
  params.check([](const ParamSet& all) -> std::string {
    const bool fast = all.get<double>("max_speed") > 1.5;
    return fast && all.get<std::string>("mode") == "dock" ? "too fast to dock" : "";
  });
  return params;
}

ParamWatch print_changes(const Params& params) {
  return params.watch([](const ParamSet& all) {
    for (const std::string& name : all.changed()) {
      print("param " + name + " " + to_yaml(all.find(name)->value));
    }
  });
}

void drive(const Goal& goal) {
  msgs::Float64 left;
  for (double m = std::min(goal->x(), 1e6); m > 0; m -= 1) {
    left.set_data(m);
    (void)goal.feedback(left);
    msgs::String result;
    if (goal.wait_for(Duration::from_ms(goal->x() > 50 ? 50 : 1))) {
      result.set_data("stopped");
      (void)goal.canceled(std::move(result));
      return print("canceled");
    }
  }
  msgs::String result;
  result.set_data("arrived");
  (void)goal.succeed(std::move(result));
  print("arrived");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  RuntimeOptions options;
  options.domain = argv[1];
  Node node = Node::open("base", options).or_throw();
  const Params params = declare(node);
  const ParamWatch watch = print_changes(params);
  node.service<msgs::String, msgs::String>(
      "map/save", [](const msgs::String& request) -> Result<msgs::String> {
        print("save " + request.data());
        if (request.data().empty()) {
          return Error{Code::invalid_config, "the name of the file is empty", "map/save"};
        }
        msgs::String reply;
        reply.set_data("saved " + request.data());
        return reply;
      });
  node.action<msgs::Point, msgs::Float64, msgs::String>("drive_to", ActionOptions(), drive);
  node.subscribe<msgs::Twist>("cmd_vel", serial, [](const Message<msgs::Twist>& twist) {
    print("drive " + std::to_string(static_cast<int>(std::lround(twist->linear().x() * 100))));
  });
  auto numbers = node.publisher<msgs::Int32>("numbers");
  const Logger log = node.log();
  print("ready");
  msgs::Int32 next;
  std::optional<Node> limits;
  ParamWatch limits_watch;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "limits") {
      limits = node.runtime().node("limits").or_throw();
      ParamSpec<std::int64_t> count;
      count.value = 3;
      count.range.most = 500;
      limits->params().declare<std::int64_t>("count", count);
      limits_watch = print_changes(limits->params());
      print("limits ready");
      continue;
    }
    next.set_data(next.data() + 1);
    numbers.publish(next);
    log.info("number ", next.data());
  }
  node.close();
  return 0;
}
