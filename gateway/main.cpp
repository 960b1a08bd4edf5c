#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

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

/// Stops the runtime on SIGINT and SIGTERM as soon as start() is called, and not only inside
/// spin(): a caller that reads the printed address may stop the gateway at once. Construct it
/// before any other thread starts. If the shutdown takes long, a later signal exits the program
/// immediately. Signals within one second of the first count as one, because a terminal and `hyphos
/// run` may both send one.
class EndsOnSignal {
 public:
  EndsOnSignal() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  ~EndsOnSignal() {
    if (!thread_.joinable()) return;
    over_ = true;
    pthread_kill(thread_.native_handle(), SIGINT);
    thread_.join();
  }
  EndsOnSignal(const EndsOnSignal&) = delete;
  EndsOnSignal& operator=(const EndsOnSignal&) = delete;

  void start(hyphos::Runtime runtime) {
    thread_ = std::thread([this, runtime = std::move(runtime)]() mutable { wait(runtime); });
  }

 private:
  void wait(hyphos::Runtime& runtime) const {
    constexpr auto kAtOnce = hyphos::Duration::from_seconds(1);
    std::optional<hyphos::Time> first;
    for (int signal = 0; sigwait(&signals_, &signal) == 0 && !over_;) {
      if (first && hyphos::monotonic_now() - *first > kAtOnce) _exit(128 + signal);
      if (first) continue;
      first = hyphos::monotonic_now();
      runtime.request_stop();
    }
  }

  sigset_t signals_{};
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

int run(int argc, char** argv) {
  EndsOnSignal signals;
  const std::vector<std::string> words = own_words(argc, argv);
  if (words.empty()) {
    return fail({hyphos::Code::invalid_config,
                 "hyphos-gateway needs the name of a protocol as its first argument",
                 {}});
  }
  auto node = hyphos::Node::open(node_name(words[0], argc, argv), argc, argv);
  if (!node) return fail(node.error());
  signals.start(node->runtime());
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
