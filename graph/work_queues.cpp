#include "graph/work_queues.hpp"

#include "base/hot.hpp"

namespace hyphos::graph {

HYPHOS_HOT void WorkQueues::Ring::push(Work&& work) {
  if (count_ == slots_.size()) grow();
  slots_[(head_ + count_++) & (slots_.size() - 1)] = std::move(work);
}

HYPHOS_HOT WorkQueues::Work WorkQueues::Ring::pop() {
  Work work = std::move(slots_[head_]);
  head_ = (head_ + 1) & static_cast<std::uint32_t>(slots_.size() - 1);
  --count_;
  return work;
}

void WorkQueues::Ring::grow() {
  constexpr std::size_t kFirst = 64;
  std::vector<Work> larger(slots_.empty() ? kFirst : slots_.size() * 2);
  for (std::uint32_t i = 0; i < count_; ++i) {
    larger[i] = std::move(slots_[(head_ + i) & (slots_.size() - 1)]);
  }
  slots_ = std::move(larger);
  head_ = 0;
}

HYPHOS_HOT void WorkQueues::push(std::size_t to, Priority priority, Work&& work, Fresh fresh) {
  const auto level = static_cast<std::size_t>(priority);
  Queue& queue = queues_[to];
  if (level == kHigh) high_.fetch_add(1, std::memory_order_seq_cst);
  const MutexLock lock(queue.mutex);
  ++queue.locked;
  queue.rings[level].push(std::move(work));
  if (fresh == Fresh::yes) {
    queue.pushed.store(queue.pushed.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  queue.counts[level].store(queue.rings[level].count(), std::memory_order_seq_cst);
}

HYPHOS_HOT WorkQueues::Work WorkQueues::pop(Queue& queue, std::size_t level) {
  const MutexLock lock(queue.mutex);
  ++queue.locked;
  Ring& ring = queue.rings[level];
  if (ring.count() == 0) return nullptr;  // another thread was faster
  Work work = ring.pop();
  queue.counts[level].store(ring.count(), std::memory_order_relaxed);
  if (level == kHigh) high_.fetch_sub(1, std::memory_order_relaxed);
  return work;
}

HYPHOS_HOT WorkQueues::Work WorkQueues::take_of(std::size_t level, std::size_t first) {
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const std::size_t at = first + i;
    Queue& queue = queues_[at < queues_.size() ? at : at - queues_.size()];
    if (queue.counts[level].load(std::memory_order_seq_cst) == 0) continue;
    if (Work work = pop(queue, level)) return work;
  }
  return nullptr;
}

HYPHOS_HOT WorkQueues::Work WorkQueues::take(std::size_t own, unsigned turn) {
  std::size_t first = own;
  if (turn % kOthersFirst == 0) first = (own + 1 + turn / kOthersFirst) % queues_.size();
  for (std::size_t level = kLevels; level-- > 0;) {
    if (level == kHigh && high_.load(std::memory_order_seq_cst) == 0) continue;
    if (Work work = take_of(level, first)) return work;
  }
  return nullptr;
}

std::uint64_t WorkQueues::pushed() const {
  std::uint64_t sum = 0;
  for (const Queue& queue : queues_) sum += queue.pushed.load(std::memory_order_acquire);
  return sum;
}

std::uint64_t WorkQueues::locked(std::size_t queue) {
  const MutexLock lock(queues_[queue].mutex);
  return queues_[queue].locked;
}

bool WorkQueues::any() const {
  for (const Queue& queue : queues_) {
    for (const auto& count : queue.counts) {
      if (count.load(std::memory_order_seq_cst) != 0) return true;
    }
  }
  return false;
}

}  // namespace hyphos::graph
