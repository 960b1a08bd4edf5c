#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/core/packet.hpp"
#include "cosim/core/time.hpp"

/// How physics and network are kept in step: the seam of synchronization methods. A method is one
/// file in cosim/methods and one line in its registry.cpp.
namespace hyphos::cosim {

/// When a packet sent at `s` in the window [a, b) enters the network.
enum class Exchange {
  exact,    ///< at s: physics runs the window first, the network then runs the same window
  cached,   ///< at a if s = a, else at b: a cache holds it until the next sampling instant
  bunched,  ///< at b: both simulators run the window side by side and exchange data after it
  shifted,  ///< at s + (b - a): captured in one window, played in the next
};

/// Two robots that a packet is under way between, and where the network believes them.
struct Pair {
  NodeId from = 0;
  NodeId to = 0;
};

/// What the engine knows at the start of a window.
struct Situation {
  std::int64_t index = 0;        ///< of the instant on the grid of physics
  Time now;                      ///< that instant
  std::int64_t last_index = 0;   ///< where the run ends
  std::span<const Pose> poses;   ///< at `now`
  std::span<const Pair> active;  ///< pairs with a packet under way, the latest last
  bool pending = false;          ///< some packet waits to enter the network
  Time network_next = kNever;    ///< the network's next event
  Time programs_next = kNever;   ///< the programs' next own event
};

struct Window {
  std::int64_t end = 0;     ///< index of its end, after that of its start
  bool until_send = false;  ///< ends earlier, at the instant of the first packet that is sent in
                            ///< it; only if the network has no event before `end`
};

class Method {
 public:
  Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;

  [[nodiscard]] virtual Exchange exchange() const = 0;
  /// Errors end the run.
  [[nodiscard]] virtual Result<Window> plan(const Situation& situation) = 0;
  /// Whether the network stops after each of its events instead of running the window in one go.
  [[nodiscard]] virtual bool stops_at_events() const { return false; }
  /// The time that the network is told for instant `index`. Asked with instants of the window that
  /// was planned last, or its end.
  [[nodiscard]] virtual Time network_time(std::int64_t /*index*/, Time exact) { return exact; }
  /// The error of received power, in dB, beyond which the network is given new poses inside a
  /// window. Infinite: never.
  [[nodiscard]] virtual double most_power_error_db() const {
    return std::numeric_limits<double>::infinity();
  }
};

/// What methods are made from; each takes what it knows.
struct MethodOptions {
  Step step;                    ///< of physics
  Duration window;              ///< its length, at first or always, or the longest
  Duration latency_budget{0};   ///< adaptive: how late a delivery may be read
  double power_error_db = 0.5;  ///< adaptive: how wrong received power may be
  double path_loss_exponent = 3;
  double range_m = std::numeric_limits<double>::infinity();  ///< pairs farther apart do not matter
  const Scene* scene = nullptr;
};

struct KnownMethod {
  std::string_view name;
  std::string_view about;
  std::unique_ptr<Method> (*make)(const MethodOptions&);
};

/// All methods, in the order of documents.
[[nodiscard]] std::span<const KnownMethod> known_methods();
/// Errors: not_found, with the names there are; invalid_config: a window that is no whole number of
/// steps.
[[nodiscard]] Result<std::unique_ptr<Method>> make_method(std::string_view name,
                                                          const MethodOptions& options);

}  // namespace hyphos::cosim
