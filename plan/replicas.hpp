#pragma once

#include "base/config.hpp"

namespace hyphos::plan {

/// Replaces each node and process with `replicas: K` by K entries NAME.0 to NAME.(K-1), and each
/// reference to such a name by references to all of them. A process with replicas gets one of each
/// of its nodes per replica. Before all checks, which then see an ordinary plan.
void expand_replicas(config::Value& root, config::Problems& problems);

}  // namespace hyphos::plan
