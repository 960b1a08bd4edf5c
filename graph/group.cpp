#include "graph/group.hpp"

#include <utility>

#include "graph/subscriber.hpp"

namespace hyphos::graph {

void Group::request(std::shared_ptr<Subscriber> who, Priority priority,
                    transport::ReadyList* ready) {
  {
    const MutexLock lock(mutex_);
    waiting_.push_back({std::move(who), priority});
    if (held_ || std::exchange(enqueued_, true)) return;
  }
  executor_.enqueue(priority, [this] { turn(); }, ready);
}

bool Group::try_hold() {
  const MutexLock lock(mutex_);
  if (std::exchange(held_, true)) return false;
  holder_ = std::this_thread::get_id();
  return true;
}

void Group::turn() {
  const std::shared_ptr<Group> self = shared_from_this();
  std::shared_ptr<Subscriber> who;
  {
    const MutexLock lock(mutex_);
    enqueued_ = false;
    if (held_) return;  // release() enqueues another one
    held_ = true;
    holder_ = std::this_thread::get_id();
    who = std::move(waiting_.front().who);
    waiting_.erase(waiting_.begin());
  }
  who->drain_task();
  release();
}

void Group::release() {
  Priority next = Priority::normal;
  {
    const MutexLock lock(mutex_);
    holder_ = std::thread::id();
    held_ = false;
    if (waiting_.empty() || std::exchange(enqueued_, true)) return;
    next = waiting_.front().priority;
  }
  executor_.enqueue(next, [this] { turn(); });
}

}  // namespace hyphos::graph
