#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "base/futex.hpp"

namespace hyphos::lab {

/// Creates an unnamed file for memory that a parent shares with its children. They inherit it
/// across exec.
inline int create_shared_file() {
  const int fd = memfd_create("hyphos-lab-sheet", 0);
  if (fd < 0) throw std::runtime_error("cannot create the result sheet");
  return fd;
}

/// The file mapped into memory. Its initial content is zeros.
class SharedMemory {
 public:
  /// `create` sets the size of the file. `populate` zeroes all pages now, not in the measurement.
  SharedMemory(int fd, std::size_t length, bool create, bool populate) : length_(length) {
    if (create && ftruncate(fd, static_cast<off_t>(length)) != 0) {
      throw std::runtime_error("cannot size the result sheet");
    }
    base_ = mmap(nullptr, length, PROT_READ | PROT_WRITE,
                 MAP_SHARED | (populate ? MAP_POPULATE : 0), fd, 0);
    if (base_ == MAP_FAILED) throw std::runtime_error("cannot map the result sheet");
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { munmap(base_, length_); }

  template <typename T>
  [[nodiscard]] T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(static_cast<char*>(base_) + offset);
  }

 private:
  std::size_t length_;
  void* base_ = nullptr;
};

/// The steps of a run, in order. The parent enters them.
enum Phase : std::uint32_t {
  kStarting,
  kWarmingUp,  // every process has opened its endpoints
  kWarm,       // every flow has delivered messages to its last subscriber
  kMeasuring,  // CPU clocks are read
  kStopping,   // everything is sent, and received or lost
};

/// The current step of a run, in shared memory. Children sleep until the parent enters the step
/// that they wait for.
class SharedPhase {
 public:
  void enter(Phase phase) {
    value_.store(phase);
    futex::wake_all(value_, futex::Scope::shared);
  }
  [[nodiscard]] bool reached(Phase phase) const { return value_.load() >= phase; }
  void await(Phase phase) {
    for (std::uint32_t seen; (seen = value_.load()) < phase;)
      futex::wait(value_, seen, futex::Scope::shared);
  }

 private:
  std::atomic<std::uint32_t> value_;
};

}  // namespace hyphos::lab
