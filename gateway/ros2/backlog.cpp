#include "gateway/ros2/backlog.hpp"

#include <utility>

namespace hyphos::gateway::ros2 {

Backlog::~Backlog() {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    lost_({Code::disconnected, "the publisher ended while this message waited for room", ""});
  }
}

bool Backlog::publish(const std::shared_ptr<ClientPublisher>& publisher,
                      std::span<const std::byte> message, const Buffer& within) {
  const MutexLock lock(mutex_);
  if (!full_) {
    pass(publisher, message, within);
    return full_ != nullptr;
  }
  if (messages_.size() >= depth_) {
    messages_.pop_front();
    lost_({Code::overloaded, "the channel had no room for this message and newer ones", ""});
  }
  const Buffer kept = within.empty() ? Buffer::copy_of(message) : within;
  messages_.push_back({publisher, within.empty() ? kept.bytes() : message, kept});
  return false;
}

bool Backlog::drain() {
  const MutexLock lock(mutex_);
  if (!full_) return false;
  const auto flushed = full_->flush();
  if (flushed && !*flushed) return true;
  if (!flushed) lost_(flushed.error());
  full_.reset();
  while (!full_ && !messages_.empty()) {
    const Message next = std::move(messages_.front());
    messages_.pop_front();
    pass(next.publisher, next.bytes, next.within);
  }
  return full_ != nullptr;
}

void Backlog::pass(const std::shared_ptr<ClientPublisher>& publisher,
                   std::span<const std::byte> message, const Buffer& within) {
  if (const auto published = publisher->publish(message, within); !published) {
    lost_(published.error());
  } else if (publisher->keeps()) {
    full_ = publisher;
  }
}

}  // namespace hyphos::gateway::ros2
