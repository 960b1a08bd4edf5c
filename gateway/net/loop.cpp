#include "gateway/net/loop.hpp"

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cassert>
#include <optional>
#include <utility>
#include <vector>

namespace hyphos::gateway::net {

namespace asio = boost::asio;

class Timer::State final : public Loop::Item, public std::enable_shared_from_this<State> {
 public:
  State(Loop& loop, std::function<void()> work) : loop_(loop), work_(std::move(work)) {}

  void start(Duration time) {
    const MutexLock lock(mutex_);
    if (!work_) {  // already stopped
      loop_.remove(this);
      return;
    }
    timer_.emplace(loop_.context());
    timer_->expires_after(std::chrono::nanoseconds(time.ns));
    timer_->async_wait(
        [self = shared_from_this()](const boost::system::error_code&) { self->fire(); });
  }

  void stop() override {
    // destroyed after the lock is released, because its destructor is foreign code
    std::function<void()> dropped;
    const MutexLock lock(mutex_);
    dropped = std::exchange(work_, nullptr);
    if (timer_) timer_->cancel();
  }

 private:
  void fire() {
    std::function<void()> work;
    {
      const MutexLock lock(mutex_);
      timer_.reset();  // reset here, so that a Timer may outlive the loop
      work = std::exchange(work_, nullptr);
    }
    loop_.remove(this);
    if (work) work();
  }

  Loop& loop_;
  Mutex mutex_;
  std::optional<asio::steady_timer> timer_ HYPHOS_GUARDED_BY(mutex_);
  std::function<void()> work_ HYPHOS_GUARDED_BY(mutex_);
};

Timer::Timer(std::shared_ptr<State> state) : state_(std::move(state)) {}

Timer& Timer::operator=(Timer&& other) noexcept {
  if (state_ && state_ != other.state_) state_->stop();
  state_ = std::move(other.state_);
  return *this;
}

Timer::~Timer() {
  if (state_) state_->stop();
}

class Loop::Work {
 public:
  explicit Work(asio::io_context& context) : guard_(context.get_executor()) {}

 private:
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
};

Loop::Loop()
    : context_(std::make_unique<asio::io_context>(1)),  // number of threads
      work_(std::make_unique<Work>(*context_)),
      thread_([this] { context_->run(); }) {
  ::pthread_setname_np(thread_.native_handle(), "gateway net");
}

Loop::~Loop() { end(); }

void Loop::end() {
  if (!thread_.joinable()) return;
  assert(thread_.get_id() != std::this_thread::get_id());
  std::vector<std::shared_ptr<Item>> open;
  {
    const MutexLock lock(mutex_);
    ending_ = true;
    for (const auto& [key, item] : items_) {
      if (auto alive = item.lock()) open.push_back(std::move(alive));
    }
  }
  for (const auto& item : open) item->stop();
  open.clear();
  {
    // Another thread may still be writing for an item and needs the loop, so wait until all are
    // gone.
    UniqueLock lock(mutex_);
    gone_.wait(lock, [this]() HYPHOS_REQUIRES(mutex_) { return items_.empty(); });
  }
  work_.reset();
  thread_.join();
}

void Loop::post(std::function<void()> work) { asio::post(*context_, std::move(work)); }

Timer Loop::after(Duration time, std::function<void()> work) {
  auto state = std::make_shared<Timer::State>(*this, std::move(work));
  if (add(state)) state->start(time);
  return Timer(std::move(state));
}

bool Loop::add(const std::shared_ptr<Item>& item) {
  const MutexLock lock(mutex_);
  if (ending_) return false;
  items_.emplace(item.get(), item);
  return true;
}

void Loop::remove(const Item* item) {
  const MutexLock lock(mutex_);
  items_.erase(item);
  if (ending_) gone_.notify_all();
}

Loops::~Loops() {
  for (Loop& loop : loops_) loop.end();
}

}  // namespace hyphos::gateway::net
