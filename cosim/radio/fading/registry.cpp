#include <algorithm>
#include <array>

#include "cosim/radio/fading/models.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::array<KnownFading, 4> kKnown{
    {{"none", "no fading", make::no_fading},
     {"rayleigh", "scattered waves alone", make::rayleigh},
     {"rician", "a direct wave of K times the power of the scattered waves", make::rician},
     {"nakagami", "power with a gamma distribution of shape m", make::nakagami}}};

class None final : public Fading {
 public:
  double gain(const Link& /*link*/, Time /*time*/, bool /*line_of_sight*/) const override {
    return 1;
  }
  double most_db(bool /*line_of_sight*/) const override { return 0; }
  bool fades() const override { return false; }
};

}  // namespace

namespace make {
std::unique_ptr<Fading> no_fading(const FadingOptions& /*options*/) {
  return std::make_unique<None>();
}
}  // namespace make

Waves scattered(const FadingOptions& options) {
  constexpr std::uint64_t kPurpose = 0x53;
  const double per_metre = options.frequency_hz / kSpeedOfLight;
  return {options.seed, kPurpose,
          clarke_waves(per_metre, options.scatterer_speed * per_metre, kScattered)};
}

std::span<const KnownFading> known_fadings() { return kKnown; }

const KnownFading* find_fading(std::string_view name) {
  const auto found = std::ranges::find(kKnown, name, &KnownFading::name);
  return found == kKnown.end() ? nullptr : &*found;
}

}  // namespace hyphos::cosim
