#pragma once

#include <deque>
#include <memory>
#include <string>

#include "transport/clock_offset.hpp"
#include "transport/zmq/receiver.hpp"

/// What Receiver keeps; shared by its two source files only.
namespace hyphos::transport::zmq {

struct Receiver::Port {
  PortId id = 0;
  ChannelSpec spec;
  std::atomic<bool> closed{false};

  std::mutex calls;             // held during every call of the inlet
  ReceiveSink* sink = nullptr;  // under `calls`; null once closed
};

struct Receiver::PeerView {
  LinkId id = 0;
  std::string endpoint;
  std::optional<std::set<std::string>> channels;
  std::uint64_t session = 0;  // of the publisher that welcomed us; 0: not connected
};

struct Receiver::Subscription {
  Publisher* publisher = nullptr;
  PortPtr port;
  std::uint32_t stream = 0;
  bool accepted = false;             // over the connection that is there now
  bool chosen = false;               // accepted once: the channel comes through this door
  std::atomic<bool> present{false};  // as the inlet was told
  bool due = false;
  std::uint64_t received = 0;  // link sequence number of the last message that came
  std::uint64_t taken = 0;     // ... that the inlet took or that was dropped here
  std::uint64_t acked = 0;
  struct Held {
    Envelope message;
    std::uint64_t sequence = 0;
    std::uint64_t bytes = 0;
  };
  std::deque<Held> held;  // not empty only while the inlet is full
  std::uint64_t held_bytes = 0;
  std::uint64_t turn = 0;  // when it began to wait, or had its turn last: the lowest is next

  [[nodiscard]] bool reliable() const {
    return port->spec.policy.reliability == Reliability::reliable;
  }
  void dropped(Drop reason, std::uint64_t count);
  void consumed(std::uint64_t sequence, std::vector<Subscription*>& due_list);
};

/// The clock of another machine. All publishers there share it; it outlives them, so that one that
/// comes back finds it known.
struct Receiver::HostClock {
  ClockOffset offset;
  std::int64_t wall_ns = 0;   // realtime − monotonic there, as it last said
  std::int64_t asked_ns = 0;  // question without an answer yet; 0: none
  LinkId asked_over = 0;
  std::uint64_t questions = 0;
  std::int64_t next_ns = 0;
};

struct Receiver::Publisher {
  std::uint64_t session = 0;
  std::string process;
  std::uint64_t host = 0;
  std::atomic<LinkId> active{0};  // 0: away
  bool said_bye = false;
  std::int64_t away_since_ns = 0;
  std::shared_ptr<HostClock> clock;  // null: this machine's
  std::map<std::uint32_t, std::unique_ptr<Subscription>> subscriptions;

  /// Nothing is left that the inlets could still take.
  [[nodiscard]] bool drained() const {
    for (const auto& [id, subscription] : subscriptions) {
      if (!subscription->held.empty()) return false;
    }
    return true;
  }
};

}  // namespace hyphos::transport::zmq
