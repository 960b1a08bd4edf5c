#include "cosim/core/engine.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>

namespace hyphos::cosim {
namespace {

/// Adds its own lifetime to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(std::int64_t& sum) : sum_(sum), start_(monotonic_now()) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { sum_ += (monotonic_now() - start_).ns; }

 private:
  std::int64_t& sum_;
  Time start_;
};

Time entry_of(Exchange exchange, Time stamp, Time begin, Time end) {
  switch (exchange) {
    case Exchange::exact:
      return stamp;
    case Exchange::cached:
      return stamp == begin ? begin : end;
    case Exchange::bunched:
      return end;
    case Exchange::shifted:
      return stamp + (end - begin);
  }
  return stamp;
}

bool happens_before(const Outcome& a, const Outcome& b) {
  return std::tie(a.time, a.id, a.to) < std::tie(b.time, b.id, b.to);
}

}  // namespace

Engine::Engine(Parts parts, const EngineOptions& options)
    : parts_(parts), options_(options), ledger_(options.nodes), tracker_(options.radio) {}

Result<void> Engine::run() {
  Stopwatch all(report_.profile.total_ns);
  if (auto started = start(); !started) return started;
  while (index_ < last_index_) {
    if (auto ran = run_window(); !ran) return ran;
    if (goes_on_ && !goes_on_(now_)) break;
  }
  return parts_.trace.flush();
}

Result<void> Engine::start() {
  if (options_.nodes == 0 || options_.end.ns <= 0) {
    return Error{Code::invalid_config, "a run needs at least one node and a positive end", ""};
  }
  last_index_ = options_.step.index_at_or_after(options_.end);
  // Neither an instant of the run nor the entry time of a delayed packet can overflow int64.
  if (auto end = options_.step.at(last_index_); !end || end->ns > kNever.ns / 4) {
    return Error{Code::out_of_range,
                 "time overflow: a run of " + std::to_string(options_.end.ns) + " ns is too long",
                 ""};
  }
  if (auto ready = parts_.physics.init(options_.nodes, options_.seed); !ready) return ready;
  if (parts_.physics.poses().size() != options_.nodes) {
    return Error{Code::corrupt,
                 "the physics simulator has " + std::to_string(parts_.physics.poses().size()) +
                     " robots instead of " + std::to_string(options_.nodes),
                 ""};
  }
  if (auto ready = parts_.network.init(options_.nodes, options_.seed); !ready) return ready;
  outcomes_used_ = parts_.method.uses_outcomes();
  physics_before_ = parts_.physics.cost();
  network_before_ = parts_.network.cost();
  return success();
}

Result<void> Engine::run_window() {
  if (!std::exchange(programs_ran_, false)) {
    if (auto ran = run_programs(index_); !ran) return ran;
  }
  auto window = plan();
  if (!window) return window.error();
  const Time network_end =
      parts_.method.network_time(window->end, options_.step.at(window->end).value());
  const bool idle =
      captured_.empty() && waiting_.empty() && parts_.network.next_event_time() >= network_end;
  assert(idle || !window->until_send);
  auto end_index = run_physics(*window, idle);
  if (!end_index) return end_index.error();
  const Time end = options_.step.at(*end_index).value();
  if (auto ran = run_network(*end_index, end); !ran) return ran;

  const Duration length = end - now_;
  report_.shortest_window =
      report_.windows == 0 ? length : std::min(report_.shortest_window, length);
  report_.longest_window = std::max(report_.longest_window, length);
  ++report_.windows;
  report_.end = now_ = end;
  index_ = *end_index;
  return success();
}

Result<Window> Engine::plan() {
  if (!captured_.empty() || !ledger_.idle()) {
    update_active();
  } else {
    active_.clear();
  }
  Situation situation;
  situation.index = index_;
  situation.now = now_;
  situation.last_index = last_index_;
  situation.poses = parts_.physics.poses();
  situation.active = active_;
  situation.pending = !captured_.empty() || !waiting_.empty();
  situation.network_next = parts_.network.next_event_time();
  situation.programs_next = parts_.programs.next_event_time();
  auto window = parts_.method.plan(situation);
  if (!window) return window;
  assert(window->end > index_);
  window->end = std::min(window->end, last_index_);
  return window;
}

Result<void> Engine::run_programs(std::int64_t index) {
  const Time now = options_.step.at(index).value();
  if (options_.skip && inbox_.empty() && parts_.programs.next_event_time() > now) {
    return success();
  }
  Stopwatch time(report_.profile.programs_ns);
  parts_.programs.step(now, inbox_, parts_.physics.poses(), outbox_);
  inbox_.clear();
  if (auto well = parts_.programs.failure(); !well) return well;
  if (auto steered = steer(now); !steered) return steered;
  auto& items = outbox_.items();
  std::ranges::stable_sort(items, {}, [](const Outbox::Item& item) { return item.from; });
  for (Outbox::Item& item : items) {
    Packet packet{0, item.from, item.to, now, std::move(item.bytes)};
    auto id = ledger_.send(packet);
    if (!id) return id.error();
    packet.id = *id;
    if (send_observer_) send_observer_(packet, parts_.physics.poses());
    captured_.push_back({now, {now, 1 + item.from, sequence_++}, index, std::move(packet)});
  }
  items.clear();
  return success();
}

Result<void> Engine::steer(Time now) {
  for (const Outbox::Steering& told : outbox_.steering()) {
    auto left_out = parts_.physics.steer(told.robot, told.motion);
    if (!left_out) return left_out.error();
    ++report_.motions;
    if (left_out->empty()) continue;
    const auto first = report_.in_part.try_emplace(told.robot, InPart{0, now, *left_out}).first;
    ++first->second.count;
  }
  outbox_.steering().clear();
  return success();
}

Result<std::int64_t> Engine::run_physics(Window window, bool idle) {
  const auto poses = parts_.physics.poses();
  refreshes_.clear();
  used_.assign(poses.begin(), poses.end());
  Time at = now_;
  for (std::int64_t j = index_; j < window.end;) {
    std::int64_t next = j + 1;
    // Nothing happens in the network until a program sends, so poses do not matter yet.
    const bool quiet = idle && captured_.empty();
    if (options_.skip && quiet) {
      const Time due = parts_.programs.next_event_time();
      if (due > at) next = std::clamp(options_.step.index_at_or_after(due), next, window.end);
    }
    const Time to = options_.step.at(next).value();
    const bool watched = !quiet && !active_.empty();
    if (watched) before_.assign(poses.begin(), poses.end());
    {
      Stopwatch time(report_.profile.physics_ns);
      if (auto moved = parts_.physics.advance(to); !moved) return moved.error();
    }
    ++report_.physics_steps;
    if (watched) bound_step(j, at, to);
    at = to;
    j = next;
    if (j == window.end) break;
    const std::size_t sent = captured_.size();
    if (auto ran = run_programs(j); !ran) return ran.error();
    if (captured_.size() > sent) {
      if (window.until_send) {
        programs_ran_ = true;
        return j;
      }
      update_active();
    }
  }
  return window.end;
}

void Engine::bound_step(std::int64_t index, Time before, Time after) {
  const auto poses = parts_.physics.poses();
  const double seconds = (after - before).seconds();
  const auto& believed = refreshes_.empty() ? used_ : refreshes_.back().poses;
  auto error = tracker_.over_step(believed, before_, poses, seconds, active_);
  const std::int64_t since = refreshes_.empty() ? index_ : refreshes_.back().index;
  if (error.power_db > parts_.method.most_power_error_db() && since < index) {
    refreshes_.push_back({index, before_});
    ++report_.pose_refreshes;
    error = tracker_.over_step(before_, before_, poses, seconds, active_);
  }
  // A packet that waited was sent in the previous window. Since then the robots moved by at most
  // the same distance again.
  const double factor = parts_.method.exchange() == Exchange::exact ? 1 : 2;
  report_.bounds.position_m = std::max(report_.bounds.position_m, factor * error.position_m);
  const double power_db = factor * error.power_db;
  report_.bounds.power_db = std::max(report_.bounds.power_db, power_db);
  if (options_.requested.power_db && power_db > *options_.requested.power_db) {
    note_power(error, power_db, before);
  }
}

void Engine::note_power(const BoundTracker::Error& error, double power_db, Time at) {
  if (!report_.power_exceeded) report_.power_exceeded.emplace();
  Exceeded& exceeded = *report_.power_exceeded;
  Exceeded::Case found{0, error.pair.from, error.pair.to, at, power_db, error.sight_db};
  // The search for the packet costs time, so it happens only for a case of the report.
  if (exceeded.count == 0 || power_db > exceeded.worst.value) {
    found.packet = ledger_.first_of(error.pair);
  }
  exceeded.add(found);
}

void Engine::note_latency(const Outcome& outcome, const Ledger::Entry& entry, Time end) {
  const Step& step = options_.step;
  const Time earliest = step.at(step.index_at_or_before(outcome.time) + 1).value();
  const Time stamp = entry.packet.stamp;
  const Duration late = (end - earliest) + (std::max(entry.entered, stamp) - stamp);
  if (late <= *options_.requested.latency) return;
  if (!report_.latency_exceeded) report_.latency_exceeded.emplace();
  report_.latency_exceeded->add(
      {outcome.id, entry.packet.from, outcome.to, end, static_cast<double>(late.ns)});
}

void Engine::update_active() { ledger_.active(active_); }

void Engine::capture(Time end) {
  const Exchange exchange = parts_.method.exchange();
  for (Waiting& item : captured_) {
    sent_.push_back(item.packet);
    item.entry = entry_of(exchange, item.packet.stamp, now_, end);
    report_.entry_wait = std::max(report_.entry_wait, item.entry - item.packet.stamp);
    waiting_.push_back(std::move(item));
  }
  captured_.clear();
  std::ranges::stable_sort(waiting_, [](const Waiting& a, const Waiting& b) {
    return std::tie(a.entry, a.key) < std::tie(b.entry, b.key);
  });
}

Result<void> Engine::run_network(std::int64_t end_index, Time end) {
  const Time network_end = parts_.method.network_time(end_index, end);
  const Duration off{std::abs((network_end - end).ns)};
  report_.clock_error = std::max(report_.clock_error, off);
  std::vector<Waiting> later;
  if (programs_ran_) {  // the window ended at these sends, which belong to the next window
    later = std::exchange(captured_, {});
  }
  capture(end);
  captured_ = std::move(later);
  const bool due = !waiting_.empty() && waiting_.front().entry < end;
  if (!due && parts_.network.next_event_time() >= network_end) {
    if (options_.skip) {
      ++report_.windows_skipped;
      return close_window(network_end, end);
    }
  } else {
    const Time first = options_.step.at(index_ + 1).value();
    report_.bounds.latency = std::max(report_.bounds.latency, end - first);
  }
  {
    Stopwatch time(report_.profile.network_ns);
    if (auto synced = sync_network(network_end, end); !synced) return synced;
  }
  auto closed = close_window(network_end, end);
  network_end_ = network_end;
  return closed;
}

Result<void> Engine::sync_network(Time network_end, Time end) {
  Network& network = parts_.network;
  if (auto set = network.set_poses(used_); !set) return set;
  std::size_t entered = 0;
  for (; entered < waiting_.size() && waiting_[entered].entry < end; ++entered) {
    Waiting& item = waiting_[entered];
    Packet packet = std::move(item.packet);
    packet.stamp = parts_.method.exchange() == Exchange::exact
                       ? parts_.method.network_time(item.index, item.entry)
                       : item.entry;
    if (auto taken = network.inject(packet); !taken) return taken;
    ledger_.enter(packet.id, packet.stamp);
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(entered));
  for (const Refresh& refresh : refreshes_) {
    const Time at = options_.step.at(refresh.index).value();
    if (auto ran = advance_network(parts_.method.network_time(refresh.index, at)); !ran) return ran;
    if (auto set = network.set_poses(refresh.poses); !set) return set;
  }
  if (parts_.method.stops_at_events()) {
    for (Time next = network.next_event_time(); next.ns < network_end.ns - 1;
         next = network.next_event_time()) {
      if (auto ran = advance_network({next.ns + 1}); !ran) return ran;
    }
  }
  if (auto ran = advance_network(network_end); !ran) return ran;
  return network.poll(outcomes_);
}

Result<void> Engine::advance_network(Time end) {
  ++report_.network_syncs;
  if (auto ran = parts_.network.advance(end); !ran) return ran;
  if (parts_.network.next_event_time() < end) {
    return Error{Code::corrupt,
                 "the network simulator plans an event at " +
                     std::to_string(parts_.network.next_event_time().ns) +
                     " ns, which is before its current time, " + std::to_string(end.ns) + " ns",
                 ""};
  }
  return success();
}

Result<void> Engine::close_window(Time network_end, Time end) {
  if (!std::ranges::is_sorted(outcomes_, happens_before)) {
    std::ranges::sort(outcomes_, happens_before);
  }
  auto send = sent_.begin();
  for (Outcome& outcome : outcomes_) {
    auto entry = ledger_.check(outcome, network_end_, network_end);
    if (!entry) return entry.error();
    for (; send != sent_.end() && send->stamp <= outcome.time; ++send) parts_.trace.send(*send);
    parts_.trace.outcome(outcome, end);
    const Packet& sent = (*entry)->packet;  // until settle()
    if (observer_) observer_(outcome, sent);
    if (outcomes_used_) {
      parts_.method.settled({outcome, sent, (*entry)->settled, (*entry)->open == outcome.copies});
    }
    if (outcome.fate == Fate::delivered) {
      if (options_.requested.latency) note_latency(outcome, **entry, end);
      inbox_.push_back({outcome.id, sent.from, outcome.to, sent.stamp, outcome.time, sent.bytes,
                        DropReason::none, outcome.parts});
    } else if (sent.to != kEveryone && parts_.programs.wants_failures()) {
      inbox_.push_back(
          {outcome.id, sent.from, sent.to, sent.stamp, outcome.time, sent.bytes, outcome.reason});
    }
    ledger_.settle(outcome);
  }
  for (; send != sent_.end(); ++send) parts_.trace.send(*send);
  sent_.clear();
  outcomes_.clear();
  return success();
}

Report Engine::report() const {
  Report report = report_;
  report.packets = ledger_.counts();
  report.trace_hash = parts_.trace.hash();
  report.requested = options_.requested;
  report.remarks = parts_.method.remarks();
  // The distances between instants of a fractional grid differ by 1 ns. A delay of whole steps can
  // therefore end just after an instant.
  const Duration rounding = options_.step.denominator() == 1 || report.entry_wait.ns == 0
                                ? Duration{0}
                                : options_.step.longest();
  report.bounds.latency = report.bounds.latency + report.entry_wait + rounding;
  const RemoteCost network = parts_.network.cost() - network_before_;
  const RemoteCost physics = parts_.physics.cost() - physics_before_;
  report.profile.wait_ns = network.wait_ns + physics.wait_ns;
  report.profile.codec_ns = network.codec_ns + physics.codec_ns;
  report.profile.network_ns -= network.wait_ns + network.codec_ns;
  report.profile.physics_ns -= physics.wait_ns + physics.codec_ns;
  return report;
}

}  // namespace hyphos::cosim
