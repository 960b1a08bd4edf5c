#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "hyphos/hyphos.hpp"
#include "hyphos/inspect.hpp"
#include "tests/graph/harness.hpp"
#include "tests/node/number.hpp"
#include "tests/own_port.hpp"

namespace hyphos::test {

using graph::test::Arrivals;

/// A domain that no other test and no robot uses.
inline std::string fresh_domain() {
  static std::atomic<int> next{0};
  return "test" + std::to_string(getpid()) + "-" + std::to_string(next++);
}

inline Runtime open_runtime(const std::string& domain, const std::string& process = "main") {
  RuntimeOptions options;
  options.domain = domain;
  options.process = process;
  return Runtime::open(options).or_throw();
}

/// Options of a process without transports.
inline RuntimeOptions offline_options() {
  RuntimeOptions options;
  options.offline = true;
  return options;
}

/// Waits for an effect of another thread.
template <typename F>
bool eventually(F condition, std::chrono::seconds patience = std::chrono::seconds(60)) {
  const auto limit = std::chrono::steady_clock::now() + patience;
  constexpr int kQuickLooks = 100;
  for (int looks = 0; !condition(); ++looks) {
    if (std::chrono::steady_clock::now() > limit) return false;
    if (looks < kQuickLooks) {
      std::this_thread::yield();
    } else {
      // A long loop of yields would take a processor from the threads that it waits for.
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  return true;
}

/// Waits until a process spins. It may reply earlier, but until then a signal kills it.
inline bool comes_to_spin(const std::string& domain, const std::string& process) {
  return eventually([&] {
    for (const ProcessInfo& one : inspect(domain).or_throw()) {
      if (one.name == process && one.state == ProcessState::ready) return true;
    }
    return false;
  });
}

/// A plan file in a separate directory, removed with the object.
class PlanFile {
 public:
  explicit PlanFile(const std::string& text)
      : directory_(std::filesystem::temp_directory_path() / ("hyphos-" + fresh_domain())) {
    std::filesystem::create_directories(directory_);
    std::ofstream(path()) << text;
  }
  PlanFile(const PlanFile&) = delete;
  PlanFile& operator=(const PlanFile&) = delete;
  ~PlanFile() { std::filesystem::remove_all(directory_); }
  [[nodiscard]] std::filesystem::path path() const { return directory_ / "robot.yaml"; }

  [[nodiscard]] RuntimeOptions options(const std::string& process) const {
    RuntimeOptions options;
    options.plan_file = path();
    options.process = process;
    return options;
  }

 private:
  std::filesystem::path directory_;
};

}  // namespace hyphos::test
