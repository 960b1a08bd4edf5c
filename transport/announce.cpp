#include "transport/announce.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "hyphos/time.hpp"
#include "transport/announce_table.hpp"
#include "transport/host_clock.hpp"
#include "wire/packet.hpp"

namespace hyphos::transport {
namespace {

// A new peer is answered soon, so that it need not wait for the next period, but not more often
// than this.
constexpr std::int64_t kAnswerWithin = Duration::from_ms(50).ns;

Error socket_error(const std::string& what, const std::string& where) {
  const Code code = errno == EADDRINUSE                  ? Code::already_exists
                    : errno == EACCES || errno == EPERM  ? Code::permission
                    : errno == EMFILE || errno == ENFILE ? Code::exhausted
                                                         : Code::io;
  return {code, what + ": " + std::strerror(errno), where};
}

Result<in_addr> parse_address(const std::string& text) {
  in_addr address{};
  if (inet_pton(AF_INET, text.c_str(), &address) != 1) {
    return Error{Code::invalid_config, "not an IPv4 address like 10.0.0.1", text};
  }
  return address;
}

class MulticastAnnouncer final : public Announcer {
 public:
  explicit MulticastAnnouncer(AnnounceConfig config)
      : config_(std::move(config)), table_(config_) {}
  ~MulticastAnnouncer() override { MulticastAnnouncer::stop(); }

  Result<void> start(Callback found, Callback lost) override;
  void stop() override;
  void set_channels(const std::vector<ChannelSpec>& channels) override;
  std::vector<AnnouncedPeer> peers() const override {
    const MutexLock lock(mutex_);
    return table_.peers();
  }
  AnnounceCounters counters() const override { return {sent_, received_, ignored_}; }

 private:
  Result<void> open_socket();
  void run();
  void send(bool leaving);
  void receive();
  void expire(std::int64_t now_ns);

  const AnnounceConfig config_;
  Callback found_;
  Callback lost_;
  int socket_ = -1;
  int event_ = -1;
  sockaddr_in group_{};
  std::vector<in_addr> interfaces_;
  std::thread thread_;
  std::atomic<bool> ending_{false};
  std::int64_t next_send_ns_ = 0;  // announcer's thread only

  mutable Mutex mutex_;
  AnnounceTable table_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::string> channels_ HYPHOS_GUARDED_BY(mutex_);
  std::uint64_t digest_ HYPHOS_GUARDED_BY(mutex_) = 0;

  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::uint64_t> ignored_{0};
  log::OncePerSecond ignored_log_;
  log::OncePerSecond send_log_;
};

Result<void> MulticastAnnouncer::open_socket() {
  auto group = parse_address(config_.group);
  if (!group) return group.error();
  if (!IN_MULTICAST(ntohl(group->s_addr))) {
    return Error{Code::invalid_config, "not a multicast group (224.0.0.0 to 239.255.255.255)",
                 config_.group};
  }
  for (const std::string& text : config_.interfaces) {
    auto address = parse_address(text);
    if (!address) return address.error();
    interfaces_.push_back(*address);
  }
  if (interfaces_.empty()) interfaces_.push_back({htonl(INADDR_ANY)});

  group_.sin_family = AF_INET;
  group_.sin_addr = *group;
  group_.sin_port = htons(config_.port);
  socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (socket_ < 0 || event_ < 0) return socket_error("cannot make a socket", config_.group);
  const int on = 1;
  const int off = 0;
  setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(socket_, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof off);
  setsockopt(socket_, IPPROTO_IP, IP_MULTICAST_LOOP, &on, sizeof on);
  setsockopt(socket_, IPPROTO_IP, IP_MULTICAST_TTL, &config_.ttl, sizeof config_.ttl);
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&group_), sizeof group_) != 0) {
    return socket_error("cannot listen to the multicast group", config_.group);
  }
  for (const in_addr& interface : interfaces_) {
    const ip_mreq membership{group_.sin_addr, interface};
    if (setsockopt(socket_, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership) != 0) {
      return socket_error("cannot join the multicast group on this interface",
                          inet_ntoa(interface));
    }
  }
  return success();
}

Result<void> MulticastAnnouncer::start(Callback found, Callback lost) {
  // Report an oversized beacon now, not later.
  wire::Beacon trial;
  trial.domain = config_.domain;
  trial.process = config_.process_name;
  trial.endpoints = config_.endpoints;
  trial.curve_key = config_.curve_key;
  if (auto encoded = wire::encode_beacon(trial); !encoded) return encoded.error();
  if (auto opened = open_socket(); !opened) return opened;
  found_ = std::move(found);
  lost_ = std::move(lost);
  thread_ = std::thread([this] { run(); });
  return success();
}

void MulticastAnnouncer::stop() {
  if (ending_.exchange(true)) return;
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(event_, &one, sizeof one);
    thread_.join();
    send(true);
  }
  if (socket_ >= 0) ::close(socket_);
  if (event_ >= 0) ::close(event_);
}

void MulticastAnnouncer::set_channels(const std::vector<ChannelSpec>& channels) {
  const MutexLock lock(mutex_);
  channels_.clear();
  digest_ = 0;
  for (const ChannelSpec& channel : channels) {
    channels_.push_back(channel.name);
    // Summed, so that the order does not matter.
    digest_ += wire::fnv1a(channel.name, channel.type.hash);
  }
}

void MulticastAnnouncer::send(bool leaving) {
  wire::Beacon beacon;
  beacon.domain = config_.domain;
  beacon.session = config_.session;
  beacon.process = config_.process_name;
  beacon.host = local_host();
  beacon.endpoints = config_.endpoints;
  beacon.period_ms = static_cast<std::uint32_t>(config_.period_ms);
  beacon.leaving = leaving;
  beacon.curve_key = config_.curve_key;
  {
    const MutexLock lock(mutex_);
    beacon.channels = channels_;
    beacon.channels_digest = digest_;
  }
  const auto datagram = wire::encode_beacon(beacon);
  if (!datagram) return;  // cannot happen: start() encoded it
  for (const in_addr& interface : interfaces_) {
    setsockopt(socket_, IPPROTO_IP, IP_MULTICAST_IF, &interface, sizeof interface);
    const auto size = ::sendto(socket_, datagram->data(), datagram->size(), MSG_NOSIGNAL,
                               reinterpret_cast<const sockaddr*>(&group_), sizeof group_);
    std::uint64_t more = 0;
    if (size >= 0) {
      ++sent_;
    } else if (send_log_.allow(more)) {
      log::warn("announce", std::string("cannot send: ") + std::strerror(errno));
    }
  }
}

void MulticastAnnouncer::receive() {
  std::array<std::byte, wire::kMaxBeaconBytes + 1> datagram;
  for (int i = 0; i < 64; ++i) {
    sockaddr_in from{};
    socklen_t from_size = sizeof from;
    const auto size = ::recvfrom(socket_, datagram.data(), datagram.size(), MSG_DONTWAIT,
                                 reinterpret_cast<sockaddr*>(&from), &from_size);
    if (size < 0) return;
    ++received_;
    char address[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &from.sin_addr, address, sizeof address);
    const std::int64_t now = monotonic_now().ns;
    AnnounceTable::Event event;
    {
      const MutexLock lock(mutex_);
      event = table_.hear({datagram.data(), static_cast<std::size_t>(size)}, address, now);
    }
    using Kind = AnnounceTable::Event::Kind;
    if (event.kind == Kind::found) {
      next_send_ns_ = std::min(next_send_ns_, now + kAnswerWithin);
      if (found_) found_(event.peer);
    } else if (event.kind == Kind::lost) {
      if (lost_) lost_(event.peer);
    } else if (event.kind == Kind::ignored) {
      ++ignored_;
      std::uint64_t more = 0;
      if (ignored_log_.allow(more)) {
        log::warn("announce", std::string("ignored an announcement from ") + address);
      }
    }
  }
}

void MulticastAnnouncer::expire(std::int64_t now_ns) {
  std::vector<AnnouncedPeer> silent;
  {
    const MutexLock lock(mutex_);
    silent = table_.expire(now_ns);
  }
  for (const AnnouncedPeer& peer : silent) {
    if (lost_) lost_(peer);
  }
}

void MulticastAnnouncer::run() {
  while (!ending_) {
    std::int64_t now = monotonic_now().ns;
    if (now >= next_send_ns_) {
      send(false);
      next_send_ns_ = now + Duration::from_ms(config_.period_ms).ns;
    }
    expire(now);
    std::int64_t next = next_send_ns_;
    {
      const MutexLock lock(mutex_);
      next = std::min(next, table_.next_expiry());
    }
    now = monotonic_now().ns;
    const std::int64_t left = std::max<std::int64_t>(0, next - now);
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    std::array<pollfd, 2> fds = {{{socket_, POLLIN, 0}, {event_, POLLIN, 0}}};
    if (::ppoll(fds.data(), fds.size(), &timeout, nullptr) > 0 && fds[0].revents != 0) receive();
  }
}

/// The peer's first endpoint that is reachable from this machine. Empty if none.
std::string choose_endpoint(const AnnouncedPeer& peer) {
  const bool here = peer.host == local_host();
  for (const std::string& endpoint : peer.endpoints) {
    const bool local_only = endpoint.starts_with("ipc://") || endpoint.starts_with("tcp://127.") ||
                            endpoint.starts_with("tcp://localhost:");
    if (here || !local_only) return endpoint;
  }
  return {};
}

}  // namespace

std::unique_ptr<Announcer> make_announcer(AnnounceConfig config) {
  return std::make_unique<MulticastAnnouncer>(std::move(config));
}

DiscoveryCallbacks connect_announced(std::shared_ptr<Peering> peering, bool encrypted,
                                     bool same_host) {
  // Maps sessions to endpoints. Only the announcer's thread calls.
  auto connected = std::make_shared<std::map<std::uint64_t, std::string>>();
  const auto disconnect = [peering, connected](std::uint64_t session) {
    const auto found = connected->find(session);
    if (found == connected->end()) return;
    (void)peering->remove_peer(found->second).ok();  // already disconnected: nothing to do
    connected->erase(found);
  };
  const auto found = [=](const AnnouncedPeer& peer) {
    disconnect(peer.session);
    if (peer.host == local_host() && !same_host) return;
    PeerAddress target{choose_endpoint(peer), std::nullopt, std::nullopt};
    if (target.endpoint.empty() || (encrypted && peer.curve_key.empty())) return;
    if (encrypted) target.server_key = peer.curve_key;
    const auto added = peering->add_peer(target);
    if (added) {
      (*connected)[peer.session] = target.endpoint;
    } else if (added.error().code != Code::already_exists) {  // the plan may name it, too
      log::warn("announce", "'" + peer.process + "': " + added.error().to_string());
    }
  };
  return {found, [=](const AnnouncedPeer& peer) { disconnect(peer.session); }};
}

}  // namespace hyphos::transport
