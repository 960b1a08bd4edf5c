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

/// What a transport may need to know to be made. Each takes what concerns it.
struct TransportContext {
  std::string process_name;
  std::string domain = "0";
  bool guest = true;  ///< has no plan, and so meets everybody (ChannelSpec::for_guests)
  /// Which of the plan's hosts this is; empty if the plan has one host only, or there is none.
  std::string host;
  /// This process as others on the machine see it; null: a transport that needs it joins `domain`
  /// by itself.
  std::shared_ptr<shm::Participant> participant;
  // Of transports that connect by address.
  std::vector<BindPoint> bind;
  std::vector<PeerAddress> connect;
  std::optional<CurveKeys> keys;
  /// Called after every measurement of another machine's clock, from one thread; may be empty.
  std::function<void(const PeerClock&)> on_peer_clock;
  /// If set, the transport is wrapped into `faulty`.
  std::optional<FaultConfig> faults;
};

/// A transport, and the other side of it if it has one.
struct MadeTransport {
  std::shared_ptr<Transport> transport;
  std::shared_ptr<Peering> peering;  ///< null if peers are not known by address
};

/// Makes a transport by the name it has in plans; not started. Code::not_found names those there
/// are.
[[nodiscard]] Result<MadeTransport> make_transport(std::string_view name,
                                                   const TransportContext& context);

/// The names that make_transport() knows, in order of preference.
[[nodiscard]] std::vector<std::string_view> transport_names();

}  // namespace hyphos::transport
