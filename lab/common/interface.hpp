#pragma once

namespace hyphos::lab {

/// The version of command line, result and sheet. python/hyphos/lab/peers.py must have the same
/// version.
inline constexpr double kInterface = 6;

}  // namespace hyphos::lab
