#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "graph/graph.hpp"

namespace hyphos {

/// An executor handle: gives objects that may outlive a graph access to its thread pool, until
/// shut() before the graph ends. Thread-safe.
class ExecutorHandle {
 public:
  explicit ExecutorHandle(graph::Graph& graph) : graph_(&graph) {}
  /// Runs `work` on the pool. Discards it after shut().
  void run(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (graph_ != nullptr) graph_->enqueue(std::move(work));
  }
  /// Null after shut(). The caller must ensure that the graph lives meanwhile.
  [[nodiscard]] graph::Graph* graph() const {
    const std::lock_guard lock(mutex_);
    return graph_;
  }
  /// False if it was already shut.
  bool shut() {
    const std::lock_guard lock(mutex_);
    return std::exchange(graph_, nullptr) != nullptr;
  }

 private:
  mutable std::mutex mutex_;
  graph::Graph* graph_;
};

}  // namespace hyphos
