#pragma once

#include <deque>
#include <queue>

#include "netem/loss.hpp"
#include "netem/network.hpp"

namespace hyphos::lab {

/// The drop-tail queue of a transmitter. The packet being sent does not count.
struct QueueOptions {
  std::uint32_t packets = 1000;
  std::uint64_t bytes = 0;  ///< 0: only packets are limited
};

struct WiredOptions {
  double rate_mbit = 0;  ///< 0: unlimited
  Duration delay{};      ///< one way
  /// The delay of each packet is uniform in delay ± jitter. A packet that would overtake an earlier
  /// packet on its path waits for it, as in a queue.
  Duration jitter{};
  LossOptions loss{};
  QueueOptions queue{};
  std::uint64_t seed = 1;
};

/// A queue that sends one packet after another at an exact rate. Fractions of a nanosecond carry
/// over to the next packet.
class Transmitter {
 public:
  Transmitter(double rate_mbit, const QueueOptions& queue);

  /// Returns false if the packet must be dropped.
  [[nodiscard]] bool offer(Time now, const Packet& packet);
  /// The time at which the current packet has left. kNever if there is none.
  [[nodiscard]] Time done() const { return done_; }
  /// Returns the packet that left at done(). The next packet begins at that instant.
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

/// A full-duplex cable between two hosts. With more hosts it is a store-and-forward switch: each
/// packet is sent twice at the rate, by its host and by the port of the switch, each with a queue.
class Wired final : public Network {
 public:
  Wired(Station stations, const WiredOptions& options, Buffers& buffers, Receiver& receiver);
  void advance(Time now) override;
  [[nodiscard]] Time next() const override { return events_.empty() ? kNever : events_.top().at; }

 private:
  enum class What : std::uint8_t { left_host, arrived, left_port };
  struct Event {
    Time at;
    std::uint64_t order;  // events of one instant happen in the order of their creation
    What what;
    Station station;  // owner of the transmitter, or the receiver
    Packet packet;    // for `arrived`
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  struct Path {
    Loss loss;
    Time latest;  // arrival of the previous packet
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
