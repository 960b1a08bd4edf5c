#include "cosim/adapter/expose.hpp"
#include "cosim/physics/mujoco/physics.hpp"

namespace {

using namespace hyphos::cosim;

struct Mujoco {
  static hyphos::Result<std::unique_ptr<Physics>> open(std::string_view text) {
    auto options = mujoco_options(text);
    if (!options) return options.error();
    return std::unique_ptr<Physics>(std::make_unique<MujocoPhysics>(std::move(*options)));
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const hyphos_cosim_simulator*
hyphos_cosim_entry() {
  return exposed_physics<Mujoco>();
}
