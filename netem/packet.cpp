#include "netem/packet.hpp"

#include <cassert>
#include <numeric>

namespace hyphos::lab {

std::string_view to_string(Drop why) {
  switch (why) {
    case Drop::queue:
      return "queue";
    case Drop::loss:
      return "loss";
    case Drop::retries:
      return "retries";
    case Drop::collision:
      return "collision";
    case Drop::buffers:
      return "buffers";
    case Drop::no_host:
      return "no_host";
    case Drop::device_refused:
      return "device_refused";
  }
  return "unknown";
}

std::uint64_t Counters::dropped() const {
  return std::accumulate(drops.begin(), drops.end(), std::uint64_t{0});
}

Buffers::Buffers(std::uint32_t count) : free_(count), holders_(count, 0) {
  for (std::uint32_t i = 0; i < count; ++i) free_[i] = count - 1 - i;
}

std::optional<std::uint32_t> Buffers::acquire() {
  if (free_.empty()) return std::nullopt;
  const std::uint32_t buffer = free_.back();
  free_.pop_back();
  holders_[buffer] = 1;
  return buffer;
}

void Buffers::release(std::uint32_t buffer) {
  assert(holders_[buffer] > 0);
  if (--holders_[buffer] == 0) free_.push_back(buffer);
}

std::uint32_t Buffers::in_use() const {
  return static_cast<std::uint32_t>(holders_.size() - free_.size());
}

}  // namespace hyphos::lab
