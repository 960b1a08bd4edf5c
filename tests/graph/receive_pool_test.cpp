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
using transport::Poll;
using transport::ReadyList;
using Deed = std::function<void(ReadyList&)>;

/// A fake transport for the executor: submitted functions run in polls.
class Mailbox {
 public:
  explicit Mailbox(Executor& executor) {
    executor.serve([state = state_](int, ReadyList* ready) { return state->poll(*ready); });
  }
  ~Mailbox() { end(); }
  void put(Deed deed) {
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
    Poll poll(ReadyList& ready) {
      std::unique_lock lock(mutex);
      ++inside;
      ++waiting;
      changed.notify_all();
      changed.wait(lock, [&] { return over || !deeds.empty(); });
      --waiting;
      if (deeds.empty()) {
        --inside;
        changed.notify_all();
        return Poll::over;
      }
      const auto deed = std::move(deeds.front());
      deeds.pop_front();
      lock.unlock();
      deed(ready);
      lock.lock();
      --inside;
      changed.notify_all();
      return waiting > 0 ? Poll::promoted : Poll::again;
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Deed> deeds;
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

TEST(ReceivePool, the_polling_thread_runs_the_work_that_it_found) {
  Executor executor(2);
  Mailbox mailbox(executor);
  let_it_begin(executor, 2);
  for (int i = 0; i < 100; ++i) {
    executor.wait_idle();
    mailbox.wait_until_both_wait();
    std::promise<std::thread::id> took;
    std::promise<std::thread::id> did;
    mailbox.put([&](ReadyList& ready) {
      EXPECT_FALSE(executor.on_worker());
      EXPECT_TRUE(ready.empty());
      const auto work = [&] {
        EXPECT_TRUE(executor.on_worker());
        EXPECT_TRUE(ready.empty());
        did.set_value(std::this_thread::get_id());
      };
      executor.enqueue(Priority::normal, work, &ready);
      EXPECT_FALSE(ready.empty());
      took.set_value(std::this_thread::get_id());
    });
    EXPECT_EQ(got(took.get_future()), got(did.get_future()));
  }
}

TEST(ReceivePool, polling_continues_while_the_work_runs) {
  Executor executor(1);
  Mailbox mailbox(executor);
  let_it_begin(executor, 1);
  mailbox.wait_until_both_wait();
  std::promise<void> begun;
  std::promise<void> go;
  std::promise<void> later;
  std::promise<void> done;
  mailbox.put([&](ReadyList& ready) {
    executor.enqueue(
        Priority::normal,
        [&] {
          begun.set_value();
          go.get_future().wait();
        },
        &ready);
  });
  mailbox.put([&](ReadyList&) { later.set_value(); });
  got(later.get_future());
  got(begun.get_future());
  // The only thread is occupied, so further work waits, as without a receive pool.
  mailbox.put([&](ReadyList& ready) {
    executor.enqueue(Priority::normal, [&] { done.set_value(); }, &ready);
  });
  auto ended = done.get_future();
  EXPECT_EQ(ended.wait_for(20ms), std::future_status::timeout);
  go.set_value();
  got(std::move(ended));
}

TEST(ReceivePool, the_pool_has_all_its_threads_again_afterwards) {
  constexpr int kThreads = 3;
  Executor executor(kThreads);
  Mailbox mailbox(executor);
  for (int i = 0; i < 100; ++i) {
    mailbox.put([&](ReadyList& ready) { executor.enqueue(Priority::normal, [] {}, &ready); });
  }
  let_it_begin(executor, kThreads);  // would wait for ever if a thread were missing
}

TEST(ReceivePool, several_pieces_of_work_of_one_poll_all_run) {
  Executor executor(3);
  Mailbox mailbox(executor);
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; ++i) {
    mailbox.put([&](ReadyList& ready) {
      for (int j = 0; j < 5; ++j) executor.enqueue(Priority::low, [&] { ++ran; }, &ready);
    });
    executor.enqueue(Priority::high, [&] { ++ran; });
  }
  mailbox.end();
  executor.wait_idle();
  EXPECT_EQ(ran, 6000);
}

TEST(ReceivePool, no_more_callbacks_run_at_once_than_the_pool_has_threads) {
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
    one.put([&](ReadyList& ready) { executor.enqueue(Priority::normal, work, &ready); });
    two.put([&](ReadyList& ready) { executor.enqueue(Priority::normal, work, &ready); });
    executor.enqueue(Priority::normal, work);
  }
  one.end();
  two.end();
  executor.wait_idle();
  EXPECT_EQ(most, kThreads);
}

TEST(ReceivePool, a_wait_in_work_of_a_poll_has_a_stand_in_thread) {
  Executor executor(1);
  Mailbox mailbox(executor);
  let_it_begin(executor, 1);
  mailbox.wait_until_both_wait();
  std::promise<void> brought;
  std::promise<void> done;
  mailbox.put([&](ReadyList& ready) {
    const auto work = [&] {
      const Executor::Waiting waiting(executor);
      EXPECT_TRUE(waiting);
      got(brought.get_future());
      done.set_value();
    };
    executor.enqueue(Priority::normal, work, &ready);
  });
  mailbox.put([&](ReadyList& ready) {
    executor.enqueue(Priority::normal, [&] { brought.set_value(); }, &ready);
  });
  got(done.get_future());
  let_it_begin(executor, 1);
}

TEST(ReceivePool, work_handed_over_runs_before_the_poll_ends) {
  Executor executor(1);
  Mailbox mailbox(executor);
  let_it_begin(executor, 1);
  std::promise<std::thread::id> did;
  std::promise<std::thread::id> took;
  mailbox.put([&](ReadyList& ready) {
    const auto work = [&] { did.set_value(std::this_thread::get_id()); };
    executor.enqueue(Priority::normal, work, &ready);
    ready.hand_over();
    EXPECT_TRUE(ready.empty());
    const auto by = got(did.get_future());
    EXPECT_NE(by, std::this_thread::get_id());
    took.set_value(by);
  });
  got(took.get_future());
}

TEST(ReceivePool, work_without_the_list_goes_to_the_pool) {
  Executor executor(1);
  Mailbox mailbox(executor);
  let_it_begin(executor, 1);
  std::promise<void> before;
  std::promise<void> meanwhile;
  std::promise<void> ended;
  std::promise<void> after;
  mailbox.put([&](ReadyList& ready) {
    executor.enqueue(Priority::normal, [&] { before.set_value(); }, &ready);
    ready.hand_over();
    got(before.get_future());
    // As in an inline callback, which has no list.
    executor.enqueue(Priority::normal, [&] { meanwhile.set_value(); });
    got(meanwhile.get_future());
    executor.wait_idle();
    executor.enqueue(Priority::normal, [&] { after.set_value(); }, &ready);
    EXPECT_FALSE(ready.empty());
    ended.set_value();
  });
  got(ended.get_future());
  got(after.get_future());
}

TEST(ReceivePool, work_of_the_last_poll_runs) {
  Executor executor(2);
  std::promise<void> ran;
  std::atomic<bool> first{true};
  executor.serve([&](int, ReadyList* ready) {
    if (first.exchange(false)) {
      executor.enqueue(Priority::normal, [&] { ran.set_value(); }, ready);
    }
    return Poll::over;
  });
  got(ran.get_future());
}

TEST(ReceivePool, work_of_a_poll_may_destroy_the_executor) {
  auto executor = std::make_unique<Executor>(2);
  auto mailbox = std::make_unique<Mailbox>(*executor);
  let_it_begin(*executor, 2);
  mailbox->wait_until_both_wait();
  std::promise<void> gone;
  mailbox->put([&](ReadyList& ready) {
    const auto work = [&] {
      mailbox.reset();
      executor.reset();
      gone.set_value();
    };
    executor->enqueue(Priority::normal, work, &ready);
  });
  got(gone.get_future());
}

}  // namespace
}  // namespace hyphos::graph
