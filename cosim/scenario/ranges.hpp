#pragma once

namespace hyphos::cosim {

inline constexpr double kMostMetres =
    1e7;  // metres: beyond any radio, within the precision of double
inline constexpr double kMostSeconds = 1e7;

}  // namespace hyphos::cosim
