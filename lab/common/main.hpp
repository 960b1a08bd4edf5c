#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "lab/common/interface.hpp"
#include "lab/common/parent.hpp"
#include "lab/common/peer.hpp"
#include "lab/common/roles.hpp"

namespace hyphos::lab {

inline std::string describe(const char* peer, const std::vector<Variant>& variants) {
  std::string list;
  for (const auto& variant : variants) {
    std::string shapes;
    for (const Shape shape : variant.shapes) {
      shapes += (shapes.empty() ? "\"" : ", \"") + std::string(to_string(shape)) + "\"";
    }
    JsonLine entry;
    entry.add("name", variant.name).raw("shapes", "[" + shapes + "]");
    entry.add("max_size", static_cast<double>(variant.max_size));
    entry.raw("floor", variant.floor ? "true" : "false");
    entry.raw("network", variant.network ? "true" : "false");
    entry.raw("sizes", variant.sizes ? "true" : "false");
    entry.raw("hosts", variant.hosts ? "true" : "false");
    entry.raw("relay", variant.relay ? "true" : "false");
    list += (list.empty() ? "" : ", ") + entry.str();
  }
#ifdef HYPHOS_LAB_VERSION  // version of the middleware, if CMake knows it
  const std::string version = HYPHOS_LAB_VERSION;
#else
  const std::string version;
#endif
  return JsonLine()
      .add("peer", peer)
      .add("interface", kInterface)
      .add("version", version)
      .raw("variants", "[" + list + "]")
      .str();
}

// The main function of a peer program. P is a Peer with `static constexpr const char* kName` and
// `static std::vector<Variant> variants()`.
template <class P>
int lab_main(int argc, char** argv) {
  try {
    const Options options = parse_options(argc, argv);
    if (options.describe) {
      std::puts(describe(P::kName, P::variants()).c_str());
      return 0;
    }
    if (options.role.empty()) {
      Parent parent(P::kName, options);
      return parent.run(P::daemon(parent.options()), P::daemon_machine(parent.options()));
    }
    P peer(options);
    Role(options, peer).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hyphos-lab-%s: %s\n", P::kName, error.what());
    return 1;
  }
}

// The same for a peer whose processes are Python programs. The program leads the run, and
// python/hyphos/lab/worker plays the roles. P names its interpreter.
template <class P>
int lab_main_in_python(int argc, char** argv) {
  try {
    const Options options = parse_options(argc, argv);
    if (options.describe) {
      std::puts(describe(P::kName, P::variants()).c_str());
      return 0;
    }
    const std::string python = P::interpreter(options);
    if (python.empty() || options.worker_file.empty()) {
      throw std::invalid_argument(
          "--worker-python, --worker-file: missing: `hyphos lab` sets them");
    }
    Parent parent(P::kName, options, {python, options.worker_file, "--peer", P::kName});
    return parent.run(P::daemon(parent.options()), parent.options().near());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hyphos-lab-%s: %s\n", P::kName, error.what());
    return 1;
  }
}

}  // namespace hyphos::lab
