#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "gateway/facade/graph_facade.hpp"
#include "hyphos/buffer.hpp"

namespace hyphos::gateway::ros2 {

/// The messages of one topic on their way into a channel that makes its publishers wait. DDS has no
/// way to hold one up, so the newest wait here instead of its threads. Thread-safe.
class Backlog {
 public:
  /// Of each message that is lost; called under the lock.
  using Lost = std::function<void(const Error&)>;

  Backlog(std::size_t depth, Lost lost) : depth_(depth), lost_(std::move(lost)) {}
  ~Backlog();
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;

  /// Publishes it after all before it. `within`: as for ClientPublisher::publish(). True if
  /// something began to wait: drain() has to be called from time to time.
  bool publish(const std::shared_ptr<ClientPublisher>& publisher,
               std::span<const std::byte> message, const Buffer& within);
  /// True while something waits.
  bool drain();

 private:
  struct Message {
    std::shared_ptr<ClientPublisher> publisher;
    std::span<const std::byte> bytes;
    Buffer within;
  };

  /// Under mutex_.
  void pass(const std::shared_ptr<ClientPublisher>& publisher, std::span<const std::byte> message,
            const Buffer& within);

  const std::size_t depth_;
  const Lost lost_;
  std::mutex mutex_;                       // guards what follows
  std::shared_ptr<ClientPublisher> full_;  // keeps a message; null: nothing waits
  std::deque<Message> messages_;           // behind it
};

}  // namespace hyphos::gateway::ros2
