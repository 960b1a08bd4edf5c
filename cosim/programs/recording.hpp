#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cosim/programs/flow.hpp"
#include "hyphos/result.hpp"

namespace hyphos::cosim {

/// "0.01,a0ff…", a line for each message: seconds after the first one, and its bytes in
/// hexadecimal. Lines that begin with # say nothing. Errors: invalid_config, with the line.
[[nodiscard]] Result<std::vector<Recorded>> parse_recording(std::string_view text,
                                                            const std::string& name);

}  // namespace hyphos::cosim
