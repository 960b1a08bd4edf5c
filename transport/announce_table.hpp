#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "transport/announce.hpp"
#include "wire/control.hpp"

namespace hyphos::transport {

/// The peers that were received, with their times. Pure: datagrams and times are arguments, events
/// are results. Holds at most `max_peers` entries, independent of the input.
class AnnounceTable {
 public:
  explicit AnnounceTable(const AnnounceConfig& config) : config_(config) {}

  struct Event {
    enum class Kind { none, found, lost, ignored } kind = Kind::none;
    AnnouncedPeer peer;
  };
  /// Processes one datagram from `address` (dotted IPv4).
  Event hear(std::span<const std::byte> datagram, const std::string& address, std::int64_t now_ns);
  /// Removes and returns the peers that have fallen silent.
  std::vector<AnnouncedPeer> expire(std::int64_t now_ns);
  /// The time when the next peer counts as silent. INT64_MAX if there is no peer.
  [[nodiscard]] std::int64_t next_expiry() const;
  [[nodiscard]] std::vector<AnnouncedPeer> peers() const;

 private:
  struct Entry {
    AnnouncedPeer peer;
    std::int64_t silent_at_ns = 0;
  };
  bool within_rate(std::int64_t now_ns);

  const AnnounceConfig& config_;
  std::map<std::uint64_t, Entry> entries_;
  std::int64_t second_ = 0;
  std::uint32_t heard_this_second_ = 0;
};

/// Replaces the host of "tcp://0.0.0.0:5553" and "tcp://*:5553" by the source address of the
/// datagram. Returns other endpoints unchanged.
[[nodiscard]] std::string fill_in_address(const std::string& endpoint, const std::string& address);

}  // namespace hyphos::transport
