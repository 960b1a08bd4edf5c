#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/type_definitions.hpp"
#include "hyphos/plan.hpp"
#include "hyphos/runtime.hpp"
#include "trace/record.hpp"
#include "transport/announce.hpp"
#include "transport/peering.hpp"
#include "transport/transport.hpp"

namespace hyphos {

struct OpenLink {
  std::shared_ptr<transport::Transport> transport;
  std::shared_ptr<transport::Peering> peering;  ///< null if its peers have no addresses
};

/// The started transports of one process, and its counters.
struct Links {
  std::shared_ptr<trace::Registry> registry;
  std::vector<OpenLink> open;
  /// Present if the plan enables multicast discovery. Ends before the transports.
  std::unique_ptr<transport::Announcer> announcer;
  /// Publishes the definitions of types for tools. Empty if the process is offline.
  graph::TypeDefinitions::Publish publish_types;
};

/// Makes the links that the plan describes. Without a plan, shared memory alone. `plan` and
/// `connections` are both null or both given.
Result<Links> open_links(const RuntimeOptions& options, const Plan* plan,
                         const Connections* connections, const std::string& domain);

/// Opens or closes one channel to one peer, named by its process or by the endpoint to which this
/// process connects. `transports`: the transports that carry the channel here. `planned`: the peers
/// of the plan, for the error. Code::not_found: no such peer. Code::unsupported: no network link
/// carries the channel.
Result<void> set_peer_open(const std::vector<OpenLink>& links, const std::string& channel,
                           const std::vector<std::string>& transports, const std::string& peer,
                           bool open, const std::vector<PeerLink>& planned);

}  // namespace hyphos
