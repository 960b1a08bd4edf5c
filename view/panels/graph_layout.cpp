#include "view/panels/graph_layout.hpp"

#include <algorithm>
#include <cstddef>

namespace hyphos::view {
namespace {

constexpr int kSweeps = 6;

/// The arrows to turn so that no cycle is left, by the order of P. Eades, X. Lin and W. F. Smyth,
/// "A fast and effective heuristic for the feedback arc set problem" (1993): sinks go to the end,
/// sources to the front, and else the vertex with most outputs over its inputs to the front.
std::vector<bool> backward_arrows(std::size_t nodes, const std::vector<GraphArrow>& arrows) {
  std::vector<std::vector<std::size_t>> out(nodes);
  std::vector<std::vector<std::size_t>> in(nodes);
  for (const GraphArrow& arrow : arrows) {
    if (arrow.from == arrow.to) continue;
    out[arrow.from].push_back(arrow.to);
    in[arrow.to].push_back(arrow.from);
  }
  std::vector<std::size_t> outputs(nodes);
  std::vector<std::size_t> inputs(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    outputs[i] = out[i].size();
    inputs[i] = in[i].size();
  }
  constexpr std::size_t kLeft = static_cast<std::size_t>(-1);
  std::vector<std::size_t> rank(nodes, kLeft);
  std::size_t front = 0;
  std::size_t back = nodes;
  const auto take = [&](std::size_t node, std::size_t at) {
    rank[node] = at;
    for (const std::size_t to : out[node]) --inputs[to];
    for (const std::size_t from : in[node]) --outputs[from];
  };
  while (front < back) {
    std::size_t best = kLeft;
    std::ptrdiff_t most = 0;
    bool changed = false;
    for (std::size_t i = 0; i < nodes; ++i) {
      if (rank[i] != kLeft) continue;
      if (outputs[i] == 0 || inputs[i] == 0) {
        take(i, outputs[i] == 0 ? --back : front++);
        changed = true;
        continue;
      }
      const auto surplus =
          static_cast<std::ptrdiff_t>(outputs[i]) - static_cast<std::ptrdiff_t>(inputs[i]);
      if (best == kLeft || surplus > most) {
        best = i;
        most = surplus;
      }
    }
    if (!changed && best != kLeft) take(best, front++);
  }
  std::vector<bool> backward(arrows.size(), false);
  for (std::size_t i = 0; i < arrows.size(); ++i) {
    backward[i] = rank[arrows[i].from] >= rank[arrows[i].to];
  }
  return backward;
}

/// The longest path from a source to each node.
std::vector<int> columns_of(std::size_t nodes, const std::vector<GraphArrow>& arrows,
                            const std::vector<bool>& backward) {
  std::vector<std::vector<std::size_t>> out(nodes);
  std::vector<std::size_t> inputs(nodes, 0);
  for (std::size_t i = 0; i < arrows.size(); ++i) {
    if (backward[i]) continue;
    out[arrows[i].from].push_back(arrows[i].to);
    ++inputs[arrows[i].to];
  }
  std::vector<int> column(nodes, 0);
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (inputs[i] == 0) ready.push_back(i);
  }
  for (std::size_t at = 0; at < ready.size(); ++at) {
    for (const std::size_t to : out[ready[at]]) {
      column[to] = std::max(column[to], column[ready[at]] + 1);
      if (--inputs[to] == 0) ready.push_back(to);
    }
  }
  return column;
}

}  // namespace

std::vector<GraphPlace> place_graph(std::size_t nodes, const std::vector<GraphArrow>& arrows) {
  const std::vector<bool> backward = backward_arrows(nodes, arrows);
  const std::vector<int> column = columns_of(nodes, arrows, backward);
  std::vector<std::vector<std::size_t>> near(nodes);
  for (const GraphArrow& arrow : arrows) {
    near[arrow.from].push_back(arrow.to);
    near[arrow.to].push_back(arrow.from);
  }
  int last = 0;
  for (const int one : column) last = std::max(last, one);
  std::vector<std::vector<std::size_t>> layers(static_cast<std::size_t>(last) + 1);
  for (std::size_t i = 0; i < nodes; ++i) {
    layers[static_cast<std::size_t>(column[i])].push_back(i);
  }
  std::vector<double> row(nodes, 0);
  std::size_t tallest = 0;
  const auto spread = [&](const std::vector<std::size_t>& layer) {
    for (std::size_t i = 0; i < layer.size(); ++i) {
      row[layer[i]] = static_cast<double>(i) - static_cast<double>(layer.size() - 1) / 2;
    }
  };
  for (const auto& layer : layers) {
    tallest = std::max(tallest, layer.size());
    spread(layer);
  }
  std::vector<double> center(nodes, 0);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t k = 0; k < layers.size(); ++k) {
      auto& layer = layers[sweep % 2 == 0 ? k : layers.size() - 1 - k];
      for (const std::size_t node : layer) {
        double sum = 0;
        for (const std::size_t other : near[node]) sum += row[other];
        center[node] =
            near[node].empty() ? row[node] : sum / static_cast<double>(near[node].size());
      }
      std::stable_sort(layer.begin(), layer.end(),
                       [&](std::size_t a, std::size_t b) { return center[a] < center[b]; });
      spread(layer);
    }
  }
  std::vector<GraphPlace> places(nodes);
  const double middle = static_cast<double>(tallest) / 2;
  for (std::size_t i = 0; i < nodes; ++i) places[i] = {column[i], row[i] + middle};
  return places;
}

}  // namespace hyphos::view
