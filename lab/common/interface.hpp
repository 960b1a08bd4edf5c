#pragma once

namespace hyphos::lab {

/// Of command line, result and sheet: what it is built for, python/hyphos/lab/peers.py must know.
inline constexpr double kInterface = 6;

}  // namespace hyphos::lab
