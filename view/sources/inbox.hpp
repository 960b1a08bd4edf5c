#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "hyphos/message.hpp"
#include "view/core/sample.hpp"
#include "view/core/source.hpp"

namespace hyphos::view {

/// Arrived messages that wait for the thread of the view.
///
/// Thread-safe. Each channel has a bounded place of its own, so that a cloud cannot displace the
/// last message of a rare channel. A full place drops its oldest message, and counts it. Messages
/// are copied, because they would occupy the publisher's shared memory.
class Inbox {
 public:
  static constexpr std::size_t kMaxMessages = 1'024;    // of one channel
  static constexpr std::size_t kMaxBytes = 32U << 20U;  // of one channel, but at least 1 message
  static constexpr std::size_t kMaxSenders = 4'096;     // remembered per channel

  /// `unix_minus_monotonic_ns` maps stamps to the timeline.
  explicit Inbox(std::int64_t unix_minus_monotonic_ns) : offset_ns_(unix_minus_monotonic_ns) {}

  void on_arrival(std::function<void()> wake);
  /// Called in a thread of a transport.
  void put(std::uint32_t channel, const Message<RawMessage>& message);
  /// All waiting samples in order of their time.
  [[nodiscard]] std::vector<Sample> take();
  [[nodiscard]] Loss loss(std::uint32_t channel) const;
  /// Calls the function of on_arrival().
  void wake();

 private:
  struct Lane {
    std::deque<Sample> waiting;
    std::size_t bytes = 0;
    Loss loss;
    std::unordered_map<std::uint64_t, std::uint64_t> last;  // sequence by sender
  };
  static void count_gap(Lane& lane, const Sample& sample);

  const std::int64_t offset_ns_;
  mutable Mutex mutex_;
  std::vector<Lane> lanes_ HYPHOS_GUARDED_BY(mutex_);
  std::function<void()> wake_ HYPHOS_GUARDED_BY(mutex_);
  bool signalled_ HYPHOS_GUARDED_BY(mutex_) = false;
};

/// Bytes of a sample in memory.
[[nodiscard]] std::size_t bytes_of(const Sample& sample);

}  // namespace hyphos::view
