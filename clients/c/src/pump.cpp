#include "pump.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <utility>

namespace hyphos::c {

Pump::~Pump() {
  if (event_ >= 0) ::close(event_);
}

void Pump::ready(const std::shared_ptr<Source>& source) {
  if (source->listed_.exchange(true)) return;
  add({source, {}, Fate::droppable});
}

void Pump::post(Task task, Fate fate) {
  {
    const MutexLock lock(mutex_);
    if (!closed_) {
      incoming_.push_back({nullptr, std::move(task), fate});
      signal();
      return;
    }
  }
  if (fate == Fate::certain) task();
}

void Pump::add(Entry entry) {
  const MutexLock lock(mutex_);
  if (closed_) return;
  incoming_.push_back(std::move(entry));
  signal();
}

void Pump::signal() {
  changed_.notify_all();
  if (event_ < 0) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto n = ::write(event_, &one, sizeof one);
}

void Pump::unsignal() {
  if (event_ < 0) return;
  std::uint64_t count = 0;
  // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection): the descriptor does not block
  [[maybe_unused]] const auto n = ::read(event_, &count, sizeof count);
}

void Pump::wake() {
  const MutexLock lock(mutex_);
  woken_ = true;
  signal();
}

int Pump::descriptor() {
  const MutexLock lock(mutex_);
  if (event_ < 0) {
    event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!incoming_.empty() || woken_) signal();
  }
  return event_;
}

bool Pump::wait(UniqueLock<Mutex>& lock, std::int64_t timeout_ns) {
  const auto stirs = [this]() HYPHOS_REQUIRES(mutex_) {
    return !incoming_.empty() || woken_ || closed_;
  };
  if (timeout_ns < 0) return changed_.wait(lock, stirs), true;
  if (timeout_ns == 0) return stirs();
  // A wait of more than a year counts as a year, which cannot overflow the clock.
  constexpr std::int64_t kYear = 365LL * 86'400 * 1'000'000'000;
  return changed_.wait_for(lock, std::chrono::nanoseconds(std::min(timeout_ns, kYear)), stirs);
}

std::uint32_t Pump::run(std::uint32_t most, std::size_t& done) {
  std::uint32_t ran = 0;
  for (; done < working_.size() && ran < most; ++done) {
    Entry entry = std::move(working_[done]);
    if (!entry.source) {
      entry.task();
      ++ran;
      continue;
    }
    // Before it runs, so that a message from now on lists the source again.
    entry.source->listed_.store(false);
    ran += entry.source->run(most - ran);
  }
  return ran;
}

Result<std::uint32_t> Pump::poll(std::int64_t timeout_ns, std::uint32_t most) {
  UniqueLock lock(mutex_);
  if (polling_) {
    return Error{Code::already_exists,
                 "this node is already being polled, by another thread or from a callback. Poll it "
                 "from one thread only",
                 ""};
  }
  polling_ = true;
  poller_ = std::this_thread::get_id();
  (void)wait(lock, timeout_ns);
  woken_ = false;
  if (!closed_) working_.swap(incoming_);
  unsignal();
  lock.unlock();

  std::size_t done = 0;
  const std::uint32_t ran = run(most == 0 ? std::numeric_limits<std::uint32_t>::max() : most, done);

  lock.lock();
  if (done < working_.size()) {
    const auto rest = working_.begin() + static_cast<std::ptrdiff_t>(done);
    incoming_.insert(incoming_.begin(), std::make_move_iterator(rest),
                     std::make_move_iterator(working_.end()));
    signal();
  }
  working_.clear();
  polling_ = false;
  poller_ = {};
  const bool closed = closed_;
  changed_.notify_all();
  if (closed) return Error{Code::disconnected, "the node is closed", ""};
  return ran;
}

void Pump::close() {
  std::vector<Entry> rest;
  {
    UniqueLock lock(mutex_);
    closed_ = true;
    signal();
    changed_.wait(lock, [this]() HYPHOS_REQUIRES(mutex_) {
      return !polling_ || poller_ == std::this_thread::get_id();
    });
    rest.swap(incoming_);
  }
  for (Entry& entry : rest) {
    if (entry.fate == Fate::certain) entry.task();
  }
}

}  // namespace hyphos::c
