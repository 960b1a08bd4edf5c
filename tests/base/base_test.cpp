#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos {
namespace {

constexpr Code kAllCodes[] = {Code::invalid_config, Code::not_found,   Code::already_exists,
                              Code::type_mismatch,  Code::timeout,     Code::overloaded,
                              Code::disconnected,   Code::exhausted,   Code::permission,
                              Code::corrupt,        Code::unsupported, Code::io,
                              Code::out_of_range};

TEST(Result, a_result_holds_a_value_or_an_error) {
  const Result<int> good = 7;
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, 7);
  const Result<int> bad = Error{Code::timeout, "too slow", "here"};
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, Code::timeout);
  EXPECT_TRUE(success());
  EXPECT_FALSE(Result<void>(Error{}));
}

TEST(Result, or_throw_throws_the_whole_error_text) {
  try {
    Result<int>(Error{Code::not_found, "no such thing", "robot.yaml:3"}).or_throw();
    FAIL() << "nothing was thrown";
  } catch (const Exception& exception) {
    EXPECT_STREQ(exception.what(), "robot.yaml:3: no such thing [not_found]");
    EXPECT_EQ(exception.error().code, Code::not_found);
  }
  EXPECT_THROW(Result<void>(Error{}).or_throw(), Exception);
  EXPECT_EQ(Result<std::string>(std::string("moved")).or_throw(), "moved");
}

TEST(Result, an_error_without_a_place_begins_with_its_message) {
  EXPECT_EQ((Error{Code::io, "broken", ""}).to_string(), "broken [io]");
}

TEST(Result, every_code_has_its_own_name_and_advice) {
  std::vector<std::string_view> names;
  for (const Code code : kAllCodes) {
    EXPECT_FALSE(advice(code).empty());
    for (const std::string_view other : names) EXPECT_NE(other, to_string(code));
    names.push_back(to_string(code));
  }
}

TEST(Time, arithmetic_is_exact) {
  EXPECT_EQ(Duration::from_ms(2) + Duration::from_us(3), Duration{2'003'000});
  EXPECT_EQ(Duration::from_seconds(0.25).ms(), 250.0);
  EXPECT_EQ((Time{10} + Duration{5}) - Time{3}, Duration{12});
  EXPECT_LT(Time{1}, Time{2});
  EXPECT_EQ(Duration::from_us(3) * 4, Duration{12'000});
  // A day in steps of 10 ms, where a double would drift.
  Duration sum;
  for (int i = 0; i < 8'640'000; ++i) sum = sum + Duration::from_ms(10);
  EXPECT_EQ(sum.ns, 86'400'000'000'000);
}

TEST(Time, a_sum_beyond_the_range_saturates) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(Time{kMax - 1} + Duration{1}, Time{kMax});
  EXPECT_EQ(Time{1} + Duration{kMax}, Time{kMax});
  EXPECT_EQ(Time{kMax} + Duration{kMax}, Time{kMax});
  EXPECT_EQ(Time{-1} + Duration{kMin}, Time{kMin});
  EXPECT_EQ(Time{kMax} + Duration{kMin}, Time{-1});
  EXPECT_EQ(Time{0} + Duration{kMin}, Time{kMin});
}

TEST(Time, the_monotonic_clock_never_goes_back) {
  Time last = monotonic_now();
  for (int i = 0; i < 10'000; ++i) {
    const Time now = monotonic_now();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GT(wall_now().ns, 1'700'000'000'000'000'000);
}

/// Sets a flag when its memory is released.
class CountingOwner final : public BufferOwner {
 public:
  explicit CountingOwner(int& released) : released_(released) {}

 protected:
  void release() noexcept override {
    ++released_;
    delete this;
  }

 private:
  int& released_;
};

TEST(Buffer, copies_share_memory_and_release_it_once) {
  int released = 0;
  std::byte memory[4] = {};
  {
    const Buffer first(memory, 4, new CountingOwner(released));
    Buffer second = first;
    const Buffer part = second.slice(1, 2);
    EXPECT_EQ(part.data(), memory + 1);
    EXPECT_EQ(part.size(), 2U);
    EXPECT_FALSE(first.owner()->unique());
    const Buffer moved = std::move(second);
    second = first;
    EXPECT_EQ(moved.data(), memory);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Buffer, self_assignment_keeps_the_memory) {
  Buffer buffer = Buffer::copy_of("abc");
  const Buffer& alias = buffer;
  buffer = alias;
  EXPECT_EQ(buffer.text(), "abc");
}

TEST(Buffer, a_buffer_is_made_from_a_text_a_vector_or_the_heap) {
  EXPECT_EQ(Buffer::copy_of("hello").text(), "hello");
  EXPECT_TRUE(Buffer::copy_of("").empty());
  std::vector<std::byte> bytes(100, std::byte{7});
  const std::byte* where = bytes.data();
  EXPECT_EQ(Buffer::adopt(std::move(bytes)).data(), where);
  for (const std::size_t size : {1U, 63U, 64U, 4097U}) {
    WritableBuffer memory = WritableBuffer::on_heap(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 64, 0U);
    EXPECT_EQ(memory.size(), size);
  }
}

TEST(Buffer, freezing_ends_the_loan) {
  WritableBuffer memory = WritableBuffer::on_heap(8);
  std::fill_n(memory.data(), 8, std::byte{'x'});
  const Buffer frozen = std::move(memory).freeze(3);
  EXPECT_EQ(frozen.text(), "xxx");
  EXPECT_TRUE(frozen.owner()->unique());
}

TEST(Buffer, references_are_counted_across_threads) {
  int released = 0;
  std::byte memory[1] = {};
  {
    const Buffer buffer(memory, 1, new CountingOwner(released));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([copy = buffer] {
        for (int i = 0; i < 10'000; ++i) {
          const Buffer again = copy;
          EXPECT_EQ(again.size(), 1U);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(buffer.owner()->unique());
  }
  EXPECT_EQ(released, 1);
}

TEST(Log, a_message_is_one_line_if_its_level_is_enabled) {
  const log::Level before = log::level();
  log::set_level(log::Level::warn);
  testing::internal::CaptureStderr();
  log::info("base", "not shown");
  log::warn("base", "shown");
  const std::string text = testing::internal::GetCapturedStderr();
  log::set_level(before);
  ASSERT_TRUE(text.ends_with("Z WARN base: shown\n")) << text;
  EXPECT_EQ(text.size(), std::string("2026-11-21T10:00:00.123Z WARN base: shown\n").size());
}

TEST(Log, level_off_suppresses_every_line) {
  const log::Level before = log::level();
  log::set_level(log::Level::off);
  testing::internal::CaptureStderr();
  log::error("base", "not shown");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  log::set_level(before);
}

TEST(Log, once_per_second_counts_suppressed_lines) {
  log::OncePerSecond limit;
  std::uint64_t suppressed = 99;
  const Time first = monotonic_now();
  ASSERT_TRUE(limit.allow(suppressed));
  EXPECT_EQ(suppressed, 0U);
  std::uint64_t refused = 0;
  while (!limit.allow(suppressed)) ++refused;
  EXPECT_GE(monotonic_now() - first, Duration::from_ms(1000));
  EXPECT_EQ(suppressed, refused);
}

}  // namespace
}  // namespace hyphos
