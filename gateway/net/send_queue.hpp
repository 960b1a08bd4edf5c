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

/// A unit that is written in one piece: the bytes of up to four buffers, in sequence.
class Message {
 public:
  static constexpr std::size_t kMostParts = 4;

  Message() = default;
  explicit Message(Buffer a, Buffer b = {}, Buffer c = {}, Buffer d = {})
      : parts_{std::move(a), std::move(b), std::move(c), std::move(d)} {
    for (const Buffer& part : parts_) size_ += part.size();
  }
  /// A message whose `array` is in memory that others wait for, such as a slot of shared memory. If
  /// it has to wait in a queue, the array is copied first.
  [[nodiscard]] static Message lent(Buffer head, Buffer before, Buffer array, Buffer behind) {
    Message message(std::move(head), std::move(before), std::move(array), std::move(behind));
    message.lent_ = !message.parts_[kArray].empty();
    return message;
  }
  [[nodiscard]] bool is_lent() const { return lent_; }
  /// Copies the array if it is lent.
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

/// Identifies a flow. Messages with the same key keep their order. The protocol defines the keys:
/// mostly one per topic.
using Key = std::uint64_t;
/// The key of the protocol's own messages, which are sent first and never dropped.
inline constexpr Key kControl = ~Key{0};

/// The messages that wait to be written to one connection: at most `depth` messages per key, and
/// `bytes` bytes in total. A message beyond a limit drops the oldest message of its key, or of the
/// key with most bytes waiting. Keys are served round-robin. Not thread-safe. Does no I/O.
class SendQueue {
 public:
  struct Limits {
    std::size_t depth = 10;
    std::size_t bytes = std::size_t{128} << 20;
  };

  explicit SendQueue(Limits limits) : limits_(limits) {}

  /// Adds a message. Messages that must make room move to `dropped`. Returns false if the message
  /// itself is dropped, because it would not fit in an empty queue of flows. `depth` applies to
  /// this key. 0 means the depth of the limits.
  bool push(Key key, Message message, std::vector<Message>& dropped, std::size_t depth = 0);
  /// Removes the next message. The queue must not be empty.
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
  std::unordered_map<Key, FlowQueue> flows_;  ///< has exactly the keys of turn_
  std::deque<Key> turn_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace hyphos::gateway::net
