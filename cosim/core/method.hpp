#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/core/packet.hpp"
#include "cosim/core/time.hpp"

/// The interface of synchronization methods, which keep physics and network in step. A method is
/// one file in cosim/methods and one line in its registry.cpp, which also finds them by name.
namespace hyphos::cosim {

/// The time at which a packet sent at `s` in the window [a, b) enters the network.
enum class Exchange {
  exact,    ///< at s: physics runs the window first, then the network runs the same window
  cached,   ///< at a if s = a, else at b: a cache holds the packet until the next sampling instant
  bunched,  ///< at b: both simulators run the window in parallel and then exchange data
  shifted,  ///< at s + (b - a): captured in one window, replayed in the next
};

/// Two robots with a packet in flight between them.
struct Pair {
  NodeId from = 0;
  NodeId to = 0;
};

/// The state that the engine knows at the start of a window.
struct Situation {
  std::int64_t index = 0;        ///< of the instant on the physics grid
  Time now;                      ///< that instant
  std::int64_t last_index = 0;   ///< the end of the run
  std::span<const Pose> poses;   ///< at `now`
  std::span<const Pair> active;  ///< pairs with a packet in flight, the latest last
  bool pending = false;          ///< a packet waits to enter the network
  Time network_next = kNever;    ///< the network's next event
  Time programs_next = kNever;   ///< the programs' own next event
};

struct Window {
  std::int64_t end = 0;     ///< index of its end, greater than the index of its start
  bool until_send = false;  ///< true: the window ends earlier, at the instant of the first packet
                            ///< sent in it. Allowed only if the network has no event before `end`.
};

/// An outcome and its packet, before the packet leaves the ledger.
struct Settled {
  const Outcome& outcome;
  const Packet& sent;              ///< as its program sent it
  const std::vector<bool>& named;  ///< of a packet to everyone: receivers with an earlier outcome
  bool last = false;               ///< no copy remains without an outcome
};

/// `where` of an error that is a limit of the method and not of the scenario or of a simulator.
inline constexpr std::string_view kLimitOfMethod = "method";

class Method {
 public:
  Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;

  [[nodiscard]] virtual Exchange exchange() const = 0;
  /// Errors end the run.
  [[nodiscard]] virtual Result<Window> plan(const Situation& situation) = 0;
  /// True if the network stops after each of its events instead of running the window in one call.
  [[nodiscard]] virtual bool stops_at_events() const { return false; }
  /// The network time for instant `index`. The engine calls it with instants of the window planned
  /// last, or with the end of that window.
  [[nodiscard]] virtual Time network_time(std::int64_t /*index*/, Time exact) { return exact; }
  /// The error of received power, in dB, beyond which the network receives new poses inside a
  /// window. Infinite: never.
  [[nodiscard]] virtual double most_power_error_db() const {
    return std::numeric_limits<double>::infinity();
  }
  /// True if the method uses outcomes. The engine asks once, before the run.
  [[nodiscard]] virtual bool uses_outcomes() const { return false; }
  /// Called after each window with every outcome, in the order of their times.
  virtual void settled(const Settled& /*settled*/) {}
  /// The decisions of a run, for its report. Each is one line.
  [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }
};

/// The parameters of all methods. Each method reads those that it knows.
struct MethodOptions {
  Step step;                    ///< of physics
  Duration window;              ///< initial, fixed or longest length, depending on the method
  Duration latency_budget{0};   ///< adaptive: the largest delay before a delivery is read
  double power_error_db = 0.5;  ///< adaptive: the largest error of received power
  double path_loss_exponent = 3;
  double range_m = std::numeric_limits<double>::infinity();  ///< pairs beyond it are ignored
  const Scene* scene = nullptr;
  double loss_threshold = 0.1;     ///< algorithm_1: the largest satisfactory share of lost packets
  std::int64_t most_changes = 10;  ///< algorithm_1: changes of the window in one round
  NodeId publisher = kEveryone;    ///< algorithm_1: of every round. kEveryone: any robot
  NodeId subscriber = kEveryone;   ///< algorithm_1: of every round. kEveryone: any robot
};

}  // namespace hyphos::cosim
