// Messages from publishers, and connections that begin and end: the subscriber's side of
// docs/reference/wire_links.md, "Links".
#include <algorithm>

#include "base/log.hpp"
#include "transport/host_clock.hpp"
#include "transport/zmq/receiver.hpp"
#include "transport/zmq/receiver_state.hpp"

namespace hyphos::transport::zmq {
void Receiver::tell(const PeerView& link, const wire::Control& message) {
  uplink_.say(link.id, Frame::copy_of(wire::encode_control(message)));
}

void Receiver::add_link(LinkId id, std::string endpoint,
                        std::optional<std::vector<std::string>> channels) {
  auto link = std::make_unique<PeerView>();
  link->id = id;
  link->endpoint = std::move(endpoint);
  if (channels) link->channels.emplace(channels->begin(), channels->end());
  const MutexLock lock(peers_mutex_);
  links_.emplace(id, std::move(link));
}

void Receiver::remove_link(LinkId id, std::int64_t now_ns) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  PeerView& link = *found->second;
  const auto publisher = publishers_.find(link.session);
  if (publisher != publishers_.end() && publisher->second->active == id) {
    for (auto& [stream, subscription] : publisher->second->subscriptions) {
      tell(link, wire::Unsubscribe{stream, subscription->taken});
    }
    tell(link, wire::Bye{});
    stand_down(*publisher->second, link, now_ns);
    if (publisher->second->active == 0) {
      publisher->second->said_bye = true;
      if (publisher->second->drained()) drop_publisher(publisher->first);
    }
  }
  const MutexLock lock(peers_mutex_);
  links_.erase(id);
}

bool Receiver::handle(PeerView& link, const wire::Control& message, std::int64_t now_ns) {
  if (const auto* welcome_message = std::get_if<wire::Welcome>(&message)) {
    welcome(link, *welcome_message, now_ns);
    return true;
  }
  if (std::holds_alternative<wire::Nothing>(message)) return true;
  if (std::holds_alternative<wire::Bye>(message)) {
    const auto publisher = publishers_.find(link.session);
    if (publisher == publishers_.end() || publisher->second->active != link.id) return true;
    publisher->second->said_bye = true;
    lost(link.id, now_ns);
    return true;
  }
  if (const auto* accepted_message = std::get_if<wire::Accepted>(&message)) {
    return accepted(link, *accepted_message);
  }
  if (const auto* refused = std::get_if<wire::Refused>(&message)) {
    Subscription* subscription = find(link, refused->stream);
    if (subscription != nullptr) report_refusal(link, *subscription, *refused);
    return true;
  }
  if (const auto* closed = std::get_if<wire::Closed>(&message)) {
    Subscription* subscription = find(link, closed->stream);
    if (subscription == nullptr || !subscription->accepted) return true;
    subscription->accepted = false;
    subscription->chosen = false;
    set_present(*subscription->publisher, *subscription, false);
    reconcile_siblings(link.session);
    return true;
  }
  if (const auto* answer = std::get_if<wire::Answer>(&message)) {
    return take_answer(link, *answer, now_ns);
  }
  return false;  // only subscribers send the other kinds
}

/// False if the message is malformed.
bool Receiver::accepted(PeerView& link, const wire::Accepted& message) {
  Subscription* subscription = find(link, message.stream);
  if (subscription == nullptr || message.first == 0) return subscription == nullptr;
  Publisher& publisher = *subscription->publisher;
  if (!subscription->chosen && chosen_elsewhere(publisher).contains(subscription->port.get())) {
    reconcile(publisher);  // another endpoint group was faster, so this subscription ends
    return true;
  }
  subscription->accepted = true;
  subscription->chosen = true;
  subscription->received = message.first - 1;
  if (subscription->held.empty()) subscription->taken = subscription->received;
  subscription->acked = subscription->taken;
  set_present(publisher, *subscription, true);
  return true;
}

void Receiver::report_refusal(const PeerView& link, Subscription& subscription,
                              const wire::Refused& refused) {
  const ChannelSpec& spec = subscription.port->spec;
  const TypeId& theirs = refused.type;
  const Error error{Code::type_mismatch,
                    wire::owner_text(refused.node, subscription.publisher->process) +
                        " publishes channel '" + spec.name + "' as " +
                        std::string(to_string(theirs.encoding)) + " '" + theirs.name + "', but " +
                        wire::owner_text(spec.node, settings_.process) + " subscribes to " +
                        std::string(to_string(spec.type.encoding)) + " '" + spec.type.name +
                        "'. No message passes. Use one type in both, or two channels",
                    link.endpoint};
  const MutexLock calls(subscription.port->calls);
  if (subscription.port->sink != nullptr) subscription.port->sink->refused(kName, error);
}

void Receiver::welcome(PeerView& link, const wire::Welcome& message, std::int64_t now_ns) {
  if (message.version != wire::kLinkVersion) {
    if (std::uint64_t more = 0; version_log_.allow(more)) {
      log::error(kName, wire::version_refusal(message.process, message.version));
    }
    return;
  }
  if (message.session == 0) return;
  if (same_process(message.session, settings_.session)) return;  // this process itself
  // The old connection ended unnoticed, or a new process is behind it.
  if (link.session != 0) lost(link.id, now_ns);
  std::vector<std::uint64_t> replaced;
  for (const auto& [session, other] : publishers_) {
    if (!same_process(session, message.session) && other->active == 0 &&
        other->process == message.process && other->host == message.host && other->drained()) {
      replaced.push_back(session);
    }
  }
  for (const std::uint64_t session : replaced) drop_publisher(session);

  link.session = message.session;
  if (settings_.on_welcome) settings_.on_welcome(link.endpoint, message.session);
  auto found = publishers_.find(message.session);
  if (found == publishers_.end()) {
    auto publisher = std::make_unique<Publisher>();
    publisher->session = message.session;
    publisher->process = message.process;
    publisher->host = message.host;
    if (message.host != local_host() && message.host != 0) {
      auto& clock = host_clocks_[message.host];
      if (!clock) clock = std::make_shared<HostClock>();
      publisher->clock = clock;
    }
    const MutexLock lock(peers_mutex_);
    found = publishers_.emplace(message.session, std::move(publisher)).first;
  }
  if (found->second->active == 0) activate(link, *found->second);
}

void Receiver::activate(PeerView& link, Publisher& publisher) {
  publisher.active = link.id;
  publisher.said_bye = false;
  wire::Hello hello{settings_.session,  settings_.process, local_host(),
                    wire::kLinkVersion, link.endpoint,     {}};
  for (const auto& [stream, subscription] : publisher.subscriptions)
    hello.streams.push_back(stream);
  tell(link, hello);
  for (auto& [stream, subscription] : publisher.subscriptions) subscribe(link, *subscription);
  reconcile(publisher);
}

void Receiver::stand_down(Publisher& publisher, PeerView& link, std::int64_t now_ns) {
  publisher.active = 0;
  publisher.away_since_ns = now_ns;
  link.session = 0;
  for (auto& [stream, subscription] : publisher.subscriptions) {
    subscription->accepted = false;
    set_present(publisher, *subscription, false);
  }
  if (publisher.said_bye) return;
  for (auto& [id, other] : links_) {
    if (other->session != publisher.session) continue;
    activate(*other, publisher);
    return;
  }
}

void Receiver::lost(LinkId id, std::int64_t now_ns) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  PeerView& link = *found->second;
  const auto publisher = publishers_.find(link.session);
  if (publisher != publishers_.end() && publisher->second->active == id) {
    stand_down(*publisher->second, link, now_ns);
    if (publisher->second->said_bye && publisher->second->drained()) {
      drop_publisher(publisher->first);
    }
  }
  link.session = 0;
}

std::int64_t Receiver::expire(std::int64_t now_ns) {
  std::int64_t next = 0;
  std::vector<std::uint64_t> gone;
  for (const auto& [session, publisher] : publishers_) {
    if (publisher->active != 0 || publisher->said_bye) continue;
    const std::int64_t until = publisher->away_since_ns + settings_.reconnect_window_ns;
    if (until <= now_ns) {
      publisher->said_bye = true;  // removed after delivery of its held messages
      if (publisher->drained()) gone.push_back(session);
    } else if (next == 0 || until < next) {
      next = until;
    }
  }
  for (const std::uint64_t session : gone) drop_publisher(session);
  return next;
}

void Receiver::drop_publisher(std::uint64_t session) {
  const auto found = publishers_.find(session);
  if (found == publishers_.end()) return;
  for (auto& [stream, subscription] : found->second->subscriptions) {
    set_present(*found->second, *subscription, false);
    std::erase(due_, subscription.get());
  }
  {
    const MutexLock lock(peers_mutex_);
    publishers_.erase(found);
  }
  reconcile_siblings(session);
}

void Receiver::shut_down() {
  for (auto& [session, publisher] : publishers_) {
    const auto link = links_.find(publisher->active);
    if (link == links_.end()) continue;
    for (auto& [stream, subscription] : publisher->subscriptions) {
      tell(*link->second, wire::Unsubscribe{stream, subscription->taken});
    }
    tell(*link->second, wire::Bye{});
  }
  std::map<std::string, PortPtr, std::less<>> ports;
  {
    const MutexLock lock(ports_mutex_);
    ports.swap(ports_);
  }
  for (auto& [name, port] : ports) {
    port->closed = true;
    const MutexLock calls(port->calls);
    port->sink = nullptr;
  }
  due_.clear();
  const MutexLock lock(peers_mutex_);
  publishers_.clear();
  links_.clear();
}

}  // namespace hyphos::transport::zmq
