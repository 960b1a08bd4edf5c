#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "cosim/core/ledger.hpp"
#include "cosim/core/simulator.hpp"
#include "cosim/core/trace.hpp"
#include "cosim/realtime/lag.hpp"
#include "cosim/realtime/outside.hpp"
#include "cosim/realtime/pace.hpp"

namespace hyphos::cosim {

struct EmulatorOptions {
  Step step;  ///< of physics: the length of the windows
  Time end;   ///< simulated time
  std::uint32_t nodes = 0;
  std::uint64_t seed = 1;
  LagLimits limits{};
  /// The packets that the radio of a robot can hold. 0: no limit. Further packets wait in the
  /// device.
  std::uint32_t radio_queue = 0;
  /// The rate of a radio on a free channel, in bytes per second, with `overhead` bytes for each
  /// packet. 0: the rates of the devices are not limited. Needs `radio_queue`.
  double radio_rate = 0;
  std::uint32_t overhead = 0;
};

/// Runs physics and network at the pace of the wall clock, with the packets of real programs.
///
/// A packet enters the network at the instant at which it is read from its device. It is written to
/// the receiver's device at the instant at which the network delivers it, independent of the
/// physics windows in between. The clock does not wait for the emulator. Late work is done in order
/// and at its own simulated instant, and the report contains its lateness. A run is therefore not
/// repeatable, and it may be invalid: why_invalid() gives the reasons.
///
/// Simulators, ledger and trace are those of Engine. A packet is an Ethernet frame. The network
/// receives it without the 42 bytes of its Ethernet, IP and UDP headers, because the network model
/// adds headers of this size.
class Emulator {
 public:
  struct Parts {
    Physics& physics;
    Network& network;
    Outside& outside;
    Trace* trace = nullptr;  ///< null: no trace is kept
  };
  Emulator(Parts parts, const EmulatorOptions& options);

  /// Called in every iteration of the loop, at least once per window, with the instant reached.
  /// Return false to end the run.
  void run_while(std::function<bool(Time)> goes_on) { goes_on_ = std::move(goes_on); }
  /// Called at the end of each window, after physics. An error ends the run.
  void each_window(std::function<Result<void>(Time, Physics&)> work) {
    window_work_ = std::move(work);
  }
  /// Called for each packet that enters the network, and for each outcome with its packet.
  void observe(std::function<void(const Packet&)> sent,
               std::function<void(const Outcome&, const Packet&)> outcome) {
    sent_ = std::move(sent);
    outcome_ = std::move(outcome);
  }
  /// Prepares the simulators. Call it before run().
  [[nodiscard]] Result<void> start();
  /// Runs to the end or to the first error. In both cases report() then describes the run up to
  /// that point.
  [[nodiscard]] Result<void> run();
  [[nodiscard]] RealTimeReport report() const;

 private:
  struct Kept {
    Buffer packet;
    NodeId from = 0;
    NodeId to = 0;
    Time stamp{};
    std::uint32_t copies = 0;  // copies without an outcome
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
  void change_held(NodeId from, int by);
  void pace(Time now);

  Parts parts_;
  EmulatorOptions options_;
  std::function<bool(Time)> goes_on_;
  std::function<Result<void>(Time, Physics&)> window_work_;
  std::function<void(const Packet&)> sent_;
  std::function<void(const Outcome&, const Packet&)> outcome_;
  Ledger ledger_;
  Ticker window_;    // end of the current window
  Time origin_;      // origin of simulated time on the wall clock
  Time network_at_;  // end of the network's last advance
  Time last_stamp_;
  Time planned_;  // planned time of the next wake-up of the loop
  Time looked_;   // last time at which the devices were known to be empty
  bool poses_new_ = true;

  Lateness lag_;
  Lateness late_;
  RealTimeReport counts_;
  std::unordered_map<PacketId, Kept> kept_;
  std::vector<std::uint32_t> held_;  // packets in the radio, by sender
  std::vector<Pace> paces_;          // by sender. Empty: no limit
  Time paced_;
  std::uint64_t overrun_before_ = 0;
  std::vector<Captured> captured_;
  std::vector<Outcome> outcomes_;
};

}  // namespace hyphos::cosim
