#pragma once

#include <cmath>

namespace hyphos::cosim {

[[nodiscard]] inline double to_ratio(double db) { return std::pow(10, db / 10); }
[[nodiscard]] inline double to_db(double ratio) { return 10 * std::log10(ratio); }
[[nodiscard]] inline double to_mw(double dbm) { return to_ratio(dbm); }

}  // namespace hyphos::cosim
