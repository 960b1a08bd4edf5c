#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/core/packet.hpp"

/// The seams: what a physics simulator, a network simulator and the robots' programs are to the
/// engine. Each is called from one thread. Instants are those of the engine; all windows are
/// half-open: advance(end) does what happens before `end`, and an event at `end` itself is left.
namespace hyphos::cosim {

/// Where the time of a simulator in another process went, since its start.
struct RemoteCost {
  std::int64_t wait_ns = 0;   ///< for its answers
  std::int64_t codec_ns = 0;  ///< making and reading its messages

  friend RemoteCost operator-(const RemoteCost& a, const RemoteCost& b) {
    return {a.wait_ns - b.wait_ns, a.codec_ns - b.codec_ns};
  }
};

/// What both kinds of simulators can do.
class Simulator {
 public:
  Simulator() = default;
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;
  virtual ~Simulator() = default;

  /// Goes on to `end`. Errors: out_of_range if that lies in its past.
  [[nodiscard]] virtual Result<void> advance(Time end) = 0;
  /// No event of its own comes before this; kNever if none is planned.
  [[nodiscard]] virtual Time next_event_time() const = 0;

  /// Its whole state between two windows, when nothing waits to be polled, for restore() in the
  /// same set-up. Errors: unsupported.
  [[nodiscard]] virtual Result<std::vector<std::byte>> save() const;
  [[nodiscard]] virtual Result<void> restore(std::span<const std::byte> state);
  [[nodiscard]] virtual RemoteCost cost() const { return {}; }
};

class Physics : public Simulator {
 public:
  /// Comes first. `poses().size()` is `nodes` from then on.
  [[nodiscard]] virtual Result<void> init(std::uint32_t nodes, std::uint64_t seed) = 0;
  /// Where all robots are at the end of the last advance. Must not depend on the pieces in which
  /// time was advanced.
  [[nodiscard]] virtual std::span<const Pose> poses() const = 0;
  /// From the end of the last advance on, the robot follows this instead of what it did before.
  /// Returns what it cannot do of it and leaves out, in words; nothing if it follows all of it.
  /// Errors: unsupported, not_found (no such robot), out_of_range (no motion at all).
  [[nodiscard]] virtual Result<std::string> steer(NodeId robot, const Motion& motion);
};

class Network : public Simulator {
 public:
  [[nodiscard]] virtual Result<void> init(std::uint32_t nodes, std::uint64_t seed) = 0;
  /// Where all nodes are from now on, by number.
  [[nodiscard]] virtual Result<void> set_poses(std::span<const Pose> poses) = 0;
  /// Takes a packet that enters at `packet.stamp`, not before the end of the last advance. Errors:
  /// out_of_range, not_found (no such node).
  [[nodiscard]] virtual Result<void> inject(const Packet& packet) = 0;
  /// Appends what became of packets in the last advance, in any order. Every copy is told of once.
  [[nodiscard]] virtual Result<void> poll(std::vector<Outcome>& outcomes) = 0;
};

/// Something that a program has been handed.
struct Delivery {
  PacketId id = 0;
  NodeId from = 0;
  NodeId to = 0;
  Time sent;       ///< by the program at the other end
  Time delivered;  ///< by the network, before the instant at which it is read
  Buffer bytes;
};

/// Where programs put what they send; it is stamped with the instant they run at.
class Outbox {
 public:
  struct Item {
    NodeId from = 0;
    NodeId to = 0;
    Buffer bytes;
  };
  void send(NodeId from, NodeId to, Buffer bytes) {
    items_.push_back({from, to, std::move(bytes)});
  }
  [[nodiscard]] std::vector<Item>& items() { return items_; }

  struct Steering {
    NodeId robot = 0;
    Motion motion;
  };
  /// What a robot is to do from this instant on.
  void steer(NodeId robot, const Motion& motion) { steering_.push_back({robot, motion}); }
  [[nodiscard]] std::vector<Steering>& steering() { return steering_; }

 private:
  std::vector<Item> items_;
  std::vector<Steering> steering_;
};

/// What runs on the robots.
class Programs {
 public:
  Programs() = default;
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  virtual ~Programs() = default;

  /// Does all that is due at `now`: reads the deliveries, in the order of their event keys, and
  /// sends. `poses` are those of `now`.
  virtual void step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
                    Outbox& outbox) = 0;
  /// Unless something is delivered, nothing is done before this.
  [[nodiscard]] virtual Time next_event_time() const = 0;
  /// Asked after each step: an error ends the run.
  [[nodiscard]] virtual Result<void> failure() const { return success(); }
};

}  // namespace hyphos::cosim
