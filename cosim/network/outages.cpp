#include "cosim/network/outages.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace hyphos::cosim {
namespace {

// Metres. Its square is finite and beyond the square of every range.
constexpr double kBeyond = 1e150;

}  // namespace

bool is_off(const OffTimes& times, Time at) {
  const auto later = std::ranges::upper_bound(times, at);
  return (later - times.begin()) % 2 == 1;
}

Outages::Outages(std::unique_ptr<Network> inner, std::vector<OffTimes> off)
    : inner_(std::move(inner)), off_(std::move(off)) {
  for (const OffTimes& times : off_) changes_.insert(changes_.end(), times.begin(), times.end());
  std::ranges::sort(changes_);
}

Result<void> Outages::init(std::uint32_t nodes, std::uint64_t seed) {
  off_.resize(nodes);
  now_ = {};
  changed_ = 0;
  waiting_.clear();
  poses_.clear();
  return inner_->init(nodes, seed);
}

Result<void> Outages::place(Time at) {
  if (poses_.empty()) return success();
  placed_ = poses_;
  for (NodeId node = 0; node < placed_.size(); ++node) {
    // Radios that are off must not reach each other either.
    if (is_off(off_[node], at)) placed_[node].position = {kBeyond * (1.0 + node), 0, 0};
  }
  return inner_->set_poses(placed_);
}

Result<void> Outages::set_poses(std::span<const Pose> poses) {
  if (poses.size() != off_.size()) {
    return Error{
        Code::invalid_config,
        std::to_string(poses.size()) + " poses for " + std::to_string(off_.size()) + " nodes",
        "cosim"};
  }
  poses_.assign(poses.begin(), poses.end());
  return place(now_);
}

Result<void> Outages::inject(const Packet& packet) {
  if (packet.from >= off_.size() || !is_off(off_[packet.from], packet.stamp) ||
      packet.stamp < now_) {
    return inner_->inject(packet);
  }
  Outcome outcome{.id = packet.id, .to = packet.to, .time = packet.stamp};
  outcome.fate = Fate::dropped;
  outcome.reason = DropReason::node_off;
  if (packet.to == kEveryone) outcome.copies = static_cast<std::uint32_t>(off_.size() - 1);
  if (outcome.copies == 0) return success();
  const auto later = std::ranges::upper_bound(waiting_, outcome.time, {}, &Outcome::time);
  waiting_.insert(later, std::move(outcome));
  return success();
}

Result<void> Outages::advance(Time end) {
  for (; changed_ < changes_.size() && changes_[changed_] < end; ++changed_) {
    const Time at = changes_[changed_];
    if (at < now_) continue;
    if (auto ran = inner_->advance(at); !ran) return ran;
    if (auto placed = place(at); !placed) return placed;
  }
  if (auto ran = inner_->advance(end); !ran) return ran;
  now_ = end;
  return success();
}

Time Outages::next_event_time() const {
  const Time next = inner_->next_event_time();
  if (waiting_.empty()) return next;
  // Outcomes in the past of now_ only wait for poll().
  const auto coming = std::ranges::lower_bound(waiting_, now_, {}, &Outcome::time);
  return coming == waiting_.end() ? next : std::min(next, coming->time);
}

Result<void> Outages::poll(std::vector<Outcome>& outcomes) {
  const std::size_t before = outcomes.size();
  if (auto polled = inner_->poll(outcomes); !polled) return polled;
  for (auto outcome = outcomes.begin() + static_cast<std::ptrdiff_t>(before);
       outcome != outcomes.end(); ++outcome) {
    if (outcome->to == kEveryone || !is_off(off_[outcome->to], outcome->time)) continue;
    outcome->fate = Fate::dropped;
    outcome->reason = DropReason::node_off;
    outcome->bytes = {};
  }
  const auto over = std::ranges::lower_bound(waiting_, now_, {}, &Outcome::time);
  outcomes.insert(outcomes.end(), std::make_move_iterator(waiting_.begin()),
                  std::make_move_iterator(over));
  waiting_.erase(waiting_.begin(), over);
  return success();
}

}  // namespace hyphos::cosim
