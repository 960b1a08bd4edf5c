#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "shm/participant.hpp"
#include "transport/transport.hpp"

namespace hyphos::transport {

struct ShmConfig {
  /// This process in its domain, used by this transport alone. Null: start() makes one from the
  /// fields below.
  std::shared_ptr<shm::Participant> participant;
  std::string domain = "0";  ///< participants of other domains are ignored
  std::string process_name;  ///< for display: shown to peers and by the tools
  bool guest = true;         ///< has no plan: matches all endpoints (ChannelSpec::tools_only)
  std::string host;          ///< the plan's host: only equal hosts match. Empty: any
  std::filesystem::path base_dir = "/dev/shm";
  std::uint64_t pool_limit_bytes = 0;  ///< 0: a quarter of the file system, at most 2 GiB
  std::uint32_t max_receivers = shm::kMaxReceivers;  ///< fewer in tests
};

/// Carries messages between the processes of one user on one machine, through shared memory. The
/// publisher writes a message once, and every subscriber reads it in place. There is no daemon.
///
/// A message is not copied if its payload came from loan() or was received through this transport.
/// Any other message is copied once, however many receivers there are. There are two threads. One
/// sleeps on a futex until a message arrives, and calls ReceiveSink::deliver. The other sleeps
/// until participants arrive, change or die. Neither runs while the system is idle.
///
/// Limits: 960 receiving processes per sender, 8,192 queues per receiver, 8,192 endpoints per
/// participant (4,096 of them for tools only). Beyond a limit, open() or the connection fails on
/// both sides with an Error that names the limit.
class ShmTransport : public Transport {
 public:
  using Transport::Transport;
  /// Identifies this participant in tables and tools. 0 before start().
  [[nodiscard]] virtual std::uint64_t participant_id() const = 0;
};

[[nodiscard]] std::unique_ptr<ShmTransport> make_shm(ShmConfig config);

}  // namespace hyphos::transport
