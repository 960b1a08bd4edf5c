#include "cosim/realtime/emulator.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace hyphos::cosim {
namespace {

constexpr std::size_t kHeaders = 14 + 28;  // of Ethernet, and of IP and UDP
/// The number of late windows to catch up before the devices are read again.
constexpr int kTurn = 16;
/// Beyond this number of packets nothing is read. The kernel then drops and counts packets.
constexpr std::uint64_t kMostInFlight = 65'536;

}  // namespace

Emulator::Emulator(Parts parts, const EmulatorOptions& options)
    : parts_(parts),
      options_(options),
      ledger_(options.nodes),
      window_(options.step),
      held_(options.nodes) {
  for (NodeId node = 0; node < options_.nodes; ++node) change_held(node, 0);
  if (options_.radio_queue == 0 || options_.radio_rate <= 0) return;
  for (NodeId node = 0; node < options_.nodes; ++node) {
    paces_.emplace_back(options_.radio_rate, options_.radio_queue);
    parts_.outside.set_rate(node, options_.radio_rate);
  }
}

Time Emulator::reached() { return {(parts_.outside.now() - origin_).ns}; }

Result<void> Emulator::start() {
  // Round up to whole windows. The end must fit into int64.
  auto end = options_.step.at(options_.step.index_at_or_after(options_.end));
  if (!end || end->ns > kNever.ns / 4) {
    return Error{Code::out_of_range, "time overflow: the run is too long", "duration_s"};
  }
  options_.end = *end;
  if (!window_.advance()) return Error{Code::out_of_range, "time overflow", "cosim"};
  if (auto ready = parts_.physics.init(options_.nodes, options_.seed); !ready) return ready;
  if (parts_.physics.poses().size() != options_.nodes) {
    return Error{Code::corrupt,
                 "the number of robots in the physics simulator differs from the run", "cosim"};
  }
  return parts_.network.init(options_.nodes, options_.seed);
}

Result<void> Emulator::run() {
  origin_ = parts_.outside.now();
  // Packets that the kernel lost while the devices were set up do not belong to the run.
  overrun_before_ = parts_.outside.losses().overrun;
  while (counts_.end < options_.end) {
    if (auto ran = catch_up(std::min(reached(), options_.end)); !ran) return ran;
    if (goes_on_ && !goes_on_(counts_.end)) break;
    if (auto taken = read_packets(); !taken) return taken;
    if (auto waited = wait(); !waited) return waited;
  }
  return parts_.trace != nullptr ? parts_.trace->flush() : success();
}

/// Closes the windows that are over, then advances the network to the current time.
Result<void> Emulator::catch_up(Time to) {
  for (int i = 0; i < kTurn && window_.now() <= to; ++i) {
    if (auto closed = close_window(); !closed) return closed;
  }
  return window_.now() > to ? run_network(to) : success();
}

Result<void> Emulator::close_window() {
  const Time end = window_.now();
  if (auto ran = run_network(end); !ran) return ran;
  if (auto moved = parts_.physics.advance(end); !moved) return moved;
  if (window_work_) {
    if (auto worked = window_work_(end, parts_.physics); !worked) return worked;
  }
  poses_new_ = true;
  lag_.add(reached() - end);
  ++counts_.windows;
  counts_.end = end;
  pace(end);
  (void)window_.advance();  // start() has checked that it fits
  return success();
}

Result<void> Emulator::run_network(Time end) {
  Network& network = parts_.network;
  if (end <= network_at_ || network.next_event_time() >= end) return success();
  if (std::exchange(poses_new_, false)) {
    if (auto set = network.set_poses(parts_.physics.poses()); !set) return set;
  }
  if (auto ran = network.advance(end); !ran) return ran;
  if (network.next_event_time() < end) {
    return Error{Code::corrupt, "the network simulator plans an event in the past", "cosim"};
  }
  const Time begin = std::exchange(network_at_, end);
  if (auto told = network.poll(outcomes_); !told) return told;
  return settle(begin, end);
}

Result<void> Emulator::settle(Time begin, Time end) {
  std::ranges::sort(outcomes_, [](const Outcome& a, const Outcome& b) {
    return std::tie(a.time, a.id, a.to) < std::tie(b.time, b.id, b.to);
  });
  for (const Outcome& outcome : outcomes_) {
    if (auto known = ledger_.check(outcome, begin, end); !known) return known.error();
    const auto kept = kept_.find(outcome.id);
    if (outcome.fate == Fate::delivered) deliver(outcome, kept->second);
    if (parts_.trace != nullptr) parts_.trace->outcome(outcome, reached());
    if (outcome_) {
      const Kept& sent = kept->second;
      const std::size_t headers = std::min(kHeaders, sent.packet.size());
      const Buffer bytes = sent.packet.slice(headers, sent.packet.size() - headers);
      outcome_(outcome, {outcome.id, sent.from, sent.to, sent.stamp, bytes});
    }
    ledger_.settle(outcome);
    kept->second.copies -= outcome.copies;
    if (kept->second.copies > 0) continue;
    const NodeId from = kept->second.from;
    if (!paces_.empty()) paces_[from].left(kept->second.packet.size() + options_.overhead);
    change_held(from, -1);
    kept_.erase(kept);
  }
  outcomes_.clear();
  return success();
}

void Emulator::deliver(const Outcome& outcome, const Kept& kept) {
  // The ledger has compared the delivered bytes with the sent bytes: they are equal.
  if (!parts_.outside.write(outcome.to, kept.packet.bytes())) ++counts_.refused;
  late_.add(reached() - outcome.time);
}

Result<void> Emulator::read_packets() {
  if (ledger_.counts().in_flight > kMostInFlight) return success();
  const Time now = reached();
  parts_.outside.read(captured_);
  const Duration behind = now - planned_;
  if (!captured_.empty() && behind > options_.limits.p99) {
    counts_.read_late += captured_.size();
    counts_.longest_unread = std::max(counts_.longest_unread, now - looked_);
  }
  looked_ = now;
  for (Captured& captured : captured_) {
    if (auto taken = take(captured); !taken) return taken;
  }
  captured_.clear();
  return success();
}

Result<void> Emulator::take(Captured& captured) {
  // Each packet enters at its own instant. Robots whose frames begin at the same instant would
  // collide.
  last_stamp_ = std::max({reached(), network_at_, Time{last_stamp_.ns + 1}});
  Packet packet{0, captured.from, captured.to, last_stamp_, {}};
  const std::size_t headers = std::min(kHeaders, captured.bytes.size());
  packet.bytes = captured.bytes.slice(headers, captured.bytes.size() - headers);
  auto id = ledger_.send(packet);
  if (!id) return id.error();
  packet.id = *id;
  const std::uint32_t copies = packet.to == kEveryone ? options_.nodes - 1 : 1;
  kept_.emplace(packet.id,
                Kept{std::move(captured.bytes), packet.from, packet.to, packet.stamp, copies});
  change_held(packet.from, 1);
  if (parts_.trace != nullptr) parts_.trace->send(packet);
  if (sent_) sent_(packet);
  if (auto taken = parts_.network.inject(packet); !taken) return taken;
  ledger_.enter(packet.id, packet.stamp);
  return success();
}

Result<void> Emulator::wait() {
  const Time event = parts_.network.next_event_time();
  // An event at an instant is over only after that instant.
  const bool exact = event < window_.now();
  planned_ = exact ? Time{event.ns + 1} : window_.now();
  return parts_.outside.wait(origin_ + (planned_ - Time{}), exact);
}

void Emulator::change_held(NodeId from, int by) {
  std::uint32_t& held = held_[from];
  held = static_cast<std::uint32_t>(static_cast<int>(held) + by);
  if (options_.radio_queue == 0) return;
  // The radio reports a delivery before the place in its queue is free again.
  const std::uint32_t most = std::max(1U, options_.radio_queue - 1);
  parts_.outside.set_room(from, held < most ? most - held : 0);
}

/// Adapts the rates of the devices to the channel, a few times per second.
void Emulator::pace(Time now) {
  const Duration passed = now - paced_;
  if (passed < Pace::kInterval) return;
  paced_ = now;
  for (NodeId node = 0; node < paces_.size(); ++node) {
    if (const auto rate = paces_[node].update(passed, held_[node])) {
      parts_.outside.set_rate(node, *rate);
    }
  }
}

RealTimeReport Emulator::report() const {
  RealTimeReport report = counts_;
  report.origin = origin_;
  report.lag = lag_.snapshot();
  report.late = late_.snapshot();
  report.packets = ledger_.counts();
  const Outside::Losses losses = parts_.outside.losses();
  report.overrun = losses.overrun - overrun_before_;
  report.device_full = losses.device_full;
  report.to_nobody = losses.to_nobody;
  report.malformed = losses.malformed;
  return report;
}

}  // namespace hyphos::cosim
