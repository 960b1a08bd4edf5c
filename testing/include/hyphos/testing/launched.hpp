#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hyphos/inspect.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::testing::detail {

/// `hyphos run` as a child process: the processes of a plan in a domain of their own. Part of
/// Robot. Not thread-safe. The destructor ends the robot.
class Launched {
 public:
  /// Starts `command run plan`. Logs and events are files in `folder`.
  Launched(const std::string& command, const std::filesystem::path& plan,
           const std::vector<std::string>& settings, const std::string& domain,
           std::filesystem::path folder, bool strict)
      : domain_(domain), folder_(std::move(folder)) {
    std::vector<std::string> words{command,    "run",          plan.string(), "--keep-going",
                                   "--events", path("events"), "--logs",      folder_.string()};
    if (strict) words.emplace_back("--strict");
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    words.insert(words.end(), {"--set", "domain=" + domain_});
    start(words);
  }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;
  ~Launched() { stop(); }

  /// True when all processes are ready.
  [[nodiscard]] bool ready() const { return has_event(R"("event": "ready")"); }
  /// The processes that have failed and that kill() has not killed, and the end of the log. ""
  /// without a failure.
  [[nodiscard]] std::string failure() {
    if (pid_ > 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = 0;
    std::string words;
    for (const std::string& line : lines(path("events"))) {
      if (line.find(R"("state": "failed")") == std::string::npos) continue;
      const std::string name = text_of(line, "process");
      if (std::ranges::find(killed_, name) == killed_.end()) {
        words += "process '" + name + "' " + text_of(line, "end") + tail(name + ".log");
      }
    }
    if (words.empty() && pid_ == 0 && !stopped_) words = "`hyphos run` has ended" + tail("run.log");
    return words;
  }
  /// Kills a process with SIGKILL. The plan's `restart` decides whether it comes back.
  void kill(const std::string& process) {
    const auto found = inspect(domain_);
    for (const ProcessInfo& one : found ? *found : std::vector<ProcessInfo>{}) {
      if (one.name != process) continue;
      killed_.push_back(process);
      ::kill(one.pid, SIGKILL);
      return;
    }
    Result<void>(Error{Code::not_found, "no process '" + process + "' runs", domain_}).or_throw();
  }
  /// Ends the robot. Returns the findings of `hyphos run --strict`, one line each. Idempotent.
  std::string stop() {
    if (stopped_) return findings_;
    stopped_ = true;
    if (pid_ > 0) ::kill(pid_, SIGINT);
    while (pid_ > 0 && ::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    findings_ = failure();
    for (const std::string& line : lines(path("run.log"))) {
      if (line.starts_with("strict: ")) findings_ += (findings_.empty() ? "" : "\n") + line;
    }
    return findings_;
  }

 private:
  static constexpr std::size_t kTail = 15;

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

  void start(const std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    const std::string log = path("run.log");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);  // Ctrl-C reaches only the test
    const int failed = posix_spawnp(&pid_, pointers[0], &files, &how, pointers.data(), environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    if (failed == 0) return;
    pid_ = 0;
    Result<void>(Error{Code::not_found,
                       "cannot start '" + words[0] + "': " + std::strerror(failed) +
                           ". Put it on PATH, or name it in RobotOptions::command",
                       words[0]})
        .or_throw();
  }

  static std::vector<std::string> lines(const std::string& file) {
    std::vector<std::string> found;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) found.push_back(std::move(line));
    return found;
  }
  [[nodiscard]] bool has_event(std::string_view words) const {
    const auto all = lines(path("events"));
    return std::ranges::any_of(
        all, [&](const std::string& line) { return line.find(words) != std::string::npos; });
  }
  /// The value of a text in a line of the events, which has no other quotes.
  static std::string text_of(const std::string& line, const std::string& key) {
    const std::string head = "\"" + key + "\": \"";
    const std::size_t at = line.find(head);
    if (at == std::string::npos) return "";
    const std::size_t first = at + head.size();
    return line.substr(first, line.find('"', first) - first);
  }
  [[nodiscard]] std::string tail(const std::string& log) const {
    const auto all = lines(path(log));
    std::string text;
    for (std::size_t i = all.size() - std::min(all.size(), kTail); i < all.size(); ++i) {
      text += "\n    " + all[i];
    }
    return text;
  }

  std::string domain_;
  std::filesystem::path folder_;
  std::vector<std::string> killed_;
  std::string findings_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool stopped_ = false;
};

}  // namespace hyphos::testing::detail
