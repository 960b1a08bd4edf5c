#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/physics/mujoco/egl.hpp"
#include "cosim/physics/mujoco/world.hpp"

namespace hyphos::cosim {

/// Draws all robots in their world with MuJoCo's renderer. The model is one of its own, with
/// colours and a sun, and without contacts.
///
/// Threads: from any, one at a time. Cost: see docs/how-to/cosim_camera.md. Each pixel of the
/// largest picture takes 8 bytes of memory. All memory is freed with the object.
class Pictures {
 public:
  /// `counts`: of all robots. Errors: unsupported (no renderer), and those of World::make().
  [[nodiscard]] static Result<std::unique_ptr<Pictures>> make(const Ground& ground,
                                                              std::span<const UserModel> models,
                                                              const RobotCounts& counts);
  ~Pictures();
  Pictures(const Pictures&) = delete;
  Pictures& operator=(const Pictures&) = delete;

  /// `robots` are ordered by kind. `own` is the place of the robot with the camera in this order,
  /// and `pose` its pose. Errors: unsupported.
  [[nodiscard]] Result<Picture> draw(std::span<RobotState* const> robots, std::size_t own,
                                     const Pose& pose, const View& view);

 private:
  struct Renderer;
  Pictures(std::unique_ptr<World> world, std::unique_ptr<EglContext> context);
  void fit(const View& view);
  void aim(const Pose& pose, const View& view);
  void hide(std::size_t own);
  static void paint_sky(const Pose& pose, const View& view, std::span<const float> depth,
                        std::span<std::byte> rgb);

  std::unique_ptr<World> world_;
  std::unique_ptr<EglContext> context_;
  std::unique_ptr<Renderer> renderer_;  // MuJoCo's
};

}  // namespace hyphos::cosim
