// hyphos-host: runs the C++ plug-ins of one process of a plan.
#include <cstdio>
#include <cstring>

#include "base/log.hpp"
#include "hyphos/hyphos.hpp"

int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "--help") == 0) {
    std::puts(
        "usage: hyphos-host --hyphos-plan FILE --hyphos-process NAME [--hyphos-set KEY=VALUE]... "
        "[--hyphos-domain D]\n"
        "Runs the C++ plug-ins of one process of a plan until SIGINT or SIGTERM.\n"
        "`hyphos run` starts one for every process. Start it by hand to use a debugger.");
    return argc < 2 ? 2 : 0;
  }
  auto runtime = hyphos::Runtime::open(argc, argv);
  if (!runtime) {
    hyphos::log::error("host", runtime.error().to_string());
    return 2;
  }
  if (auto loaded = runtime->load_plugins(); !loaded) {
    hyphos::log::error("host", loaded.error().to_string());
    return 2;
  }
  return runtime->spin();
}
