#pragma once

#include <vector>

#include "netem/packet.hpp"

namespace hyphos::lab {

/// Where packets come out.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// False if the device of `to` refused it.
  virtual bool deliver(const Packet& packet, Station to) = 0;
};

/// A network as a discrete-event model: it is fed packets, asked when something happens next, and
/// told how late it is. It does no I/O and reads no clock; equal input and seed give equal output.
/// Events happen at their own instants, in order, however late advance() is called: a late caller
/// delays what comes out, never the rate. One thread.
class Network {
 public:
  Network(Station stations, Buffers& buffers, Receiver& receiver)
      : buffers_(buffers), receiver_(receiver), counters_(stations) {}
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Takes over one hold of the packet's buffer. `now` never goes back.
  void send(Time now, const Packet& packet);
  /// Does everything that is due until `now`.
  virtual void advance(Time now) = 0;
  /// When advance() has something to do again; kNever if nothing is inside.
  [[nodiscard]] virtual Time next() const = 0;

  [[nodiscard]] Station stations() const { return static_cast<Station>(counters_.size()); }
  [[nodiscard]] const Counters& counters(Station station) const { return counters_[station]; }
  [[nodiscard]] Counters& counters(Station station) { return counters_[station]; }
  /// Copies that are on the way.
  [[nodiscard]] std::uint64_t inside() const;

 protected:
  virtual void take(Time now, const Packet& packet) = 0;

  /// How many receivers a packet has.
  [[nodiscard]] std::uint32_t copies(const Packet& packet) const;
  /// Hands one copy to its receiver, and counts what came of it.
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
