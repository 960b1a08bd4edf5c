#include <algorithm>
#include <array>
#include <cmath>

#include "cosim/radio/kinds/radios.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::array<const RadioKind*, 7> kKnown{
    &radios::kWifiG,      &radios::kWifiN, &radios::kWifiAc, &radios::kWifiAx,
    &radios::kIeee802154, &radios::kLora,  &radios::kCell};

}  // namespace

std::span<const RadioKind* const> known_radios() { return kKnown; }

const RadioKind* find_radio(std::string_view name) {
  const auto found = std::ranges::find(kKnown, name, &RadioKind::name);
  return found == kKnown.end() ? nullptr : *found;
}

Duration symbol_airtime(const RadioKind& kind, const Rate& rate, std::size_t frame_bytes) {
  const std::size_t bits = kind.service_bits + 8 * frame_bytes;
  const auto each = static_cast<std::size_t>(rate.bits);
  return kind.preamble + kind.symbol * static_cast<std::int64_t>((bits + each - 1) / each);
}

}  // namespace hyphos::cosim
