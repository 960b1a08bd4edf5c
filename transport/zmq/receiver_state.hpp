#pragma once

#include <deque>
#include <memory>
#include <string>

#include "base/mutex.hpp"
#include "transport/clock_offset.hpp"
#include "transport/zmq/receiver.hpp"

/// The state of Receiver. Used only by the source files of Receiver.
namespace hyphos::transport::zmq {

struct Receiver::Port {
  explicit Port(ReceiveSink* receive_sink) : sink(receive_sink) {}

  PortId id = 0;
  ChannelSpec spec;
  std::atomic<bool> closed{false};

  Mutex calls;                                 // held during every call of the receive sink
  ReceiveSink* sink HYPHOS_GUARDED_BY(calls);  // null once closed
};

struct Receiver::PeerView {
  LinkId id = 0;
  std::string endpoint;
  std::optional<std::set<std::string>> channels;
  std::uint64_t session = 0;  // of the publisher that sent the welcome. 0: not connected
};

struct Receiver::Subscription {
  Publisher* publisher = nullptr;
  PortPtr port;
  std::uint32_t stream = 0;
  bool accepted = false;             // over the current connection
  bool chosen = false;               // accepted once: the channel arrives through this group
  std::atomic<bool> present{false};  // as last reported to the receive sink
  bool due = false;
  std::uint64_t received = 0;  // link sequence number of the last message that arrived
  std::uint64_t taken = 0;     // ... that the receive sink accepted or that was dropped here
  std::uint64_t acked = 0;
  struct Held {
    Envelope message;
    std::uint64_t sequence = 0;
    std::uint64_t bytes = 0;
  };
  std::deque<Held> held;  // not empty only while the receive sink is full
  std::uint64_t held_bytes = 0;
  std::uint64_t turn = 0;  // when it began to wait, or was last served. The lowest is next

  [[nodiscard]] bool reliable() const {
    return port->spec.policy.reliability == Reliability::reliable;
  }
  void dropped(Drop reason, std::uint64_t count);
  void consumed(std::uint64_t sequence, std::vector<Subscription*>& due_list);
};

/// The clock of another machine. All publishers there share it. It outlives them, so that a
/// returning publisher finds it known.
struct Receiver::HostClock {
  ClockOffset offset;
  std::int64_t wall_ns = 0;   // realtime − monotonic there, as last reported
  std::int64_t asked_ns = 0;  // send time of the open request. 0: none
  LinkId asked_over = 0;
  std::uint64_t questions = 0;
  std::int64_t next_ns = 0;
};

struct Receiver::Publisher {
  std::uint64_t session = 0;
  std::string process;
  std::uint64_t host = 0;
  std::atomic<LinkId> active{0};  // 0: disconnected
  bool said_bye = false;
  std::int64_t away_since_ns = 0;
  std::shared_ptr<HostClock> clock;  // null: this machine's clock
  std::map<std::uint32_t, std::unique_ptr<Subscription>> subscriptions;

  /// True if no messages are left that the receive sinks could still accept.
  [[nodiscard]] bool drained() const {
    for (const auto& [id, subscription] : subscriptions) {
      if (!subscription->held.empty()) return false;
    }
    return true;
  }
};

}  // namespace hyphos::transport::zmq
