#include "cosim/core/time.hpp"

#include <numeric>
#include <string>

namespace hyphos::cosim {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Error overflow(const std::string& what) {
  return {Code::out_of_range, "time overflow: " + what + " does not fit into int64 nanoseconds",
          ""};
}

}  // namespace

Result<Time> checked_add(Time t, Duration d) {
  Time sum;
  if (__builtin_add_overflow(t.ns, d.ns, &sum.ns)) {
    return overflow(std::to_string(t.ns) + " ns + " + std::to_string(d.ns) + " ns");
  }
  return sum;
}

Result<Duration> checked_mul(Duration d, std::int64_t k) {
  Duration product;
  if (__builtin_mul_overflow(d.ns, k, &product.ns)) {
    return overflow(std::to_string(d.ns) + " ns times " + std::to_string(k));
  }
  return product;
}

Result<Step> Step::make(std::int64_t numerator_ns, std::int64_t denominator) {
  if (denominator <= 0 || numerator_ns < denominator) {
    return Error{Code::invalid_config,
                 "a step of " + std::to_string(numerator_ns) + "/" + std::to_string(denominator) +
                     " ns: use at least 1 ns and a positive denominator",
                 ""};
  }
  const std::int64_t common = std::gcd(numerator_ns, denominator);
  return Step(numerator_ns / common, denominator / common);
}

Result<Step> Step::from_rate(std::int64_t numerator, std::int64_t denominator) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (numerator <= 0 || denominator <= 0 || denominator > kMost / kSecond) {
    return Error{Code::invalid_config,
                 "a rate of " + std::to_string(numerator) + "/" + std::to_string(denominator) +
                     " Hz: use a positive rate",
                 ""};
  }
  return make(kSecond * denominator, numerator);
}

Result<Time> Step::at(std::int64_t k) const {
  std::int64_t small = 0;
  if (k >= 0 && !__builtin_mul_overflow(k, numerator_, &small)) return Time{small / denominator_};
  const Wide instant = static_cast<Wide>(k) * numerator_ / denominator_;
  if (k < 0 || instant >= kMost) return overflow("instant " + std::to_string(k));
  return Time{static_cast<std::int64_t>(instant)};
}

std::int64_t Step::index_at_or_before(Time t) const {
  // floor(k·n/d) <= t  <=>  k·n < (t + 1)·d
  const Wide index = ((static_cast<Wide>(t.ns) + 1) * denominator_ - 1) / numerator_;
  return index > kMost ? kMost : static_cast<std::int64_t>(index);
}

std::int64_t Step::index_at_or_after(Time t) const {
  const Wide index = (static_cast<Wide>(t.ns) * denominator_ + numerator_ - 1) / numerator_;
  return index > kMost ? kMost : static_cast<std::int64_t>(index);
}

}  // namespace hyphos::cosim
