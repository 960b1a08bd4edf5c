#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <unordered_map>
#include <utility>

namespace hyphos {

/// The latched cache of one channel, for late subscribers: the last message of each publisher,
/// oldest first. `sender_of` returns the publisher of a message. Beyond `kMost` publishers the
/// oldest message is dropped, because publishers in other graphs (RawPublisher::bring) end without
/// notice. Each call except forget_if() takes constant time. Not thread-safe.
template <typename Message, std::uint64_t (*sender_of)(const Message&), std::size_t kMost = 256>
class LatchedCache {
 public:
  using iterator = typename std::list<Message>::iterator;
  using const_iterator = typename std::list<Message>::const_iterator;

  /// Returns the message that leaves the cache. Drop it without holding a lock.
  Message keep(Message message) {
    const std::uint64_t sender = sender_of(message);
    if (!last_.empty() && sender_of(last_.back()) == sender) {
      std::swap(last_.back(), message);
      return message;
    }
    if (const auto known = by_sender_.find(sender); known != by_sender_.end()) {
      std::swap(*known->second, message);
      last_.splice(last_.end(), last_, known->second);
      return message;
    }
    last_.push_back(std::move(message));
    by_sender_.emplace(sender, std::prev(last_.end()));
    if (last_.size() <= kMost) return {};
    Message oldest = std::move(last_.front());
    by_sender_.erase(sender_of(oldest));
    last_.pop_front();
    return oldest;
  }
  /// Removes and returns the cached message of this publisher.
  Message forget(std::uint64_t sender) {
    const auto known = by_sender_.find(sender);
    if (known == by_sender_.end()) return {};
    Message message = std::move(*known->second);
    last_.erase(known->second);
    by_sender_.erase(known);
    return message;
  }
  /// Removes and returns all messages for which `is_gone(message)` is true.
  template <typename IsGone>
  std::list<Message> forget_if(const IsGone& is_gone) {
    std::list<Message> gone;
    for (auto at = last_.begin(); at != last_.end();) {
      const auto next = std::next(at);
      if (is_gone(*at)) {
        by_sender_.erase(sender_of(*at));
        gone.splice(gone.end(), last_, at);
      }
      at = next;
    }
    return gone;
  }
  /// From the oldest message to the newest. The sender of a message must not change.
  [[nodiscard]] iterator begin() { return last_.begin(); }
  [[nodiscard]] iterator end() { return last_.end(); }
  [[nodiscard]] const_iterator begin() const { return last_.begin(); }
  [[nodiscard]] const_iterator end() const { return last_.end(); }
  [[nodiscard]] std::size_t size() const { return last_.size(); }
  [[nodiscard]] bool empty() const { return last_.empty(); }

 private:
  std::list<Message> last_;
  std::unordered_map<std::uint64_t, iterator> by_sender_;
};

}  // namespace hyphos
