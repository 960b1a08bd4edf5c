#include "cosim/outside/children.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "cosim/outside/rest.hpp"
#include "hyphos/clock.hpp"

extern char** environ;

namespace hyphos::cosim {
namespace {

constexpr Duration kGrace = Duration::from_ms(2000);
constexpr std::size_t kLongestLine = 64 * 1024;

Error system_error(const std::string& what, const std::string& where) {
  return {Code::io, what + ": " + std::strerror(errno), where};
}

std::vector<std::string> environment(const std::map<std::string, std::string>& changed) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changed.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : changed) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
           ::strsignal(WTERMSIG(status)) + ")";
  }
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

void sleep_ms(int ms) { ::poll(nullptr, 0, ms); }

void reap() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

}  // namespace

void end_descendants(Duration grace) {
  for (const pid_t one : Rest::descendants()) ::kill(one, SIGTERM);
  const Time end = monotonic_now() + grace;
  for (reap(); !Rest::descendants().empty() && monotonic_now() < end; reap()) sleep_ms(5);
  // A killed process may have started others just before.
  while (true) {
    const auto left = Rest::descendants();
    for (const pid_t one : left) ::kill(one, SIGKILL);
    reap();
    if (left.empty()) return;
    sleep_ms(1);
  }
}

void Children::end() {
  if (children_.empty()) return;
  end_descendants(kGrace);
  for (Child& child : children_) {
    if (child.reader.joinable()) child.reader.join();
    if (child.output >= 0) ::close(child.output);
  }
  children_.clear();
}

Result<Children::Child> Children::spawn(const std::string& role,
                                        const std::vector<std::string>& words,
                                        const std::string& folder) {
  // The children of a program that has ended become children of this process.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::array<int, 2> output{-1, -1};
  std::array<int, 2> failed{-1, -1};
  if (::pipe2(output.data(), O_CLOEXEC) != 0 || ::pipe2(failed.data(), O_CLOEXEC) != 0) {
    return system_error("pipe", robot_);
  }
  std::vector<std::string> arguments = words;
  std::vector<std::string> variables = environment(variables_);
  const std::vector<char*> argument_list = pointers(arguments);
  const std::vector<char*> variable_list = pointers(variables);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("cannot start a process", robot_);
  if (pid == 0) {  // only calls that are safe after the fork of a threaded process
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::setpgid(0, 0);  // Ctrl-C is for the engine, which ends the programs
    ::signal(SIGINT, SIG_DFL);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::dup2(output[1], STDERR_FILENO);
    if (::chdir(folder.empty() ? "." : folder.c_str()) == 0) {
      ::execvpe(argument_list[0], argument_list.data(), variable_list.data());
    }
    const int why = errno;
    (void)!::write(failed[1], &why, sizeof why);
    ::_exit(127);
  }
  ::close(output[1]);
  ::close(failed[1]);
  int why = 0;
  const bool started = ::read(failed[0], &why, sizeof why) <= 0;  // closed by a successful exec
  ::close(failed[0]);
  if (!started) {
    ::close(output[0]);
    errno = why;
    return Error{why == ENOENT ? Code::not_found : Code::io,
                 "the " + role + " cannot start: " + words.front() + " in " +
                     (folder.empty() ? "." : folder) + ": " + std::strerror(why),
                 robot_};
  }
  return Child{role, pid, output[0]};
}

Result<void> Children::start(const std::string& role, const std::vector<std::string>& words,
                             const std::string& folder) {
  auto child = spawn(role, words, folder);
  if (!child) return child.error();
  children_.push_back(std::move(*child));
  const int from = children_.back().output;
  children_.back().reader = std::thread([this, from] { copy_output(from); });
  return success();
}

Result<std::string> Children::start_and_read(const std::string& role,
                                             const std::vector<std::string>& words,
                                             const std::string& folder, Duration limit) {
  auto spawned = spawn(role, words, folder);
  if (!spawned) return spawned.error();
  Child& child = children_.emplace_back(std::move(*spawned));
  std::string text;
  const Time end = monotonic_now() + limit;
  std::array<char, 1024> part{};
  while (text.find('\n') == std::string::npos && text.size() < kLongestLine) {
    pollfd ready{child.output, POLLIN, 0};
    const auto left = static_cast<int>((end - monotonic_now()).ns / 1'000'000);
    if (left <= 0 || ::poll(&ready, 1, left) <= 0) {
      return Error{Code::timeout, "the " + role + " is not ready", robot_};
    }
    const ssize_t got = ::read(child.output, part.data(), part.size());
    if (got <= 0) {
      return Error{Code::disconnected,
                   "the " + role + " ended at its start" + (text.empty() ? "" : ": " + text),
                   robot_};
    }
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  const std::size_t line = text.find('\n');
  if (text.starts_with("error: ")) {
    return Error{Code::invalid_config, "the " + role + ": " + text.substr(7, line - 7), robot_};
  }
  child.reader = std::thread([this, from = child.output] { copy_output(from); });
  return text.substr(0, line);
}

void Children::copy_output(int from) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = ::read(from, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos;) {
      std::printf("%s: %.*s\n", robot_.c_str(), static_cast<int>(end), text.c_str());
      text.erase(0, end + 1);
    }
    if (text.size() > kLongestLine) text.clear();
    std::fflush(stdout);
  }
  if (!text.empty()) std::printf("%s: %s\n", robot_.c_str(), text.c_str());
  std::fflush(stdout);
}

Result<void> Children::check() {
  for (Child& child : children_) {
    int status = 0;
    if (child.pid < 0 || ::waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    child.pid = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    return Error{Code::disconnected, "the " + child.role + " " + how_it_ended(status), robot_};
  }
  return success();
}

}  // namespace hyphos::cosim
