#include "transport/zmq/dialer.hpp"

#include <algorithm>

namespace hyphos::transport::zmq {
namespace {
constexpr std::int64_t kLeastMaxMessage = 64 * 1024;
}

Result<std::shared_ptr<Dialer::Connection>> Dialer::open(const PeerAddress& peer, LinkId id) const {
  if (config_.curve.has_value() != peer.server_key.has_value()) {
    return Error{Code::invalid_config,
                 config_.curve ? "this process has keys, so the peer's public key is required"
                               : "the peer has a key, so this process needs a key pair as well",
                 peer.endpoint};
  }
  auto link = std::make_shared<Connection>();
  link->id = id;
  link->endpoint = peer.endpoint;
  link->dealer = Socket(context_, ZMQ_DEALER);
  if (!link->dealer) return last_error("cannot make a socket", peer.endpoint);
  Socket& dealer = link->dealer;
  set_common(dealer, is_tcp(peer.endpoint) ? config_.heartbeat_ms : 0);
  dealer.set(ZMQ_MAXMSGSIZE,
             std::max(static_cast<std::int64_t>(config_.max_message_bytes), kLeastMaxMessage));
  dealer.set(ZMQ_IMMEDIATE, 1);     // no messages are queued without a connection
  dealer.set(ZMQ_PROBE_ROUTER, 1);  // every new connection announces itself
  dealer.set(ZMQ_RECONNECT_IVL, 20);
  dealer.set(ZMQ_RECONNECT_IVL_MAX, 500);
  if (config_.curve) {
    if (auto used = use_curve(dealer, *config_.curve, peer.server_key); !used) return used.error();
  }
  link->monitor = Monitor(context_, dealer, "hyphos-link-" + std::to_string(id));
  if (zmq_connect(dealer.raw(), peer.endpoint.c_str()) != 0) {
    return last_error("cannot connect", peer.endpoint);
  }
  return link;
}

Result<std::shared_ptr<Dialer::Connection>> Dialer::connect(const PeerAddress& peer) {
  LinkId id = 0;
  {
    const MutexLock lock(mutex_);
    if (!by_endpoint_.emplace(peer.endpoint, 0).second) {
      return Error{Code::already_exists, "this peer is already connected", peer.endpoint};
    }
    id = next_id_++;
  }
  auto link = open(peer, id);
  const MutexLock lock(mutex_);
  if (link) {
    by_endpoint_[peer.endpoint] = id;
  } else {
    by_endpoint_.erase(peer.endpoint);
  }
  return link;
}

Result<LinkId> Dialer::forget(const std::string& endpoint) {
  const MutexLock lock(mutex_);
  const auto found = by_endpoint_.find(endpoint);
  if (found == by_endpoint_.end() || found->second == 0) {
    return Error{Code::not_found, "no such peer is connected", endpoint};
  }
  const LinkId id = found->second;
  by_endpoint_.erase(found);
  return id;
}

bool Dialer::has(const std::string& endpoint) const {
  const MutexLock lock(mutex_);
  return by_endpoint_.contains(endpoint);
}

void Dialer::add(std::shared_ptr<Connection> link) {
  const LinkId id = link->id;
  links_.emplace(id, std::move(link));
}

void Dialer::remove(LinkId id, int linger_ms) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  found->second->dealer.set(ZMQ_LINGER, linger_ms);
  links_.erase(found);
}

void Dialer::set_linger(int linger_ms) {
  for (auto& [id, link] : links_) link->dealer.set(ZMQ_LINGER, linger_ms);
}

Dialer::Connection* Dialer::find(LinkId id) const {
  const auto found = links_.find(id);
  return found == links_.end() ? nullptr : found->second.get();
}

void Dialer::add_event_fds(std::vector<pollfd>& to) const {
  for (const auto& [id, link] : links_) to.push_back({link->monitor.socket().fd(), POLLIN, 0});
}

bool Dialer::add_data_fds(std::vector<pollfd>& to) const {
  for (const auto& [id, link] : links_) {
    if (link->dealer.readable()) return false;
    to.push_back({link->dealer.fd(), POLLIN, 0});
  }
  return true;
}

}  // namespace hyphos::transport::zmq
