#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cosim/programs/flow.hpp"
#include "hyphos/result.hpp"

namespace hyphos::cosim {

/// Parses "0.01,a0ff…", one line per message: seconds after the first message, and its bytes in
/// hexadecimal. Lines that begin with # are ignored. Errors: invalid_config, with the line.
[[nodiscard]] Result<std::vector<Recorded>> parse_recording(std::string_view text,
                                                            const std::string& name);

}  // namespace hyphos::cosim
