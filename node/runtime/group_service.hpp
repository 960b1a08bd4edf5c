#pragma once

#include "hyphos/node.hpp"

namespace hyphos::control {

/// Opens the service that changes the groups of the plan in the process of `node`. `runtime` must
/// outlive `node`, which must be closed before. Errors: those of Node::service().
Result<void> serve_groups(const Node& node, Runtime::Impl& runtime);

}  // namespace hyphos::control
