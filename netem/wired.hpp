#pragma once

#include <deque>
#include <queue>

#include "netem/loss.hpp"
#include "netem/network.hpp"

namespace hyphos::lab {

/// What waits before a transmitter; the packet that is being sent does not count. Drop-tail.
struct QueueOptions {
  std::uint32_t packets = 1000;
  std::uint64_t bytes = 0;  ///< 0: only the packets are counted
};

struct WiredOptions {
  double rate_mbit = 0;  ///< 0: as fast as they come
  Duration delay{};      ///< one way
  /// Each packet's delay lies evenly in delay ± jitter; one that would overtake an earlier one of
  /// its path waits for it, as in a queue.
  Duration jitter{};
  LossOptions loss{};
  QueueOptions queue{};
  std::uint64_t seed = 1;
};

/// A queue that sends one packet after another at a fixed rate, exactly: what is left of a
/// nanosecond is carried over to the next packet.
class Transmitter {
 public:
  Transmitter(double rate_mbit, const QueueOptions& queue);

  /// False if it has to be dropped.
  [[nodiscard]] bool offer(Time now, const Packet& packet);
  /// When the packet on the wire has left; kNever if there is none.
  [[nodiscard]] Time done() const { return done_; }
  /// The packet that left at done(); the next one begins at that instant.
  Packet finish();

 private:
  void begin(Time at, const Packet& packet);

  std::int64_t bits_per_s_;
  QueueOptions limit_;
  std::deque<Packet> waiting_;
  std::uint64_t waiting_bytes_ = 0;
  Packet sending_;
  Time done_ = kNever;
  std::int64_t carry_ = 0;
};

/// A full-duplex cable between two hosts, or, with more, a switch that stores and forwards: then
/// a packet is sent at the rate twice, by its host and by the switch's port, each with a queue.
class Wired final : public Network {
 public:
  Wired(Station stations, const WiredOptions& options, Buffers& buffers, Receiver& receiver);
  void advance(Time now) override;
  [[nodiscard]] Time next() const override { return events_.empty() ? kNever : events_.top().at; }

 private:
  enum class What : std::uint8_t { left_host, arrived, left_port };
  struct Event {
    Time at;
    std::uint64_t order;  // events of one instant happen in the order in which they were made
    What what;
    Station station;  // whose transmitter, or the receiver
    Packet packet;    // of `arrived`
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  struct Path {
    Loss loss;
    Time latest;  // arrival of the packet before
  };

  void take(Time now, const Packet& packet) override;
  void offer(Transmitter& transmitter, What what, Station station, Time now, const Packet& packet);
  void next_of(Transmitter& transmitter, What what, Station station);
  void depart(Time at, const Packet& packet);
  void travel(Time at, const Packet& packet, Station to);
  void arrive(Time at, const Packet& packet, Station to);
  void push(Time at, What what, Station station, const Packet& packet = {}) {
    events_.push({at, order_++, what, station, packet});
  }

  WiredOptions options_;
  Random random_;
  std::vector<Transmitter> hosts_;
  std::vector<Transmitter> ports_;
  std::vector<Path> paths_;  // from × stations + to
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
};

}  // namespace hyphos::lab
