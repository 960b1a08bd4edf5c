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

/// ns-3's event loop in half-open windows. ns3::Simulator uses it after SetImplementation(). With
/// ns-3's own loop and Stop(), the window of an event at its end would depend on chance: on whether
/// the event was scheduled before or after the stop.
///
/// Injected events are kept in a separate queue and run before ns-3's events of the same instant.
/// The order of events therefore does not depend on the time of the injection.
///
/// Threads: one. ScheduleWithContext() from other threads is not supported.
class WindowedSimulator final : public ns3::SimulatorImpl {
 public:
  static ns3::TypeId GetTypeId();
  WindowedSimulator();

  /// Runs `action` at `at`, not before now, in the context of a node. `order` decides between equal
  /// instants.
  void inject(Time at, std::uint64_t order, std::uint32_t context, std::function<void()> action);
  /// Runs all events before `end` and sets the clock to `end`. Errors: exhausted (ns-3 counts its
  /// events in 32 bits).
  [[nodiscard]] Result<void> run_before(Time end);
  /// Resets the clock to 0 after a set-up that left no event. Everything before counts as before
  /// the start. Errors: io, if an event is left.
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
  /// Runs up to the `end` of run_before(). Call it through ns3::Simulator::Run(), which also
  /// releases the Times created before. Otherwise each of them stays registered and costs time.
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
  std::uint32_t current_uid_ = 0;  // 0: no event of this instant has run
  bool exhausted_ = false;
};

}  // namespace hyphos::cosim
