#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>

#include "hyphos/buffer.hpp"

namespace hyphos {

/// The times at which a message passed each layer, in CLOCK_MONOTONIC nanoseconds of the reading
/// machine. Transports between machines convert them. 0 marks a layer that was not crossed, such as
/// `encoded` when a pointer was passed. The layers follow the latency analysis of ROS 2 multi-node
/// systems.
struct Stamps {
  std::int64_t publish = 0;    ///< publish() was called
  std::int64_t encoded = 0;    ///< the payload was serialized
  std::int64_t submitted = 0;  ///< submitted to the transport
  std::int64_t arrived = 0;    ///< received from the transport in the receiving process
  std::int64_t scheduled = 0;  ///< appended to the subscription's queue
  std::int64_t decoded = 0;    ///< parsed, on the receiving side
  std::int64_t callback = 0;   ///< the callback began
};

/// Marks a message as a part of a call (docs/reference/services.md). An ordinary message has zeros.
struct CallMark {
  std::uint64_t client = 0;  ///< the calling client handle, unique over all machines
  std::uint64_t id = 0;      ///< counts from 1 per client
  std::uint64_t kind = 0;    ///< request, reply, ...: detail::CallKind
};

/// The meaning of a message for late subscribers of its channel.
enum class Latch : std::uint8_t {
  none,  ///< the channel is not latched
  last,  ///< among the last values of its publisher, which are sent to late subscribers
  gone,  ///< no message: its publisher has ended, so its last values are no longer valid
};

/// The metadata that is sent with every message.
struct Meta {
  std::uint64_t type_hash = 0;  ///< TypeId::hash of the publisher's type
  std::uint64_t sequence = 0;   ///< counts from 1 per publisher
  std::uint64_t sender = 0;     ///< unique per publisher handle, over all machines
  bool replayed = false;        ///< a latched value sent again to a late subscriber
  Latch latch = Latch::none;
  /// Not sent. Publisher::try_publish(): a full queue refuses the message instead of waiting.
  bool no_wait = false;
  /// For Latch::last: the number of messages of this publisher for late subscribers.
  std::uint16_t latched_depth = 1;
  CallMark call;
  /// Not sent, like `to`. The process from which the message came, as the receiving transport
  /// identifies it. kThisProcess: this process.
  std::uint64_t peer = 0;
  /// Not sent. The only destination process, identified as in `peer`. 0: all processes.
  std::uint64_t to = 0;
  Stamps stamps;
};

inline constexpr std::uint64_t kThisProcess = ~std::uint64_t{0};

inline constexpr std::size_t kMaxAttachedBuffers = 8;

/// Up to kMaxAttachedBuffers buffers, stored without a heap allocation.
class BufferList {
 public:
  void push_back(Buffer buffer) {
    assert(size_ < kMaxAttachedBuffers && "a message carries at most 8 attached buffers");
    items_[size_++] = std::move(buffer);
  }
  void clear() {
    while (size_ > 0) items_[--size_] = {};
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool full() const { return size_ == kMaxAttachedBuffers; }
  Buffer& operator[](std::size_t i) { return assert(i < size_), items_[i]; }
  const Buffer& operator[](std::size_t i) const { return assert(i < size_), items_[i]; }
  [[nodiscard]] const Buffer* begin() const { return items_.data(); }
  [[nodiscard]] const Buffer* end() const { return items_.data() + size_; }

 private:
  std::array<Buffer, kMaxAttachedBuffers> items_;
  std::size_t size_ = 0;
};

/// A message in the form that transports send and receive: encoded once and shared by all.
struct Envelope {
  Meta meta;
  Buffer payload;      ///< the encoded value: struct bytes, raw bytes or a serialized head
  BufferList buffers;  ///< attached buffers, neither copied nor parsed on the way
};

}  // namespace hyphos
