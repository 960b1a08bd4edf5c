#include "transport/clock_offset.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace hyphos::transport {
namespace {

// Network input may be anything. 128 bits cannot overflow.
__extension__ using Wide = __int128;
constexpr Wide kFarthest = Wide{1} << 61;  // offsets beyond 73 years are invalid
constexpr double kMostDrift = 1e-3;        // beyond any crystal and any kernel slewing

}  // namespace

double ClockOffset::Sample::bound(std::int64_t now) const {
  const auto age = static_cast<double>(std::max<std::int64_t>(0, now - at));
  return static_cast<double>(round_trip) / 2 + kTolerance * age;
}

bool ClockOffset::add(const Exchange& e) {
  const Wide outer = Wide{e.got} - e.asked;
  const Wide inner = Wide{e.answered} - e.heard;
  const Wide offset = (Wide{e.heard} - e.asked + e.answered - e.got) / 2;
  if (inner < 0 || outer < inner || outer - inner > kMaxRoundTripNs ||
      outer > 2 * kMaxRoundTripNs || offset > kFarthest || offset < -kFarthest) {
    return false;
  }
  const Sample sample{e.asked + static_cast<std::int64_t>(outer / 2),
                      static_cast<std::int64_t>(offset), static_cast<std::int64_t>(outer - inner)};
  if (known() && excludes(sample)) {
    if (++excluded_ < 2) return true;
    count_ = next_ = 0;
    drift_ = 0;
    ++restarts_;
  }
  excluded_ = 0;
  ring_[next_] = sample;
  next_ = (next_ + 1) % kSamples;
  count_ = std::min(count_ + 1, kSamples);
  ++samples_;
  fit();
  choose(e.got);
  return true;
}

/// True if the two bounds do not overlap, so that one of the two offsets is no longer true.
bool ClockOffset::excludes(const Sample& sample) const {
  const auto apart = static_cast<double>(std::abs(sample.offset - offset(sample.at)));
  return apart > sample.bound(sample.at) + best_.bound(sample.at) + 1000;
}

void ClockOffset::choose(std::int64_t now) {
  best_ = *std::min_element(
      ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(count_),
      [now](const Sample& a, const Sample& b) { return a.bound(now) < b.bound(now); });
}

void ClockOffset::fit() {
  drift_ = 0;
  const auto end = ring_.begin() + static_cast<std::ptrdiff_t>(count_);
  const auto [first, last] = std::minmax_element(
      ring_.begin(), end, [](const Sample& a, const Sample& b) { return a.at < b.at; });
  if (count_ < 8 || last->at - first->at < kLeastSpanNs) return;
  // Relative to the first sample, so that doubles are precise enough.
  double weights = 0;
  double mean_t = 0;
  double mean_o = 0;
  const auto weight = [](const Sample& s) {
    const double error = std::max(1000.0, static_cast<double>(s.round_trip) / 2);
    return 1 / (error * error);
  };
  const auto t = [&](const Sample& s) { return static_cast<double>(s.at - first->at); };
  const auto o = [&](const Sample& s) { return static_cast<double>(s.offset - first->offset); };
  for (auto s = ring_.begin(); s != end; ++s) {
    weights += weight(*s);
    mean_t += weight(*s) * t(*s);
    mean_o += weight(*s) * o(*s);
  }
  mean_t /= weights;
  mean_o /= weights;
  double above = 0;
  double below = 0;
  for (auto s = ring_.begin(); s != end; ++s) {
    above += weight(*s) * (t(*s) - mean_t) * (o(*s) - mean_o);
    below += weight(*s) * (t(*s) - mean_t) * (t(*s) - mean_t);
  }
  if (below > 0 && std::abs(above / below) <= kMostDrift) drift_ = above / below;
}

std::int64_t ClockOffset::offset(std::int64_t ours) const {
  return best_.offset + std::llround(drift_ * static_cast<double>(ours - best_.at));
}

std::int64_t ClockOffset::uncertainty(std::int64_t ours) const {
  return std::llround(best_.bound(ours));
}

}  // namespace hyphos::transport
