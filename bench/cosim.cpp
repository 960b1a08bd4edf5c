// The cost of the co-simulator, and the effect of its methods on delays:
//
//   bench_cosim pingpong       every method at four windows: round trips, bounds, syncs
//   bench_cosim overhead       the engine itself, in one process and with the network in another
//   bench_cosim team [N [S]]   multiples of real time: teams with the analytic radio, or only that
//                              of N robots, for S simulated seconds
//   bench_cosim syncs          adaptive and fixed windows on the same traffic

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/percentile.hpp"
#include "bench/cosim_radio.hpp"
#include "cosim/core/engine.hpp"
#include "cosim/methods/registry.hpp"
#include "cosim/network/analytic.hpp"
#include "cosim/network/constant_delay.hpp"
#include "cosim/physics/kinematic.hpp"
#include "cosim/programs/periodic.hpp"
#include "cosim/remote/remote.hpp"
#include "cosim/remote/serve.hpp"
#include "tests/cosim/ping_pong.hpp"

namespace {

using namespace hyphos;
using namespace hyphos::cosim;

struct Case {
  std::vector<Path> paths;
  std::string method = "lockstep";
  Duration window = Duration::from_ms(1);
  Duration latency_budget{0};
  Duration end = Duration::from_ms(10'000);
  bool skip = true;
  double range_m = std::numeric_limits<double>::infinity();
};

Result<Report> run(const Case& given, Network& network, Programs& programs) {
  const Step step = Step::make(1'000'000).or_throw();
  MethodOptions options{step, given.window};
  options.latency_budget = given.latency_budget;
  options.range_m = given.range_m;
  const auto method = make_method(given.method, options).or_throw();
  Kinematic physics(given.paths);
  Trace trace = Trace::hash_only();
  EngineOptions engine_options{step, {given.end.ns}};
  engine_options.nodes = static_cast<std::uint32_t>(given.paths.size());
  engine_options.skip = given.skip;
  engine_options.radio.range_m = given.range_m;
  Engine engine({physics, network, programs, *method, trace}, engine_options);
  const auto ran = engine.run();
  if (!ran) return ran.error();
  return engine.report();
}

std::vector<Path> standing(std::uint32_t count) {
  std::vector<Path> paths;
  for (std::uint32_t i = 0; i < count; ++i) {
    paths.emplace_back(ConstantVelocity{{20.0 * i, 0, 1}, {}});
  }
  return paths;
}

/// Robots spread over a square. Each follows four random points in a loop, at some metres per
/// second.
std::vector<Path> wandering(std::uint32_t count, double side) {
  std::vector<Path> paths;
  for (std::uint32_t i = 0; i < count; ++i) {
    Waypoints way{{}, 1 + 4 * draw_unit(5, i, 0, 9), true};
    for (std::uint32_t k = 0; k < 4; ++k) {
      way.points.push_back({side * draw_unit(5, i, k, 1), side * draw_unit(5, i, k, 2), 1});
    }
    paths.emplace_back(std::move(way));
  }
  return paths;
}

void print_machine() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  std::string model = "unknown processor";
  while (std::getline(info, line)) {
    if (line.rfind("model name", 0) == 0) model = line.substr(line.find(':') + 2);
  }
  std::printf("Machine: %s, %u cores.\n\n", model.c_str(), std::thread::hardware_concurrency());
}

int ping_pong() {
  std::printf(
      "One-way delay 0.9 ms, physics 1 ms: without any error a round trip takes 2 ms. Robots 20 m\n"
      "apart, the second moves away at 1 m/s. Back-to-back for 10 s.\n\n"
      "| method | window | round trips | mean | maximum | guaranteed maximum | network syncs |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const KnownMethod& known : known_methods()) {
    for (const std::int64_t ms : {1, 5, 10, 50}) {
      Case given{standing(2)};
      given.paths[1] = ConstantVelocity{{20, 0, 1}, {1, 0, 0}};
      given.method = known.name;
      given.window = Duration::from_ms(ms);
      ConstantDelay network(Duration::from_us(900));
      PingPong programs({});
      const auto report = run(given, network, programs);
      std::printf("| `%s` | %lld ms | ", std::string(known.name).c_str(),
                  static_cast<long long>(ms));
      if (!report) {
        const std::string& message = report.error().message;
        std::printf("%zu | ends: %s | | | |\n", programs.round_trips().size(),
                    message.substr(0, message.find(':')).c_str());
        continue;
      }
      std::int64_t sum = 0;
      Duration most;
      for (const Duration trip : programs.round_trips()) {
        sum += trip.ns;
        most = std::max(most, trip);
      }
      const auto count = programs.round_trips().size();
      std::printf(
          "%zu | %.2f ms | %.2f ms | %.2f ms | %llu |\n", count,
          static_cast<double>(sum) / static_cast<double>(std::max<std::size_t>(count, 1)) / 1e6,
          most.ms(), 2 + 2 * report->bounds.latency.ms(),
          static_cast<unsigned long long>(report->network_syncs));
    }
  }
  return 0;
}

int overhead() {
  print_machine();
  Case given{standing(3)};
  given.skip = false;
  given.end = Duration::from_ms(1'000'000);
  ConstantDelay idle(Duration::from_us(900));
  Periodic quiet({.nodes = 0});
  const Report alone = run(given, idle, quiet).or_throw();
  const auto windows = static_cast<double>(alone.windows);
  std::printf(
      "In one process, %.0f windows of one step, nothing skipped, no traffic: %.0f ns a step in\n"
      "total, of which the engine %.0f ns.\n",
      windows, static_cast<double>(alone.profile.total_ns) / windows,
      static_cast<double>(alone.profile.engine_ns()) / windows);

  RemoteNetwork remote(Worker::fork({}, [](IpcChannel& channel) {
                         ConstantDelay network(Duration::from_us(900));
                         serve(channel, network);
                       }).or_throw());
  remote.init(3, 1).or_throw();
  std::vector<Pose> poses(3);
  std::vector<std::int64_t> times;
  for (std::int64_t k = 1; k <= 200'000; ++k) {
    const Time start = monotonic_now();
    remote.set_poses(poses).or_throw();
    remote.advance({k * 1'000'000}).or_throw();
    times.push_back((monotonic_now() - start).ns);
  }
  std::ranges::sort(times);
  const auto ns = [&](double share) { return static_cast<double>(percentile(times, share)); };
  std::printf(
      "With the network in another process, %zu steps with poses: p50 %.0f ns, p95 %.0f ns, p99\n"
      "%.0f ns.\n",
      times.size(), ns(0.5), ns(0.95), ns(0.99));
  return 0;
}

int team(std::uint32_t robots, Duration end) {
  print_machine();
  std::printf(
      "Kinematic robots, packets of 100 bytes to everyone, physics and windows of 1 ms. Radios at\n"
      "6 Mbit/s: the simple one (range 158 m), and 802.11g with two rays, shadowing and Rician "
      "fading.\n\n"
      "| radio | robots | rate | world | simulated | took | × real time | packets | copies "
      "delivered | lost on the air | trace |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n");
  struct Size {
    std::uint32_t robots;
    double rate_hz;
    double side_m;
  };
  for (const Size& size :
       {Size{3, 100, 100}, Size{10, 20, 100}, Size{50, 20, 400}, Size{500, 10, 2500}}) {
    if (robots != 0 && robots != size.robots) continue;
    for (const RadioOptions& radio : {RadioOptions{}, fading_radio()}) {
      Case given{wandering(size.robots, size.side_m)};
      const RadioModel model = RadioModel::make(radio, nullptr, 1).or_throw();
      given.range_m = model.range_m();
      given.end = end;
      AnalyticRadio network(radio, nullptr);
      Periodic programs({.nodes = size.robots, .rate_hz = size.rate_hz, .bytes = 100});
      const Report report = run(given, network, programs).or_throw();
      const double took = static_cast<double>(report.profile.total_ns) * 1e-9;
      const auto dropped = [&](DropReason reason) {
        return report.packets.dropped[static_cast<std::size_t>(reason)];
      };
      std::printf(
          "| %s | %u | %.0f Hz | %.0f m | %.1f s | %.2f s | %.1f | %llu | %llu | %llu | "
          "%016llx |\n",
          radio.kind.empty() ? "simple" : "fading", size.robots, size.rate_hz, size.side_m,
          given.end.seconds(), took, given.end.seconds() / took,
          static_cast<unsigned long long>(report.packets.packets),
          static_cast<unsigned long long>(report.packets.delivered),
          static_cast<unsigned long long>(dropped(DropReason::collision) +
                                          dropped(DropReason::channel_error)),
          static_cast<unsigned long long>(report.trace_hash));
    }
  }
  return 0;
}

int syncs() {
  std::printf(
      "Two moving robots, packets of 100 bytes to the other robot, 20 s.\n\n"
      "| traffic | method | skipping | network syncs | latency bound | power bound | trace |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const double rate : {0.5, 5.0, 10.0, 50.0}) {
    for (const bool skip : {false, true}) {
      for (const auto& [method, window, budget] :
           {std::tuple("lockstep", 1, 0), std::tuple("adaptive", 50, 0),
            std::tuple("adaptive", 50, 9)}) {
        Case given{{Waypoints{{{0, 0, 1}, {60, 0, 1}}, 2, true}, Circle{{30, 20, 1}, 20, 0.3, 0}}};
        given.method = method;
        given.window = Duration::from_ms(window);
        given.latency_budget = Duration::from_ms(budget);
        given.skip = skip;
        given.end = Duration::from_ms(20'000);
        AnalyticRadio network({}, nullptr);
        Periodic programs({.nodes = 2, .rate_hz = rate, .bytes = 100, .everyone = false});
        const Report report = run(given, network, programs).or_throw();
        std::printf(
            "| %.0f Hz | `%s`, %d ms, budget %d ms | %s | %llu | %.0f ms | %.4f dB | %016llx |\n",
            2 * rate, method, window, budget, skip ? "on" : "off",
            static_cast<unsigned long long>(report.network_syncs), report.bounds.latency.ms(),
            report.bounds.power_db, static_cast<unsigned long long>(report.trace_hash));
      }
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "pingpong") return ping_pong();
  if (what == "overhead") return overhead();
  if (what == "team") {
    const double seconds = argc > 3 ? std::atof(argv[3]) : 10;
    return team(argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 0,
                Duration::from_seconds(seconds));
  }
  if (what == "syncs") return syncs();
  std::fprintf(stderr, "usage: bench_cosim pingpong | overhead | team [N [S]] | syncs\n");
  return 2;
}
