#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "transport/transport.hpp"

/// Channel endpoints that record events, for tests of any transport.
namespace hyphos::transport::testing {

/// One lock and one signal for every event that a test waits for.
class Events {
 public:
  /// Waits until `condition` holds. It is checked again after each event. False after 30 s, which
  /// is long enough for a sanitizer build on a loaded machine.
  bool wait(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(30), condition);
  }
  /// The result of `look` under the lock.
  template <typename Look>
  auto read(Look look) {
    const std::lock_guard lock(mutex);
    return look();
  }
  std::mutex mutex;
  std::condition_variable changed;
};

class TestSink final : public ReceiveSink {
 public:
  explicit TestSink(Events& events) : events_(events) {}

  bool deliver(Envelope& message, ReadyList*) override {
    std::unique_lock lock(events_.mutex);
    ++delivering;
    events_.changed.notify_all();
    events_.changed.wait(lock, [this] { return !stuck; });
    --delivering;
    const bool room = messages.size() < capacity;
    if (message.meta.peer == 0 || !present_peers.contains(message.meta.peer)) ++of_unknown_peers;
    if (room) messages.push_back(std::move(message));
    if (!room) ++refusals;
    events_.changed.notify_all();
    return room;
  }
  void dropped(std::string_view, Drop reason, std::uint64_t count) override {
    note([&] { drops[reason] += count; });
  }
  void peer(std::string_view, std::string_view who, std::uint64_t id, bool present) override {
    note([&] {
      last_peer = who;
      last_peer_id = id;
      publishers += present ? 1 : -1;
      if (present) {
        present_peers.insert(id);
      } else if (const auto one = present_peers.find(id); one != present_peers.end()) {
        present_peers.erase(one);
      }
    });
  }
  void refused(std::string_view, const Error& why) override {
    note([&] { errors.push_back(why); });
  }

  [[nodiscard]] std::uint64_t lost() const {
    std::uint64_t sum = 0;
    for (const auto& [reason, count] : drops) sum += count;
    return sum;
  }

  // All under events.mutex.
  std::vector<Envelope> messages;
  std::map<Drop, std::uint64_t> drops;
  std::vector<Error> errors;
  std::string last_peer;
  std::uint64_t last_peer_id = 0;
  int publishers = 0;
  std::multiset<std::uint64_t> present_peers;
  int of_unknown_peers = 0;  ///< messages outside the presence of their peer
  int delivering = 0;
  int refusals = 0;
  bool stuck = false;               ///< deliver() does not return: a slow subscriber
  std::size_t capacity = SIZE_MAX;  ///< deliver() returns false beyond: a full `block` queue

 private:
  void note(const std::function<void()>& change) {
    const std::lock_guard lock(events_.mutex);
    change();
    events_.changed.notify_all();
  }
  Events& events_;
};

class TestSendEvents final : public SendEvents {
 public:
  explicit TestSendEvents(Events& events) : events_(events) {}

  void listeners(std::string_view, std::uint32_t count) override {
    note([&] {
      falls += count < receivers ? 1 : 0;
      receivers = count;
    });
  }
  void dropped(std::string_view, Drop reason, std::uint64_t count) override {
    note([&] { drops[reason] += count; });
  }
  void refused(std::string_view, const Error& why) override {
    note([&] { errors.push_back(why); });
  }
  [[nodiscard]] std::uint64_t lost() const {
    std::uint64_t sum = 0;
    for (const auto& [reason, count] : drops) sum += count;
    return sum;
  }

  std::atomic<std::uint32_t> receivers = 0;
  std::atomic<int> falls = 0;  ///< how often the number of receivers decreased
  std::map<Drop, std::uint64_t> drops;
  std::vector<Error> errors;

 private:
  void note(const std::function<void()>& change) {
    const std::lock_guard lock(events_.mutex);
    change();
    events_.changed.notify_all();
  }
  Events& events_;
};

inline TypeId test_type() { return make_type_id("test.Sample", Encoding::bytes); }

inline ChannelSpec spec(const std::string& name, const Policy& policy = {}) {
  return {name, test_type(), policy};
}

inline Policy with_overflow(Overflow overflow, std::uint32_t depth) {
  Policy policy;
  policy.overflow = overflow;
  policy.depth = depth;
  return policy;
}

/// A message whose bytes all derive from `number`, so that any mix-up is visible.
inline Envelope sample(std::uint64_t number, std::size_t size = 64, std::size_t attached = 0) {
  const auto fill = [](std::uint64_t seed, std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
      data[i] = static_cast<std::byte>((seed * 31 + i * 7 + (i >> 8)) & 0xff);
    }
    return Buffer::adopt(std::move(data));
  };
  Envelope message;
  message.meta.type_hash = test_type().hash;
  message.meta.sequence = number;
  message.meta.sender = 0xabcdef;
  message.meta.stamps.publish = static_cast<std::int64_t>(1000 + number);
  message.payload = fill(number, size);
  for (std::size_t i = 0; i < attached; ++i) {
    message.buffers.push_back(fill(number + i + 1, size + i));
  }
  return message;
}

inline bool same_bytes(const Buffer& a, const Buffer& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// True if sample() with the sequence number of `got` made this message.
inline bool intact(const Envelope& got, std::size_t size = 64, std::size_t attached = 0) {
  const Envelope want = sample(got.meta.sequence, size, attached);
  if (got.meta.sender != want.meta.sender || got.meta.type_hash != want.meta.type_hash ||
      got.meta.stamps.publish != want.meta.stamps.publish ||
      !same_bytes(got.payload, want.payload) || got.buffers.size() != want.buffers.size()) {
    return false;
  }
  for (std::size_t i = 0; i < attached; ++i) {
    if (!same_bytes(got.buffers[i], want.buffers[i])) return false;
  }
  return true;
}

}  // namespace hyphos::transport::testing
