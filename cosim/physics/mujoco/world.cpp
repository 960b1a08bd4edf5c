#include "cosim/physics/mujoco/world.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::cosim {
namespace {

Error bad(Code code, std::string what) { return {code, std::move(what), "mujoco"}; }

/// MuJoCo's height fields hold heights from 0 to 1.
void raise(mjModel& model, const Terrain& terrain) {
  const int field = mj_name2id(&model, mjOBJ_HFIELD, kTerrainName);
  if (field < 0) return;
  const double high = std::max(1e-3, terrain.highest() - terrain.lowest());
  float* to = model.hfield_data + model.hfield_adr[field];
  for (const float height : terrain.grid().heights) {
    *to++ = static_cast<float>((height - terrain.lowest()) / high);
  }
}

}  // namespace

Layout layout_of(std::size_t kind, std::span<const UserModel> models) {
  if (kind == 0) return {7 + 4, 6 + 4, 0, 4};
  if (kind == 1) return {7, 6, 0, 4};
  const UserModel& model = models[kind - kOwnKinds];
  return {model.start.size(), model.velocities, model.activations, model.actuators.size()};
}

World::World(ModelPointer model, std::vector<Layout> layouts)
    : model_(std::move(model)), data_(data_of(*model_)), layouts_(std::move(layouts)) {}

Result<std::unique_ptr<World>> World::make(const Ground& ground, std::span<const UserModel> models,
                                           const RobotCounts& counts) {
  auto model = compile(mjcf(ground, models, counts));
  if (!model) return model.error();
  if (ground.terrain != nullptr) raise(**model, *ground.terrain);
  std::vector<Layout> layouts;
  Layout all{0, 0, 0, 0};
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    for (std::uint32_t i = 0; i < counts[kind]; ++i) {
      const Layout& one = layouts.emplace_back(layout_of(kind, models));
      all.positions += one.positions;
      all.velocities += one.velocities;
      all.activations += one.activations;
      all.actuators += one.actuators;
    }
  }
  const mjModel& made = **model;
  if (made.nq != static_cast<int>(all.positions) || made.nv != static_cast<int>(all.velocities) ||
      made.na != static_cast<int>(all.activations) || made.nu != static_cast<int>(all.actuators)) {
    return bad(Code::invalid_config, "the joints of the world are not those of its robots");
  }
  std::unique_ptr<World> world(new World(std::move(*model), std::move(layouts)));
  if (world->data_ == nullptr) return bad(Code::exhausted, "no memory for the world");
  return world;
}

/// Calls `f(robot, layout, offsets)`.
template <typename F>
void World::each(std::span<RobotState* const> robots, const F& f) {
  Layout at{0, 0, 0, 0};
  for (std::size_t i = 0; i < robots.size(); ++i) {
    const Layout& one = layouts_[i];
    f(*robots[i], at);
    at.positions += one.positions;
    at.velocities += one.velocities;
    at.activations += one.activations;
    at.actuators += one.actuators;
  }
}

void World::place(std::span<RobotState* const> robots) {
  each(robots, [&](const RobotState& robot, const Layout& at) {
    std::ranges::copy(robot.position, data_->qpos + at.positions);
    std::ranges::copy(robot.velocity, data_->qvel + at.velocities);
    std::ranges::copy(robot.warm_start, data_->qacc_warmstart + at.velocities);
    std::ranges::copy(robot.activation, data_->act + at.activations);
  });
}

void World::step(std::span<RobotState* const> robots,
                 std::span<const std::vector<double>*> controls) {
  place(robots);
  mjtNum* control = data_->ctrl;
  for (const std::vector<double>* one : controls) control = std::ranges::copy(*one, control).out;
  mj_step(model_.get(), data_.get());
  each(robots, [&](RobotState& robot, const Layout& at) {
    std::copy_n(data_->qpos + at.positions, robot.position.size(), robot.position.begin());
    std::copy_n(data_->qvel + at.velocities, robot.velocity.size(), robot.velocity.begin());
    std::copy_n(data_->qacc_warmstart + at.velocities, robot.warm_start.size(),
                robot.warm_start.begin());
    std::copy_n(data_->act + at.activations, robot.activation.size(), robot.activation.begin());
  });
}

std::optional<World::Complaint> World::complaint() const {
  for (const mjWarningStat& warning : data_->warning) {
    if (warning.number == 0) continue;
    const int kind = static_cast<int>(&warning - data_->warning);
    Complaint complaint{mju_warningText(kind, warning.lastinfo)};
    const bool place = kind == mjWARN_BADQPOS;
    complaint.one = place || kind == mjWARN_BADQVEL || kind == mjWARN_BADQACC;
    auto left = static_cast<std::size_t>(std::max(0, warning.lastinfo));
    for (const Layout& one : layouts_) {
      const std::size_t size = place ? one.positions : one.velocities;
      if (left < size) break;
      left -= size;
      ++complaint.robot;
    }
    return complaint;
  }
  return std::nullopt;
}

}  // namespace hyphos::cosim
