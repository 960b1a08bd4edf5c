#include "cosim/physics/ahead.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace hyphos::cosim {
namespace {

constexpr std::size_t kMostFrames = 256;
// The thread sleeps when kMostFrames are ready, and is woken at this number, not after every step.
constexpr std::size_t kFewFrames = kMostFrames / 2;

}  // namespace

Ahead::~Ahead() { stop(); }

void Ahead::stop() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
  }
  emptied_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Result<void> Ahead::init(std::uint32_t nodes, std::uint64_t seed) {
  stop();
  {
    const MutexLock lock(mutex_);
    frames_.clear();
    stopped_ = false;
  }
  broken_.reset();
  index_ = 0;
  now_ = {};
  thread_ = std::thread([this, nodes, seed] { run(nodes, seed); });
  Frame first = take();
  if (first.error) broken_ = first.error;
  poses_ = std::move(first.poses);
  return broken_ ? Result<void>(*broken_) : success();
}

/// The thread's loop: runs to the end of int64, the first error, or stop().
void Ahead::run(std::uint32_t nodes, std::uint64_t seed) {
  if (!put(0, physics_->init(nodes, seed))) return;
  for (std::int64_t index = 1;; ++index) {
    const auto to = step_.at(index);
    if (!to || !put(index, physics_->advance(*to))) return;
  }
}

bool Ahead::put(std::int64_t index, const Result<void>& result) {
  Frame frame{index};
  if (!result) frame.error = result.error();
  const auto poses = physics_->poses();
  UniqueLock lock(mutex_);
  if (!spare_.empty()) {
    frame.poses = std::move(spare_.back());
    spare_.pop_back();
  }
  frame.poses.assign(poses.begin(), poses.end());
  frames_.push_back(std::move(frame));
  if (frames_.size() == 1) filled_.notify_one();
  if (frames_.size() >= kMostFrames) {
    emptied_.wait(
        lock, [&]() HYPHOS_REQUIRES(mutex_) { return stopped_ || frames_.size() <= kFewFrames; });
  }
  return !stopped_ && result.ok();
}

Ahead::Frame Ahead::take() {
  UniqueLock lock(mutex_);
  filled_.wait(lock, [&]() HYPHOS_REQUIRES(mutex_) { return !frames_.empty(); });
  Frame frame = std::move(frames_.front());
  frames_.pop_front();
  if (frames_.size() == kFewFrames) emptied_.notify_one();
  return frame;
}

Result<void> Ahead::advance(Time end) {
  if (broken_) return *broken_;
  if (end < now_) {
    return Error{Code::out_of_range,
                 "asked to end at " + std::to_string(end.ns) + " ns, but physics is already at " +
                     std::to_string(now_.ns) + " ns",
                 "ahead"};
  }
  now_ = end;
  for (const std::int64_t last = step_.index_at_or_before(end); index_ < last; ++index_) {
    Frame frame = take();
    if (frame.error) {
      broken_ = std::move(frame.error);
      return *broken_;
    }
    std::ranges::copy(frame.poses, poses_.begin());  // the engine keeps a span of poses_
    const MutexLock lock(mutex_);
    spare_.push_back(std::move(frame.poses));
  }
  return success();
}

Result<std::string> Ahead::steer(NodeId robot, const Motion&) {
  return Error{Code::unsupported,
               "robot " + std::to_string(robot) +
                   " received a motion command, but its physics has already computed "
                   "later steps: do not run it ahead",
               "ahead"};
}

}  // namespace hyphos::cosim
