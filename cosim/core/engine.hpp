#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/core/bounds.hpp"
#include "cosim/core/ledger.hpp"
#include "cosim/core/method.hpp"
#include "cosim/core/simulator.hpp"
#include "cosim/core/trace.hpp"

namespace hyphos::cosim {

struct EngineOptions {
  Step step;  ///< the physics step: the grid of all windows
  Time end;   ///< the run stops before this instant
  std::uint32_t nodes = 0;
  std::uint64_t seed = 1;
  bool skip = true;  ///< skip calls without effect. The trace is identical either way.
  RadioBounds radio{};
  RequestedBounds requested{};
};

/// Real time spent in a run, in nanoseconds.
struct Profile {
  std::int64_t physics_ns = 0;
  std::int64_t network_ns = 0;  ///< excludes wait_ns and codec_ns if it runs in another process
  std::int64_t wait_ns = 0;     ///< waiting for simulators in other processes
  std::int64_t codec_ns = 0;
  std::int64_t programs_ns = 0;
  std::int64_t total_ns = 0;

  [[nodiscard]] std::int64_t engine_ns() const {
    return total_ns - physics_ns - network_ns - wait_ns - codec_ns - programs_ns;
  }
};

/// Messages that arrived at a robot and were dropped there.
struct Lost {
  std::string robot;
  std::string channel;
  std::string reason;  ///< "drop.queue.overflow"
  std::uint64_t count = 0;
};

/// Motion commands that a robot could follow only in part.
struct InPart {
  std::uint64_t count = 0;
  Time first;
  std::string left_out;  ///< the ignored part of the first command
};

enum class TroubleKind : std::uint8_t {
  tipped,   ///< its z axis points more than 60 degrees away from up
  stuck,    ///< it does not come forward on its path
  outside,  ///< it has left the terrain, or is below the ground
};
inline constexpr std::size_t kTroubles = 3;

/// A state of a robot that hardly anyone intends.
struct Trouble {
  NodeId robot = 0;
  TroubleKind kind = TroubleKind::tipped;
  std::uint64_t count = 0;  ///< how often it began
  Time first;               ///< when it began first
  Duration lasted{0};       ///< in total
  bool at_end = false;      ///< it lasts until the end of the run
  Duration before{0};       ///< `lasted` when the current one began
};

/// "tipped", as in summaries and files.
[[nodiscard]] constexpr std::string_view to_string(TroubleKind kind) {
  constexpr std::array<std::string_view, kTroubles> kNames{"tipped", "stuck", "outside"};
  return kNames[static_cast<std::size_t>(kind)];
}

struct Report {
  Time end;
  std::uint64_t windows = 0;
  std::uint64_t physics_steps = 0;    ///< calls of advance() of physics
  std::uint64_t network_syncs = 0;    ///< calls of advance() of the network
  std::uint64_t windows_skipped = 0;  ///< without a call of the network
  std::uint64_t pose_refreshes = 0;   ///< poses sent inside windows to keep a bound
  Duration shortest_window{0};
  Duration longest_window{0};
  Duration clock_error{0};  ///< between the engine's time and the network's time
  Duration entry_wait{0};   ///< longest wait of a packet before it entered the network
  PacketCounts packets;
  Bounds bounds;
  Profile profile;
  std::uint64_t trace_hash = 0;
  std::vector<Lost> lost{};   ///< after the network; not part of `packets`
  std::uint64_t motions = 0;  ///< motion commands to robots
  std::map<NodeId, InPart> in_part{};
  RequestedBounds requested{};
  std::optional<Exceeded> latency_exceeded{};
  std::optional<Exceeded> power_exceeded{};
  std::vector<std::string> remarks{};  ///< Method::remarks
  std::vector<Trouble> troubles{};
};

/// Runs physics, programs and network in step.
///
/// At the first instant a of a window [a, b), the programs read the packets that the network
/// delivered before a, and send. Physics then advances to b. The programs run at every instant of
/// the physics grid on the way, and their packets are stamped with that instant. Then the network
/// receives the poses at a and runs from a to before b. Programs can read its deliveries at b. With
/// windows of one step and packets that enter at their stamps, every packet is read at the earliest
/// possible instant.
///
/// Threads: use from one thread. Lifetime: all parts must outlive the engine.
class Engine {
 public:
  struct Parts {
    Physics& physics;
    Network& network;
    Programs& programs;
    Method& method;
    Trace& trace;
  };
  /// Called with every outcome after its window: the outcome itself, and the packet as its program
  /// sent it.
  using Observer = std::function<void(const Outcome&, const Packet& sent)>;

  Engine(Parts parts, const EngineOptions& options);

  void observe(Observer observer) { observer_ = std::move(observer); }
  /// Called with every packet and its number at the instant of the send, and with the poses at that
  /// instant.
  using SendObserver = std::function<void(const Packet&, std::span<const Pose>)>;
  void observe_sends(SendObserver observer) { send_observer_ = std::move(observer); }
  /// Called after every window with the instant reached. Return false to end the run there.
  void run_while(std::function<bool(Time)> goes_on) { goes_on_ = std::move(goes_on); }
  /// Runs to the end or to the first error. In both cases report() then describes the run up to
  /// that point.
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
  void note_power(const BoundTracker::Error& error, double power_db, Time at);
  void note_latency(const Outcome& outcome, const Ledger::Entry& entry, Time end);
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
  RemoteCost physics_before_;  // cost of init(): not part of the run
  RemoteCost network_before_;

  std::int64_t index_ = 0;       // grid index of now_
  std::int64_t last_index_ = 0;  // the first instant after the run
  Time now_;
  bool outcomes_used_ = false;  // by the method
  bool programs_ran_ = false;   // at now_, at the end of the previous window
  Time network_end_;            // end of its last advance, in network time
  std::uint64_t sequence_ = 0;

  std::vector<Pose> used_;    // the poses that the network uses in this window
  std::vector<Pose> before_;  // one step ago
  std::vector<Refresh> refreshes_;
  std::vector<Pair> active_;
  std::vector<Waiting> captured_;  // packets sent in this window
  std::vector<Waiting> waiting_;   // by entry, then key
  std::vector<Packet> sent_;       // packets sent in this window, for the trace
  std::vector<Outcome> outcomes_;
  std::vector<Delivery> inbox_;
  Outbox outbox_;
};

}  // namespace hyphos::cosim
