#include "cosim/network/ns3/simulator.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "ns3/event-id.h"
#include "ns3/simulator.h"

namespace hyphos::cosim {

NS_OBJECT_ENSURE_REGISTERED(WindowedSimulator);

ns3::TypeId WindowedSimulator::GetTypeId() {
  static const ns3::TypeId id = ns3::TypeId("hyphos::cosim::WindowedSimulator")
                                    .SetParent<ns3::SimulatorImpl>()
                                    .AddConstructor<WindowedSimulator>();
  return id;
}

WindowedSimulator::WindowedSimulator()
    : context_(ns3::Simulator::NO_CONTEXT), uid_(ns3::EventId::UID::VALID) {}

void WindowedSimulator::inject(Time at, std::uint64_t order, std::uint32_t context,
                               std::function<void()> action) {
  injected_.push({static_cast<std::uint64_t>(at.ns), order, context, std::move(action)});
}

Result<void> WindowedSimulator::run_before(Time end) {
  end_ = static_cast<std::uint64_t>(end.ns);
  ns3::Simulator::Run();
  if (exhausted_) {
    return Error{Code::exhausted, "more than 2^32 events: ns-3 numbers events with 32 bits", "ns3"};
  }
  return success();
}

Result<void> WindowedSimulator::restart() {
  if (next_event_time() != kNever) return Error{Code::io, "the set-up left an event behind", "ns3"};
  now_ = end_ = 0;
  return success();
}

void WindowedSimulator::Run() {
  for (;;) {
    drop_cancelled();
    const std::uint64_t scheduled = events_->IsEmpty() ? end_ : events_->PeekNext().key.m_ts;
    const std::uint64_t injected = injected_.empty() ? end_ : injected_.top().time;
    if (std::min(scheduled, injected) >= end_ || exhausted_) break;
    if (injected <= scheduled) {
      run_injected();
    } else {
      run_scheduled();
    }
  }
  now_ = end_;
  // Events at the instant `end` are still to come, regardless of the uid of the last event.
  current_uid_ = 0;
  context_ = ns3::Simulator::NO_CONTEXT;
}

void WindowedSimulator::run_injected() {
  const Injected next = injected_.top();
  injected_.pop();
  now_ = next.time;
  context_ = next.context;
  current_uid_ = 0;
  ++count_;
  next.action();
}

void WindowedSimulator::run_scheduled() {
  const ns3::Scheduler::Event next = events_->RemoveNext();
  now_ = next.key.m_ts;
  context_ = next.key.m_context;
  current_uid_ = next.key.m_uid;
  ++count_;
  next.impl->Invoke();
  next.impl->Unref();
}

void WindowedSimulator::drop_cancelled() {
  while (!events_->IsEmpty() && events_->PeekNext().impl->IsCancelled()) {
    events_->RemoveNext().impl->Unref();
  }
}

Time WindowedSimulator::next_event_time() {
  drop_cancelled();
  const std::uint64_t never = static_cast<std::uint64_t>(kNever.ns);
  const std::uint64_t scheduled = events_->IsEmpty() ? never : events_->PeekNext().key.m_ts;
  const std::uint64_t injected = injected_.empty() ? never : injected_.top().time;
  return {static_cast<std::int64_t>(std::min(scheduled, injected))};
}

ns3::EventId WindowedSimulator::insert(std::uint32_t context, std::uint64_t time,
                                       ns3::EventImpl* event) {
  const ns3::Scheduler::EventKey key{time, uid_, context};
  exhausted_ = exhausted_ || uid_ == std::numeric_limits<std::uint32_t>::max();
  ++uid_;
  events_->Insert({event, key});
  return {ns3::Ptr<ns3::EventImpl>(event), key.m_ts, key.m_context, key.m_uid};
}

ns3::EventId WindowedSimulator::Schedule(const ns3::Time& delay, ns3::EventImpl* event) {
  return insert(context_, now_ + static_cast<std::uint64_t>(delay.GetTimeStep()), event);
}

void WindowedSimulator::ScheduleWithContext(std::uint32_t context, const ns3::Time& delay,
                                            ns3::EventImpl* event) {
  insert(context, now_ + static_cast<std::uint64_t>(delay.GetTimeStep()), event);
}

ns3::EventId WindowedSimulator::ScheduleNow(ns3::EventImpl* event) {
  return insert(context_, now_, event);
}

ns3::EventId WindowedSimulator::ScheduleDestroy(ns3::EventImpl* event) {
  at_destruction_.emplace_back(ns3::Ptr<ns3::EventImpl>(event, false), now_, context_,
                               ns3::EventId::UID::DESTROY);
  return at_destruction_.back();
}

void WindowedSimulator::Destroy() {
  while (!at_destruction_.empty()) {
    const ns3::Ptr<ns3::EventImpl> event = at_destruction_.front().PeekEventImpl();
    at_destruction_.pop_front();
    if (!event->IsCancelled()) event->Invoke();
  }
  while (!events_->IsEmpty()) events_->RemoveNext().impl->Unref();
}

bool WindowedSimulator::IsFinished() const { return events_->IsEmpty() && injected_.empty(); }

bool WindowedSimulator::IsExpired(const ns3::EventId& id) const {
  if (id.PeekEventImpl() == nullptr || id.PeekEventImpl()->IsCancelled()) return true;
  if (id.GetUid() == ns3::EventId::UID::DESTROY) {
    return std::ranges::find(at_destruction_, id) == at_destruction_.end();
  }
  return std::pair(id.GetTs(), id.GetUid()) <= std::pair(now_, current_uid_);
}

void WindowedSimulator::Remove(const ns3::EventId& id) {
  if (id.GetUid() == ns3::EventId::UID::DESTROY) {
    at_destruction_.remove(id);
    return;
  }
  if (IsExpired(id)) return;
  events_->Remove({id.PeekEventImpl(), {id.GetTs(), id.GetUid(), id.GetContext()}});
  id.PeekEventImpl()->Cancel();
  id.PeekEventImpl()->Unref();
}

void WindowedSimulator::Cancel(const ns3::EventId& id) {
  if (!IsExpired(id)) id.PeekEventImpl()->Cancel();
}

ns3::Time WindowedSimulator::Now() const { return ns3::TimeStep(now_); }

ns3::Time WindowedSimulator::GetDelayLeft(const ns3::EventId& id) const {
  return IsExpired(id) ? ns3::TimeStep(0) : ns3::TimeStep(id.GetTs() - now_);
}

ns3::Time WindowedSimulator::GetMaximumSimulationTime() const {
  return ns3::TimeStep(static_cast<std::uint64_t>(kNever.ns));
}

void WindowedSimulator::SetScheduler(ns3::ObjectFactory factory) {
  auto events = factory.Create<ns3::Scheduler>();
  while (events_ != nullptr && !events_->IsEmpty()) events->Insert(events_->RemoveNext());
  events_ = events;
}

}  // namespace hyphos::cosim
