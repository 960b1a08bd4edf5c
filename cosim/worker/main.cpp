// Runs a simulator behind the C interface in a separate process:
//
//   hyphos-cosim-worker --adapter LIBRARY [--options TEXT] --link-fd N
//
// N is the shared memory of the engine. The engine starts and ends this process.

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "cosim/adapter/c_adapter.hpp"
#include "cosim/remote/serve.hpp"

namespace {

using namespace hyphos;
using namespace hyphos::cosim;

Result<void> work(const std::string& adapter, const std::string& options, int fd) {
  auto channel = IpcChannel::open(UniqueFd(fd));
  if (!channel) return channel.error();
  auto simulator = load_adapter(adapter);
  if (!simulator) return simulator.error();
  if ((*simulator)->kind == HYPHOS_COSIM_PHYSICS) {
    auto physics = open_physics(**simulator, options);
    if (!physics) return physics.error();
    serve(*channel, **physics);
  } else {
    auto network = open_network(**simulator, options);
    if (!network) return network.error();
    serve(*channel, **network);
  }
  return success();
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C is for the engine, which ends this process
  std::string adapter;
  std::string options;
  int fd = -1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view key = argv[i];
    if (key == "--adapter") adapter = argv[i + 1];
    if (key == "--options") options = argv[i + 1];
    if (key == "--link-fd")
      std::from_chars(argv[i + 1], argv[i + 1] + std::strlen(argv[i + 1]), fd);
  }
  if (adapter.empty() || fd < 0) {
    std::fprintf(stderr,
                 "usage: hyphos-cosim-worker --adapter LIBRARY [--options TEXT] --link-fd N\n"
                 "(the co-simulator starts this program and passes the shared memory N)\n");
    return 2;
  }
  if (auto worked = work(adapter, options, fd); !worked) {
    std::fprintf(stderr, "hyphos-cosim-worker: %s\n", worked.error().to_string().c_str());
    return 1;
  }
  return 0;
}
