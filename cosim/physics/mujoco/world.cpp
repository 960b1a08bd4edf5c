#include "cosim/physics/mujoco/world.hpp"

#include <algorithm>
#include <cstring>

#include "cosim/physics/mujoco/model.hpp"

namespace hyphos::cosim {
namespace {

Error bad(Code code, std::string what) { return {code, std::move(what), "mujoco"}; }

Result<mjModel*> compile(const std::string& text) {
  // The file system object has several megabytes, so it is on the heap.
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  constexpr const char* kName = "world.xml";
  if (mj_makeEmptyFileVFS(files.get(), kName, static_cast<int>(text.size())) != 0) {
    return bad(Code::exhausted, "cannot pass the model to MuJoCo");
  }
  std::memcpy(files->filedata[files->nfile - 1], text.data(), text.size());
  std::array<char, 500> why{};
  mjModel* model = mj_loadXML(kName, files.get(), why.data(), static_cast<int>(why.size()));
  mj_deleteVFS(files.get());
  if (model == nullptr) return bad(Code::invalid_config, why.data());
  return model;
}

}  // namespace

World::World(mjModel* model, RobotCounts counts) : counts_(counts) {
  model_.reset(model);
  data_.reset(mj_makeData(model));
}

Result<std::unique_ptr<World>> World::make(const MujocoOptions& options, RobotCounts counts) {
  mju_user_warning = [](const char*) {};  // complaint() reports warnings, so no log file
  auto model = compile(mjcf(options, counts.first, counts.second));
  if (!model) return model.error();
  return std::unique_ptr<World>(new World(*model, counts));
}

/// Calls `f(robot, its coordinates, its velocities, the number of both)`.
template <typename F>
void World::each(std::span<RobotState* const> robots, const F& f) {
  mjtNum* position = data_->qpos;
  std::ptrdiff_t dof = 0;
  for (std::size_t i = 0; i < robots.size(); ++i) {
    const int wheels = i < counts_.first ? 4 : 0;
    f(*robots[i], position, dof, 7 + wheels, 6 + wheels);
    position += 7 + wheels;
    dof += 6 + wheels;
  }
}

void World::step(std::span<RobotState* const> robots,
                 std::span<const std::array<double, 4>> controls) {
  each(robots, [&](RobotState& robot, mjtNum* position, std::ptrdiff_t dof, int nq, int nv) {
    std::copy_n(robot.position.begin(), nq, position);
    std::copy_n(robot.velocity.begin(), nv, data_->qvel + dof);
    std::copy_n(robot.warm_start.begin(), nv, data_->qacc_warmstart + dof);
  });
  for (std::size_t i = 0; i < controls.size(); ++i) {
    std::ranges::copy(controls[i], data_->ctrl + 4 * i);
  }
  mj_step(model_.get(), data_.get());
  each(robots, [&](RobotState& robot, const mjtNum* position, std::ptrdiff_t dof, int nq, int nv) {
    std::copy_n(position, nq, robot.position.begin());
    std::copy_n(data_->qvel + dof, nv, robot.velocity.begin());
    std::copy_n(data_->qacc_warmstart + dof, nv, robot.warm_start.begin());
  });
}

std::optional<std::string> World::complaint() const {
  for (const mjWarningStat& warning : data_->warning) {
    if (warning.number == 0) continue;
    return mju_warningText(static_cast<int>(&warning - data_->warning), warning.lastinfo);
  }
  return std::nullopt;
}

}  // namespace hyphos::cosim
