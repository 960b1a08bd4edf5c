#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hyphos::lab::graph {

/// The options of one run of hyphos-lab-graph.
struct Options {
  std::string plan;      ///< a robot.yaml whose channels have a `load:`
  double scale = 1;      ///< factor for all rates
  double seconds = 1;    ///< duration of the measurement
  std::int64_t run = 0;  ///< separates concurrent runs: the domain is lab<run>
  std::vector<std::pair<std::string, std::string>> namespaces;  ///< host of the plan → namespace
  std::vector<std::string> overrides;                           ///< as with `--set` of `hyphos run`
  std::vector<std::pair<std::string, std::string>> cpus;  ///< process of the plan → processors
  /// The figures of a single run: the end-to-end lateness of chains, to 0.1 %, and the cost of
  /// messages. Late messages are awaited. Without it, only the values that a search for the highest
  /// load needs.
  bool figures = false;
  bool describe = false;  ///< print the capabilities, like the programs of peers

  // Options of a child.
  std::string process;  ///< the process in the plan. Empty: the parent
  int sheet_fd = -1;
};

/// Throws std::invalid_argument. Its text names the option.
[[nodiscard]] Options parse_options(int argc, char** argv);
/// The command line of a child. Parsing it returns `options` with the process.
[[nodiscard]] std::vector<std::string> child_arguments(const Options& options,
                                                       const std::string& process);

}  // namespace hyphos::lab::graph
