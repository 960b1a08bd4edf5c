#include <algorithm>
#include <array>

#include "cosim/radio/rate_control/controls.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::array<KnownRateControl, 3> kKnown{
    {{"fixed", "the rate of the scenario", make::fixed_rate},
     {"minstrel", "the rate with the largest measured throughput", make::minstrel},
     {"ideal", "the fastest rate for the ratio at the receiver, in ns-3", make::fixed_rate, true}}};

class Fixed final : public RateControl {
 public:
  explicit Fixed(std::uint32_t rate) : rate_(rate) {}
  bool remembers() const override { return false; }
  std::uint32_t choose(LinkMemory& /*link*/, const Attempt& /*attempt*/) const override {
    return rate_;
  }
  void report(LinkMemory& /*link*/, std::uint32_t /*rate*/, bool /*arrived*/) const override {}
  std::uint32_t everyone() const override { return rate_; }

 private:
  std::uint32_t rate_;
};

}  // namespace

namespace make {
std::unique_ptr<RateControl> fixed_rate(const RateControlOptions& options) {
  return std::make_unique<Fixed>(options.rate);
}
}  // namespace make

std::span<const KnownRateControl> known_rate_controls() { return kKnown; }

const KnownRateControl* find_rate_control(std::string_view name) {
  const auto found = std::ranges::find(kKnown, name, &KnownRateControl::name);
  return found == kKnown.end() ? nullptr : &*found;
}

}  // namespace hyphos::cosim
