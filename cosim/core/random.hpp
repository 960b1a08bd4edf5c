#pragma once

#include <cstdint>

namespace hyphos::cosim {

/// A random number that depends on its arguments only, not on earlier draws.
[[nodiscard]] std::uint64_t draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b,
                                 std::uint64_t c);
/// The same draw in [0, 1).
[[nodiscard]] double draw_unit(std::uint64_t seed, std::uint64_t a, std::uint64_t b,
                               std::uint64_t c);

}  // namespace hyphos::cosim
