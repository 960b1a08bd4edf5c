#pragma once

#include <cstdint>
#include <string>

#include "hyphos/node.hpp"

namespace hyphos::control {

/// Opens the service through which tools change the process of `node`. `runtime` must outlive
/// `node`, which must be closed before. Errors: those of Node::service().
Result<void> serve(const Node& node, Runtime::Impl& runtime, std::uint64_t participant);

/// The name of the service of a process.
[[nodiscard]] std::string service_of(std::uint64_t participant);

}  // namespace hyphos::control
