#pragma once

#include <cstdint>

namespace hyphos::cosim {

/// A number that depends on its arguments alone: the same draw whatever was drawn before.
[[nodiscard]] std::uint64_t draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b,
                                 std::uint64_t c);
/// The same in [0, 1).
[[nodiscard]] double draw_unit(std::uint64_t seed, std::uint64_t a, std::uint64_t b,
                               std::uint64_t c);

}  // namespace hyphos::cosim
