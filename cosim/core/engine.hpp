#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cosim/core/bounds.hpp"
#include "cosim/core/ledger.hpp"
#include "cosim/core/method.hpp"
#include "cosim/core/simulator.hpp"
#include "cosim/core/trace.hpp"

namespace hyphos::cosim {

struct EngineOptions {
  Step step;  ///< of physics: the grid of all windows
  Time end;   ///< no instant at or after this is run
  std::uint32_t nodes = 0;
  std::uint64_t seed = 1;
  bool skip = true;  ///< leave out what cannot change anything; the trace is the same without
  RadioBounds radio{};
};

/// Real time that a run took, in nanoseconds.
struct Profile {
  std::int64_t physics_ns = 0;
  std::int64_t network_ns = 0;  ///< without the next two, if it runs in another process
  std::int64_t wait_ns = 0;     ///< for simulators in other processes
  std::int64_t codec_ns = 0;
  std::int64_t programs_ns = 0;
  std::int64_t total_ns = 0;

  [[nodiscard]] std::int64_t engine_ns() const {
    return total_ns - physics_ns - network_ns - wait_ns - codec_ns - programs_ns;
  }
};

/// Messages that reached a robot, and were lost there.
struct Lost {
  std::string robot;
  std::string channel;
  std::string reason;  ///< "drop.queue.overflow"
  std::uint64_t count = 0;
};

/// Motions that a robot was told and could not follow in every respect.
struct InPart {
  std::uint64_t count = 0;
  Time first;
  std::string left_out;  ///< of the first
};

struct Report {
  Time end;
  std::uint64_t windows = 0;
  std::uint64_t physics_steps = 0;    ///< calls of physics
  std::uint64_t network_syncs = 0;    ///< calls of advance() of the network
  std::uint64_t windows_skipped = 0;  ///< without any call of the network
  std::uint64_t pose_refreshes = 0;   ///< inside windows, to keep a bound
  Duration shortest_window{0};
  Duration longest_window{0};
  Duration clock_error{0};  ///< between the engine's time and what the network was told
  Duration entry_wait{0};   ///< longest time a packet waited to enter the network
  PacketCounts packets;
  Bounds bounds;
  Profile profile;
  std::uint64_t trace_hash = 0;
  std::vector<Lost> lost{};   ///< behind the network, which `packets` does not count
  std::uint64_t motions = 0;  ///< that robots were told
  std::map<NodeId, InPart> in_part{};
};

/// Runs physics, programs and network in step.
///
/// At the first instant a of a window [a, b) the programs read what the network delivered before a,
/// and send. Physics then goes to b, the programs run at every instant of its grid on the way, and
/// what they send is stamped with that instant. Then the network, told where the robots are at a,
/// runs from a to before b. What it delivers can be read at b. So with windows of one step, and
/// packets that enter at their stamps, nothing is read later than it could be.
///
/// For one thread. All parts must outlive it.
class Engine {
 public:
  struct Parts {
    Physics& physics;
    Network& network;
    Programs& programs;
    Method& method;
    Trace& trace;
  };
  /// Told of every outcome when its window is over: as it came, and the packet as its program sent
  /// it.
  using Observer = std::function<void(const Outcome&, const Packet& sent)>;

  Engine(Parts parts, const EngineOptions& options);

  void observe(Observer observer) { observer_ = std::move(observer); }
  /// Told of every packet with its number, in the instant it is sent, and where robots are then.
  using SendObserver = std::function<void(const Packet&, std::span<const Pose>)>;
  void observe_sends(SendObserver observer) { send_observer_ = std::move(observer); }
  /// Asked after every window with the instant that was reached; false ends the run there.
  void run_while(std::function<bool(Time)> goes_on) { goes_on_ = std::move(goes_on); }
  /// Runs to the end, or to the first error. Whatever happened, report() then says how far it came.
  [[nodiscard]] Result<void> run();
  [[nodiscard]] Report report() const;

 private:
  struct Waiting {
    Time entry;
    EventKey key;  ///< of the send
    std::int64_t index = 0;
    Packet packet;
  };
  struct Refresh {
    std::int64_t index = 0;
    std::vector<Pose> poses;
  };

  Result<void> start();
  Result<void> run_window();
  Result<Window> plan();
  Result<void> run_programs(std::int64_t index);
  Result<void> steer(Time now);
  Result<std::int64_t> run_physics(Window window, bool idle);
  void bound_step(std::int64_t index, Time before, Time after);
  void capture(Time end);
  Result<void> run_network(std::int64_t end_index, Time end);
  Result<void> sync_network(Time network_end, Time end);
  Result<void> advance_network(Time end);
  Result<void> close_window(Time network_end, Time end);
  void update_active();

  Parts parts_;
  EngineOptions options_;
  Observer observer_;
  SendObserver send_observer_;
  std::function<bool(Time)> goes_on_;
  Ledger ledger_;
  BoundTracker tracker_;
  Report report_;
  RemoteCost physics_before_;  // what init() has cost: not part of the run
  RemoteCost network_before_;

  std::int64_t index_ = 0;       // of now_ on the grid
  std::int64_t last_index_ = 0;  // the first instant that is not run
  Time now_;
  bool programs_ran_ = false;  // at now_, at the end of the window before
  Time network_end_;           // of its last advance, in its own time
  std::uint64_t sequence_ = 0;

  std::vector<Pose> used_;    // what the network is told in this window
  std::vector<Pose> before_;  // one step ago
  std::vector<Refresh> refreshes_;
  std::vector<Pair> active_;
  std::vector<Waiting> captured_;  // sent in this window
  std::vector<Waiting> waiting_;   // by entry, then key
  std::vector<Packet> sent_;       // in this window, for the trace
  std::vector<Outcome> outcomes_;
  std::vector<Delivery> inbox_;
  Outbox outbox_;
};

}  // namespace hyphos::cosim
