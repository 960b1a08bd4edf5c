#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/facade/topics.hpp"

namespace hyphos::gateway {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// Collects the messages of a client subscription in order.
class Heard {
 public:
  std::function<void(const OutgoingMessage&)> take() {
    return [this](const OutgoingMessage& message) {
      const std::lock_guard lock(mutex_);
      texts_.emplace_back(message.bytes.joined().text());
      changed_.notify_all();
    };
  }
  std::vector<std::string> wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return texts_.size() >= count; });
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
};

}  // namespace hyphos::gateway
