#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hyphos::lab::graph {

/// What one run of hyphos-lab-graph does.
struct Options {
  std::string plan;      ///< a robot.yaml whose channels say what `load:` they carry
  double scale = 1;      ///< all rates times this
  double seconds = 1;    ///< of measurement
  std::int64_t run = 0;  ///< keeps concurrent runs apart: their domain is lab<run>
  std::vector<std::pair<std::string, std::string>> namespaces;  ///< host of the plan → its own
  std::vector<std::string> overrides;                           ///< as `--set` of `hyphos run`

  // Of a child.
  std::string process;  ///< which one of the plan this is; empty: the parent
  int sheet_fd = -1;
};

/// Throws std::invalid_argument, which names the option.
[[nodiscard]] Options parse_options(int argc, char** argv);
/// The command line of a child, so that parsing it gives back `options` with its process.
[[nodiscard]] std::vector<std::string> child_arguments(const Options& options,
                                                       const std::string& process);

}  // namespace hyphos::lab::graph
