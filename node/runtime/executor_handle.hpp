#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "graph/graph.hpp"

namespace hyphos {

/// The way to a graph's thread pool for objects that may outlive the graph: shut before it ends.
/// Thread-safe.
class ExecutorHandle {
 public:
  explicit ExecutorHandle(graph::Graph& graph) : graph_(&graph) {}
  /// Runs `work` on the pool; once shut, never.
  void run(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (graph_ != nullptr) graph_->enqueue(std::move(work));
  }
  /// Null once shut. The caller makes sure that the graph does not end meanwhile.
  [[nodiscard]] graph::Graph* graph() const {
    const std::lock_guard lock(mutex_);
    return graph_;
  }
  /// False if it was shut already.
  bool shut() {
    const std::lock_guard lock(mutex_);
    return std::exchange(graph_, nullptr) != nullptr;
  }

 private:
  mutable std::mutex mutex_;
  graph::Graph* graph_;
};

}  // namespace hyphos
