// Hyphos from Python: each process is a Python program that uses the public API
// (worker/hyphos_peer.py), with loans and inline callbacks, like the variants `shm` and `tcp` of
// hyphos. The remaining interpreter time belongs to the few lines of the laboratory in each
// callback.

#include "lab/common/main.hpp"

namespace hyphos::lab {
namespace {

struct HyphosPython {
  static constexpr const char* kName = "hyphos_py";
  static std::vector<Variant> variants() {
    return {{"", kBetweenProcesses},
            {"tcp", kBetweenProcesses, 64u << 20, false, true, true, true}};
  }
  static std::string interpreter(const Options& options) { return options.worker_python; }
  static std::vector<std::string> daemon(const Options&) { return {}; }
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  return hyphos::lab::lab_main_in_python<hyphos::lab::HyphosPython>(argc, argv);
}
