#include "cosim/adapter/expose.hpp"
#include "cosim/network/ns3/lr_wpan.hpp"
#include "cosim/network/ns3/network.hpp"

namespace {

using namespace hyphos::cosim;

struct Ns3 {
  static hyphos::Result<std::unique_ptr<Network>> open(std::string_view text) {
    auto options = ns3_options(text);
    if (!options) return options.error();
    if (options->radio.kind == "802.15.4") {
      return std::unique_ptr<Network>(std::make_unique<LrWpanNetwork>(std::move(*options)));
    }
    return std::unique_ptr<Network>(std::make_unique<Ns3Network>(std::move(*options)));
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const hyphos_cosim_simulator*
hyphos_cosim_entry() {
  return exposed_network<Ns3>();
}
