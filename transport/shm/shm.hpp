#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "shm/participant.hpp"
#include "transport/transport.hpp"

namespace hyphos::transport {

struct ShmConfig {
  /// This process in its domain, used by this transport alone. Null: start() makes one, as the rest
  /// of this says.
  std::shared_ptr<shm::Participant> participant;
  std::string domain = "0";  ///< participants of other domains are not seen
  std::string process_name;  ///< for people: shown to peers and by the tools
  bool guest = true;         ///< has no plan: meets everybody (ChannelSpec::for_guests)
  std::string host;          ///< of the plan; ends of different hosts do not meet. Empty: any
  std::filesystem::path base_dir = "/dev/shm";
  std::uint64_t pool_limit_bytes = 0;  ///< 0: a quarter of the file system, at most 2 GiB
  std::uint32_t max_receivers = shm::kMaxReceivers;  ///< fewer in tests
};

/// Messages between the processes of one machine and user, through shared memory: written once by
/// the publisher, read in place by every subscriber, without a daemon.
///
/// A message whose payload was lent by loan(), or was received through this transport, is not
/// copied; any other is copied once, however many receivers there are. Two threads: one sleeps on
/// a futex until a message comes and calls ReceiveSink::deliver; one sleeps until participants
/// come, change or die. Neither runs while nothing happens. At most 960 receiving processes per
/// sender, 8,192 queues per receiver, 8,192 endpoints per participant (4,096 of them for guests
/// only); beyond them, open() or the connection fails, on both sides, with an Error that names the
/// limit.
class ShmTransport : public Transport {
 public:
  using Transport::Transport;
  /// Names this participant in tables and tools. 0 before start().
  [[nodiscard]] virtual std::uint64_t participant_id() const = 0;
};

[[nodiscard]] std::unique_ptr<ShmTransport> make_shm(ShmConfig config);

}  // namespace hyphos::transport
