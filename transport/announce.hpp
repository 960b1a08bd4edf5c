#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hyphos/result.hpp"
#include "transport/peering.hpp"
#include "transport/transport.hpp"

namespace hyphos::transport {

/// How a process announces itself on the local network, and how it listens for others. Neither runs
/// unless a plan enables it.
struct AnnounceConfig {
  std::string domain = "0";  ///< processes of other domains are ignored
  std::string process_name;
  std::uint64_t session = 0;  ///< Peering::session(), identifies own announcements
  /// The endpoints of this process. For "tcp://0.0.0.0:5553", receivers substitute the source
  /// address of the announcement.
  std::vector<std::string> endpoints;
  std::string curve_key;  ///< public key in Z85, or empty

  std::string group = "239.255.72.89";
  std::uint16_t port = 5549;
  /// IPv4 addresses of the interfaces to use, e.g. "10.0.0.1" or "127.0.0.1". Empty: the interface
  /// that the routing table selects.
  std::vector<std::string> interfaces;
  int ttl = 1;                          ///< 1: not beyond the local network
  std::int64_t period_ms = 1000;        ///< a peer that misses three periods is lost
  std::size_t max_peers = 256;          ///< further peers are ignored and counted
  std::uint32_t max_per_second = 2000;  ///< announcements. Further ones are ignored and counted
};

struct AnnouncedPeer {
  std::uint64_t session = 0;
  std::string process;
  std::uint64_t host = 0;
  std::vector<std::string> endpoints;  ///< with the sender's address filled in
  std::string curve_key;
  std::vector<std::string> channels;  ///< its published channels, for display. May be truncated
};

struct AnnounceCounters {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t ignored = 0;  ///< garbage, other versions, too many peers, over the rate limit
};

/// Multicast announcements: docs/reference/wire_links.md. One thread, which sleeps between
/// announcements. Announcements are not authenticated: they only name processes to connect to. With
/// CURVE keys in the plan, a stranger is then refused at connect.
class Announcer {
 public:
  using Callback = std::function<void(const AnnouncedPeer&)>;
  virtual ~Announcer() = default;

  /// Joins the group. `found` is called for a new peer, and again if its endpoints change. `lost`
  /// is called when a peer leaves or falls silent. Both run in the announcer's thread, never after
  /// stop().
  virtual Result<void> start(Callback found, Callback lost) = 0;
  /// Sends a goodbye and ends the thread. Idempotent.
  virtual void stop() = 0;
  /// Sets the published channels for all further announcements. Thread-safe.
  virtual void set_channels(const std::vector<ChannelSpec>& channels) = 0;
  [[nodiscard]] virtual std::vector<AnnouncedPeer> peers() const = 0;
  [[nodiscard]] virtual AnnounceCounters counters() const = 0;
};

[[nodiscard]] std::unique_ptr<Announcer> make_announcer(AnnounceConfig config);

/// Callbacks that connect each found peer and disconnect each lost peer. Pass them to
/// Announcer::start(). Peers on this machine are left to shared memory unless `same_host` is set.
/// With `encrypted`, peers without a key are not connected.
struct DiscoveryCallbacks {
  Announcer::Callback found;
  Announcer::Callback lost;
};
[[nodiscard]] DiscoveryCallbacks connect_announced(std::shared_ptr<Peering> peering, bool encrypted,
                                                   bool same_host);

}  // namespace hyphos::transport
