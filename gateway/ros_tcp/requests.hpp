#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/mutex.hpp"
#include "gateway/facade/services.hpp"

namespace hyphos::gateway::ros_tcp {

/// Requests that were sent to a client and have no reply yet. Thread-safe.
class Requests {
 public:
  explicit Requests(std::size_t most) : most_(most) {}

  /// Stores the reply callback and returns a number for its request. Beyond `most`, the oldest
  /// request ends with an error, because its caller has most likely given up. Returns nullopt if
  /// the client is gone. The callback has then been called with an error.
  [[nodiscard]] std::optional<std::int64_t> add(Answer answer) HYPHOS_EXCLUDES(mutex_);
  /// Null if the number is unknown, already answered, or given up.
  [[nodiscard]] Answer take(std::int64_t id);
  /// The client is gone: ends all present and future requests.
  void end() HYPHOS_EXCLUDES(mutex_);

 private:
  const std::size_t most_;
  Mutex mutex_;
  std::map<std::int64_t, Answer> waiting_ HYPHOS_GUARDED_BY(mutex_);
  std::int64_t next_ HYPHOS_GUARDED_BY(mutex_) = 1001;  ///< first number of ROS-TCP-Endpoint
  bool ended_ HYPHOS_GUARDED_BY(mutex_) = false;
};

}  // namespace hyphos::gateway::ros_tcp
