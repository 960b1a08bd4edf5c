#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ends_on_signal.hpp"
#include "hyphos/gateway.hpp"
#include "hyphos/hyphos.hpp"

// Runs one gateway. `hyphos gateway` starts this program with a descriptor file of the ROS types
// and with the arguments that every process of a plan gets.

namespace {

using hyphos::Error;

int fail(const Error& error) {
  std::fprintf(stderr, "error: %s\n", error.to_string().c_str());
  return 1;
}

/// Removes the options of the runtime. They begin with --hyphos- and have a value.
std::vector<std::string> own_words(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("--hyphos-")) {
      ++i;
    } else {
      words.emplace_back(argv[i]);
    }
  }
  return words;
}

/// In a plan, the gateway is the only node of its process, so both have the same name.
std::string node_name(const std::string& protocol, int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) == "--hyphos-process") return argv[i + 1];
  }
  return protocol;
}

int run(int argc, char** argv) {
  // A caller that reads the printed address may stop the gateway before spin().
  hyphos::EndsOnSignal signals;
  const std::vector<std::string> words = own_words(argc, argv);
  if (words.empty()) {
    return fail({hyphos::Code::invalid_config,
                 "hyphos-gateway needs the name of a protocol as its first argument",
                 {}});
  }
  auto node = hyphos::Node::open(node_name(words[0], argc, argv), argc, argv);
  if (!node) return fail(node.error());
  signals.start([runtime = node->runtime()]() mutable { runtime.request_stop(); });
  auto gateway = hyphos::Gateway::open(*node, words);
  if (!gateway) return fail(gateway.error());
  std::printf("%s\n", gateway->address().c_str());
  std::fflush(stdout);
  const int code = node->spin();
  gateway->close();
  for (const auto& [name, count] : gateway->counters()) {
    std::printf("%s %llu\n", name.c_str(), static_cast<unsigned long long>(count));
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const hyphos::Exception& error) {
    return fail(error.error());
  }
}
