#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

/// The programs of a robot as child processes. Their output appears line by line with the name of
/// the robot in front. The destructor ends them with all their descendants: first by SIGTERM, after
/// two seconds by SIGKILL. If this process dies, the kernel kills the children.
class Children {
 public:
  explicit Children(std::string robot) : robot_(std::move(robot)) {}
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() { end(); }

  /// Ends all programs. Idempotent.
  void end();
  /// Sets a variable of the environment of the programs started from now on.
  void set(const std::string& name, const std::string& value) { variables_[name] = value; }
  /// Errors: not_found (no such program), and those of the system.
  [[nodiscard]] Result<void> start(const std::string& role, const std::vector<std::string>& words,
                                   const std::string& folder);
  /// Starts a program and returns the first line of its output.
  [[nodiscard]] Result<std::string> start_and_read(const std::string& role,
                                                   const std::vector<std::string>& words,
                                                   const std::string& folder, Duration limit);
  /// An error if a program has failed. A program that ends with 0 has done its work.
  [[nodiscard]] Result<void> check();

 private:
  struct Child {
    std::string role;
    pid_t pid = -1;
    int output = -1;
    std::thread reader{};
  };
  Result<Child> spawn(const std::string& role, const std::vector<std::string>& words,
                      const std::string& folder);
  void copy_output(int from);

  std::string robot_;
  std::map<std::string, std::string> variables_;
  std::vector<Child> children_;
};

/// Ends all descendants of this process, and reaps its children.
void end_descendants(Duration grace);

}  // namespace hyphos::cosim
