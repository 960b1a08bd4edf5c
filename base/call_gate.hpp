#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/futex.hpp"

namespace hyphos {

/// A call gate: lets calls pass until it is closed. close() waits for the calls inside.
/// Thread-safe.
///
/// A call enters with an Entry. This costs two atomic operations, and never blocks. A thread inside
/// may enter again. It must not close the gate, because it would wait for itself. The gate may be
/// destroyed as soon as close() has returned.
///
/// Invariants, with sequentially consistent operations:
///  (1) One word has the number of calls inside and the bit of a closed gate. So close() sees the
///      entry, or the entry sees the closed gate.
///  (2) Leaving accesses the word once. The value before it shows if a closer may wait. The wake
///      uses the address only, so the gate may be gone by then.
class CallGate {
 public:
  /// Stays inside a gate for one scope. False if the gate was closed.
  class [[nodiscard]] Entry {
   public:
    explicit Entry(CallGate& gate) : gate_(gate.enter() ? &gate : nullptr) {}
    ~Entry() {
      if (gate_ != nullptr) gate_->leave();
    }
    Entry(Entry&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    CallGate* gate_;
  };

  CallGate() = default;
  CallGate(const CallGate&) = delete;
  CallGate& operator=(const CallGate&) = delete;

  /// When it returns, no call is inside, and no call can enter. Returns false if the gate was
  /// already closed.
  bool close() {
    const bool first = (state_.fetch_or(kClosed, std::memory_order_seq_cst) & kClosed) == 0;
    (void)wait_until_empty(0);
    return first;
  }
  /// The same, but waits at most until `deadline_ns` (CLOCK_MONOTONIC). Returns false if a call is
  /// still inside then. The gate is closed in either case.
  [[nodiscard]] bool close_until(std::int64_t deadline_ns) {
    state_.fetch_or(kClosed, std::memory_order_seq_cst);
    return wait_until_empty(deadline_ns);
  }
  [[nodiscard]] bool closed() const {
    return (state_.load(std::memory_order_seq_cst) & kClosed) != 0;
  }
  /// True if no call was inside at some instant during this call.
  [[nodiscard]] bool idle() const {
    return (state_.load(std::memory_order_seq_cst) & ~kClosed) == 0;
  }

 private:
  static constexpr std::uint32_t kClosed = std::uint32_t{1} << 31;

  [[nodiscard]] bool enter() {
    if (closed()) return false;  // without the wake of leave()
    if ((state_.fetch_add(1, std::memory_order_seq_cst) & kClosed) == 0) return true;
    leave();
    return false;
  }
  void leave() {
    if (state_.fetch_sub(1, std::memory_order_seq_cst) == (kClosed | 1)) {
      futex::wake_all(state_, futex::Scope::process);
    }
  }
  bool wait_until_empty(std::int64_t deadline_ns) {
    bool in_time = true;
    std::uint32_t state = 0;
    while (((state = state_.load(std::memory_order_seq_cst)) & ~kClosed) != 0 && in_time) {
      in_time = futex::wait_until(state_, state, deadline_ns, futex::Scope::process);
    }
    return (state & ~kClosed) == 0;
  }

  std::atomic<std::uint32_t> state_{0};
};

}  // namespace hyphos
