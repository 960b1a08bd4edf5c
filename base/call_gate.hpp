#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/futex.hpp"

namespace hyphos {

/// A call gate: lets calls pass until it is closed. close() waits for the calls inside.
/// Thread-safe.
///
/// A call enters with an Entry. This costs two atomic increments, and never blocks. A thread inside
/// may enter again. It must not close the gate, because it would wait for itself. The gate must
/// live until the last Entry is destroyed.
///
/// Invariants, with sequentially consistent operations:
///  (1) An entry first counts itself in `inside_`, then reads `closed_`. close() writes `closed_`,
///      then reads `inside_`. So close() sees the entry, or the entry sees the closed gate.
///  (2) The last entry first leaves `inside_`, then reads `closers_`. A closer counts itself, then
///      reads `inside_`. So the closer sees the empty gate, or it is woken.
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
    const bool first = !closed_.exchange(true, std::memory_order_seq_cst);
    (void)wait_until_empty(0);
    return first;
  }
  /// The same, but waits at most until `deadline_ns` (CLOCK_MONOTONIC). Returns false if a call is
  /// still inside then. The gate is closed in either case.
  [[nodiscard]] bool close_until(std::int64_t deadline_ns) {
    closed_.store(true, std::memory_order_seq_cst);
    return wait_until_empty(deadline_ns);
  }
  [[nodiscard]] bool closed() const { return closed_.load(std::memory_order_seq_cst); }
  /// True if no call was inside at some instant during this call.
  [[nodiscard]] bool idle() const { return inside_.load(std::memory_order_seq_cst) == 0; }

 private:
  [[nodiscard]] bool enter() {
    inside_.fetch_add(1, std::memory_order_seq_cst);
    if (!closed_.load(std::memory_order_seq_cst)) return true;
    leave();
    return false;
  }
  void leave() {
    if (inside_.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
        closers_.load(std::memory_order_seq_cst) != 0) {
      futex::wake_all(inside_, futex::Scope::process);
    }
  }
  bool wait_until_empty(std::int64_t deadline_ns) {
    closers_.fetch_add(1, std::memory_order_seq_cst);
    bool in_time = true;
    std::uint32_t inside = 0;
    while ((inside = inside_.load(std::memory_order_seq_cst)) != 0 && in_time) {
      in_time = futex::wait_until(inside_, inside, deadline_ns, futex::Scope::process);
    }
    closers_.fetch_sub(1, std::memory_order_seq_cst);
    return inside == 0;
  }

  std::atomic<std::uint32_t> inside_{0};
  std::atomic<std::uint32_t> closers_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace hyphos
