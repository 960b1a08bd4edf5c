#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <queue>
#include <tuple>
#include <vector>

#include "cosim/core/time.hpp"
#include "ns3/scheduler.h"
#include "ns3/simulator-impl.h"

namespace hyphos::cosim {

/// ns-3's event loop in half-open windows: what ns3::Simulator calls once it is handed to
/// SetImplementation(). With ns-3's own loop and Stop(), an event at the end of a window falls into
/// it or not, as it happened to be scheduled before or after the stop.
///
/// What comes from outside lies in a queue of its own and goes before ns-3's events of the same
/// instant, so that the order of events does not depend on when it was handed in.
///
/// For one thread: ScheduleWithContext() from others is not supported.
class WindowedSimulator final : public ns3::SimulatorImpl {
 public:
  static ns3::TypeId GetTypeId();
  WindowedSimulator();

  /// Does `action` at `at`, not before now, in the context of a node; equal instants by `order`.
  void inject(Time at, std::uint64_t order, std::uint32_t context, std::function<void()> action);
  /// Does everything that happens before `end`; then it is `end`. Errors: exhausted (ns-3 counts
  /// its events in 32 bits).
  [[nodiscard]] Result<void> run_before(Time end);
  /// Sets the clock back to 0 after a set-up that left no event: what was run counts as before the
  /// start. Errors: io, if an event is left.
  [[nodiscard]] Result<void> restart();
  [[nodiscard]] Time next_event_time();

  void Destroy() override;
  bool IsFinished() const override;
  void Stop() override {}
  void Stop(const ns3::Time& /*delay*/) override {}
  ns3::EventId Schedule(const ns3::Time& delay, ns3::EventImpl* event) override;
  void ScheduleWithContext(std::uint32_t context, const ns3::Time& delay,
                           ns3::EventImpl* event) override;
  ns3::EventId ScheduleNow(ns3::EventImpl* event) override;
  ns3::EventId ScheduleDestroy(ns3::EventImpl* event) override;
  void Remove(const ns3::EventId& id) override;
  void Cancel(const ns3::EventId& id) override;
  bool IsExpired(const ns3::EventId& id) const override;
  /// To the `end` of run_before(). ns3::Simulator::Run() is the way in: it also lets go of Times
  /// that were made before, each of which is registered otherwise and costs.
  void Run() override;
  ns3::Time Now() const override;
  ns3::Time GetDelayLeft(const ns3::EventId& id) const override;
  ns3::Time GetMaximumSimulationTime() const override;
  void SetScheduler(ns3::ObjectFactory factory) override;
  std::uint32_t GetSystemId() const override { return 0; }
  std::uint32_t GetContext() const override { return context_; }
  std::uint64_t GetEventCount() const override { return count_; }

 private:
  struct Injected {
    std::uint64_t time;
    std::uint64_t order;
    std::uint32_t context;
    std::function<void()> action;
    bool operator>(const Injected& other) const {
      return std::tie(time, order) > std::tie(other.time, other.order);
    }
  };

  ns3::EventId insert(std::uint32_t context, std::uint64_t time, ns3::EventImpl* event);
  void drop_cancelled();
  void run_injected();
  void run_scheduled();

  ns3::Ptr<ns3::Scheduler> events_;
  std::priority_queue<Injected, std::vector<Injected>, std::greater<>> injected_;
  std::list<ns3::EventId> at_destruction_;
  std::uint64_t now_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t count_ = 0;
  std::uint32_t context_;
  std::uint32_t uid_;              // of the next event
  std::uint32_t current_uid_ = 0;  // 0: none of this instant was run
  bool exhausted_ = false;
};

}  // namespace hyphos::cosim
