#include "cosim/network/analytic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "cosim/radio/decibels.hpp"

namespace hyphos::cosim {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// The purpose of a random draw, mixed into its arguments.
constexpr std::uint64_t kBackoff = std::uint64_t{1} << 40;
constexpr std::uint64_t kFrameError = std::uint64_t{2} << 40;
constexpr std::uint64_t kHostJitter = std::uint64_t{3} << 40;
constexpr std::uint64_t kDetection = std::uint64_t{4} << 40;

Error past(const std::string& what, Time at, Time now) {
  return {Code::out_of_range,
          what + " at " + std::to_string(at.ns) + " ns, but the radio is already at " +
              std::to_string(now.ns) + " ns",
          "analytic"};
}

}  // namespace

bool AnalyticRadio::Event::operator>(const Event& other) const {
  return std::tie(time, kind, node, order) >
         std::tie(other.time, other.kind, other.node, other.order);
}

Result<void> AnalyticRadio::init(std::uint32_t nodes, std::uint64_t seed) {
  auto model = RadioModel::make(options_, scene_, seed);
  if (!model) return model.error();
  model_.emplace(*model);
  seed_ = seed;
  noise_mw_ = to_mw(model_->noise_dbm());
  if (const Radio* const named = model_->named()) {
    jammers_ = Jammers(options_.jammers, *named, nodes, seed);
    energy_mw_ = to_mw(named->kind().energy_dbm);
  }
  now_ = {};
  poses_.assign(nodes, {});
  stations_.assign(nodes, {});
  cells_.reset(model_->range_m());
  cells_.place(poses_);
  return success();
}

Result<void> AnalyticRadio::set_poses(std::span<const Pose> poses) {
  if (poses.size() != stations_.size()) {
    return Error{
        Code::invalid_config,
        std::to_string(poses.size()) + " poses for " + std::to_string(stations_.size()) + " nodes",
        "analytic"};
  }
  poses_.assign(poses.begin(), poses.end());
  cells_.place(poses_);
  return success();
}

Result<void> AnalyticRadio::inject(const Packet& packet) {
  if (packet.from >= stations_.size() ||
      (packet.to != kEveryone && packet.to >= stations_.size())) {
    return Error{Code::not_found, "no node " + std::to_string(std::max(packet.from, packet.to)),
                 "analytic"};
  }
  if (packet.stamp < now_) return past("a packet", packet.stamp, now_);
  std::uint64_t place = arriving_.size();
  if (free_arriving_.empty()) {
    arriving_.push_back(packet);
  } else {
    place = free_arriving_.back();
    free_arriving_.pop_back();
    arriving_[place] = packet;
  }
  // Packets of one host keep their order.
  const auto most = static_cast<std::uint64_t>(options_.host_jitter.ns);
  const Duration jitter{
      static_cast<std::int64_t>(draw(seed_, packet.id, kHostJitter, packet.from) % (most + 1))};
  Time& last = stations_[packet.from].last_arrival;
  last = std::max(last, packet.stamp + jitter);
  push(last, Kind::arrival, packet.from, place);
  return success();
}

Result<void> AnalyticRadio::advance(Time end) {
  if (end < now_) return past("asked to end", end, now_);
  while (!events_.empty() && events_.top().time < end) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    handle(event);
  }
  later_.take_before(end, outcomes_);
  now_ = end;
  return success();
}

Time AnalyticRadio::next_event_time() const {
  const Time event = events_.empty() ? kNever : events_.top().time;
  return std::min(event, later_.next());
}

Result<void> AnalyticRadio::poll(std::vector<Outcome>& outcomes) {
  std::ranges::move(outcomes_, std::back_inserter(outcomes));
  outcomes_.clear();
  return success();
}

void AnalyticRadio::push(Time time, Kind kind, NodeId node, std::uint64_t token) {
  events_.push({time, kind, node, order_++, token});
}

void AnalyticRadio::handle(const Event& event) {
  switch (event.kind) {
    case Kind::received:
      return end_frame(static_cast<std::uint32_t>(event.token), event.time);
    case Kind::released:
      return release(static_cast<std::uint32_t>(event.token), event.time);
    case Kind::arrival:
      free_arriving_.push_back(event.token);
      return arrive(std::move(arriving_[event.token]));
    case Kind::attempt:
      if (stations_[event.node].generation != event.token) return;
      if (!put_off(event.node, event.time)) start_frame(event.node, event.time);
      return;
  }
}

void AnalyticRadio::arrive(Packet packet) {
  Station& station = stations_[packet.from];
  if (station.queue.size() >= options_.queue_packets) {
    const bool everyone = packet.to == kEveryone;
    const auto copies = everyone ? static_cast<std::uint32_t>(stations_.size() - 1) : 1;
    return settle(packet, nullptr, packet.to, now_, DropReason::queue_full, copies, kNever);
  }
  const NodeId node = packet.from;
  station.queue.push_back(std::move(packet));
  station.queued.push_back(now_);
  if (!station.contending && !station.sending) {
    station.window = model_->cw_min();
    station.attempt = 0;
    contend(node, now_, true);
  }
}

/// The head of the queue starts to contend. A fresh packet that finds the channel idle waits for no
/// slots.
void AnalyticRadio::contend(NodeId node, Time now, bool fresh) {
  Station& station = stations_[node];
  station.contending = true;
  const Radio* const named = model_->named();
  const bool always = named != nullptr && named->kind().always_backs_off;
  station.immediate = fresh && station.carriers == 0 && !always;
  station.slots = station.immediate ? 0 : draw_slots(node);
  station.frozen = station.carriers > 0;
  if (!station.frozen) count_down(node, now);
}

std::int64_t AnalyticRadio::draw_slots(NodeId node) const {
  const Station& station = stations_[node];
  const std::uint64_t drawn =
      draw(seed_, station.queue.front().id, kBackoff + station.attempt, node);
  return static_cast<std::int64_t>(drawn % (std::uint64_t{station.window} + 1));
}

/// The countdown begins after an idle time of DIFS. With a named radio, the time before a fresh
/// packet counts (IEEE Std 802.11-2020, 10.3.4.2).
void AnalyticRadio::count_down(NodeId node, Time now) {
  Station& station = stations_[node];
  const bool waited = station.immediate && model_->named() != nullptr;
  const Time idle =
      waited ? std::max(now, station.idle_since + model_->difs()) : now + model_->difs();
  station.attempt_at = idle + model_->slot() * station.slots;
  push(station.attempt_at, Kind::attempt, node, ++station.generation);
}

/// Another frame begins. The remaining slots of the backoff are kept, and a station that expected
/// to send at once draws new slots. A station about to send at this very instant cannot detect the
/// frame, and sends.
void AnalyticRadio::freeze(NodeId node, Time now) {
  Station& station = stations_[node];
  if (!station.contending || station.frozen || station.attempt_at <= now) return;
  if (std::exchange(station.immediate, false)) {
    station.slots = draw_slots(node);
  } else {
    const Duration slot = model_->slot();
    const Time first_slot = station.attempt_at - slot * station.slots;
    const std::int64_t passed = std::max<std::int64_t>(0, (now - first_slot).ns / slot.ns);
    station.slots -= std::min(passed, station.slots);
  }
  station.frozen = true;
  ++station.generation;
}

std::uint32_t AnalyticRadio::free_frame() {
  if (free_frames_.empty()) {
    frames_.emplace_back();
    return static_cast<std::uint32_t>(frames_.size() - 1);
  }
  const std::uint32_t index = free_frames_.back();
  free_frames_.pop_back();
  return index;
}

void AnalyticRadio::find_receptions(Frame& frame) const {
  frame.receptions.clear();
  const NodeId from = frame.packet.from;
  const Vec3 here = poses_[from].position;
  cells_.around(here, [&](NodeId node) {
    if (node == from) return;
    const Vec3 way = poses_[node].position - here;
    if (model_->surely_out_of_range(dot(way, way))) return;
    const auto power = model_->received_dbm(from, poses_[from], node, poses_[node], frame.start);
    if (!power) return;
    frame.receptions.push_back(
        {node, *power, to_mw(*power), 0, RadioModel::propagation(here, poses_[node].position)});
  });
  if (!std::ranges::is_sorted(frame.receptions, {}, &Reception::node)) {
    std::ranges::sort(frame.receptions, {}, &Reception::node);
  }
}

double AnalyticRadio::sinr_db(const Reception& reception, double jammed_mw) const {
  const double disturbed = reception.interference_mw + jammed_mw;
  if (disturbed == 0) return reception.power_dbm - model_->noise_dbm();
  return 10 * std::log10(reception.power_mw / (noise_mw_ + disturbed));
}

double AnalyticRadio::jammed_mw(NodeId node, Time now) const {
  return jammers_.empty() ? 0 : jammers_.power_mw(node, poses_, now);
}

/// Jammers have no events. Instead a countdown that ends looks back at the bursts in it, and starts
/// again after the last one that interrupted it. Returns true if it ends later.
bool AnalyticRadio::put_off(NodeId node, Time now) {
  if (jammers_.empty() || !model_->named()->kind().senses) return false;
  Station& station = stations_[node];
  const Duration wait = model_->difs();
  const Time from = station.attempt_at - model_->slot() * station.slots - wait;
  const auto seen =
      jammers_.count_down(node, poses_, energy_mw_, from, wait, model_->slot(), station.slots);
  if (!seen.interrupted || seen.end <= now) return false;
  const bool fresh = std::exchange(station.immediate, false);
  station.slots = fresh ? draw_slots(node) : seen.slots;
  station.attempt_at = seen.end + model_->slot() * (station.slots - seen.slots);
  push(station.attempt_at, Kind::attempt, node, ++station.generation);
  return true;
}

/// Decides whether a receiver of a named radio detects a frame that starts, and senses it.
void AnalyticRadio::detect(const Frame& frame, Reception& reception) const {
  const Radio* const named = model_->named();
  if (named == nullptr) return;
  const double chance = draw_unit(
      seed_, frame.packet.id, kDetection + stations_[frame.packet.from].attempt, reception.node);
  reception.detected =
      chance < model_->detection(sinr_db(reception, jammed_mw(reception.node, frame.start)));
  reception.carrier = named->kind().senses &&
                      (reception.detected || reception.power_dbm >= named->kind().energy_dbm);
}

void AnalyticRadio::start_frame(NodeId node, Time now) {
  const std::uint32_t index = free_frame();
  Station& sender = stations_[node];
  Frame& frame = frames_[index];
  frame.packet = sender.queue.front();
  frame.start = now;
  frame.arrived = frame.heard = false;
  find_receptions(frame);
  sender.contending = false;
  sender.sending = true;
  if (sender.attempt++ == 0) sender.first_try = now;
  frame.rate = choose_rate(node, now);
  for (const Heard& heard : sender.hears) {  // half-duplex
    frames_[heard.frame].receptions[heard.place].interference_mw = kInfinite;
  }
  for (std::uint32_t place = 0; place < frame.receptions.size(); ++place) {
    Reception& reception = frame.receptions[place];
    Station& station = stations_[reception.node];
    if (station.sending) reception.interference_mw = kInfinite;
    for (const Heard& heard : station.hears) {
      Reception& other = frames_[heard.frame].receptions[heard.place];
      other.interference_mw += reception.power_mw;
      reception.interference_mw += other.power_mw;
    }
    station.hears.push_back({index, place});
    detect(frame, reception);
    if (!reception.carrier) continue;
    ++station.carriers;
    freeze(reception.node, now);
  }
  const Time end = now + model_->airtime(frame.rate, frame.packet.bytes.size());
  const bool answered = frame.packet.to != kEveryone &&
                        (model_->named() == nullptr || model_->named()->kind().acknowledges);
  const Duration answer = model_->sifs() + model_->ack_airtime(frame.rate);
  push(end, Kind::received, node, index);
  push(answered ? end + answer : end, Kind::released, node, index);
}

LinkMemory& AnalyticRadio::link_of(NodeId from, NodeId to) {
  std::vector<LinkMemory>& links = stations_[from].links;
  const auto found = std::ranges::find(links, to, &LinkMemory::to);
  if (found != links.end()) return *found;
  return links.emplace_back(LinkMemory{.to = to});
}

std::uint32_t AnalyticRadio::choose_rate(NodeId node, Time now) {
  if (model_->named() == nullptr) return 0;
  const RateControl& control = model_->named()->rate_control();
  const Station& station = stations_[node];
  const Packet& packet = station.queue.front();
  if (packet.to == kEveryone || !control.remembers()) return control.everyone();
  return control.choose(link_of(node, packet.to), {packet.id, station.attempt, node, now});
}

void AnalyticRadio::report_rate(const Frame& frame) {
  if (model_->named() == nullptr || frame.packet.to == kEveryone) return;
  const RateControl& control = model_->named()->rate_control();
  if (!control.remembers()) return;
  control.report(link_of(frame.packet.from, frame.packet.to), frame.rate, frame.arrived);
}

DropReason AnalyticRadio::judge(const Frame& frame, const Reception& reception) const {
  const std::size_t bytes = frame.packet.bytes.size();
  const std::uint32_t attempt = stations_[frame.packet.from].attempt;
  const double clean_db = reception.power_dbm - model_->noise_dbm();
  if (!reception.detected) {
    // detect() has compared the same numbers if nothing disturbed the frame from its start on.
    if (reception.interference_mw == 0 && jammers_.empty()) return DropReason::out_of_range;
    const double found = draw_unit(seed_, frame.packet.id, kDetection + attempt, reception.node);
    return found < model_->detection(clean_db) ? DropReason::collision : DropReason::out_of_range;
  }
  const double chance = draw_unit(seed_, frame.packet.id, kFrameError + attempt, reception.node);
  if (chance < model_->frame_error(frame.rate, clean_db, bytes)) return DropReason::channel_error;
  return chance < disturbed_loss(frame, reception) ? DropReason::collision : DropReason::none;
}

/// The loss of a detected frame by other frames, which interfere all the time, and by jammers. Bits
/// fail independently, so the parts of a frame multiply.
double AnalyticRadio::disturbed_loss(const Frame& frame, const Reception& reception) const {
  const std::size_t bytes = frame.packet.bytes.size();
  if (jammers_.empty()) {
    if (reception.interference_mw == 0) return 0;
    return model_->frame_error(frame.rate, sinr_db(reception), bytes);
  }
  jammers_.over(reception.node, poses_, frame.start, now_, parts_);
  double arrives = 1;
  for (const Jammers::Part& part : parts_) {
    if (reception.interference_mw + part.power_mw == 0) continue;
    const double lost = model_->frame_error(frame.rate, sinr_db(reception, part.power_mw), bytes);
    arrives *= std::pow(1 - lost, part.share);
  }
  return 1 - arrives;
}

/// The last bit is sent. Every receiver has either received or lost the frame.
void AnalyticRadio::end_frame(std::uint32_t index, Time now) {
  Frame& frame = frames_[index];
  const bool everyone = frame.packet.to == kEveryone;
  for (const Reception& reception : frame.receptions) {
    std::erase_if(stations_[reception.node].hears,
                  [&](const Heard& heard) { return heard.frame == index; });
    if (!everyone && reception.node != frame.packet.to) continue;
    frame.heard = reception.detected;
    const DropReason reason = judge(frame, reception);
    frame.arrived = frame.arrived || reason == DropReason::none;
    if (everyone || reason == DropReason::none) {
      settle(frame.packet, &reception, reception.node, now, reason, 1, frame.start);
    }
  }
  const std::size_t others = stations_.size() - 1;
  if (everyone && frame.receptions.size() < others) {
    settle(frame.packet, nullptr, kEveryone, now, DropReason::out_of_range,
           static_cast<std::uint32_t>(others - frame.receptions.size()), frame.start);
  }
}

std::uint32_t AnalyticRadio::most_attempts() const {
  const Radio* const named = model_->named();
  return named != nullptr && !named->kind().acknowledges ? 1 : options_.retry_limit;
}

/// The channel is idle again for this frame and its acknowledgement.
void AnalyticRadio::release(std::uint32_t index, Time now) {
  Frame& frame = frames_[index];
  const NodeId node = frame.packet.from;
  Station& sender = stations_[node];
  sender.sending = false;
  sender.idle_since = now;
  const bool everyone = frame.packet.to == kEveryone;
  report_rate(frame);
  sender.heard = frame.heard || (model_->named() != nullptr && sender.heard);
  const bool give_up = !everyone && !frame.arrived && sender.attempt >= most_attempts();
  if (give_up) {
    settle(frame.packet, nullptr, frame.packet.to, now,
           sender.heard ? DropReason::retry_limit : DropReason::out_of_range, 1, frame.start);
  }
  if (everyone || frame.arrived || give_up) {
    sender.queue.pop_front();
    sender.queued.pop_front();
    sender.attempt = 0;
    sender.heard = false;
    sender.window = model_->cw_min();
  } else {
    sender.window = std::min(2 * sender.window + 1, model_->cw_max());
  }
  for (const Reception& reception : frame.receptions) {
    if (!reception.carrier) continue;
    Station& station = stations_[reception.node];
    if (--station.carriers > 0) continue;
    station.idle_since = now;
    if (station.contending && station.frozen) {
      station.frozen = false;
      count_down(reception.node, now);
    }
  }
  frame.packet = {};
  free_frames_.push_back(index);
  if (!sender.queue.empty()) contend(node, now, false);
}

/// Of the packet at the head of its sender's queue, whose frame ends.
DelayParts AnalyticRadio::parts_of(const Packet& packet, const Reception& reception, Time started,
                                   Time ended) const {
  const Station& sender = stations_[packet.from];
  const Time queued = sender.queued.front();
  return {.processing = queued - packet.stamp,
          .queueing = sender.first_try - queued,
          .retransmission = started - sender.first_try,
          .transmission = ended - started,
          .propagation = reception.propagation};
}

void AnalyticRadio::settle(const Packet& packet, const Reception* reception, NodeId to, Time now,
                           DropReason reason, std::uint32_t copies, Time sampled) {
  if (copies == 0) return;
  Outcome outcome{.id = packet.id, .to = to, .time = now, .copies = copies};
  outcome.fate = reason == DropReason::none ? Fate::delivered : Fate::dropped;
  outcome.reason = reason;
  if (reason == DropReason::none) outcome.bytes = packet.bytes;
  if (reception != nullptr) {
    outcome.time = now + reception->propagation;
    outcome.sampled = sampled;
    outcome.power_dbm = reception->power_dbm;
    if (reason == DropReason::none) outcome.parts = parts_of(packet, *reception, sampled, now);
  }
  later_.push(std::move(outcome));
}

}  // namespace hyphos::cosim
