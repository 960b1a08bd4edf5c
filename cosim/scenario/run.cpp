#include <algorithm>
#include <chrono>
#include <thread>

#include "cosim/methods/registry.hpp"
#include "cosim/scenario/health.hpp"
#include "cosim/scenario/simulators.hpp"

namespace hyphos::cosim {
namespace {

/// The senders of a scenario: the nodes of its robots, named flows, or each robot at a fixed rate.
struct Senders {
  std::unique_ptr<Programs> programs;
  const Traffic* flows = nullptr;
  NodePrograms* nodes = nullptr;
  routing::Routed* routed = nullptr;
};

Result<Senders> open_senders(const Scenario& scenario, const RunOptions& options,
                             Physics& physics) {
  Senders made;
  if (!scenario.team.empty()) {
    auto opened = open_team(scenario, options, physics);
    if (!opened) return opened.error();
    made.nodes = opened->get();
    made.programs = std::move(*opened);
  } else if (!scenario.flows.flows.empty()) {
    auto flows = std::make_unique<Traffic>(scenario.flows, scenario.scene);
    made.flows = flows.get();
    made.programs = std::move(flows);
  } else {
    made.programs = std::make_unique<Periodic>(scenario.traffic);
  }
  auto routed = route(scenario, made.programs);
  if (!routed) return routed.error();
  made.routed = routed->get();
  if (made.routed != nullptr) made.programs = std::move(*routed);
  if (scenario.paced()) {
    auto vehicles = mavlink::MavlinkPrograms::open(std::move(made.programs), scenario.mavlink);
    if (!vehicles) return vehicles.error();
    made.programs = std::move(*vehicles);
  }
  return made;
}

/// The packets that routers dropped, after or before the network.
void add_lost(const Scenario& scenario, const std::vector<routing::Routed::Results>& results,
              Report& report) {
  for (std::size_t node = 0; node < results.size(); ++node) {
    for (std::size_t i = 0; i < results[node].drops.size(); ++i) {
      const std::uint64_t count = results[node].drops[i];
      if (count == 0) continue;
      const auto reason = to_string(static_cast<routing::RouteDrop>(i));
      report.lost.push_back(
          {scenario.robots[node], "routing", "drop.route." + std::string(reason), count});
    }
  }
}

/// Sleeps in short parts, so that a signal ends the run at once.
void wait_until(Time begun, Time reached, const RunOptions& options) {
  constexpr Duration kPart = Duration::from_ms(50);
  const Time when = begun + Duration{reached.ns};
  for (Time now = monotonic_now(); now < when; now = monotonic_now()) {
    const Duration left = std::min(when - now, kPart);
    std::this_thread::sleep_for(std::chrono::nanoseconds(left.ns));
    if (left == kPart && options.goes_on && !options.goes_on(reached)) return;
  }
}

void take_down(const RunOptions& options, Engine& engine) {
  engine.observe_sends([&options](const Packet& packet, std::span<const Pose> poses) {
    if (options.record != nullptr) options.record->sent(packet, poses);
    if (options.mcap != nullptr) options.mcap->sent(packet);
  });
  engine.observe([&options](const Outcome& outcome, const Packet& packet) {
    if (options.record != nullptr) options.record->outcome(outcome, packet);
    if (options.mcap != nullptr) options.mcap->outcome(outcome, packet);
    if (options.observe) options.observe(outcome, packet);
  });
}

}  // namespace

Result<void> check_scenario(const Scenario& scenario, const RunOptions& options) {
  if (auto model = RadioModel::make(scenario.radio, &scenario.scene, scenario.seed); !model) {
    return model.error();
  }
  return find_simulators(scenario, options);
}

Result<Report> run_scenario(const Scenario& scenario, const RunOptions& options, Trace& trace) {
  auto model = RadioModel::make(scenario.radio, &scenario.scene, scenario.seed);
  if (!model) return model.error();
  MethodOptions method_options{scenario.step, scenario.window};
  method_options.latency_budget = scenario.latency_budget;
  method_options.power_error_db = scenario.power_error_db;
  method_options.path_loss_exponent = model->steepest();
  method_options.range_m = model->range_m();
  method_options.scene = &scenario.scene;
  method_options.loss_threshold = scenario.loss_threshold;
  method_options.most_changes = scenario.most_changes;
  method_options.publisher = scenario.publisher;
  method_options.subscriber = scenario.subscriber;
  auto method = make_method(scenario.method, method_options);
  if (!method) return method.error();
  auto simulators = open_simulators(scenario, options);
  if (!simulators) return simulators.error();
  auto senders = open_senders(scenario, options, *simulators->physics);
  if (!senders) return senders.error();
  EngineOptions engine_options{scenario.step, {scenario.duration.ns}};
  engine_options.nodes = static_cast<std::uint32_t>(scenario.robots.size());
  engine_options.seed = scenario.seed;
  engine_options.skip = options.skip;
  engine_options.radio.path_loss_exponent = model->steepest();
  engine_options.radio.range_m = model->range_m();
  engine_options.radio.scene = &scenario.scene;
  engine_options.requested = scenario.requested;
  Engine engine({*simulators->physics, *simulators->network, *senders->programs, **method, trace},
                engine_options);
  Health health(scenario);
  const Time begun = monotonic_now();
  engine.run_while([&, &physics = *simulators->physics](Time reached) {
    if (scenario.paced()) wait_until(begun, reached, options);
    health.look(reached, physics.poses());
    if (options.record != nullptr) options.record->window(reached, physics.poses());
    if (options.mcap != nullptr) options.mcap->window(reached, physics.poses());
    return !options.goes_on || options.goes_on(reached);
  });
  if (options.observe) engine.observe(options.observe);
  if (options.record != nullptr || options.mcap != nullptr) {
    take_down(options, engine);
  }
  if (auto ran = engine.run(); !ran) return ran.error();
  Report report = engine.report();
  report.troubles = health.troubles();
  if (senders->flows != nullptr) {
    if (options.routing != nullptr) {
      options.routing->healings = healings(scenario.off, senders->flows->results());
    }
    if (options.record != nullptr) options.record->flows(senders->flows->results());
  }
  if (senders->nodes != nullptr) {
    auto lost = senders->nodes->lost();
    if (!lost) return lost.error();
    report.lost = std::move(*lost);
    senders->nodes->add_in_part(report.in_part);
  }
  if (senders->routed != nullptr) {
    const auto& results = senders->routed->results();
    add_lost(scenario, results, report);
    if (options.routing != nullptr) options.routing->robots = results;
    if (options.record != nullptr) options.record->routing(results);
  }
  return report;
}

}  // namespace hyphos::cosim
