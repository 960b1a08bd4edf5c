#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>

#include "lab/common/futex.hpp"
#include "lab/common/options.hpp"

namespace hyphos::lab {

/// Steps of a run, in order. Each is entered by the side named.
enum Phase : std::uint32_t {
  kStarting,   // parent
  kWarmingUp,  // parent: every process has opened its ends
  kWarm,       // parent: every flow was heard to its end
  kMeasuring,  // parent: CPU clocks read
  kDrained,    // parent: all sent, and received or given up
  kStopping,   // parent: CPU clocks read again
};

/// One piece of memory shared by the parent and its children: the start barrier, and the results,
/// written in place so that nothing has to be sent back when the run ends.
class Sheet {
 public:
  /// "hyphlab" and a version, which changes with the meaning of any field.
  static constexpr std::uint64_t kMagic = 0x0262616c68707968;
  struct alignas(64) Flow {
    std::atomic<std::int64_t> received, warm, duplicates, corrupt, last_receive_ns;
  };
  struct alignas(64) Source {
    std::atomic<std::int64_t> sent, late_sends;
    std::atomic<std::uint32_t> warm, done;
  };
  /// What the parent maps by, so that a process with another idea of it, such as one in Python
  /// (hyphos/lab/worker/sheet.py), ends instead of writing in the wrong place.
  struct Layout {
    std::uint64_t magic;
    std::uint32_t head_bytes, flow_bytes, source_bytes, max_flows;
    bool operator==(const Layout&) const = default;
  };
  struct Head {
    Layout layout;
    std::atomic<std::uint32_t> phase, ready, steps;  // `steps`: counts what the parent waits for
    std::atomic<std::int64_t> first_send_ns;
    Flow flows[kMaxFlows];
    Source sources[kMaxFlows];
  };

  Sheet(int fd, const Options& o, bool create)
      : count_(o.count), flows_(o.flows()), sources_(o.sources()) {
    length_ = sizeof(Head) + sizeof(std::int64_t) * static_cast<std::size_t>(count_) *
                                 static_cast<std::size_t>(flows_ + 2 * sources_);
    if (create && ftruncate(fd, static_cast<off_t>(length_)) != 0) {
      throw std::runtime_error("cannot size the result sheet");
    }
    // The parent populates it, so that no page is zeroed within the measurement.
    base_ = mmap(nullptr, length_, PROT_READ | PROT_WRITE,
                 MAP_SHARED | (create || o.sources() == 1 ? MAP_POPULATE : 0), fd, 0);
    if (base_ == MAP_FAILED) throw std::runtime_error("cannot map the result sheet");
    constexpr Layout kLayout{kMagic, sizeof(Head), sizeof(Flow), sizeof(Source), kMaxFlows};
    if (create) head().layout = kLayout;
    if (head().layout != kLayout)
      throw std::runtime_error("the result sheet is of another version");
  }
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;
  ~Sheet() { munmap(base_, length_); }

  [[nodiscard]] Head& head() const { return *static_cast<Head*>(base_); }

  /// Stamp to callback of each message, by sequence; 0 = not received.
  [[nodiscard]] std::span<std::int64_t> latencies(int flow) const { return column(flow); }
  /// Duration of each publish call; 0 = not sent.
  [[nodiscard]] std::span<std::int64_t> costs(int source) const { return column(flows_ + source); }
  /// How much later than scheduled each publish call began.
  [[nodiscard]] std::span<std::int64_t> lateness(int source) const {
    return column(flows_ + sources_ + source);
  }

  void enter(Phase phase) const {
    head().phase.store(phase);
    futex_wake(head().phase);
  }
  [[nodiscard]] bool reached(Phase phase) const { return head().phase.load() >= phase; }
  void await(Phase phase) const {
    for (std::uint32_t seen; (seen = head().phase.load()) < phase;) futex_wait(head().phase, seen);
  }
  void check_in() const {
    head().ready.fetch_add(1);
    tell_parent();
  }
  void tell_parent() const {
    head().steps.fetch_add(1);
    futex_wake(head().steps);
  }

 private:
  [[nodiscard]] std::span<std::int64_t> column(int i) const {
    auto* first = reinterpret_cast<std::int64_t*>(static_cast<char*>(base_) + sizeof(Head));
    return {first + static_cast<std::ptrdiff_t>(i) * count_, static_cast<std::size_t>(count_)};
  }

  std::int64_t count_;
  int flows_;
  int sources_;
  std::size_t length_ = 0;
  void* base_ = nullptr;
};

}  // namespace hyphos::lab
