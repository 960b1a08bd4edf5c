#include "transport/zmq/receiver.hpp"

#include <algorithm>

#include "transport/host_clock.hpp"
#include "transport/zmq/receiver_state.hpp"

namespace hyphos::transport::zmq {
namespace {
// More than can be in flight between two processes: a larger jump is not a gap but a corrupt
// number.
constexpr std::uint64_t kMaxGap = 1 << 20;
}  // namespace

Receiver::Receiver(Settings settings, Uplink& uplink)
    : settings_(std::move(settings)), uplink_(uplink) {}
Receiver::~Receiver() = default;

void Receiver::Subscription::dropped(Drop reason, std::uint64_t count) {
  const MutexLock calls(port->calls);
  if (port->sink != nullptr) port->sink->dropped(kName, reason, count);
}

void Receiver::Subscription::consumed(std::uint64_t sequence,
                                      std::vector<Subscription*>& due_list) {
  taken = sequence;
  if (!std::exchange(due, true)) due_list.push_back(this);
}

// --- Ports -------------------------------------------------------------------------------------

Result<void> Receiver::open(PortId id, const ChannelSpec& spec, ReceiveSink* sink) {
  auto port = std::make_shared<Port>(sink);
  port->id = id;
  port->spec = spec;
  const MutexLock lock(ports_mutex_);
  if (!ports_.emplace(spec.name, port).second) {
    return Error{Code::already_exists, "this transport already subscribes to the channel",
                 spec.name};
  }
  changed_ = true;
  return success();
}

void Receiver::close(PortId id) {
  PortPtr port;
  {
    const MutexLock lock(ports_mutex_);
    const auto found = std::find_if(ports_.begin(), ports_.end(),
                                    [id](const auto& entry) { return entry.second->id == id; });
    if (found == ports_.end()) return;
    port = found->second;
    ports_.erase(found);
    changed_ = true;
  }
  port->closed = true;
  const MutexLock calls(port->calls);
  port->sink = nullptr;
}

void Receiver::poll_ports() {
  {
    const MutexLock lock(ports_mutex_);
    if (!std::exchange(changed_, false)) return;
  }
  for (auto& [session, publisher] : publishers_) reconcile(*publisher);
}

bool Receiver::is_wanted(const PeerView& link, const Publisher& publisher,
                         const std::string& channel) const {
  Permissions::Query setting(permissions_, channel);
  if (const auto set = setting.name(link.endpoint).name(publisher.process).answer()) return *set;
  return !link.channels || link.channels->contains(channel);
}

/// The channels that arrive through another endpoint group of the same process.
std::set<const Receiver::Port*> Receiver::chosen_elsewhere(const Publisher& publisher) const {
  std::set<const Port*> chosen;
  for (const auto& [session, other] : publishers_) {
    if (other.get() == &publisher || !same_process(session, publisher.session)) continue;
    for (const auto& [stream, subscription] : other->subscriptions) {
      if (subscription->chosen) chosen.insert(subscription->port.get());
    }
  }
  return chosen;
}

/// After a change in one endpoint group, a channel may now arrive through another one.
void Receiver::reconcile_siblings(std::uint64_t session) {
  for (auto& [other, publisher] : publishers_) {
    if (other != session && same_process(other, session)) reconcile(*publisher);
  }
}

/// Makes the subscriptions at one publisher match the open ports and the link's filter.
void Receiver::reconcile(Publisher& publisher) {
  if (publisher.active == 0) return;
  const PeerView& link = *links_.at(publisher.active);
  const std::set<const Port*> elsewhere = chosen_elsewhere(publisher);
  std::vector<PortPtr> wanted;
  {
    const MutexLock lock(ports_mutex_);
    for (const auto& [name, port] : ports_) {
      if (elsewhere.contains(port.get())) continue;
      if (is_wanted(link, publisher, name)) wanted.push_back(port);
    }
  }
  std::vector<std::uint32_t> ended;
  for (auto& [stream, subscription] : publisher.subscriptions) {
    if (std::erase(wanted, subscription->port) > 0) continue;
    tell(link, wire::Unsubscribe{stream, subscription->taken});
    set_present(publisher, *subscription, false);
    std::erase(due_, subscription.get());
    ended.push_back(stream);
  }
  const MutexLock lock(peers_mutex_);
  for (const std::uint32_t stream : ended) publisher.subscriptions.erase(stream);
  for (const PortPtr& port : wanted) {
    auto subscription = std::make_unique<Subscription>();
    subscription->publisher = &publisher;
    subscription->port = port;
    subscription->stream = next_stream_++;
    subscribe(link, *subscription);
    const std::uint32_t stream = subscription->stream;
    publisher.subscriptions.emplace(stream, std::move(subscription));
  }
}

void Receiver::subscribe(const PeerView& link, Subscription& subscription) {
  const ChannelSpec& spec = subscription.port->spec;
  subscription.accepted = false;
  // After a reconnect, the publisher counts or resends all messages that were not taken. So the
  // held messages are discarded here. Keeping them would use the window twice.
  subscription.held.clear();
  subscription.held_bytes = 0;
  subscription.received = subscription.taken;
  tell(link,
       wire::Subscribe{subscription.stream, spec.name, spec.type, spec.policy.depth, kWindowBytes,
                       subscription.reliable(), subscription.received, spec.node});
}

void Receiver::set_present(Publisher& publisher, Subscription& subscription, bool present) {
  if (subscription.present.exchange(present) == present) return;
  const MutexLock calls(subscription.port->calls);
  ReceiveSink* sink = subscription.port->sink;
  if (sink != nullptr) sink->peer(kName, publisher.process, publisher.session, present);
}

void Receiver::allow(const std::string& channel, const std::string& peer, bool allowed) {
  permissions_.set(channel, peer, allowed);
  // Two passes: a channel that ends at one endpoint group may begin at another one that was already
  // processed.
  for (int pass = 0; pass < 2; ++pass) {
    for (auto& [session, publisher] : publishers_) reconcile(*publisher);
  }
}

bool Receiver::knows(const std::string& peer) const {
  const MutexLock lock(peers_mutex_);
  return std::any_of(publishers_.begin(), publishers_.end(),
                     [&](const auto& entry) { return entry.second->process == peer; });
}

std::vector<PeerStatus> Receiver::peers() const {
  const MutexLock lock(peers_mutex_);
  std::vector<PeerStatus> all;
  for (const auto& [session, publisher] : publishers_) {
    const auto link = links_.find(publisher->active);
    if (link == links_.end()) continue;
    for (const auto& [id, subscription] : publisher->subscriptions) {
      if (!subscription->present) continue;
      all.push_back(
          {subscription->port->spec.name, publisher->process, link->second->endpoint, true});
    }
  }
  return all;
}

// --- Data --------------------------------------------------------------------------------------

bool Receiver::receive(LinkId id, std::span<Frame> frames, std::int64_t now_ns) {
  const auto found = links_.find(id);
  if (found == links_.end() || frames.empty()) return true;
  const std::span<const std::byte> first = frames[0].bytes();
  bool good = false;
  if (!first.empty() && first[0] == std::byte{0}) {
    const auto message = wire::parse_control(first);
    good = frames.size() == 1 && message && handle(*found->second, *message, now_ns);
  } else {
    good = data(*found->second, frames, now_ns);
  }
  if (!good) ++malformed_;
  return good;
}

Receiver::Subscription* Receiver::find(PeerView& link, std::uint32_t stream) {
  const auto publisher = publishers_.find(link.session);
  if (publisher == publishers_.end() || publisher->second->active != link.id) return nullptr;
  const auto found = publisher->second->subscriptions.find(stream);
  return found == publisher->second->subscriptions.end() ? nullptr : found->second.get();
}

bool Receiver::data(PeerView& link, std::span<Frame> frames, std::int64_t now_ns) {
  const auto key = wire::parse_key(frames[0].bytes());
  if (!key) return false;
  const auto trailer = wire::parse_trailer(key->rest);
  if (!trailer) return false;
  const std::span<const std::byte> packet = key->rest.subspan(wire::kTrailerBytes);
  Subscription* subscription = find(link, trailer->stream);
  // For a subscription that ended while the message was in flight. The sender counts it.
  if (subscription == nullptr || !subscription->accepted) return true;
  const std::uint64_t sequence = trailer->sequence;
  if (sequence <= subscription->received) return true;  // never deliver twice
  if (sequence - subscription->received > kMaxGap) return false;
  if (sequence > subscription->received + 1) {
    subscription->dropped(Drop::gap, sequence - subscription->received - 1);
  }
  subscription->received = sequence;
  Envelope message;
  const ChannelSpec& spec = subscription->port->spec;
  const bool same_type = key->type_hash == spec.type.hash && key->channel == spec.name;
  if (!same_type || !unpack(*subscription, packet, frames.subspan(1), now_ns, message)) {
    subscription->dropped(same_type ? Drop::corrupt : Drop::type, 1);
    if (subscription->held.empty()) subscription->consumed(sequence, due_);
    return false;
  }
  message.meta.stamps.arrived = now_ns;
  message.meta.peer = subscription->publisher->session;
  accept(*subscription, std::move(message), sequence);
  return true;
}

/// `packet` begins with the header. A body that does not follow it is in `parts`.
bool Receiver::unpack(const Subscription& subscription, std::span<const std::byte> packet,
                      std::span<Frame> parts, std::int64_t now_ns, Envelope& out) {
  const auto head = wire::read_head(packet, header_);
  if (!head || header_.meta.type_hash != subscription.port->spec.type.hash) return false;
  out.meta = header_.meta;
  localize(*subscription.publisher, out.meta.stamps, now_ns);
  const std::span<const std::byte> body = packet.subspan(*head);
  if (parts.empty()) return split(body, out);
  if (!body.empty() || parts.size() - 1 > kMaxAttachedBuffers) return false;
  std::array<std::size_t, kMaxAttachedBuffers> sizes{};
  for (std::size_t i = 1; i < parts.size(); ++i) sizes[i - 1] = parts[i].size();
  if (!wire::sizes_match(header_, parts[0].size(), {sizes.data(), parts.size() - 1})) return false;
  out.payload = pool_.take(std::move(parts[0]));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    out.buffers.push_back(pool_.take(std::move(parts[i])));
  }
  return true;
}

/// A small packet arrived in one frame: copy its parts to aligned memory.
bool Receiver::split(std::span<const std::byte> body, Envelope& out) const {
  if (body.size() != header_.body_bytes()) return false;
  out.payload = Buffer::copy_of(body.first(header_.payload_bytes));
  body = body.subspan(header_.payload_bytes);
  for (std::uint32_t i = 0; i < header_.buffer_count; ++i) {
    out.buffers.push_back(Buffer::copy_of(body.first(header_.buffer_bytes[i])));
    body = body.subspan(header_.buffer_bytes[i]);
  }
  return true;
}

bool Receiver::deliver(Port& port, Envelope& message) {
  const MutexLock calls(port.calls);
  return port.sink == nullptr || port.sink->deliver(message, nullptr);
}

void Receiver::accept(Subscription& subscription, Envelope message, std::uint64_t sequence) {
  if (subscription.held.empty() && deliver(*subscription.port, message)) {
    subscription.consumed(sequence, due_);
    return;
  }
  std::uint64_t bytes = message.payload.size();
  for (const Buffer& buffer : message.buffers) bytes += buffer.size();
  // A correct sender respects the window. Messages beyond it are not kept.
  if (subscription.held.size() >= subscription.port->spec.policy.depth &&
      subscription.held_bytes + bytes > kWindowBytes) {
    subscription.dropped(Drop::overflow, 1);
    return;
  }
  if (subscription.held.empty()) subscription.turn = ++turns_;
  subscription.held_bytes += bytes;
  subscription.held.push_back({std::move(message), sequence, bytes});
}

void Receiver::drain(Subscription& subscription) {
  while (!subscription.held.empty()) {
    Subscription::Held& next = subscription.held.front();
    // If its publisher has left, late subscribers do not get the message.
    Latch& latch = next.message.meta.latch;
    if (!subscription.present && latch == Latch::last) latch = Latch::none;
    if (!deliver(*subscription.port, next.message)) return;
    subscription.turn = ++turns_;
    subscription.held_bytes -= next.bytes;
    subscription.consumed(next.sequence, due_);
    subscription.held.pop_front();
  }
  // All messages that were dropped behind the held ones are consumed, too.
  subscription.consumed(subscription.received, due_);
}

void Receiver::on_space(PortId id) {
  // Longest waiting first. Otherwise one subscription could take all the room.
  std::vector<Subscription*> waiting;
  for (auto& [session, publisher] : publishers_) {
    for (auto& [stream, subscription] : publisher->subscriptions) {
      if (subscription->port->id == id && !subscription->held.empty()) {
        waiting.push_back(subscription.get());
      }
    }
  }
  std::ranges::sort(waiting, {}, &Subscription::turn);
  for (Subscription* subscription : waiting) drain(*subscription);
  std::vector<std::uint64_t> done;
  for (auto& [session, publisher] : publishers_) {
    if (publisher->said_bye && publisher->drained()) done.push_back(session);
  }
  for (const std::uint64_t session : done) drop_publisher(session);
}

void Receiver::acknowledge() {
  for (Subscription* subscription : due_) {
    subscription->due = false;
    Publisher& publisher = *subscription->publisher;
    const std::uint64_t pending = subscription->taken - subscription->acked;
    const std::uint32_t depth = subscription->port->spec.policy.depth;
    // Best effort needs no acknowledgement, except to make room in the window before it is full.
    if (!subscription->reliable() && pending < std::max<std::uint64_t>(1, depth / 2)) continue;
    if (publisher.active == 0 || !subscription->accepted) continue;
    tell(*links_.at(publisher.active), wire::Ack{subscription->stream, subscription->taken});
    subscription->acked = subscription->taken;
  }
  due_.clear();
}

}  // namespace hyphos::transport::zmq
