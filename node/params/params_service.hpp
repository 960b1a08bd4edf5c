#pragma once

#include <memory>

#include "hyphos/node.hpp"

namespace hyphos::params {

/// Opens the service through which others set the node's parameters. Null: does nothing.
Result<void> serve(const std::shared_ptr<Node::Impl>& node);

}  // namespace hyphos::params
