#include "cosim/adapter/expose.hpp"
#include "cosim/network/ns3/ns3_radio.hpp"
#include "cosim/world/terrain_file.hpp"

namespace {

using namespace hyphos::cosim;

hyphos::Result<Scene> scene_of(const Ns3Options& options) {
  if (!options.terrain) return Scene(options.boxes);
  auto terrain = load_terrain(*options.terrain);
  if (!terrain) return terrain.error();
  return Scene(options.boxes, std::make_shared<const Terrain>(std::move(*terrain)));
}

struct Ns3 {
  static hyphos::Result<std::unique_ptr<Network>> open(std::string_view text) {
    auto options = ns3_options(text);
    if (!options) return options.error();
    auto scene = scene_of(*options);
    if (!scene) return scene.error();
    auto radio = make_ns3_radio(std::move(*options), std::move(*scene));
    if (!radio) return radio.error();
    return std::unique_ptr<Network>(std::move(*radio));
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const hyphos_cosim_simulator*
hyphos_cosim_entry() {
  return exposed_network<Ns3>();
}
