#include "view/panels/graph_layout.hpp"

#include <algorithm>
#include <numeric>

namespace hyphos::view {
namespace {

constexpr int kSweeps = 6;

/// Arrows that close a cycle in a depth-first search.
std::vector<bool> backward_arrows(std::size_t nodes, const std::vector<GraphArrow>& arrows) {
  std::vector<std::vector<std::size_t>> out(nodes);
  std::vector<std::size_t> inputs(nodes, 0);
  for (std::size_t i = 0; i < arrows.size(); ++i) {
    out[arrows[i].from].push_back(i);
    ++inputs[arrows[i].to];
  }
  // Sources first, so that a cycle is cut where it is entered.
  std::vector<std::size_t> order(nodes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return inputs[a] < inputs[b]; });
  enum class State : std::uint8_t { fresh, open, done };
  std::vector<State> state(nodes, State::fresh);
  std::vector<bool> backward(arrows.size(), false);
  std::vector<std::pair<std::size_t, std::size_t>> stack;  // node, next arrow
  for (const std::size_t root : order) {
    if (state[root] != State::fresh) continue;
    stack.emplace_back(root, 0);
    state[root] = State::open;
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == out[node].size()) {
        state[node] = State::done;
        stack.pop_back();
        continue;
      }
      const std::size_t arrow = out[node][next++];
      const std::size_t to = arrows[arrow].to;
      if (state[to] == State::open) backward[arrow] = true;
      if (state[to] != State::fresh) continue;
      state[to] = State::open;
      stack.emplace_back(to, 0);
    }
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
