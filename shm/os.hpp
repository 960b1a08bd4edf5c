#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "hyphos/result.hpp"

/// The few calls of the operating system that shared memory needs, as values that clean up.
namespace hyphos::shm {

/// A file descriptor that is closed with its owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Pages of a file, unmapped with their owner.
class Mapping {
 public:
  enum class Access { read, write };

  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  /// `offset` must be a multiple of the page size. `populate` faults all pages in now. The file
  /// must already be at least `offset + size` long, or a later access raises SIGBUS.
  [[nodiscard]] static Result<Mapping> map(int fd, std::size_t offset, std::size_t size,
                                           Access access, bool populate);
  /// Enters all pages into the page table, so that the first reader takes no faults.
  void populate() const;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Turns errno into an Error: "<what>: <strerror>", with the code that matches.
[[nodiscard]] Error os_error(int error, std::string what, std::string where);

/// Allocates the blocks of a range of a file, and extends the file to at least its end. Existing
/// content stays. The Error (exhausted) names the bytes needed and the bytes free.
[[nodiscard]] Result<void> reserve(const Fd& file, std::uint64_t offset, std::uint64_t size,
                                   const std::string& where);

inline constexpr std::uint32_t kEverybody = ~std::uint32_t{0};  // bits of who sleeps

/// Sleeps while `word` is `expected`, until woken or until the monotonic time `deadline_ns` (0: for
/// ever). Works between processes. May return early for no reason. `as`: whom futex_wake() has to
/// name one of.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::int64_t deadline_ns, std::uint32_t as = kEverybody);
/// Wakes all who wait as one of `whom`.
void futex_wake(const std::atomic<std::uint32_t>& word, std::uint32_t whom = kEverybody);

/// A doorbell is a word. Its bit 0 is the flag that somebody sleeps or is about to; the bits of
/// kSleepers say whom of those who do to wake, none means all; the others are free.
inline constexpr std::uint32_t kSleepers = 0b110;

/// The sleeper's half is to set the flag, a last look for work, then futex_wait(). This is the
/// other half, after the work was made visible with a sequentially consistent write. Costs one load
/// if nobody sleeps.
inline void wake(std::atomic<std::uint32_t>& word) {
  if ((word.load(std::memory_order_seq_cst) & 1) == 0) return;
  const std::uint32_t found = word.fetch_and(~1U, std::memory_order_seq_cst);
  if ((found & 1) == 0) return;
  const std::uint32_t named = found & kSleepers;
  futex_wake(word, named != 0 ? named : kEverybody);
}
/// Wakes all without a look at the flag: it may be down although they sleep.
inline void wake_all(std::atomic<std::uint32_t>& word) {
  word.fetch_and(~1U, std::memory_order_seq_cst);
  futex_wake(word);
}

[[nodiscard]] std::uint64_t random_id();
/// Start time of a process in clock ticks since boot; with the pid it names a process for ever.
/// 0 if it cannot be read.
[[nodiscard]] std::uint64_t process_start(int pid);
/// Identifies the pid namespace: pids may be compared only within one.
[[nodiscard]] std::uint64_t pid_namespace();
[[nodiscard]] std::string host_name();

/// Sixteen hexadecimal digits and back; 0 if `text` is not exactly that.
[[nodiscard]] std::string to_hex(std::uint64_t value);
[[nodiscard]] std::uint64_t from_hex(std::string_view text);

}  // namespace hyphos::shm
