#include "cosim/network/cell.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cosim/radio/decibels.hpp"

namespace hyphos::cosim {
namespace {

constexpr Duration kSlot = Duration::from_us(500);  // carriers of 30 kHz (3GPP TS 38.211, 4.3.2)
constexpr std::int64_t kPeriod = 5;
constexpr double kSpecial = 10.0 / 14;  // of the slot S: symbols down
constexpr Duration kMeasures = Duration::from_ms(40);
constexpr Duration kFeedback = Duration::from_ms(4);  // age of a known channel quality
constexpr std::int64_t kRepeats = 10;                 // slots between the copies of a block
constexpr int kMostCopies = 4;
constexpr Duration kDecode = kSlot;
constexpr Duration kDiscard = Duration::from_ms(1000);      // TS 38.331, discardTimer
constexpr double kOutOfSyncDb = -8;                         // TS 38.133, 8.1: 10 % of PDCCH lost
constexpr Duration kLinkFailure = Duration::from_ms(1000);  // T310
constexpr Duration kReconnect = Duration::from_ms(200);
constexpr double kStationNoiseDb = 4;  // a base station has 5 dB of noise figure, a robot 9
constexpr double kLeastGain = -400;

constexpr std::uint64_t kHostDelay = 3;  // purposes of random draws
constexpr std::uint64_t kBlock = std::uint64_t{0x60} << 32;

enum class Use { down, special, up };
Use use_of(std::int64_t slot) {
  const std::int64_t place = slot % kPeriod;
  return place == 4 ? Use::up : place == 3 ? Use::special : Use::down;
}

/// The start of the first slot for sending up that is not before `at`.
Time next_up(Time at) {
  std::int64_t slot = (at.ns + kSlot.ns - 1) / kSlot.ns;
  while (use_of(slot) != Use::up) ++slot;
  return {slot * kSlot.ns};
}

}  // namespace

Result<void> CellNetwork::init(std::uint32_t nodes, std::uint64_t seed) {
  if (options_.cell.stations.empty()) {
    return Error{Code::invalid_config, "a cellular radio needs a base station", "cells"};
  }
  RadioOptions options = options_;
  std::vector<Antenna> antennas;
  for (const BaseStation& station : options_.cell.stations) {
    antennas.push_back({.gain_dbi = station.gain_dbi});
    stations_.push_back({station.place, {}});
  }
  antennas.insert(antennas.end(), options_.antennas.begin(), options_.antennas.end());
  options.antennas = std::move(antennas);
  auto model = RadioModel::make(options, scene_, seed);
  if (!model) return model.error();
  if (model->named() == nullptr || !model->named()->kind().cellular) {
    return Error{Code::invalid_config, "not a cellular radio", "kind"};
  }
  radio_.emplace(*model->named());
  station_noise_dbm_ = radio_->noise_dbm() - kStationNoiseDb;
  seed_ = seed;
  poses_.assign(nodes, {});
  users_.assign(nodes, {});
  turns_.assign(stations_.size(), {});
  due_.clear(nodes);
  push({}, Kind::measure);
  return success();
}

Result<void> CellNetwork::set_poses(std::span<const Pose> poses) {
  if (poses.size() != users_.size()) {
    return Error{
        Code::invalid_config,
        std::to_string(poses.size()) + " poses for " + std::to_string(users_.size()) + " nodes",
        "cell"};
  }
  poses_.assign(poses.begin(), poses.end());
  return success();
}

Result<void> CellNetwork::inject(const Packet& packet) {
  if (auto checked = due_.check(packet); !checked) return checked;
  const auto most = static_cast<std::uint64_t>(options_.host_jitter.ns);
  const Duration jitter{
      static_cast<std::int64_t>(draw(seed_, packet.id, kHostDelay, packet.from) % (most + 1))};
  Time& entry = users_[packet.from].last_entry;
  entry = std::max(entry, packet.stamp + jitter);
  push(entry, Kind::up, packet);
  return success();
}

void CellNetwork::push(Time time, Kind kind, Packet packet) {
  events_.push({time, kind, order_++, std::move(packet)});
}

Result<void> CellNetwork::advance(Time end) {
  while (!events_.empty() && events_.top().time < end) {
    const Event event = events_.top();
    events_.pop();
    switch (event.kind) {
      case Kind::measure:
        for (NodeId robot = 0; robot < users_.size(); ++robot) measure(robot, event.time);
        push(event.time + kMeasures, Kind::measure);
        break;
      case Kind::up:
      case Kind::down:
        enter(event);
        break;
      case Kind::slot:
        next_slot_ = kNever;
        run_slot(event.time);
        break;
    }
  }
  return due_.advance(end);
}

Time CellNetwork::next_event_time() const {
  const Time event = events_.empty() ? kNever : events_.top().time;
  return std::min(event, due_.next_event_time());
}

Result<void> CellNetwork::poll(std::vector<Outcome>& outcomes) {
  due_.poll(outcomes);
  return success();
}

// --- Stations

/// The mean power over fading.
double CellNetwork::strength_dbm(NodeId robot, std::uint32_t station, Time now) const {
  const auto node = static_cast<NodeId>(stations_.size()) + robot;
  const Channel::Parts parts =
      radio_->channel().parts(station, stations_[station], node, poses_[robot], now);
  return options_.cell.stations[station].tx_power_dbm + parts.sum_db() - parts.fading_db;
}

double CellNetwork::sinr_db(NodeId robot, std::uint32_t station, bool down, Time now) const {
  const auto node = static_cast<NodeId>(stations_.size()) + robot;
  const auto gain = [&](std::uint32_t from) {
    return radio_->channel()
        .gain_db(from, stations_[from], node, poses_[robot], now, kLeastGain)
        .value_or(kLeastGain);
  };
  if (!down) return options_.tx_power_dbm + gain(station) - station_noise_dbm_;
  double noise = to_mw(radio_->noise_dbm());
  for (std::uint32_t other = 0; other < stations_.size(); ++other) {
    if (other == station) continue;
    noise += options_.cell.load * to_mw(options_.cell.stations[other].tx_power_dbm + gain(other));
  }
  return options_.cell.stations[station].tx_power_dbm + gain(station) - to_db(noise);
}

std::uint32_t CellNetwork::strongest(NodeId robot, Time now) const {
  std::uint32_t best = 0;
  double most = strength_dbm(robot, 0, now);
  for (std::uint32_t station = 1; station < stations_.size(); ++station) {
    const double power = strength_dbm(robot, station, now);
    if (power <= most) continue;
    most = power;
    best = station;
  }
  return best;
}

void CellNetwork::attach(User& user, std::uint32_t station, Time from) {
  if (user.station != station) ++handovers_;
  user.station = station;
  user.attached = from;
  user.better_since = user.bad_since = kNever;
}

void CellNetwork::measure(NodeId robot, Time now) {
  User& user = users_[robot];
  if (now == Time{}) {
    user.station = strongest(robot, now);
    return;
  }
  if (user.attached > now) return;
  const std::uint32_t best = strongest(robot, now);
  const double own = strength_dbm(robot, user.station, now);
  if (own - radio_->noise_dbm() < kOutOfSyncDb) {
    user.bad_since = std::min(user.bad_since, now);
    if (now - user.bad_since >= kLinkFailure) attach(user, best, now + kReconnect);
    return;
  }
  user.bad_since = kNever;
  const bool better =
      best != user.station && strength_dbm(robot, best, now) > own + options_.cell.handover_db;
  if (!better) {
    user.better_since = kNever;
    return;
  }
  if (user.better_since == kNever || user.better != best) user.better_since = now;
  user.better = best;
  if (now - user.better_since < options_.cell.time_to_trigger) return;
  attach(user, best, now + options_.cell.interruption);
}

// --- Queues

void CellNetwork::enter(const Event& event) {
  const bool down = event.kind == Kind::down;
  const Packet& packet = event.packet;
  User& user = users_[down ? packet.to : packet.from];
  std::deque<Item>& queue = down ? user.down : user.up;
  if (queue.size() >= options_.queue_packets) {
    return drop(packet, down, event.time, DropReason::queue_full);
  }
  const RadioKind& kind = radio_->kind();
  const std::size_t bytes = packet.bytes.size() + kind.network_bytes + kind.mac_bytes;
  Item item{packet, event.time, event.time, 8 * static_cast<double>(bytes), event.time};
  if (!down && queue.empty()) item.eligible = next_up(event.time) + kSlot * kPeriod;
  queue.push_back(std::move(item));
  want_slot(event.time);
}

void CellNetwork::want_slot(Time from) {
  const Time slot{(from.ns + kSlot.ns - 1) / kSlot.ns * kSlot.ns};
  if (next_slot_ <= slot) return;
  next_slot_ = slot;
  push(slot, Kind::slot);
}

bool CellNetwork::waiting() const {
  return std::ranges::any_of(
      users_, [](const User& user) { return !user.up.empty() || !user.down.empty(); });
}

void CellNetwork::drop(const Packet& packet, bool down, Time now, DropReason reason) {
  const bool everyone = packet.to == kEveryone && !down;
  Outcome outcome{
      .id = packet.id, .to = packet.to, .time = now, .fate = Fate::dropped, .reason = reason};
  if (everyone) outcome.copies = static_cast<std::uint32_t>(users_.size() - 1);
  due_.push(std::move(outcome));
}

void CellNetwork::drop_old(std::deque<Item>& queue, bool down, Time now) {
  while (!queue.empty() && now - queue.front().entered >= kDiscard) {
    drop(queue.front().packet, down, now, DropReason::out_of_range);
    queue.pop_front();
  }
}

/// The last block of a packet has arrived on this hop.
void CellNetwork::finish(NodeId robot, bool down, const Item& item) {
  const Time done = item.done + kDecode;
  if (down) {
    due_.push({.id = item.packet.id, .to = robot, .time = done, .bytes = item.packet.bytes});
    return;
  }
  Packet packet = item.packet;
  const Time there = done + options_.cell.core_delay;
  if (packet.to != kEveryone) return push(there, Kind::down, std::move(packet));
  for (NodeId to = 0; to < users_.size(); ++to) {
    if (to == robot) continue;
    packet.to = to;
    push(there, Kind::down, packet);
  }
}

// --- Slots

void CellNetwork::run_slot(Time now) {
  const std::int64_t slot = now.ns / kSlot.ns;
  const Use use = use_of(slot);
  for (User& user : users_) {
    drop_old(user.up, false, now);
    drop_old(user.down, true, now);
  }
  for (std::uint32_t station = 0; station < stations_.size(); ++station) {
    serve(station, use != Use::up, slot, use == Use::special ? kSpecial : 1, now);
  }
  repeated_.erase(repeated_.begin(), repeated_.lower_bound({slot + 1, 0, false}));
  if (waiting()) want_slot(now + kSlot);
}

void CellNetwork::serve(std::uint32_t station, bool down, std::int64_t slot, double size,
                        Time now) {
  double left = 1;
  if (const auto found = repeated_.find({slot, station, down}); found != repeated_.end()) {
    left -= found->second;
  }
  const auto count = static_cast<std::uint32_t>(users_.size());
  std::uint32_t& turn = turns_[station][down ? 1 : 0];
  const std::uint32_t first = turn;
  for (std::uint32_t i = 0; i < count && left > 1e-9; ++i) {
    const NodeId robot = (first + i) % count;
    User& user = users_[robot];
    if (user.station != station || user.attached > now) continue;
    const std::deque<Item>& queue = down ? user.down : user.up;
    while (left > 1e-9 && !queue.empty() && queue.front().eligible <= now) {
      const double used = send_block(robot, down, slot, size, left, now);
      if (used == 0) break;
      left -= used;
      turn = (robot + 1) % count;
    }
  }
}

/// The highest rate that loses at most 10 % of blocks, or -1.
int CellNetwork::quality(NodeId robot, std::uint32_t station, bool down, Time now) const {
  const double sinr =
      sinr_db(robot, station, down, Time{std::max<std::int64_t>(0, (now - Time{kFeedback.ns}).ns)});
  const auto rates = static_cast<int>(radio_->kind().rates.size());
  for (int rate = rates - 1; rate >= 0; --rate) {
    if (radio_->frame_error(static_cast<std::uint32_t>(rate), sinr, 0) <= 0.1) return rate;
  }
  return -1;
}

double CellNetwork::send_block(NodeId robot, bool down, std::int64_t slot, double size, double left,
                               Time now) {
  User& user = users_[robot];
  std::deque<Item>& queue = down ? user.down : user.up;
  Item& item = queue.front();
  const int rate = quality(robot, user.station, down, now);
  if (rate < 0) return 0;
  const double whole =
      radio_->kind().rates[static_cast<std::size_t>(rate)].mbit * 1e6 * kSlot.seconds() * size;
  const double bits = std::min(item.bits, left * whole);
  const double share = bits / whole;
  item.bits -= bits;
  double ratio = 0;  // of all copies
  for (int copy = 0; copy < kMostCopies; ++copy) {
    const Time start = now + kSlot * (copy * kRepeats);
    if (copy > 0) repeated_[{slot + copy * kRepeats, user.station, down}] += share;
    ratio += to_ratio(sinr_db(robot, user.station, down, start));
    const double lost = radio_->frame_error(static_cast<std::uint32_t>(rate), to_db(ratio), 0);
    const double chance =
        draw_unit(seed_, item.packet.id, kBlock + static_cast<std::uint64_t>(slot * 8 + copy),
                  2 * robot + (down ? 1 : 0));
    if (chance < lost) continue;
    item.done = std::max(item.done, start + kSlot);
    if (item.bits <= 1e-6) {
      finish(robot, down, item);
      queue.pop_front();
    }
    return share;
  }
  drop(item.packet, down, now + kSlot * (kMostCopies * kRepeats), DropReason::retry_limit);
  queue.pop_front();
  return share;
}

}  // namespace hyphos::cosim
