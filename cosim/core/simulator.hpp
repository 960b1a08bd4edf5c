#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/core/packet.hpp"

/// The interfaces between the engine and a physics simulator, a network simulator and the programs
/// of the robots. Threads: each is called from one thread. Units: instants are engine time. All
/// windows are half-open: advance(end) processes the events before `end` and leaves an event at
/// `end` itself.
namespace hyphos::cosim {

/// The time cost of a simulator in another process, since its start.
struct RemoteCost {
  std::int64_t wait_ns = 0;   ///< waiting for its replies
  std::int64_t codec_ns = 0;  ///< encoding and decoding its messages

  friend RemoteCost operator-(const RemoteCost& a, const RemoteCost& b) {
    return {a.wait_ns - b.wait_ns, a.codec_ns - b.codec_ns};
  }
};

/// The functions that physics and network simulators share.
class Simulator {
 public:
  Simulator() = default;
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;
  virtual ~Simulator() = default;

  /// Advances to `end`. Errors: out_of_range if `end` is in its past.
  [[nodiscard]] virtual Result<void> advance(Time end) = 0;
  /// A lower bound for the time of its next own event. kNever if none is planned.
  [[nodiscard]] virtual Time next_event_time() const = 0;

  /// The complete state between two windows, when no outcome waits to be polled. restore() needs
  /// the same set-up. Errors: unsupported.
  [[nodiscard]] virtual Result<std::vector<std::byte>> save() const;
  [[nodiscard]] virtual Result<void> restore(std::span<const std::byte> state);
  [[nodiscard]] virtual RemoteCost cost() const { return {}; }
};

/// Rays from a point of a robot, in its frame. The directions are unit vectors.
struct Rays {
  Vec3 mount{};  ///< m
  double range_m = 0;
  std::vector<Vec3> directions{};
};

/// A camera on a robot. Pixels are square, and the optical axis is the centre of the picture.
struct View {
  Vec3 mount{};      ///< m, in the robot frame
  Quaternion aim{};  ///< of the camera in the robot frame: x along the optical axis, z up
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  double focal_px = 1;  ///< focal length
  double nearest_m = 0;
  double range_m = 0;  ///< things beyond it are not drawn
  bool depth = false;  ///< Picture::depth as well
};

/// A drawn picture, row by row from the top.
struct Picture {
  std::vector<std::byte> rgb{};  ///< three bytes for each pixel
  std::vector<float> depth{};    ///< m along the optical axis. Infinite: nothing within the range
};

class Physics : public Simulator {
 public:
  /// Called first. From then on `poses().size()` is `nodes`.
  [[nodiscard]] virtual Result<void> init(std::uint32_t nodes, std::uint64_t seed) = 0;
  /// The poses of all robots at the end of the last advance. They must not depend on how the time
  /// was divided into calls of advance().
  [[nodiscard]] virtual std::span<const Pose> poses() const = 0;
  /// Sets the motion of a robot from the end of the last advance on. Returns a description of the
  /// part that the robot cannot follow, or an empty text if it follows all of it. Errors:
  /// unsupported, not_found (no such robot), out_of_range (not a valid motion).
  [[nodiscard]] virtual Result<std::string> steer(NodeId robot, const Motion& motion);
  /// The distance to the first thing on each ray at the end of the last advance, other robots
  /// included, itself excluded. Infinite: nothing within the range. Errors: unsupported, not_found.
  [[nodiscard]] virtual Result<std::vector<double>> cast(NodeId robot, const Rays& rays);
  /// The reading of an ideal accelerometer at the origin of a robot, in its frame, in m/s²: 9.81
  /// along z at rest. Errors: unsupported, not_found.
  [[nodiscard]] virtual Result<Vec3> felt(NodeId robot);
  /// The picture of a camera at the end of the last advance, the robot itself excluded. Errors:
  /// unsupported (also without a renderer), not_found.
  [[nodiscard]] virtual Result<Picture> look(NodeId robot, const View& view);
};

class Network : public Simulator {
 public:
  [[nodiscard]] virtual Result<void> init(std::uint32_t nodes, std::uint64_t seed) = 0;
  /// Sets the poses of all nodes, by number, from now on.
  [[nodiscard]] virtual Result<void> set_poses(std::span<const Pose> poses) = 0;
  /// Accepts a packet that enters at `packet.stamp`, which is not before the end of the last
  /// advance. Errors: out_of_range, not_found (no such node).
  [[nodiscard]] virtual Result<void> inject(const Packet& packet) = 0;
  /// Appends the outcomes of packets in the last advance, in any order. Every copy is reported
  /// once.
  [[nodiscard]] virtual Result<void> poll(std::vector<Outcome>& outcomes) = 0;
};

/// A packet delivered to a program. With `failed`, a packet to one node that the network has
/// dropped: only programs with wants_failures() get these, as the report of a radio to its host.
struct Delivery {
  PacketId id = 0;
  NodeId from = 0;
  NodeId to = 0;
  Time sent;       ///< by the sending program
  Time delivered;  ///< by the network, before the instant of the read
  Buffer bytes;
  DropReason failed = DropReason::none;
  std::optional<DelayParts> parts{};  ///< from its entry into the network to its delivery
};

/// Collects the packets that programs send. A packet is stamped with the current instant of its
/// program.
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
  /// Sets the motion of a robot from this instant on.
  void steer(NodeId robot, const Motion& motion) { steering_.push_back({robot, motion}); }
  [[nodiscard]] std::vector<Steering>& steering() { return steering_; }

 private:
  std::vector<Item> items_;
  std::vector<Steering> steering_;
};

/// The programs that run on the robots.
class Programs {
 public:
  Programs() = default;
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  virtual ~Programs() = default;

  /// Processes everything due at `now`: reads the deliveries in the order of their event keys, and
  /// sends. `poses` are the poses at `now`.
  virtual void step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
                    Outbox& outbox) = 0;
  /// The time of the next own event. Without a delivery, the programs do nothing before it.
  [[nodiscard]] virtual Time next_event_time() const = 0;
  /// Whether step() also gets the packets that the network has dropped.
  [[nodiscard]] virtual bool wants_failures() const { return false; }
  /// Called after each step. An error ends the run.
  [[nodiscard]] virtual Result<void> failure() const { return success(); }
};

}  // namespace hyphos::cosim
