#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/common/child.hpp"
#include "lab/graph/options.hpp"
#include "lab/graph/sheet.hpp"

namespace hyphos::lab::graph {

/// What a run has left when it is over.
struct Outcome {
  const Options& options;
  const Ends& ends;
  const Sheet& sheet;
  const std::vector<Child>& children;
  double seconds;         ///< from the first message due to the last one sent
  std::int64_t begin_ns;  ///< when that first one was due
  std::int64_t memory_kb;
  std::string cpus;  ///< JSON: the processors that each process could use
};

/// How many messages were sent on a channel.
[[nodiscard]] std::int64_t expected(const Ends& ends, const Sheet& sheet,
                                    const ChannelPlan& channel);
/// One JSON object: what a search for the highest load needs.
[[nodiscard]] std::string report_load(const Outcome& outcome);
/// One JSON object with the figures of the other workloads (lab/common/parent.hpp), and those of
/// each channel besides.
[[nodiscard]] std::string report_figures(const Outcome& outcome);
/// One JSON object: what this program can do, as those of peers tell it.
[[nodiscard]] std::string describe();

}  // namespace hyphos::lab::graph
