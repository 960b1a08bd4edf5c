#pragma once

#include <deque>
#include <optional>
#include <queue>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/network/cells.hpp"
#include "cosim/network/due.hpp"
#include "cosim/network/radio_model.hpp"

namespace hyphos::cosim {

/// A shared channel with the distributed coordination function of IEEE Std 802.11-2020, 10.3, over
/// a RadioModel. It needs no library, and nodes out of range cost nothing.
///
/// Every node has a queue. The frame at its head waits for an idle channel, DIFS and a random
/// number of slots. The countdown of slots pauses while the node detects another frame. Nodes
/// collide if their slots end together, or if they do not detect each other. Power is computed from
/// the poses at the start of a frame. A frame fails because of its ratio of signal to noise plus
/// all frames that overlap it at the receiver, or because the receiver itself sends. A frame to one
/// node is repeated with a doubled contention window until it arrives or `retry_limit` is reached.
/// A frame to everyone is sent once.
///
/// Simplifications: acknowledgements are never lost. Carriers are sensed at once. Overlapping
/// frames interfere with their full power. There is no RTS/CTS, no aggregation and no association.
/// Random draws depend on seed, packet, attempt and node only, never on how time was advanced.
///
/// With a named radio, a receiver detects a frame by its preamble. Frames that are not detected
/// interfere, and keep the channel busy only by their energy. The tables of cosim/radio/kinds have
/// the numbers of medium access, and cosim/radio/rate_control chooses the rates.
class AnalyticRadio final : public Network {
 public:
  AnalyticRadio(const RadioOptions& options, const Scene* scene)
      : options_(options), scene_(scene) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> set_poses(std::span<const Pose> poses) override;
  Result<void> inject(const Packet& packet) override;
  Result<void> advance(Time end) override;
  Time next_event_time() const override;
  Result<void> poll(std::vector<Outcome>& outcomes) override;
  Result<std::vector<std::byte>> save() const override;
  Result<void> restore(std::span<const std::byte> state) override;

 private:
  struct State;  // serializes the members below
  /// At one instant, frames end before the channel is released, and packets arrive before a node
  /// sends.
  enum class Kind : std::uint8_t { received, released, arrival, attempt };
  struct Event {
    Time time;
    Kind kind = Kind::arrival;
    std::uint32_t node = 0;
    std::uint64_t order = 0;
    std::uint64_t token = 0;  // generation (attempt), index in arriving_ (arrival), or frame

    bool operator>(const Event& other) const;
  };
  struct Reception {
    NodeId node = 0;
    double power_dbm = 0;
    double power_mw = 0;
    double interference_mw = 0;
    Duration propagation{};
    bool detected = true;
    bool carrier = true;  // keeps the channel busy here
  };
  struct Frame {
    Packet packet;
    Time start;
    std::vector<Reception> receptions;  // at every node in range, by node
    std::uint32_t rate = 0;
    bool arrived = false;  // at its destination
    bool heard = false;    // detected at its destination
  };
  struct Heard {
    std::uint32_t frame = 0;
    std::uint32_t place = 0;  // index among its receptions
  };
  struct Station {
    std::deque<Packet> queue;
    std::deque<Time> queued;  // when each packet of the queue arrived
    Time first_try;           // of the packet at the head
    bool contending = false;
    bool frozen = false;
    bool sending = false;
    bool immediate = false;  // found the channel idle: waits for DIFS only
    std::int64_t slots = 0;  // remaining slots
    std::uint32_t window = 0;
    std::uint32_t attempt = 0;
    bool heard = false;  // an earlier attempt was detected, with a named radio
    std::uint64_t generation = 0;
    Time attempt_at;
    Time last_arrival;              // at the queue, in the order of sending
    Time idle_since;                // the end of the last frame sent or sensed
    std::vector<Heard> hears;       // frames that can still be corrupted
    std::uint32_t carriers = 0;     // frames that keep the channel busy
    std::vector<LinkMemory> links;  // of the rate control, in the order of their first frames
  };

  void handle(const Event& event);
  void arrive(Packet packet);
  void contend(NodeId node, Time now, bool fresh);
  void count_down(NodeId node, Time now);
  void freeze(NodeId node, Time now);
  [[nodiscard]] std::int64_t draw_slots(NodeId node) const;
  void start_frame(NodeId node, Time now);
  void find_receptions(Frame& frame) const;
  void detect(const Frame& frame, Reception& reception) const;
  [[nodiscard]] double sinr_db(const Reception& reception, double jammed_mw = 0) const;
  [[nodiscard]] double jammed_mw(NodeId node, Time now) const;
  [[nodiscard]] bool put_off(NodeId node, Time now);
  [[nodiscard]] double disturbed_loss(const Frame& frame, const Reception& reception) const;
  [[nodiscard]] std::uint32_t choose_rate(NodeId node, Time now);
  void report_rate(const Frame& frame);
  [[nodiscard]] std::uint32_t most_attempts() const;
  [[nodiscard]] LinkMemory& link_of(NodeId from, NodeId to);
  void end_frame(std::uint32_t index, Time now);
  void release(std::uint32_t index, Time now);
  void settle(const Packet& packet, const Reception* reception, NodeId to, Time now,
              DropReason reason, std::uint32_t copies, Time sampled);
  [[nodiscard]] DelayParts parts_of(const Packet& packet, const Reception& reception, Time started,
                                    Time ended) const;
  [[nodiscard]] DropReason judge(const Frame& frame, const Reception& reception) const;
  void push(Time time, Kind kind, NodeId node, std::uint64_t token);
  [[nodiscard]] std::uint32_t free_frame();

  RadioOptions options_;
  const Scene* scene_;
  std::optional<RadioModel> model_;
  Jammers jammers_;
  double energy_mw_ = 0;                      // of a busy channel without a preamble
  mutable std::vector<Jammers::Part> parts_;  // of disturbed_loss()
  std::uint64_t seed_ = 0;
  double noise_mw_ = 0;
  Time now_;
  std::uint64_t order_ = 0;
  std::vector<Pose> poses_;
  Cells cells_;
  std::vector<Station> stations_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> free_frames_;
  std::vector<Packet> arriving_;
  std::vector<std::uint64_t> free_arriving_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  OutcomeQueue later_;  // still on the air
  std::vector<Outcome> outcomes_;
};

}  // namespace hyphos::cosim
