#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace hyphos::gateway {

/// Memory of the graph that clients' messages are read into while they come, so that they lie where
/// they are published. A client may never send the rest: all of a gateway have together no more
/// than for one message of the largest size, and beyond it they get none. Thread-safe.
class LoanBudget {
 public:
  /// Of the message that a connection is in the midst of.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept
        : from_(std::exchange(other.from_, nullptr)), size_(other.size_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(from_, other.from_);
      std::swap(size_, other.size_);
      return *this;
    }
    ~Share() {
      if (from_ != nullptr) from_->lent_.fetch_sub(size_);
    }
    explicit operator bool() const { return from_ != nullptr; }

   private:
    friend class LoanBudget;
    Share(LoanBudget& from, std::size_t size) : from_(&from), size_(size) {}
    LoanBudget* from_ = nullptr;
    std::size_t size_ = 0;
  };

  explicit LoanBudget(std::size_t most) : most_(most) {}
  LoanBudget(const LoanBudget&) = delete;
  LoanBudget& operator=(const LoanBudget&) = delete;

  /// None if so much is not left.
  [[nodiscard]] Share take(std::size_t size) {
    if (lent_.fetch_add(size) + size <= most_) return {*this, size};
    lent_.fetch_sub(size);
    return {};
  }

 private:
  const std::size_t most_;
  std::atomic<std::size_t> lent_ = 0;
};

}  // namespace hyphos::gateway
