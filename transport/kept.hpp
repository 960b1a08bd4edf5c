#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hyphos/envelope.hpp"

namespace hyphos::transport {

/// What late subscribers of a latched channel get: the last message of each of its publishers in
/// this process, the oldest first. `sender_of` says who published a message. Not thread-safe.
template <typename Message, std::uint64_t (*sender_of)(const Message&)>
class LastOfEach {
 public:
  void keep(const Message& message) {
    const std::uint64_t sender = sender_of(message);
    if (!last_.empty() && sender_of(last_.back()) == sender) {
      last_.back() = message;
      return;
    }
    forget([&](std::uint64_t one) { return one == sender; });
    if (last_.size() >= kMost) last_.erase(last_.begin());
    last_.push_back(message);
  }
  /// Forgets those of whom `has_left(sender)` says so.
  template <typename HasLeft>
  void forget(const HasLeft& has_left) {
    std::erase_if(last_, [&](const Message& one) { return has_left(sender_of(one)); });
  }
  /// The newest `most` of all, the oldest of them first.
  template <typename F>
  void each(std::size_t most, const F& each) const {
    for (std::size_t at = last_.size() - std::min(most, last_.size()); at < last_.size(); ++at) {
      each(last_[at]);
    }
  }

 private:
  /// Publishers. Those in other graphs (RawPublisher::bring) end without a word.
  static constexpr std::size_t kMost = 256;

  std::vector<Message> last_;
};

inline std::uint64_t sender_of(const Envelope& message) { return message.meta.sender; }
using Kept = LastOfEach<Envelope, sender_of>;

}  // namespace hyphos::transport
