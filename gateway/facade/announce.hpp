#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "gateway/types/types.hpp"
#include "hyphos/node.hpp"

namespace hyphos::gateway {

/// Announces the types of a channel or a call, so that tools can decode it. A failure is logged.
void announce(const Node& node, const Types& types, std::initializer_list<const TypeId*> ids);

/// The types that this process and the others of the node's domain announce, for
/// Types::set_announced().
[[nodiscard]] std::function<std::vector<std::string>()> announced_in_domain(const Node& node);

}  // namespace hyphos::gateway
