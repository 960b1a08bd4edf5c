#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "transport/announce.hpp"
#include "wire/control.hpp"

namespace hyphos::transport {

/// Who has been heard, and when. Pure: time and datagrams come in, events go out. Bounded by
/// `max_peers`, whatever arrives.
class AnnounceTable {
 public:
  explicit AnnounceTable(const AnnounceConfig& config) : config_(config) {}

  struct Event {
    enum class Kind { none, found, lost, ignored } kind = Kind::none;
    AnnouncedPeer peer;
  };
  /// One datagram from `address` (dotted IPv4).
  Event hear(std::span<const std::byte> datagram, const std::string& address, std::int64_t now_ns);
  /// Those who have fallen silent.
  std::vector<AnnouncedPeer> expire(std::int64_t now_ns);
  /// When the next peer will count as silent, INT64_MAX if there is none.
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

/// "tcp://0.0.0.0:5553" and "tcp://*:5553" with the address that the datagram came from; endpoints
/// of other forms unchanged.
[[nodiscard]] std::string fill_in_address(const std::string& endpoint, const std::string& address);

}  // namespace hyphos::transport
