#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/network/due.hpp"
#include "cosim/network/radio_model.hpp"

namespace hyphos::cosim {

/// Robots in cells: 5G-like base stations that share one carrier.
///
/// A packet goes up to the base station of its sender, over the core network, and down from that of
/// its receiver. Slots of 0.5 ms repeat in the order D D D S U (a usual pattern of 3GPP bands n77
/// and n78). In each slot a base station serves its robots in turn, each at the highest channel
/// quality that its ratio of signal to noise and interference allowed 4 ms before. A robot with
/// nothing to send first asks for a slot: it sends one period of five slots after its request.
///
/// A lost block is repeated up to three times, 5 ms apart, and the receiver adds the ratios of all
/// its copies. A packet of several blocks arrives with its last one.
///
/// Every 40 ms a robot compares the stations without fading. It changes to another one that is
/// `handover_db` stronger for `time_to_trigger` (event A3 of 3GPP TS 38.331). Below -8 dB for 1 s
/// it loses its link and starts again at the strongest station. Packets wait meanwhile, for 1 s at
/// most.
///
/// Random draws depend on seed, packet, slot and node only.
class CellNetwork final : public Network {
 public:
  CellNetwork(const RadioOptions& options, const Scene* scene) : options_(options), scene_(scene) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override;
  Result<void> set_poses(std::span<const Pose> poses) override;
  Result<void> inject(const Packet& packet) override;
  Result<void> advance(Time end) override;
  Time next_event_time() const override;
  Result<void> poll(std::vector<Outcome>& outcomes) override;

  /// The base station of a robot, and the number of its changes so far.
  [[nodiscard]] std::uint32_t station_of(NodeId robot) const { return users_[robot].station; }
  [[nodiscard]] std::uint32_t handovers() const { return handovers_; }
  /// The ratio of signal to noise and interference in dB.
  [[nodiscard]] double sinr_db(NodeId robot, std::uint32_t station, bool down, Time now) const;

 private:
  /// At one instant, robots measure before packets arrive, and packets arrive before a slot.
  enum class Kind : std::uint8_t { measure, up, down, slot };
  struct Event {
    Time time;
    Kind kind = Kind::measure;
    std::uint64_t order = 0;
    Packet packet{};  // of up and down. `to` of down is one robot

    bool operator>(const Event& other) const {
      return std::tie(time, kind, order) > std::tie(other.time, other.kind, other.order);
    }
  };
  /// A packet in a queue.
  struct Item {
    Packet packet;
    Time entered;
    Time eligible;
    double bits = 0;  // not sent yet
    Time done;        // the arrival of its last block so far
  };
  struct User {
    std::uint32_t station = 0;
    Time attached;  // served from here on
    std::uint32_t better = 0;
    Time better_since = kNever;
    Time bad_since = kNever;
    Time last_entry;
    std::deque<Item> up;
    std::deque<Item> down;
  };

  [[nodiscard]] double strength_dbm(NodeId robot, std::uint32_t station, Time now) const;
  [[nodiscard]] std::uint32_t strongest(NodeId robot, Time now) const;
  void measure(NodeId robot, Time now);
  void attach(User& user, std::uint32_t station, Time from);
  void enter(const Event& event);
  void run_slot(Time now);
  void serve(std::uint32_t station, bool down, std::int64_t slot, double size, Time now);
  /// Sends a part of the packet at the head of a queue. Returns the used share of the slot.
  double send_block(NodeId robot, bool down, std::int64_t slot, double size, double left, Time now);
  [[nodiscard]] int quality(NodeId robot, std::uint32_t station, bool down, Time now) const;
  void finish(NodeId robot, bool down, const Item& item);
  void drop(const Packet& packet, bool down, Time now, DropReason reason);
  void drop_old(std::deque<Item>& queue, bool down, Time now);
  void push(Time time, Kind kind, Packet packet = {});
  void want_slot(Time from);
  [[nodiscard]] bool waiting() const;

  RadioOptions options_;
  const Scene* scene_;
  std::optional<Radio> radio_;
  std::uint64_t seed_ = 0;
  double station_noise_dbm_ = 0;
  std::uint64_t order_ = 0;
  std::uint32_t handovers_ = 0;
  std::vector<Pose> poses_;
  std::vector<Pose> stations_;
  std::vector<User> users_;
  std::vector<std::array<std::uint32_t, 2>> turns_;  // the robot to begin with: up and down
  std::map<std::tuple<std::int64_t, std::uint32_t, bool>, double> repeated_;  // shares of slots
  Time next_slot_ = kNever;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Due due_{"cell"};
};

}  // namespace hyphos::cosim
