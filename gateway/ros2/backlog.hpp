#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>

#include "base/mutex.hpp"
#include "gateway/facade/topics.hpp"
#include "hyphos/buffer.hpp"

namespace hyphos::gateway::ros2 {

/// The messages of one topic on their way into a channel that blocks its publishers. DDS cannot
/// pause a publisher, so the newest messages wait here instead of the threads of DDS. Thread-safe.
class Backlog {
 public:
  /// Called under the lock for each lost message.
  using Lost = std::function<void(const Error&)>;

  Backlog(std::size_t depth, Lost lost) : depth_(depth), lost_(std::move(lost)) {}
  ~Backlog();
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;

  /// Publishes a message after all earlier ones. `within`: as for ClientPublisher::publish().
  /// Returns true if a message started to wait. The caller must then call drain() from time to
  /// time.
  bool publish(const std::shared_ptr<ClientPublisher>& publisher,
               std::span<const std::byte> message, const Buffer& within);
  /// Returns true while messages wait.
  bool drain();

 private:
  struct Message {
    std::shared_ptr<ClientPublisher> publisher;
    std::span<const std::byte> bytes;
    Buffer within;
  };

  void pass(const std::shared_ptr<ClientPublisher>& publisher, std::span<const std::byte> message,
            const Buffer& within) HYPHOS_REQUIRES(mutex_);

  const std::size_t depth_;
  const Lost lost_;
  Mutex mutex_;
  // the client publisher that keeps a message, or null if no message waits
  std::shared_ptr<ClientPublisher> full_ HYPHOS_GUARDED_BY(mutex_);
  std::deque<Message> messages_ HYPHOS_GUARDED_BY(mutex_);  // the messages after it
};

}  // namespace hyphos::gateway::ros2
