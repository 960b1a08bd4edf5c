#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hyphos::view {

/// A place of the picture: columns from left to right, rows from top to bottom.
struct GraphPlace {
  int column = 0;
  double row = 0;
};

struct GraphArrow {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Places the nodes of a directed graph in columns so that most arrows point to the right, and in
/// rows so that few cross (Sugiyama, Tagawa, Toda 1981: layers, then barycentres). Cycles are
/// allowed. Cost: O((nodes + arrows) * sweeps).
[[nodiscard]] std::vector<GraphPlace> place_graph(std::size_t nodes,
                                                  const std::vector<GraphArrow>& arrows);

}  // namespace hyphos::view
