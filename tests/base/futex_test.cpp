#include "base/futex.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <new>
#include <thread>

#include "hyphos/time.hpp"

namespace hyphos {
namespace {

using futex::Scope;

class FutexTest : public testing::TestWithParam<Scope> {};
INSTANTIATE_TEST_SUITE_P(Scopes, FutexTest, testing::Values(Scope::process, Scope::shared));

TEST_P(FutexTest, a_changed_word_ends_the_wait_at_once) {
  const std::atomic<std::uint32_t> word{1};
  futex::wait(word, 0, GetParam());
  EXPECT_TRUE(futex::wait_until(word, 0, 0, GetParam()));
}

TEST_P(FutexTest, wait_until_reports_a_passed_deadline) {
  const std::atomic<std::uint32_t> word{0};
  const Time deadline = monotonic_now() + Duration::from_ms(5);
  while (futex::wait_until(word, 0, deadline.ns, GetParam())) {
  }
  EXPECT_GE(monotonic_now(), deadline);
}

TEST_P(FutexTest, wait_for_ends_after_its_timeout) {
  const std::atomic<std::uint32_t> word{0};
  futex::wait_for(word, 0, 1'000'000, GetParam());
}

TEST_P(FutexTest, wake_ends_the_sleep_of_another_thread) {
  std::atomic<std::uint32_t> word{0};
  std::thread sleeper([&] {
    while (word.load() == 0) futex::wait(word, 0, GetParam());
  });
  word.store(1);
  futex::wake(word, 1, GetParam());
  sleeper.join();
}

TEST_P(FutexTest, a_mask_selects_the_sleepers) {
  constexpr std::uint32_t kFirst = 0b01;
  constexpr std::uint32_t kSecond = 0b10;
  std::atomic<std::uint32_t> word{0};
  std::thread sleeper([&] {
    while (word.load() == 0) (void)futex::wait_until(word, 0, 0, GetParam(), kSecond);
  });
  word.store(1);
  futex::wake_masked(word, kFirst, GetParam());  // does not match
  futex::wake_masked(word, kFirst | kSecond, GetParam());
  sleeper.join();
}

TEST(Futex, a_shared_word_wakes_another_process) {
  void* const memory = ::mmap(nullptr, sizeof(std::uint32_t), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& word = *new (memory) std::atomic<std::uint32_t>(0);
  const pid_t child = ::fork();
  if (child == 0) {
    while (word.load() == 0) futex::wait(word, 0, Scope::shared);
    ::_exit(0);
  }
  ASSERT_GT(child, 0);
  word.store(1);
  futex::wake_all(word, Scope::shared);
  int status = 1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::munmap(memory, sizeof(std::uint32_t));
}

}  // namespace
}  // namespace hyphos
