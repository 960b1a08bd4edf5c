#pragma once

#include <functional>
#include <utility>

#include "base/call_gate.hpp"
#include "graph/graph.hpp"

namespace hyphos {

/// An executor handle: gives objects that may outlive a graph access to its thread pool, until
/// shut() before the graph ends. Thread-safe.
class ExecutorHandle {
 public:
  explicit ExecutorHandle(graph::Graph& graph) : graph_(graph) {}
  /// Runs `work` on the pool. Discards it after shut().
  void run(std::function<void()> work) {
    if (const CallGate::Entry entry(gate_); entry) graph_.enqueue(std::move(work));
  }
  /// Null after shut(). The caller must ensure that the graph lives meanwhile.
  [[nodiscard]] graph::Graph* graph() const { return gate_.closed() ? nullptr : &graph_; }
  /// False if it was already shut.
  bool shut() { return gate_.close(); }

 private:
  CallGate gate_;
  graph::Graph& graph_;  // valid inside the gate
};

}  // namespace hyphos
