#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "cosim/core/ledger.hpp"
#include "cosim/core/simulator.hpp"
#include "cosim/core/trace.hpp"
#include "cosim/realtime/lag.hpp"
#include "cosim/realtime/outside.hpp"

namespace hyphos::cosim {

struct EmulatorOptions {
  Step step;  ///< of physics: the windows
  Time end;   ///< simulated
  std::uint32_t nodes = 0;
  std::uint64_t seed = 1;
  LagLimits limits{};
};

/// Runs physics and network at the pace of the wall clock, with the packets of real programs.
///
/// A packet enters the network at the instant at which it is read from its device, and is written
/// to the receiver's device at the instant at which the network delivers it, however many windows
/// of physics lie between. The clock does not wait for us: what is done late is done in its order
/// and at its own simulated instant, and by how much it was late is in the report. So a run is not
/// repeatable, and may be wrong; why_invalid() says when.
///
/// Simulators, ledger and trace are those of Engine. The network is handed packets without the 28
/// bytes of their IP and UDP headers, since it adds those to what it is given.
class Emulator {
 public:
  struct Parts {
    Physics& physics;
    Network& network;
    Outside& outside;
    Trace* trace = nullptr;  ///< none: none is kept
  };
  Emulator(Parts parts, const EmulatorOptions& options);

  /// Asked in every turn of the loop, at least once a window, with the instant that was reached;
  /// false ends the run.
  void run_while(std::function<bool(Time)> goes_on) { goes_on_ = std::move(goes_on); }
  /// Makes simulators ready. Comes before run().
  [[nodiscard]] Result<void> start();
  /// To the end, or to the first error. Whatever happened, report() then says how far it came.
  [[nodiscard]] Result<void> run();
  [[nodiscard]] RealTimeReport report() const;

 private:
  struct Kept {
    Buffer packet;
    std::uint32_t copies = 0;  // without an outcome
  };

  [[nodiscard]] Time reached();
  Result<void> catch_up(Time to);
  Result<void> close_window();
  Result<void> run_network(Time end);
  Result<void> settle(Time begin, Time end);
  void deliver(const Outcome& outcome, const Kept& kept);
  Result<void> read_packets();
  Result<void> take(Captured& captured);
  Result<void> wait();

  Parts parts_;
  EmulatorOptions options_;
  std::function<bool(Time)> goes_on_;
  Ledger ledger_;
  Ticker window_;    // its end; the window that is being run
  Time origin_;      // of simulated time, on the clock outside
  Time network_at_;  // end of its last advance
  Time last_stamp_;
  Time planned_;  // when the loop meant to be awake again
  Time looked_;   // when devices were last known to be empty
  bool poses_new_ = true;

  Lateness lag_;
  Lateness late_;
  RealTimeReport counts_;
  std::unordered_map<PacketId, Kept> kept_;
  std::vector<Captured> captured_;
  std::vector<Outcome> outcomes_;
};

}  // namespace hyphos::cosim
