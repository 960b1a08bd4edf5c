#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "gateway/facade/graph_facade.hpp"

namespace hyphos::gateway::ros_tcp {

/// Requests that a client has been sent and has not answered yet. Thread-safe.
class Requests {
 public:
  static constexpr std::size_t kMost = 256;

  /// Keeps the answer and gives its request a number. Past the bound the oldest ends with an error:
  /// whoever asked has most likely given it up. Nothing if the client is gone; the answer has then
  /// been told so.
  [[nodiscard]] std::optional<std::int64_t> add(Answer answer);
  /// Null if there is none: answered before, or given up.
  [[nodiscard]] Answer take(std::int64_t id);
  /// The client is gone: all of them end, and so do those to come.
  void end();

 private:
  std::mutex mutex_;
  std::map<std::int64_t, Answer> waiting_;
  std::int64_t next_ = 1001;  ///< where the numbers of ROS-TCP-Endpoint begin
  bool ended_ = false;
};

}  // namespace hyphos::gateway::ros_tcp
