#include "cosim/core/random.hpp"

namespace hyphos::cosim {
namespace {

std::uint64_t mix(std::uint64_t x) {  // the finalizer of SplitMix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;
  std::uint64_t x = mix(seed + kStep);
  x = mix(x ^ (a + kStep));
  x = mix(x ^ (b + 2 * kStep));
  return mix(x ^ (c + 3 * kStep));
}

double draw_unit(std::uint64_t seed, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return static_cast<double>(draw(seed, a, b, c) >> 11) * 0x1p-53;
}

}  // namespace hyphos::cosim
