#pragma once

#include <string_view>

#include "view/core/graph_state.hpp"

namespace hyphos::view {

/// Adds the nodes and endpoints of a plan to the snapshot of a recording, for channels that were
/// recorded. `json` is its attachment plan.json. Text that is no plan adds nothing. Pure.
void add_plan(GraphSnapshot& out, std::string_view json);

}  // namespace hyphos::view
