#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hyphos/buffer.hpp"

namespace hyphos::gateway::net {

/// What is written in one piece: the bytes of up to four buffers, one behind the other.
class Message {
 public:
  static constexpr std::size_t kMostParts = 4;

  Message() = default;
  explicit Message(Buffer a, Buffer b = {}, Buffer c = {}, Buffer d = {})
      : parts_{std::move(a), std::move(b), std::move(c), std::move(d)} {
    for (const Buffer& part : parts_) size_ += part.size();
  }
  /// One whose `array` lies in memory that others wait for, such as a slot of shared memory: a
  /// message that has to wait copies it first.
  [[nodiscard]] static Message lent(Buffer head, Buffer before, Buffer array, Buffer behind) {
    Message message(std::move(head), std::move(before), std::move(array), std::move(behind));
    message.lent_ = !message.parts_[kArray].empty();
    return message;
  }
  [[nodiscard]] bool is_lent() const { return lent_; }
  /// Copies what is lent.
  void keep() {
    if (std::exchange(lent_, false)) parts_[kArray] = Buffer::copy_of(parts_[kArray].bytes());
  }

  [[nodiscard]] const std::array<Buffer, kMostParts>& parts() const { return parts_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kArray = 2;

  std::array<Buffer, kMostParts> parts_;
  std::size_t size_ = 0;
  bool lent_ = false;
};

/// Messages of one key keep their order. What a key is, the protocol says: a topic, mostly.
using Key = std::uint64_t;
/// The protocol's own messages: sent before others, never dropped.
inline constexpr Key kControl = ~Key{0};

/// What waits to be written on one connection. Of each key as many messages as `depth`, of all as
/// many bytes as `bytes`; what comes beyond that drops the oldest of its key, or of the key that
/// has most bytes waiting. Keys take turns. Not thread-safe; does no I/O.
class SendQueue {
 public:
  struct Limits {
    std::size_t depth = 10;
    std::size_t bytes = std::size_t{128} << 20;
  };

  explicit SendQueue(Limits limits) : limits_(limits) {}

  /// What has to go for it is moved to `dropped`. False if that is the message itself, because it
  /// does not fit however many others go. `depth`: of this key, 0 for that of the limits.
  bool push(Key key, Message message, std::vector<Message>& dropped, std::size_t depth = 0);
  /// The next in turn; the queue must not be empty.
  [[nodiscard]] Message pop();

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct FlowQueue {
    std::deque<Message> messages;
    std::size_t bytes = 0;
  };

  [[nodiscard]] Message take(FlowQueue& flow);
  [[nodiscard]] FlowQueue* heaviest();

  Limits limits_;
  FlowQueue control_;
  std::unordered_map<Key, FlowQueue> flows_;  ///< exactly those that are in turn_
  std::deque<Key> turn_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace hyphos::gateway::net
