#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/inspect.hpp"
#include "shm/participant.hpp"
#include "transport/faulty.hpp"
#include "transport/peering.hpp"
#include "transport/transport.hpp"

namespace hyphos::transport {

/// The parameters from which a transport is made. Each transport reads the fields it needs.
struct TransportContext {
  std::string process_name;
  std::string domain = "0";
  bool guest = true;  ///< has no plan, and so matches all endpoints (ChannelSpec::tools_only)
  /// The plan's host on which this process runs. Empty if the plan has at most one host.
  std::string host;
  /// The shared-memory identity of this process. Null: a transport that needs one joins `domain` by
  /// itself.
  std::shared_ptr<shm::Participant> participant;
  // For transports that connect by address.
  std::vector<BindPoint> bind;
  std::vector<PeerAddress> connect;
  std::optional<CurveKeys> keys;
  /// Called from one thread after each measurement of another machine's clock. May be empty.
  std::function<void(const PeerClock&)> on_peer_clock;
  /// If set, the transport is wrapped in `faulty`.
  std::optional<FaultConfig> faults;
};

/// A transport, and its peering interface if it has one.
struct MadeTransport {
  std::shared_ptr<Transport> transport;
  std::shared_ptr<Peering> peering;  ///< null if peers are not known by address
};

/// Makes a transport by its name in plans, without starting it. Code::not_found lists the existing
/// names.
[[nodiscard]] Result<MadeTransport> make_transport(std::string_view name,
                                                   const TransportContext& context);

/// The names that make_transport() accepts, in order of preference.
[[nodiscard]] std::vector<std::string_view> transport_names();

}  // namespace hyphos::transport
