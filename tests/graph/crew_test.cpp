// Threads that poll for a transport, and run work in place of idle threads of the pool.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>

#include "graph/executor.hpp"

namespace hyphos::graph {
namespace {

using namespace std::chrono_literals;
using Turn = Executor::Turn;

/// A fake transport for the executor: submitted functions run in polls.
class Mailbox {
 public:
  explicit Mailbox(Executor& executor) {
    executor.serve([state = state_](int) { return state->turn(); });
  }
  ~Mailbox() { end(); }
  void put(std::function<void()> deed) {
    const std::lock_guard lock(state_->mutex);
    state_->deeds.push_back(std::move(deed));
    state_->changed.notify_all();
  }
  /// On return no poll is running.
  void end() {
    std::unique_lock lock(state_->mutex);
    state_->over = true;
    state_->changed.notify_all();
    state_->changed.wait(lock, [&] { return state_->deeds.empty() && state_->inside == 0; });
  }
  void wait_until_both_wait() {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->waiting == 2; });
  }

 private:
  struct State {
    Turn turn() {
      std::unique_lock lock(mutex);
      ++inside;
      ++waiting;
      changed.notify_all();
      changed.wait(lock, [&] { return over || !deeds.empty(); });
      --waiting;
      if (deeds.empty()) {
        --inside;
        changed.notify_all();
        return Turn::over;
      }
      const auto deed = std::move(deeds.front());
      deeds.pop_front();
      lock.unlock();
      deed();
      lock.lock();
      --inside;
      changed.notify_all();
      return waiting > 0 ? Turn::covered : Turn::again;
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> deeds;
    int waiting = 0;
    int inside = 0;
    bool over = false;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// Waits until all threads of the pool are idle. At first they may not have started.
void let_it_begin(Executor& executor, int threads) {
  std::latch all(threads);
  for (int i = 0; i < threads; ++i) {
    executor.enqueue(Priority::normal, [&] { all.arrive_and_wait(); });
  }
  executor.wait_idle();
}

template <typename T>
T got(std::future<T> future) {
  EXPECT_EQ(future.wait_for(10s), std::future_status::ready);
  return future.get();
}

TEST(Crew, the_polling_thread_runs_the_work_that_it_found) {
  Executor executor(2);
  Mailbox mailbox(executor);
  let_it_begin(executor, 2);
  for (int i = 0; i < 100; ++i) {
    executor.wait_idle();
    mailbox.wait_until_both_wait();
    std::promise<std::thread::id> took;
    std::promise<std::thread::id> did;
    mailbox.put([&] {
      EXPECT_FALSE(executor.on_worker());
      EXPECT_FALSE(executor.has_brought());
      executor.enqueue(Priority::normal, [&] {
        EXPECT_TRUE(executor.on_worker());
        EXPECT_FALSE(executor.has_brought());
        did.set_value(std::this_thread::get_id());
      });
      EXPECT_TRUE(executor.has_brought());
      took.set_value(std::this_thread::get_id());
    });
    EXPECT_EQ(got(took.get_future()), got(did.get_future()));
  }
}

TEST(Crew, polling_continues_while_the_work_runs) {
  Executor executor(1);
  Mailbox mailbox(executor);
  let_it_begin(executor, 1);
  mailbox.wait_until_both_wait();
  std::promise<void> go;
  std::promise<void> later;
  std::promise<void> done;
  mailbox.put([&] { executor.enqueue(Priority::normal, [&] { go.get_future().wait(); }); });
  mailbox.put([&] { later.set_value(); });
  got(later.get_future());
  // The only thread is occupied, so further work waits, as without a receive pool.
  mailbox.put([&] { executor.enqueue(Priority::normal, [&] { done.set_value(); }); });
  auto ended = done.get_future();
  EXPECT_EQ(ended.wait_for(20ms), std::future_status::timeout);
  go.set_value();
  got(std::move(ended));
}

TEST(Crew, the_pool_has_all_its_threads_again_afterwards) {
  constexpr int kThreads = 3;
  Executor executor(kThreads);
  Mailbox mailbox(executor);
  for (int i = 0; i < 100; ++i) {
    mailbox.put([&] { executor.enqueue(Priority::normal, [] {}); });
  }
  let_it_begin(executor, kThreads);  // would wait for ever if a thread were missing
}

TEST(Crew, several_pieces_of_work_of_one_poll_all_run) {
  Executor executor(3);
  Mailbox mailbox(executor);
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) {
    mailbox.put([&] {
      for (int j = 0; j < 5; ++j) executor.enqueue(Priority::low, [&] { ++ran; });
    });
    executor.enqueue(Priority::high, [&] { ++ran; });
  }
  mailbox.end();
  executor.wait_idle();
  EXPECT_EQ(ran, 6000);
}

TEST(Crew, no_more_callbacks_run_at_once_than_the_pool_has_threads) {
  constexpr int kThreads = 2;
  Executor executor(kThreads);
  Mailbox one(executor);
  Mailbox two(executor);
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  const auto work = [&] {
    const int now = ++running;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(100us);
    --running;
  };
  for (int i = 0; i < 300; ++i) {
    one.put([&] { executor.enqueue(Priority::normal, work); });
    two.put([&] { executor.enqueue(Priority::normal, work); });
    executor.enqueue(Priority::normal, work);
  }
  one.end();
  two.end();
  executor.wait_idle();
  EXPECT_EQ(most, kThreads);
}

TEST(Crew, a_wait_in_work_of_a_poll_has_a_stand_in_thread) {
  Executor executor(1);
  Mailbox mailbox(executor);
  let_it_begin(executor, 1);
  mailbox.wait_until_both_wait();
  std::promise<void> brought;
  std::promise<void> done;
  mailbox.put([&] {
    executor.enqueue(Priority::normal, [&] {
      const Executor::Waiting waiting(executor);
      EXPECT_TRUE(waiting);
      got(brought.get_future());
      done.set_value();
    });
  });
  mailbox.put([&] { executor.enqueue(Priority::normal, [&] { brought.set_value(); }); });
  got(done.get_future());
  let_it_begin(executor, 1);
}

TEST(Crew, work_handed_over_runs_before_the_poll_ends) {
  Executor executor(1);
  Mailbox mailbox(executor);
  let_it_begin(executor, 1);
  std::promise<std::thread::id> did;
  std::promise<std::thread::id> took;
  mailbox.put([&] {
    executor.enqueue(Priority::normal, [&] { did.set_value(std::this_thread::get_id()); });
    executor.hand_on();
    EXPECT_FALSE(executor.has_brought());
    const auto by = got(did.get_future());
    EXPECT_NE(by, std::this_thread::get_id());
    took.set_value(by);
  });
  got(took.get_future());
}

TEST(Crew, an_occupied_thread_keeps_no_work) {
  Executor executor(1);
  Mailbox mailbox(executor);
  let_it_begin(executor, 1);
  std::promise<void> before;
  std::promise<void> meanwhile;
  std::promise<void> ended;
  std::promise<void> after;
  mailbox.put([&] {
    executor.enqueue(Priority::normal, [&] { before.set_value(); });
    {
      const Executor::Occupied here(executor);
      got(before.get_future());
      executor.enqueue(Priority::normal, [&] { meanwhile.set_value(); });
      got(meanwhile.get_future());
      executor.wait_idle();
    }
    executor.enqueue(Priority::normal, [&] { after.set_value(); });
    EXPECT_TRUE(executor.has_brought());
    ended.set_value();
  });
  got(ended.get_future());
  got(after.get_future());
}

TEST(Crew, work_of_the_last_poll_runs) {
  Executor executor(2);
  std::promise<void> ran;
  std::atomic<bool> first{true};
  executor.serve([&](int) {
    if (first.exchange(false)) executor.enqueue(Priority::normal, [&] { ran.set_value(); });
    return Turn::over;
  });
  got(ran.get_future());
}

TEST(Crew, work_of_a_poll_may_destroy_the_executor) {
  auto executor = std::make_unique<Executor>(2);
  auto mailbox = std::make_unique<Mailbox>(*executor);
  let_it_begin(*executor, 2);
  mailbox->wait_until_both_wait();
  std::promise<void> gone;
  mailbox->put([&] {
    executor->enqueue(Priority::normal, [&] {
      mailbox.reset();
      executor.reset();
      gone.set_value();
    });
  });
  got(gone.get_future());
}

}  // namespace
}  // namespace hyphos::graph
