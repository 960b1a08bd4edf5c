// The speed of MuJoCo and ns-3 together, in multiples of real time, with windows of 1 ms. MuJoCo
// runs in this process and ns-3 in its worker. MuJoCo runs in step and ahead, in turns:
//
//   bench_cosim_outside WORKER MUJOCO.so NS3.so [SECONDS [RUNS]]
//
// Processor time hardly depends on the other load of the machine. Real time does.

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/cosim_radio.hpp"
#include "cosim/adapter/c_adapter.hpp"
#include "cosim/core/engine.hpp"
#include "cosim/core/random.hpp"
#include "cosim/methods/registry.hpp"
#include "cosim/network/ns3/options.hpp"
#include "cosim/physics/ahead.hpp"
#include "cosim/physics/mujoco/options.hpp"
#include "cosim/programs/periodic.hpp"
#include "cosim/remote/remote.hpp"

namespace {

using namespace hyphos;
using namespace hyphos::cosim;

struct Team {
  std::uint32_t robots;
  double rate_hz;
  double side_m;
  double bar;           // required multiple of real time
  bool fading = false;  // two rays, shadowing and Rician fading
};

/// Two ground robots for each robot in the air, on endless random paths.
MujocoOptions wanderers(const Team& team) {
  MujocoOptions options;
  const auto across = static_cast<std::uint32_t>(std::ceil(std::sqrt(team.robots)));
  for (std::uint32_t i = 0; i < team.robots; ++i) {
    MujocoRobot robot;
    robot.kind = i % 3 == 2 ? RobotKind::uav : RobotKind::ugv;
    const double z = robot.kind == RobotKind::uav ? 5.0 + i : 0;
    robot.start = {team.side_m * (i % across + 0.5) / across,
                   team.side_m * (i / across + 0.5) / across, z};
    robot.loop = true;
    for (std::uint64_t point = 0; point < 10; ++point) {
      robot.waypoints.push_back(
          {team.side_m * draw_unit(1, i, point, 1), team.side_m * draw_unit(1, i, point, 2), z});
    }
    options.robots.push_back(std::move(robot));
  }
  return options;
}

struct Paths {
  std::string worker;
  std::string mujoco;
  std::string ns3;
};

/// The figures of one run.
struct Figures {
  double real_times = 0;
  double engine_ms = 0;  ///< processor time of this process per simulated second, with MuJoCo
  double ns3_ms = 0;     ///< processor time of the worker
  PacketCounts packets;
};

double processor_ms(int who) {
  rusage used{};
  ::getrusage(who, &used);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

Result<Report> simulate(const Team& team, const Paths& paths, std::int64_t seconds, bool ahead) {
  auto library = load_adapter(paths.mujoco);
  if (!library) return library.error();
  auto physics = open_physics(**library, to_text(wanderers(team)));
  if (!physics) return physics.error();
  Worker::Options worker_options;
  worker_options.name = "ns3";
  worker_options.timeout = Duration::from_ms(60'000);
  Ns3Options radio;
  if (team.fading) radio = {.radio = fading_radio(), .models = Models::hyphos};
  auto worker = Worker::start(worker_options,
                              {paths.worker, "--adapter", paths.ns3, "--options", to_text(radio)});
  if (!worker) return worker.error();
  RemoteNetwork network(std::move(*worker));
  Periodic programs({.nodes = team.robots, .rate_hz = team.rate_hz});
  const Step step = Step::make(1'000'000).or_throw();
  std::unique_ptr<Physics> world = std::move(*physics);
  if (ahead) world = std::make_unique<Ahead>(std::move(world), step);
  const auto method = make_method("lockstep", {step, Duration::from_ms(1)}).or_throw();
  Trace trace = Trace::hash_only();
  EngineOptions options{step, {seconds * 1'000'000'000}};
  options.nodes = team.robots;
  Engine engine({*world, network, programs, *method, trace}, options);
  const auto ran = engine.run();
  if (!ran) return ran.error();
  return engine.report();
}

Result<Figures> run(const Team& team, const Paths& paths, std::int64_t seconds, bool ahead) {
  const double self = processor_ms(RUSAGE_SELF);
  const double others = processor_ms(RUSAGE_CHILDREN);
  auto report = simulate(team, paths, seconds, ahead);
  if (!report) return report.error();
  const auto simulated = static_cast<double>(seconds);
  return Figures{simulated * 1e9 / static_cast<double>(report->profile.total_ns),
                 (processor_ms(RUSAGE_SELF) - self) / simulated,
                 (processor_ms(RUSAGE_CHILDREN) - others) / simulated, report->packets};
}

/// Jiffies stolen by other machines, and all jiffies.
std::array<double, 2> stolen() {
  std::ifstream stat("/proc/stat");
  std::string word;
  stat >> word;
  std::array<double, 2> sums{};
  double jiffies = 0;
  for (int i = 0; i < 8 && stat >> jiffies; ++i) {
    sums[1] += jiffies;
    if (i == 7) sums[0] = jiffies;
  }
  return sums;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Measures both modes in turns, and prints one row.
Result<void> measure(const Team& team, const Paths& paths, std::int64_t seconds, int runs) {
  std::array<std::vector<double>, 2> real;
  std::array<std::vector<double>, 2> engine;
  std::vector<double> ns3;
  PacketCounts packets;
  for (int i = 0; i < 2 * runs; ++i) {
    const auto way = static_cast<std::size_t>(i % 2);
    auto figures = run(team, paths, seconds, way == 1);
    if (!figures) return figures.error();
    real[way].push_back(figures->real_times);
    engine[way].push_back(figures->engine_ms);
    ns3.push_back(figures->ns3_ms);
    packets = figures->packets;
  }
  std::printf("| %s | %u | %.0f Hz | %.0f m | %.0f |", team.fading ? "fading" : "simple",
              team.robots, team.rate_hz, team.side_m, team.bar);
  for (const auto& way : real) {
    const auto [least, most] = std::ranges::minmax(way);
    std::printf(" %.1f (%.1f – %.1f) |", median(way), least, most);
  }
  std::printf(" %.0f ms | %.0f ms | %llu of %llu |\n", std::ranges::min(engine[0]),
              std::ranges::min(ns3), static_cast<unsigned long long>(packets.delivered),
              static_cast<unsigned long long>(packets.sent));
  std::fflush(stdout);
  return success();
}

void print_machine() {
  std::ifstream cpus("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpus, line) && !line.starts_with("model name")) {
  }
  double load[1] = {0};
  ::getloadavg(load, 1);
  std::printf("%s, %u cores, load %.1f\n\n", line.substr(line.find(':') + 2).c_str(),
              std::thread::hardware_concurrency(), load[0]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: bench_cosim_outside WORKER MUJOCO.so NS3.so [SECONDS [RUNS]]\n");
    return 2;
  }
  print_machine();
  const std::int64_t seconds = argc > 4 ? std::atoll(argv[4]) : 10;
  const int runs = argc > 5 ? std::max(1, std::atoi(argv[5])) : 3;
  std::printf(
      "%lld s simulated, %d runs per mode: median (minimum – maximum) of the times real time; "
      "processor\n"
      "time per simulated second, the minimum of all runs\n\n"
      "| radio | robots | rate | world | required | in step | ahead | engine and MuJoCo | ns-3 | "
      "delivered |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      static_cast<long long>(seconds), runs);
  const auto before = stolen();
  for (const Team& team : {Team{3, 100, 100, 8}, Team{3, 100, 100, 8, true}, Team{10, 20, 100, 4},
                           Team{50, 20, 500, 1}, Team{50, 20, 100, 1}}) {
    if (auto done = measure(team, {argv[1], argv[2], argv[3]}, seconds, runs); !done) {
      std::fprintf(stderr, "%s\n", done.error().to_string().c_str());
      return 1;
    }
  }
  const auto after = stolen();
  std::printf("\nOther machines used %.0f %% of the processor time.\n",
              100 * (after[0] - before[0]) / (after[1] - before[1]));
  return 0;
}
