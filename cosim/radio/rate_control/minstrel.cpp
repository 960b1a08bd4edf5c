#include <algorithm>

#include "cosim/core/random.hpp"
#include "cosim/radio/rate_control/controls.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::uint64_t kSample = 0x5500;  // purpose of random draws
constexpr Duration kInterval = Duration::from_ms(100);
constexpr double kOld = 0.75;              // share of the old value in an update
constexpr double kSampled = 0.1;           // share of frames that try another rate
constexpr std::size_t kFrameBytes = 1200;  // for which throughputs are compared
constexpr double kUseless = 0.1;           // rates with less success have no throughput
constexpr double kSure = 0.9;              // more success counts no more

/// The rules of Linux' minstrel (net/mac80211/rc80211_minstrel.c; Xia, Hart, Fu, ICC 2013), with
/// one frame at a time. Each 100 ms, the share of arrived frames of each rate is smoothed. Most
/// frames use the rate with the best product of share and speed. One in ten tries a random rate
/// first. Repetitions fall back to the best, the second best, the safest and the slowest rate.
class Minstrel final : public RateControl {
 public:
  explicit Minstrel(const RateControlOptions& options) : seed_(options.seed) {
    for (const Rate& rate : options.kind->rates) {
      times_.push_back(options.kind->airtime(*options.kind, rate, kFrameBytes));
    }
  }

  bool remembers() const override { return true; }
  std::uint32_t everyone() const override { return 0; }

  std::uint32_t choose(LinkMemory& link, const Attempt& attempt) const override {
    if (link.rates.empty()) {
      link.rates.resize(times_.size());
      link.updated = attempt.now;
    }
    if (attempt.now - link.updated >= kInterval) update(link, attempt.now);
    if (attempt.number == 1) {
      if (draw_unit(seed_, attempt.packet, attempt.from, kSample) >= kSampled) return link.best;
      return static_cast<std::uint32_t>(draw(seed_, attempt.packet, attempt.from, kSample + 1) %
                                        times_.size());
    }
    if (attempt.number == 2) return link.best;
    if (attempt.number <= 4) return link.second;
    return attempt.number <= 6 ? link.safest : 0;
  }

  void report(LinkMemory& link, std::uint32_t rate, bool arrived) const override {
    ++link.rates[rate].tried;
    link.rates[rate].arrived += arrived ? 1 : 0;
  }

 private:
  [[nodiscard]] double throughput(const LinkMemory& link, std::uint32_t rate) const {
    const double success = link.rates[rate].success;
    if (success < kUseless) return 0;
    return std::min(success, kSure) / static_cast<double>(times_[rate].ns);
  }

  void update(LinkMemory& link, Time now) const {
    link.updated = now;
    for (RateMemory& rate : link.rates) {
      if (rate.tried == 0) continue;
      const double share = static_cast<double>(rate.arrived) / rate.tried;
      rate.success = rate.known ? kOld * rate.success + (1 - kOld) * share : share;
      rate.known = true;
      rate.tried = rate.arrived = 0;
    }
    link.best = link.second = link.safest = 0;
    for (std::uint32_t rate = 1; rate < link.rates.size(); ++rate) {
      if (throughput(link, rate) > throughput(link, link.best)) {
        link.second = link.best;
        link.best = rate;
      } else if (throughput(link, rate) > throughput(link, link.second)) {
        link.second = rate;
      }
      if (link.rates[rate].success > link.rates[link.safest].success) link.safest = rate;
    }
  }

  std::uint64_t seed_;
  std::vector<Duration> times_;
};

}  // namespace

namespace make {
std::unique_ptr<RateControl> minstrel(const RateControlOptions& options) {
  return std::make_unique<Minstrel>(options);
}
}  // namespace make

}  // namespace hyphos::cosim
