#pragma once

#include <cstdint>

namespace hyphos::cosim {

/// A DDS domain without a participant on this machine, for robot number `robot` of this process.
/// Different robots get different domains. 0 if all of them are taken. Participants of other
/// machines are not seen: the gateway does not reach them by default.
[[nodiscard]] std::uint32_t free_dds_domain(std::uint32_t robot);

}  // namespace hyphos::cosim
