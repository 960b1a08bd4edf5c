#include "transport/shm/ring_table.hpp"

#include <algorithm>

namespace hyphos::transport::shm_detail {

// The lowest free index below `limit`.
std::optional<std::uint32_t> RingTable::take_below(std::uint32_t limit) {
  const auto free = std::find(used_.begin(), used_.end(), false);
  const auto index = static_cast<std::uint32_t>(free - used_.begin());
  if (index >= limit) return {};
  if (free == used_.end()) {
    used_.push_back(true);
  } else {
    *free = true;
  }
  return index;
}

std::optional<std::uint32_t> RingTable::take() { return take_below(shm::kMaxRings); }

Result<void> RingTable::add_ring(shm::Control& own, const Match& match, std::uint32_t index,
                                 const shm::RingRecord& record) {
  if (auto written = own.set_ring(index, record); !written) return written;
  remove_refusals(own, [&](const Match& refused) { return refused == match; });
  rings_.emplace(match, index);
  return {};
}

bool RingTable::add_refusal(shm::Control& own, const Match& match, const shm::RingRecord& record) {
  if (refusals_.contains(match)) return false;
  const auto index = take_below(shm::kMaxRings + shm::kMaxRefusals);
  if (!index) return false;
  if (!own.set_ring(*index, record)) {
    give_back(*index);
    return false;
  }
  refusals_.emplace(match, *index);
  return true;
}

void RingTable::remove_ring(shm::Control& own, const Match& match, std::uint32_t index) {
  (void)own.set_ring(index, {});
  rings_.erase(match);
  give_back(index);
}

void RingTable::remove_refusals(shm::Control& own, const std::function<bool(const Match&)>& which) {
  for (auto at = refusals_.begin(); at != refusals_.end();) {
    if (!which(at->first)) {
      ++at;
      continue;
    }
    (void)own.set_ring(at->second, {});
    used_[at->second] = false;
    at = refusals_.erase(at);
  }
}

}  // namespace hyphos::transport::shm_detail
