#include "view/sources/past.hpp"

#include <algorithm>
#include <set>

#include "view/sources/inbox.hpp"

namespace hyphos::view {
namespace {

constexpr std::size_t kMaxPinned = 4'096;  // values, so that ever new senders take no more memory

}  // namespace

void Past::add(Sample sample, bool latched) {
  if (!samples_.empty()) {
    sample.time_ns = std::max(sample.time_ns, samples_.back().sample.time_ns);
  }
  bytes_ += bytes_of(sample);
  const Key key{sample.channel, latched ? sample.sender : 0};
  samples_.push_back({std::move(sample), key});
  trim();
}

void Past::limit(std::size_t bytes) {
  limit_ = bytes;
  while (pinned_bytes_ > limit_ / 2) unpin(pinned_.begin());
  trim();
}

void Past::keep_from(std::uint64_t position) {
  keep_from_ = position;
  trim();
}

void Past::trim() {
  while (bytes_ > limit_ && samples_.size() > 1 && dropped_ < keep_from_) {
    bytes_ -= bytes_of(samples_.front().sample);
    pin(std::move(samples_.front()));
    samples_.pop_front();
    ++dropped_;
  }
}

void Past::unpin(std::map<Key, Sample>::iterator at) {
  const std::size_t bytes = bytes_of(at->second);
  bytes_ -= bytes;
  pinned_bytes_ -= bytes;
  pinned_.erase(at);
}

void Past::pin(Kept kept) {
  if (const auto found = pinned_.find(kept.key); found != pinned_.end()) {
    unpin(found);
  }
  const std::size_t bytes = bytes_of(kept.sample);
  // Values that take more than half of the memory would leave no room for the past.
  if (pinned_.size() >= kMaxPinned || pinned_bytes_ + bytes > limit_ / 2) return;
  bytes_ += bytes;
  pinned_bytes_ += bytes;
  pinned_.emplace(kept.key, std::move(kept.sample));
}

TimeRange Past::range() const {
  if (samples_.empty()) return {};
  return {samples_.front().sample.time_ns, samples_.back().sample.time_ns};
}

std::uint64_t Past::after(std::int64_t time_ns) const {
  const auto found =
      std::partition_point(samples_.begin(), samples_.end(),
                           [time_ns](const Kept& one) { return one.sample.time_ns <= time_ns; });
  return dropped_ + static_cast<std::uint64_t>(found - samples_.begin());
}

const Sample& Past::at(std::uint64_t position) const {
  return samples_[static_cast<std::size_t>(position - dropped_)].sample;
}

std::vector<Sample> Past::values_before(std::uint64_t position) const {
  return values_before(position, position, {});
}

std::vector<Sample> Past::values_before(std::uint64_t position, std::uint64_t end,
                                        std::span<const std::int64_t> until_ns) const {
  std::vector<Sample> out;
  std::set<Key> found;
  for (std::uint64_t i = std::min(std::max(position, end), this->end()); i > dropped_; --i) {
    const Kept& kept = samples_[static_cast<std::size_t>(i - 1 - dropped_)];
    // The rest is part of the channel's own past.
    if (i > position && kept.sample.time_ns > until_ns[kept.sample.channel]) continue;
    if (found.insert(kept.key).second) out.push_back(kept.sample);
  }
  for (const auto& [key, sample] : pinned_) {
    if (!found.contains(key)) out.push_back(sample);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; });
  return out;
}

}  // namespace hyphos::view
