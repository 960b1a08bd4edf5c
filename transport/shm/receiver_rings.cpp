#include <algorithm>

#include "transport/shm/receiver.hpp"

// The calls of the directory: rings that come and go, and peers that die.
namespace hyphos::transport::shm_detail {

void Receiver::mark_ready(std::uint32_t index) {
  shm::ControlHeader& header = self_->control().header();
  header.ready[index / 64].fetch_or(std::uint64_t{1} << (index % 64), std::memory_order_seq_cst);
  shm::wake_all(header.asleep);  // R3
}

void Receiver::add(std::uint32_t index, const std::shared_ptr<RxRing>& ring) {
  const std::uint32_t words = index / 64 + 1;
  const MutexLock lock(mutex_);
  if (rings_.size() < std::size_t{words} * 64) rings_.resize(std::size_t{words} * 64);
  rings_[index] = ring;
  words_.store(std::max(words_.load(), words), std::memory_order_seq_cst);
}

void Receiver::open(std::uint32_t index, const std::shared_ptr<RxRing>& ring) {
  const MutexLock lock(mutex_);
  if (rings_[index] != ring) return;  // taken out meanwhile
  by_index_[index].store(ring.get(), std::memory_order_seq_cst);
  mark_ready(index);  // visits before had no effect
}

std::shared_ptr<RxRing> Receiver::take_out(std::uint32_t index) {
  const MutexLock lock(mutex_);
  return retire(index);
}

std::vector<std::pair<std::uint32_t, std::shared_ptr<RxRing>>> Receiver::take_out(
    const Port& port) {
  std::vector<std::pair<std::uint32_t, std::shared_ptr<RxRing>>> taken;
  const MutexLock lock(mutex_);
  for (std::uint32_t i = 0; i < rings_.size(); ++i) {
    if (rings_[i] != nullptr && rings_[i]->port.get() == &port) taken.emplace_back(i, retire(i));
  }
  return taken;
}

std::shared_ptr<RxRing> Receiver::retire(std::uint32_t index) {
  std::shared_ptr<RxRing> ring = std::exchange(rings_[index], nullptr);
  if (ring == nullptr) return ring;
  by_index_[index].store(nullptr, std::memory_order_seq_cst);
  retired_.push_back(ring);
  rings_retired_.store(true, std::memory_order_seq_cst);
  mark_ready(index);
  return ring;
}

void Receiver::lose(const Peer& peer) {
  const MutexLock lock(mutex_);
  for (std::uint32_t i = 0; i < rings_.size(); ++i) {
    RxRing* const ring = rings_[i].get();
    if (ring == nullptr || ring->peer.get() != &peer) continue;
    ring->sender_gone.store(true);
    mark_ready(i);
  }
  // It may also have cleared our receiving thread's flag, even if it sent nothing to us (R3).
  shm::wake_all(self_->control().header().asleep);
}

void Receiver::lose(const Peer& peer, const std::unordered_set<std::uint64_t>& publications) {
  const MutexLock lock(mutex_);
  for (std::uint32_t i = 0; i < rings_.size(); ++i) {
    RxRing* const ring = rings_[i].get();
    if (ring == nullptr || ring->peer.get() != &peer) continue;
    if (!publications.contains(ring->publication) && !ring->sender_gone.exchange(true)) {
      mark_ready(i);
    }
  }
}

bool Receiver::has_rings_of(const Peer& peer) const {
  const MutexLock lock(mutex_);
  return std::any_of(rings_.begin(), rings_.end(), [&](const auto& ring) {
    return ring != nullptr && ring->peer.get() == &peer;
  });
}

std::vector<std::uint32_t> Receiver::finished() const {
  std::vector<std::uint32_t> found;
  const MutexLock lock(mutex_);
  for (std::uint32_t i = 0; i < rings_.size(); ++i) {
    if (rings_[i] != nullptr && rings_[i]->finished.load()) found.push_back(i);
  }
  return found;
}

std::vector<std::pair<std::uint32_t, std::shared_ptr<RxRing>>> Receiver::replied() const {
  std::vector<std::pair<std::uint32_t, std::shared_ptr<RxRing>>> found;
  const MutexLock lock(mutex_);
  for (std::uint32_t i = 0; i < rings_.size(); ++i) {
    const auto& ring = rings_[i];
    if (ring == nullptr) continue;
    const bool left = ring->reported != RxRing::Reply::attached && ring->sender_gone.load();
    if (left || ring->reply() != ring->reported) found.emplace_back(i, ring);
  }
  return found;
}

std::uint32_t Receiver::populate(const Peer& peer, std::uint32_t first) {
  const std::uint32_t made = std::min(peer.control.header().segments.load(), shm::kMaxSegments);
  for (; first < made; ++first) {
    if (auto segment = segments_.get(self_->domain(), peer.id, first)) (*segment)->populate();
  }
  return first;
}

void Receiver::settle_forwarder(std::uint64_t dead,
                                const std::vector<std::shared_ptr<Peer>>& alive) {
  std::vector<std::shared_ptr<shm::Segment>> candidates = self_->pool().segments();
  for (const auto& peer : alive) {
    const std::uint32_t made = std::min(peer->control.header().segments.load(), shm::kMaxSegments);
    for (std::uint32_t number = 0; number < made; ++number) {
      if (auto segment = segments_.get(self_->domain(), peer->id, number)) {
        candidates.push_back(*segment);
      }
    }
  }
  for (const auto& segment : candidates) (void)segments_.relayed(segment, dead, self_->id());
  for (const auto& record : segments_.take_relayed(dead)) record->settle();
}

}  // namespace hyphos::transport::shm_detail
