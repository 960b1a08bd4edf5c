#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "gateway/facade/graph_facade.hpp"

namespace hyphos::gateway::rosbridge {

/// What is given of a topic while one outlet takes over from another: each message once and none
/// left out. The old one goes on until it has come to what the new one has, too. Not thread-safe.
///
/// 1. A message is known by its sender and number. What was given meanwhile is remembered, and not
///    given again by the other outlet, which may be behind.
/// 2. What only the new one has given yet waits: the old one may still hold what came before it.
/// 3. The newest number of each sender is kept at all times: a new outlet replays what is latched.
class StreamSwitch {
 public:
  /// Messages, and senders, that are remembered; then the first is forgotten.
  static constexpr std::size_t kMost = 256;
  struct Given {
    Form form;
    OutgoingMessage message;
  };

  /// `depth`: so many messages of the new one wait at most for the old one.
  void begin(std::size_t depth);
  /// The new one is open: it gets what is published from this time of CLOCK_MONOTONIC on.
  void opened(std::int64_t monotonic_ns) { opened_ns_ = monotonic_ns; }
  /// What is to be given now, in order. `again`: who asks for it now gets what was replayed even
  /// if it was given before.
  [[nodiscard]] std::vector<Given> from_old(Given given, bool again);
  [[nodiscard]] std::vector<Given> from_new(Given given, bool again);
  /// What still waits; the old one is not heard any more.
  [[nodiscard]] std::vector<Given> end();
  /// No outlet has to take over: the old one may be closed.
  [[nodiscard]] bool over() const { return over_; }
  /// It, or a newer one of its sender, was given.
  [[nodiscard]] bool was_seen(const OutgoingMessage& replayed) const;

 private:
  using Id = std::pair<std::uint64_t, std::uint64_t>;  // sender, number
  static Id id_of(const OutgoingMessage& message) { return {message.sender, message.sequence}; }
  void note(const OutgoingMessage& message);

  bool over_ = true;
  std::size_t depth_ = 0;
  std::int64_t opened_ns_ = INT64_MAX;
  std::deque<Given> waiting_;
  std::deque<Id> meanwhile_;  // given since begin()
  std::deque<Id> newest_;     // of each sender
};

}  // namespace hyphos::gateway::rosbridge
