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

/// When each message of a source is due, how large it is and what is in it: all alike at a fixed
/// rate, or those of a recording, over and over, from a file that python/hyphos/lab/recorded.py
/// has written.
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

  /// Bytes of message `i`.
  [[nodiscard]] std::size_t size(std::int64_t i) const {
    return head_ == nullptr ? size_ : static_cast<std::size_t>(entry(i).size);
  }
  /// After the first one, in nanoseconds.
  [[nodiscard]] std::int64_t due(std::int64_t i) const {
    if (speed_ == 0) return static_cast<std::int64_t>(static_cast<double>(i) * period_ns_);
    const double ns = static_cast<double>(i / head_->count) * static_cast<double>(head_->span_ns) +
                      static_cast<double>(entry(i).offset_ns);
    return static_cast<std::int64_t>(ns / speed_);
  }
  /// Between two messages, on average.
  [[nodiscard]] double period_ns() const { return period_ns_; }
  /// Writes what was recorded; nothing where there is no recording, since no peer fills a payload.
  void fill(std::byte* out, std::int64_t i) const {
    if (head_ != nullptr) std::memcpy(out, base() + entry(i).at, entry(i).size);
  }

 private:
  static constexpr std::uint64_t kMagic = 0x0163657268707968;  // "hyphrec" and a version
  struct Head {
    std::uint64_t magic;
    std::int64_t count, span_ns;  // the recording begins again after span_ns
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
    need(length_ >= sizeof(Head), "is no schedule");
    // Populated, so that no page is read within the measurement.
    void* memory = mmap(nullptr, length_, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    close(fd);
    need(memory != MAP_FAILED, "cannot be mapped");
    head_ = static_cast<const Head*>(memory);
    need(head_->magic == kMagic && head_->count > 0, "is no schedule of this version");
    const auto count = static_cast<std::size_t>(head_->count);
    need(count <= (length_ - sizeof(Head)) / sizeof(Entry), "was cut off");
    for (std::int64_t i = 0; i < head_->count; ++i) {
      need(entry(i).at <= length_ && entry(i).size <= length_ - entry(i).at, "was cut off");
      need(entry(i).size >= 32 && entry(i).size <= size_, "has messages that --size leaves out");
    }
    speed_ = o.speed;
  }

  std::size_t size_;  // of each message, or the largest
  double period_ns_;
  double speed_ = 0;  // 0: at the fixed rate
  const Head* head_ = nullptr;
  std::size_t length_ = 0;
};

}  // namespace hyphos::lab
