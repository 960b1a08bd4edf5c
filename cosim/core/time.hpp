#pragma once

#include <cstdint>
#include <limits>

#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

/// Time of a co-simulation: int64 nanoseconds since its start, without floating point.
namespace hyphos::cosim {

/// Later than every instant: "no event is planned".
inline constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};

/// t + d, or out_of_range. The sum never wraps.
[[nodiscard]] Result<Time> checked_add(Time t, Duration d);
/// d · k, or out_of_range.
[[nodiscard]] Result<Duration> checked_mul(Duration d, std::int64_t k);

/// The grid of instants of a time-stepped simulator. Its period is a rational number of
/// nanoseconds, such as 1/3 ms or 600 Hz. Instant k is floor(k · numerator / denominator), computed
/// directly from k. The result is less than 1 ns before the true instant for every k, and errors
/// never accumulate. Neighbouring instants are floor(period) or ceil(period) apart.
class Step {
 public:
  /// A period of numerator_ns / denominator nanoseconds, at least 1 ns. Errors: invalid_config.
  [[nodiscard]] static Result<Step> make(std::int64_t numerator_ns, std::int64_t denominator = 1);
  /// numerator / denominator steps in a second.
  [[nodiscard]] static Result<Step> from_rate(std::int64_t numerator, std::int64_t denominator = 1);

  /// Errors: out_of_range if k is negative or the instant does not fit into int64 ns (292 years).
  [[nodiscard]] Result<Time> at(std::int64_t k) const;
  /// The last instant at or before `t`. `t` must not be negative.
  [[nodiscard]] std::int64_t index_at_or_before(Time t) const;
  /// The first instant at or after `t`. `t` must not be negative.
  [[nodiscard]] std::int64_t index_at_or_after(Time t) const;
  /// The largest number of steps, from the start, that fits into `d`.
  [[nodiscard]] std::int64_t whole_steps(Duration d) const { return index_at_or_before({d.ns}); }

  [[nodiscard]] std::int64_t numerator() const { return numerator_; }
  [[nodiscard]] std::int64_t denominator() const { return denominator_; }
  /// The longest distance between neighbouring instants.
  [[nodiscard]] Duration longest() const {
    return {numerator_ / denominator_ + (numerator_ % denominator_ != 0 ? 1 : 0)};
  }
  [[nodiscard]] double seconds() const {
    return static_cast<double>(numerator_) / static_cast<double>(denominator_) * 1e-9;
  }

 private:
  Step(std::int64_t numerator, std::int64_t denominator)
      : numerator_(numerator), denominator_(denominator) {}

  std::int64_t numerator_;
  std::int64_t denominator_;
};

/// Iterates over the instants of a Step without division. It yields the same instants as Step::at,
/// at a cost of about one nanosecond each.
class Ticker {
 public:
  explicit Ticker(const Step& step)
      : whole_(step.numerator() / step.denominator()),
        part_(step.numerator() % step.denominator()),
        denominator_(step.denominator()) {}

  [[nodiscard]] std::int64_t index() const { return index_; }
  [[nodiscard]] Time now() const { return {now_ns_}; }
  /// Advances by one instant. Returns false at the end of int64. now() is invalid from then on.
  [[nodiscard]] bool advance() {
    rest_ += part_;
    const std::int64_t carry = rest_ >= denominator_ ? 1 : 0;
    rest_ -= carry * denominator_;
    ++index_;
    return !__builtin_add_overflow(now_ns_, whole_ + carry, &now_ns_);
  }

 private:
  std::int64_t whole_;
  std::int64_t part_;
  std::int64_t denominator_;
  std::int64_t index_ = 0;
  std::int64_t now_ns_ = 0;
  std::int64_t rest_ = 0;
};

}  // namespace hyphos::cosim
