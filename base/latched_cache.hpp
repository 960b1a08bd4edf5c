#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hyphos {

/// The latched cache of one channel, for late subscribers: the last messages of each publisher,
/// oldest first. `sender_of` returns the publisher of a message. Beyond `kMost` messages the oldest
/// one is dropped, because publishers in other graphs (RawPublisher::bring) end without notice.
/// Each call except forget_if() takes constant time if a publisher has one message. Not
/// thread-safe.
template <typename Message, std::uint64_t (*sender_of)(const Message&), std::size_t kMost = 256>
class LatchedCache {
 public:
  using iterator = typename std::list<Message>::iterator;
  using const_iterator = typename std::list<Message>::const_iterator;

  /// Keeps the last message of its sender. Returns the message that leaves the cache. Drop it
  /// without holding a lock.
  Message keep(Message message) {
    const std::uint64_t sender = sender_of(message);
    if (!last_.empty() && sender_of(last_.back()) == sender) {
      std::swap(last_.back(), message);
      return message;
    }
    if (const auto known = by_sender_.find(sender); known != by_sender_.end()) {
      const iterator newest = known->second.back().place;
      std::swap(*newest, message);
      last_.splice(last_.end(), last_, newest);
      return message;
    }
    last_.push_back(std::move(message));
    by_sender_[sender].push_back({0, std::prev(last_.end())});
    return last_.size() > kMost ? take(last_.begin()) : Message{};
  }
  /// Keeps the last `depth` messages of its sender, in the order of their sequence numbers. Returns
  /// the message that leaves the cache, which is `message` if its number is known already.
  Message keep(Message message, std::uint64_t sequence, std::size_t depth) {
    if (depth <= 1) return keep(std::move(message));
    std::vector<Kept>& own = by_sender_[sender_of(message)];
    auto after = own.end();  // concurrent publishers may be out of order by a few messages
    while (after != own.begin() && std::prev(after)->sequence > sequence) --after;
    if (after != own.begin() && std::prev(after)->sequence == sequence) return message;
    const iterator place = after == own.end() ? last_.end() : after->place;
    own.insert(after, {sequence, last_.insert(place, std::move(message))});
    if (own.size() > depth) return take(own.front().place);
    return last_.size() > kMost ? take(last_.begin()) : Message{};
  }
  /// Removes and returns the cached messages of this publisher.
  std::list<Message> forget(std::uint64_t sender) {
    std::list<Message> gone;
    const auto known = by_sender_.find(sender);
    if (known == by_sender_.end()) return gone;
    for (const Kept& kept : known->second) gone.splice(gone.end(), last_, kept.place);
    by_sender_.erase(known);
    return gone;
  }
  /// Removes and returns all messages for which `is_gone(message)` is true.
  template <typename IsGone>
  std::list<Message> forget_if(const IsGone& is_gone) {
    std::list<Message> gone;
    for (auto at = last_.begin(); at != last_.end();) {
      const auto next = std::next(at);
      if (is_gone(*at)) {
        unlist(at);
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
  struct Kept {
    std::uint64_t sequence;  // 0 if only one message of the sender is kept
    iterator place;
  };

  Message take(iterator at) {
    unlist(at);
    Message out = std::move(*at);
    last_.erase(at);
    return out;
  }
  void unlist(iterator at) {
    const auto known = by_sender_.find(sender_of(*at));
    std::erase_if(known->second, [at](const Kept& kept) { return kept.place == at; });
    if (known->second.empty()) by_sender_.erase(known);
  }

  std::list<Message> last_;
  std::unordered_map<std::uint64_t, std::vector<Kept>> by_sender_;  // ascending sequence numbers
};

}  // namespace hyphos
