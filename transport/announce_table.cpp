#include "transport/announce_table.hpp"

#include <algorithm>

#include "hyphos/time.hpp"

namespace hyphos::transport {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// The period that a peer announces is clamped to these limits.
constexpr std::uint32_t kShortestPeriodMs = 50;
constexpr std::uint32_t kLongestPeriodMs = 60'000;

}  // namespace

std::string fill_in_address(const std::string& endpoint, const std::string& address) {
  for (const std::string_view any : {"tcp://0.0.0.0:", "tcp://[::]:", "tcp://*:"}) {
    if (endpoint.starts_with(any)) return "tcp://" + address + ":" + endpoint.substr(any.size());
  }
  return endpoint;
}

bool AnnounceTable::within_rate(std::int64_t now_ns) {
  if (now_ns / kSecond != second_) {
    second_ = now_ns / kSecond;
    heard_this_second_ = 0;
  }
  return heard_this_second_++ < config_.max_per_second;
}

AnnounceTable::Event AnnounceTable::hear(std::span<const std::byte> datagram,
                                         const std::string& address, std::int64_t now_ns) {
  const Event ignored{Event::Kind::ignored, {}};
  if (!within_rate(now_ns)) return ignored;
  auto beacon = wire::parse_beacon(datagram);
  if (!beacon || beacon->session == 0) return ignored;
  if (beacon->session == config_.session || beacon->domain != config_.domain) return {};

  const auto known = entries_.find(beacon->session);
  if (beacon->leaving) {
    if (known == entries_.end()) return {};
    Event event{Event::Kind::lost, std::move(known->second.peer)};
    entries_.erase(known);
    return event;
  }
  if (known == entries_.end() && entries_.size() >= config_.max_peers) return ignored;

  for (std::string& endpoint : beacon->endpoints) endpoint = fill_in_address(endpoint, address);
  const bool changed = known == entries_.end() || known->second.peer.endpoints != beacon->endpoints;
  Entry& entry = entries_[beacon->session];
  entry.peer = {beacon->session,
                std::move(beacon->process),
                beacon->host,
                std::move(beacon->endpoints),
                std::move(beacon->curve_key),
                std::move(beacon->channels)};
  const std::int64_t period =
      Duration::from_ms(std::clamp(beacon->period_ms, kShortestPeriodMs, kLongestPeriodMs)).ns;
  entry.silent_at_ns = now_ns + 3 * period + period / 2;
  return changed ? Event{Event::Kind::found, entry.peer} : Event{};
}

std::vector<AnnouncedPeer> AnnounceTable::expire(std::int64_t now_ns) {
  std::vector<AnnouncedPeer> silent;
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (it->second.silent_at_ns > now_ns) {
      ++it;
      continue;
    }
    silent.push_back(std::move(it->second.peer));
    it = entries_.erase(it);
  }
  return silent;
}

std::int64_t AnnounceTable::next_expiry() const {
  std::int64_t next = INT64_MAX;
  for (const auto& [session, entry] : entries_) next = std::min(next, entry.silent_at_ns);
  return next;
}

std::vector<AnnouncedPeer> AnnounceTable::peers() const {
  std::vector<AnnouncedPeer> all;
  for (const auto& [session, entry] : entries_) all.push_back(entry.peer);
  return all;
}

}  // namespace hyphos::transport
