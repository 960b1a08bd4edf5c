#pragma once

#include <vector>

#include "netem/packet.hpp"

namespace hyphos::lab {

/// The receiving side of a network.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// Returns false if the device of `to` refused the packet.
  virtual bool deliver(const Packet& packet, Station to) = 0;
};

/// A network as a discrete-event model. The caller sends packets, reads the time of the next event,
/// and advances the time. The model does no I/O and reads no clock. Equal input and seed give equal
/// output. Events happen at their own instants and in order, even if advance() is called late: a
/// late call delays deliveries, but never changes the rate. Threads: one.
class Network {
 public:
  Network(Station stations, Buffers& buffers, Receiver& receiver)
      : buffers_(buffers), receiver_(receiver), counters_(stations) {}
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Takes over one reference to the packet's buffer. `now` never decreases.
  void send(Time now, const Packet& packet);
  /// Processes every event up to `now`.
  virtual void advance(Time now) = 0;
  /// The time of the next event. kNever if the network is empty.
  [[nodiscard]] virtual Time next() const = 0;

  [[nodiscard]] Station stations() const { return static_cast<Station>(counters_.size()); }
  [[nodiscard]] const Counters& counters(Station station) const { return counters_[station]; }
  [[nodiscard]] Counters& counters(Station station) { return counters_[station]; }
  /// The number of copies inside the network.
  [[nodiscard]] std::uint64_t inside() const;

 protected:
  virtual void take(Time now, const Packet& packet) = 0;

  /// The number of receivers of a packet.
  [[nodiscard]] std::uint32_t copies(const Packet& packet) const;
  /// Delivers one copy to its receiver, and counts the result.
  void deliver(const Packet& packet, Station to);
  /// Counts copies as lost.
  void lose(const Packet& packet, Drop why, std::uint32_t count) {
    counters_[packet.from].drop(why, count);
  }
  [[nodiscard]] Buffers& buffers() { return buffers_; }

 private:
  Buffers& buffers_;
  Receiver& receiver_;
  std::vector<Counters> counters_;
};

}  // namespace hyphos::lab
