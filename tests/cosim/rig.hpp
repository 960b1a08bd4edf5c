#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cosim/core/engine.hpp"
#include "cosim/methods/registry.hpp"
#include "cosim/network/analytic.hpp"
#include "cosim/network/constant_delay.hpp"
#include "cosim/physics/kinematic.hpp"
#include "cosim/programs/periodic.hpp"
#include "tests/cosim/ping_pong.hpp"

namespace hyphos::cosim {

/// A run and its results.
struct Ran {
  Report report;
  std::string trace;
  Result<void> result;
};

struct Trial {
  std::vector<Path> paths{ConstantVelocity{{0, 0, 1}, {}}, ConstantVelocity{{20, 0, 1}, {}}};
  std::string method = "lockstep";
  Step step = Step::make(1'000'000).value();
  Duration window = Duration::from_ms(1);
  Duration latency_budget{0};
  double power_error_db = 0.5;
  Duration end = Duration::from_ms(1000);
  std::uint64_t seed = 1;
  bool skip = true;
  const Scene* scene = nullptr;
  double range_m = std::numeric_limits<double>::infinity();
  double loss_threshold = 0.1;
  std::int64_t most_changes = 10;
  NodeId publisher = kEveryone;
  NodeId subscriber = kEveryone;
  RequestedBounds requested{};
};

inline std::unique_ptr<Method> method_of(const Trial& trial) {
  MethodOptions options{trial.step, trial.window};
  options.latency_budget = trial.latency_budget;
  options.power_error_db = trial.power_error_db;
  options.scene = trial.scene;
  options.range_m = trial.range_m;
  options.loss_threshold = trial.loss_threshold;
  options.most_changes = trial.most_changes;
  options.publisher = trial.publisher;
  options.subscriber = trial.subscriber;
  auto method = make_method(trial.method, options);
  EXPECT_TRUE(method.ok()) << method.error().to_string();
  return std::move(method).or_throw();
}

inline Ran run(const Trial& trial, Physics& physics, Network& network, Programs& programs,
               Engine::Observer observer = {}) {
  const auto method = method_of(trial);
  Trace trace;
  EngineOptions options{trial.step, {trial.end.ns}};
  options.nodes = static_cast<std::uint32_t>(trial.paths.size());
  options.seed = trial.seed;
  options.skip = trial.skip;
  options.radio.scene = trial.scene;
  options.radio.range_m = trial.range_m;
  options.requested = trial.requested;
  Engine engine({physics, network, programs, *method, trace}, options);
  if (observer) engine.observe(std::move(observer));
  auto result = engine.run();
  return {engine.report(), std::string(trace.text()), std::move(result)};
}

inline Ran run(const Trial& trial, Network& network, Programs& programs,
               Engine::Observer observer = {}) {
  Kinematic physics(trial.paths);
  return run(trial, physics, network, programs, std::move(observer));
}

}  // namespace hyphos::cosim
