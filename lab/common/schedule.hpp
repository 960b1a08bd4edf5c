#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "lab/common/options.hpp"

namespace hyphos::lab {

/// The due time, size and content of each message of a source. Either all messages are alike at a
/// fixed rate, or they repeat a recording from a file written by python/hyphos/lab/recorded.py.
class Schedule {
 public:
  explicit Schedule(const Options& o) : size_(o.size), period_ns_(1e9 / o.rate_hz) {
    if (!o.recorded.empty()) map(o);
  }
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  ~Schedule() {
    if (head_ != nullptr) munmap(const_cast<Head*>(head_), length_);
  }

  /// The size of message `i` in bytes.
  [[nodiscard]] std::size_t size(std::int64_t i) const {
    return head_ == nullptr ? size_ : static_cast<std::size_t>(entry(i).size);
  }
  /// The due time in nanoseconds after the first message.
  [[nodiscard]] std::int64_t due(std::int64_t i) const {
    if (speed_ == 0) return static_cast<std::int64_t>(static_cast<double>(i) * period_ns_);
    const double ns = static_cast<double>(i / head_->count) * static_cast<double>(head_->span_ns) +
                      static_cast<double>(entry(i).offset_ns);
    return static_cast<std::int64_t>(ns / speed_);
  }
  /// The mean time between two messages in nanoseconds.
  [[nodiscard]] double period_ns() const { return period_ns_; }
  /// Writes the recorded content. Without a recording it writes nothing, because no peer fills a
  /// payload.
  void fill(std::byte* out, std::int64_t i) const {
    if (head_ != nullptr) std::memcpy(out, base() + entry(i).at, entry(i).size);
  }

 private:
  static constexpr std::uint64_t kMagic = 0x0163657268707968;  // "hyphrec" and a version
  struct Head {
    std::uint64_t magic;
    std::int64_t count, span_ns;  // the recording restarts after span_ns
  };
  struct Entry {
    std::int64_t offset_ns;
    std::uint64_t size, at;
  };

  [[nodiscard]] const std::byte* base() const { return reinterpret_cast<const std::byte*>(head_); }
  [[nodiscard]] const Entry& entry(std::int64_t i) const {
    return reinterpret_cast<const Entry*>(head_ + 1)[i % head_->count];
  }

  void map(const Options& o) {
    const auto need = [&](bool good, const char* what) {
      if (!good) throw std::runtime_error(o.recorded + ": " + what);
    };
    const int fd = open(o.recorded.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about{};
    need(fd >= 0 && fstat(fd, &about) == 0, "cannot be read");
    length_ = static_cast<std::size_t>(about.st_size);
    need(length_ >= sizeof(Head), "is not a schedule");
    // Populated, so that the measurement causes no page fault.
    void* memory = mmap(nullptr, length_, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    close(fd);
    need(memory != MAP_FAILED, "cannot be mapped");
    head_ = static_cast<const Head*>(memory);
    need(head_->magic == kMagic && head_->count > 0, "is not a schedule of this version");
    const auto count = static_cast<std::size_t>(head_->count);
    need(count <= (length_ - sizeof(Head)) / sizeof(Entry), "is truncated");
    for (std::int64_t i = 0; i < head_->count; ++i) {
      need(entry(i).at <= length_ && entry(i).size <= length_ - entry(i).at, "is truncated");
      need(entry(i).size >= 32 && entry(i).size <= size_,
           "has messages outside 32 bytes to --size");
    }
    speed_ = o.speed;
  }

  std::size_t size_;  // of each message, or the largest size
  double period_ns_;
  double speed_ = 0;  // 0: at the fixed rate
  const Head* head_ = nullptr;
  std::size_t length_ = 0;
};

}  // namespace hyphos::lab
