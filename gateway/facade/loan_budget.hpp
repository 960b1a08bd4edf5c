#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace hyphos::gateway {

/// A budget of graph memory for messages that arrive in pieces. A message is received into the
/// memory from which it is published, so it is not copied. A client may stall in the middle of a
/// message, so all partially received messages of a gateway share one budget: the size of the
/// largest message. A message beyond the budget gets no such memory. Thread-safe.
class LoanBudget {
 public:
  /// The share of a message that a connection is receiving.
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

  /// Returns an empty share if the budget has less than `size` left.
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
