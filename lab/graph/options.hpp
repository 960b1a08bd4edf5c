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
  std::vector<std::pair<std::string, std::string>> cpus;  ///< process of the plan → processors
  /// Of one run by itself: how late whole chains end, to 0.1 %, and what the messages cost; what is
  /// late is waited for. Without it, what a search for the highest load needs.
  bool figures = false;
  bool describe = false;  ///< says what it can do, as the programs of peers do

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
