#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "gateway/facade/topics.hpp"

namespace hyphos::gateway::rosbridge {

/// Switches a topic from an old subscription to a new one, so that each message is delivered
/// exactly once. The old subscription continues until it has delivered a message that the new one
/// has too. Not thread-safe.
///
/// 1. A message is identified by its sender and number. Messages delivered during the switch are
///    recorded, and not delivered again by the other subscription, which may lag behind.
/// 2. A message that only the new subscription has delivered waits, because the old one may still
///    hold earlier messages.
/// 3. The newest number of each sender is always recorded, because a new subscription replays
///    latched messages.
class StreamSwitch {
 public:
  /// Maximum number of recorded messages and senders. Beyond it, the oldest is forgotten.
  static constexpr std::size_t kMost = 256;
  struct Given {
    Form form;
    OutgoingMessage message;
  };

  /// `depth`: maximum number of messages of the new subscription that wait for the old one.
  void begin(std::size_t depth);
  /// The new subscription is open. It gets messages published from this time of CLOCK_MONOTONIC on.
  void opened(std::int64_t monotonic_ns) { opened_ns_ = monotonic_ns; }
  /// Returns the messages to deliver now, in order. `again`: deliver replayed messages even if they
  /// were delivered before.
  [[nodiscard]] std::vector<Given> from_old(Given given, bool again);
  [[nodiscard]] std::vector<Given> from_new(Given given, bool again);
  /// Returns the waiting messages. The old subscription is ignored from now on.
  [[nodiscard]] std::vector<Given> end();
  /// True if no switch is in progress: the old subscription may be closed.
  [[nodiscard]] bool over() const { return over_; }
  /// True if this message, or a newer one of its sender, was delivered.
  [[nodiscard]] bool was_seen(const OutgoingMessage& replayed) const;

 private:
  using Id = std::pair<std::uint64_t, std::uint64_t>;  // sender, number
  static Id id_of(const OutgoingMessage& message) { return {message.sender, message.sequence}; }
  void note(const OutgoingMessage& message);

  bool over_ = true;
  std::size_t depth_ = 0;
  std::int64_t opened_ns_ = INT64_MAX;
  std::deque<Given> waiting_;
  std::deque<Id> meanwhile_;  // delivered since begin()
  std::deque<Id> newest_;     // of each sender
};

}  // namespace hyphos::gateway::rosbridge
