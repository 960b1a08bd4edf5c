#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "hyphos/plan.hpp"
#include "hyphos/runtime.hpp"
#include "trace/record.hpp"
#include "transport/announce.hpp"
#include "transport/transport.hpp"

namespace hyphos {

/// The transports that one process needs, started, and its counters.
struct Links {
  std::shared_ptr<trace::Registry> registry;
  std::vector<std::shared_ptr<transport::Transport>> transports;
  /// Present if the plan asks for multicast discovery; ends before the transports do.
  std::unique_ptr<transport::Announcer> announcer;
};

/// Makes them as the plan says; without a plan, shared memory alone. `plan` and `connections` are
/// both null or both given.
Result<Links> open_links(const RuntimeOptions& options, const Plan* plan,
                         const Connections* connections, const std::string& domain);

/// Opens or closes one channel towards one peer endpoint.
Result<void> set_peer_open(graph::Graph& graph, const std::string& channel, const std::string& peer,
                           bool open);

}  // namespace hyphos
