#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/common/child.hpp"
#include "lab/graph/options.hpp"
#include "lab/graph/sheet.hpp"

namespace hyphos::lab::graph {

/// The results of a finished run.
struct Outcome {
  const Options& options;
  const Ends& ends;
  const Sheet& sheet;
  const std::vector<Child>& children;
  double seconds;         ///< from the first due message to the last send
  std::int64_t begin_ns;  ///< due time of the first message
  std::int64_t memory_kb;
  std::string cpus;  ///< JSON: the processors available to each process
};

/// The number of messages sent on a channel.
[[nodiscard]] std::int64_t expected(const Ends& ends, const Sheet& sheet,
                                    const ChannelPlan& channel);
/// One JSON object with the values that a search for the highest load needs.
[[nodiscard]] std::string report_load(const Outcome& outcome);
/// One JSON object with the figures of the other workloads (lab/common/parent.hpp), and with the
/// figures of each channel.
[[nodiscard]] std::string report_figures(const Outcome& outcome);
/// One JSON object with the capabilities of this program, in the format of the peers.
[[nodiscard]] std::string describe();

}  // namespace hyphos::lab::graph
