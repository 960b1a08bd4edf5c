#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/futex.hpp"
#include "base/unique_fd.hpp"
#include "hyphos/result.hpp"

/// RAII wrappers of the few operating-system calls that shared memory needs.
namespace hyphos::shm {

/// Pages of a file, unmapped by the destructor.
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
  /// Enters all pages into the page table, so that the first reader takes no page faults.
  void populate() const;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Converts errno into an Error: "<what>: <strerror>", with the matching code.
[[nodiscard]] Error os_error(int error, std::string what, std::string where);

/// Allocates the blocks of a range of a file, and extends the file to at least its end. Existing
/// content stays. The Error (exhausted) names the bytes needed and the bytes free.
[[nodiscard]] Result<void> reserve(const UniqueFd& file, std::uint64_t offset, std::uint64_t size,
                                   const std::string& where);

using futex::kEverybody;  // matches every sleeper

/// Sleeps while `word` is `expected`, until woken or until the monotonic time `deadline_ns` (0: no
/// deadline). Works between processes (futex::Scope::shared). May return early without a reason.
/// `as`: the sleeper's bit mask. futex_wake() wakes it if the masks share a bit.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::int64_t deadline_ns, std::uint32_t as = kEverybody);
/// Wakes all sleepers whose mask shares a bit with `whom`.
void futex_wake(const std::atomic<std::uint32_t>& word, std::uint32_t whom = kEverybody);

/// A doorbell is a word. Its bit 0 is the flag that a thread sleeps or is about to. The bits of
/// kSleepers select the sleepers to wake, and none means all. The other bits are free.
inline constexpr std::uint32_t kSleepers = 0b110;

/// The sleeper's part is to set the flag, check for work once more, and call futex_wait(). This is
/// the other part, after the work was made visible with a sequentially consistent write. Costs one
/// load if no thread sleeps.
inline void wake(std::atomic<std::uint32_t>& word) {
  if ((word.load(std::memory_order_seq_cst) & 1) == 0) return;
  const std::uint32_t found = word.fetch_and(~1U, std::memory_order_seq_cst);
  if ((found & 1) == 0) return;
  const std::uint32_t named = found & kSleepers;
  futex_wake(word, named != 0 ? named : kEverybody);
}
/// Wakes all sleepers without reading the flag, which may be clear although they sleep.
inline void wake_all(std::atomic<std::uint32_t>& word) {
  word.fetch_and(~1U, std::memory_order_seq_cst);
  futex_wake(word);
}

[[nodiscard]] std::uint64_t random_id();
/// Start time of a process in clock ticks since boot. Together with the pid, it identifies a
/// process uniquely. 0 if it cannot be read.
[[nodiscard]] std::uint64_t process_start(int pid);
/// True if a signal or a debugger has stopped the process. False if it cannot be read.
[[nodiscard]] bool is_stopped(int pid);
/// Identifies the pid namespace: pids may be compared only within one.
[[nodiscard]] std::uint64_t pid_namespace();
[[nodiscard]] std::string host_name();

/// Sixteen hexadecimal digits and back. 0 if `text` has another format.
[[nodiscard]] std::string to_hex(std::uint64_t value);
[[nodiscard]] std::uint64_t from_hex(std::string_view text);

}  // namespace hyphos::shm
