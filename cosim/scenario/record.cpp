#include "cosim/scenario/record.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hyphos::cosim {
namespace {

constexpr std::size_t kMostWindows = 2000;  // in the record. Beyond it neighbours are merged
constexpr std::int64_t kMostPlaces = 30'000;
constexpr std::int64_t kMostSamples = 500;

}  // namespace

Record::Record(std::uint32_t nodes, const Scene& scene, Duration end, std::FILE* csv)
    : nodes_(nodes), scene_(scene), csv_(csv) {
  const std::int64_t samples =
      std::clamp<std::int64_t>(kMostPlaces / std::max<std::uint32_t>(nodes, 1), 50, kMostSamples);
  apart_ = {std::max<std::int64_t>(end.ns / samples, 1)};
  if (csv_ != nullptr) {
    std::fputs("packet,from,to,bytes,sent_ns,distance_m,obstacles_db,fate,reason,fate_ns\n", csv_);
  }
}

void Record::sent(const Packet& packet, std::span<const Pose> poses) {
  Open& open = open_[packet.id];
  open.packet = packet;
  open.packet.bytes = {};
  open.bytes = packet.bytes.size();
  const Vec3& here = poses[packet.from].position;
  for (NodeId to = 0; to < nodes_; ++to) {
    if (to == packet.from || (packet.to != kEveryone && packet.to != to)) continue;
    const Vec3& there = poses[to].position;
    open.copies.push_back({to, length(there - here), scene_.loss_db(here, there)});
  }
  open.left = open.copies.size();
}

void Record::outcome(const Outcome& outcome, const Packet& packet) {
  const auto found = open_.find(packet.id);
  if (found == open_.end()) return;
  Open& open = found->second;
  open.left -= std::min<std::size_t>(open.left, outcome.copies);
  if (outcome.to == kEveryone) {
    open.rest_time = outcome.time;
    open.rest_reason = outcome.reason;
  } else {
    const auto copy = std::ranges::find(open.copies, outcome.to, &Copy::to);
    if (copy != open.copies.end()) {
      settle(open, *copy, outcome.fate, outcome.reason, outcome.time);
    }
  }
  if (open.left > 0) return;
  for (Copy& copy : open.copies) {
    if (!copy.settled) settle(open, copy, Fate::dropped, open.rest_reason, open.rest_time);
  }
  open_.erase(found);
}

void Record::settle(const Open& open, Copy& copy, Fate fate, DropReason reason, Time time) {
  copy.settled = true;
  const auto bin = static_cast<std::uint32_t>(copy.distance_m / kMetres);
  Distance& distance = distances_[{bin, copy.obstacles_db > 0}];
  ++distance.copies;
  if (fate == Fate::delivered) {
    const std::int64_t delay = (time - open.packet.stamp).ns;
    ++distance.delivered;
    distance.delay_ns += static_cast<double>(delay);
    distance.least_ns = std::min(distance.least_ns, delay);
    distance.most_ns = std::max(distance.most_ns, delay);
  } else {
    ++distance.dropped[static_cast<std::size_t>(reason)];
  }
  const bool delivered = fate == Fate::delivered;
  write(open, copy, delivered ? "delivered" : "dropped", delivered ? "" : to_string(reason), time);
}

void Record::write(const Open& open, const Copy& copy, std::string_view fate,
                   std::string_view reason, Time time) {
  if (csv_ == nullptr) return;
  const Packet& packet = open.packet;
  std::fprintf(csv_, "%llu,%u,%u,%zu,%lld,%.3f,%.2f,%.*s,%.*s,",
               static_cast<unsigned long long>(packet.id), packet.from, copy.to, open.bytes,
               static_cast<long long>(packet.stamp.ns), copy.distance_m, copy.obstacles_db,
               static_cast<int>(fate.size()), fate.data(), static_cast<int>(reason.size()),
               reason.data());
  if (time == kNever) {
    std::fputc('\n', csv_);
  } else {
    std::fprintf(csv_, "%lld\n", static_cast<long long>(time.ns));
  }
}

void Record::window(Time end, std::span<const Pose> poses) {
  const Duration length = end - window_begin_;
  if (!windows_.empty() && windows_.back().count < joined_) {
    Windows& last = windows_.back();
    last = {last.begin, end, last.count + 1, std::min(last.shortest, length),
            std::max(last.longest, length)};
  } else {
    if (windows_.size() == kMostWindows) join_windows();
    windows_.push_back({window_begin_, end, 1, length, length});
  }
  window_begin_ = end;
  headings_.resize(poses.size());
  std::ranges::transform(poses, headings_.begin(),
                         [](const Pose& pose) { return yaw_of(pose.orientation); });
  if (end < due_) return;
  due_ = end + apart_;
  Sample& sample = samples_.emplace_back();
  sample.time = end;
  for (const Pose& pose : poses) sample.places.push_back(pose.position);
}

void Record::join_windows() {
  joined_ *= 2;
  for (std::size_t i = 0; i < kMostWindows / 2; ++i) {
    const Windows& a = windows_[2 * i];
    const Windows& b = windows_[2 * i + 1];
    windows_[i] = {a.begin, b.end, a.count + b.count, std::min(a.shortest, b.shortest),
                   std::max(a.longest, b.longest)};
  }
  windows_.resize(kMostWindows / 2);
}

Result<void> Record::finish() {
  if (csv_ == nullptr) return success();
  std::vector<const Open*> left;
  for (const auto& [id, open] : open_) left.push_back(&open);
  std::ranges::sort(left, {}, [](const Open* open) { return open->packet.id; });
  for (const Open* open : left) {
    for (const Copy& copy : open->copies) {
      if (!copy.settled) write(*open, copy, "in_flight", "", kNever);
    }
  }
  if (std::fflush(csv_) != 0 || std::ferror(csv_) != 0) {
    return Error{Code::io, std::string("cannot write the packets: ") + std::strerror(errno), ""};
  }
  return success();
}

}  // namespace hyphos::cosim
