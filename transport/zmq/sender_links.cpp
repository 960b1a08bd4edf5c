// Messages from subscribers and the reactions to them: the publisher's side of
// docs/reference/wire_links.md, "Links".
#include <algorithm>

#include "base/log.hpp"
#include "hyphos/time.hpp"
#include "transport/host_clock.hpp"
#include "transport/zmq/sender.hpp"
#include "transport/zmq/sender_state.hpp"

namespace hyphos::transport::zmq {
namespace {

/// Latched values and notices that may wait in one queue beyond its depth.
constexpr std::size_t kMostBeyond = 1024;

}  // namespace

Sender::Stream* Sender::find_stream(const StreamName& name) {
  const auto subscriber = subscribers_.find(name.who);
  if (subscriber == subscribers_.end()) return nullptr;
  const auto stream = subscriber->second->streams.find(name.stream);
  return stream == subscriber->second->streams.end() ? nullptr : &stream->second;
}

bool Sender::say(Subscriber& to, const wire::Control& message) {
  if (to.connection.empty()) return false;
  Frame frame = Frame::copy_of(wire::encode_control(message));
  if (wire_.write(to.connection, {&frame, 1})) return true;
  lose_connection(to);
  return false;
}

void Sender::welcome(EndpointIndex endpoint_index, const std::string& connection) {
  Frame frame = Frame::copy_of(wire::encode_control(
      wire::Welcome{settings_.session | endpoint_index, settings_.process, local_host()}));
  (void)wire_.write(connection, {&frame, 1});  // already gone: nothing to do
}

void Sender::say_too_many(std::size_t limit, const std::string& of_what) {
  if (std::uint64_t more = 0; limit_log_.allow(more)) {
    log::error(kName, "the limit of " + std::to_string(limit) + " " + of_what +
                          " is reached. The next one gets no messages. Close some, or split the "
                          "process [exhausted]");
  }
}

bool Sender::receive(EndpointIndex endpoint_index, const std::string& connection,
                     std::span<const Frame> frames) {
  if (frames.size() != 1) return false;
  const std::int64_t heard_ns = monotonic_now().ns;  // before the wait for the lock
  Notices notices(*this);
  const MutexLock lock(mutex_);
  if (stopping_) return true;
  if (frames[0].size() == 0) {  // libzmq's probe: a new connection
    if (by_connection_.size() < kMaxSubscribers) {
      welcome(endpoint_index, connection);
    } else {
      say_too_many(kMaxSubscribers, "receiving processes on other machines");
    }
    return true;
  }
  auto parsed = wire::parse_control(frames[0].bytes());
  if (!parsed) return false;
  if (const auto* hello = std::get_if<wire::Hello>(&*parsed)) {
    handle(endpoint_index, connection, *hello, notices);
  } else if (const auto found = by_connection_.find(connection); found != by_connection_.end()) {
    Subscriber& from = *found->second;
    if (auto* subscribe = std::get_if<wire::Subscribe>(&*parsed)) {
      handle(from, *subscribe, notices);
    } else if (const auto* unsubscribe = std::get_if<wire::Unsubscribe>(&*parsed)) {
      handle(from, *unsubscribe, notices);
    } else if (const auto* ack = std::get_if<wire::Ack>(&*parsed)) {
      handle(from, *ack);
    } else if (const auto* ask = std::get_if<wire::Ask>(&*parsed)) {
      const std::int64_t wall = local_clock().offset_ns;
      say(from, wire::Answer{ask->asked_ns, heard_ns, monotonic_now().ns, wall});
    } else if (std::holds_alternative<wire::Bye>(*parsed)) {
      remove(SubscriberName(from.name), notices);
    }
  }
  settle_lost(notices);
  return true;
}

/// A restarted process replaces its dead predecessor at once.
void Sender::replace_predecessor(EndpointIndex endpoint_index, const wire::Hello& hello,
                                 Notices& notices) {
  const auto predecessor = std::find_if(subscribers_.begin(), subscribers_.end(), [&](auto& entry) {
    const Subscriber& other = *entry.second;
    return other.connection.empty() && other.name.first != hello.session &&
           other.name.second == endpoint_index && other.process == hello.process &&
           other.host == hello.host;
  });
  if (predecessor != subscribers_.end()) remove(SubscriberName(predecessor->first), notices);
}

void Sender::handle(EndpointIndex endpoint_index, const std::string& connection,
                    const wire::Hello& hello, Notices& notices) {
  if (hello.version != wire::kLinkVersion) {
    if (std::uint64_t more = 0; version_log_.allow(more)) {
      log::error(kName, wire::version_refusal(hello.process, hello.version));
    }
    return;
  }
  if (same_process(hello.session, settings_.session) || by_connection_.contains(connection)) return;
  replace_predecessor(endpoint_index, hello, notices);

  const SubscriberName name(hello.session, endpoint_index);
  auto& slot = subscribers_[name];
  if (!slot) {
    if (subscribers_.size() > kMaxSubscribers) {
      say_too_many(kMaxSubscribers, "receiving processes on other machines");
      subscribers_.erase(name);
      return;
    }
    slot = std::make_unique<Subscriber>();
    slot->name = name;
  }
  // The same process over a new connection. Messages that were sent over the old one without
  // acknowledgement are settled when the process subscribes again and reports its position.
  by_connection_.erase(slot->known_as);
  slot->process = hello.process;
  slot->host = hello.host;
  slot->via = hello.via;
  slot->settled = true;
  slot->connection = slot->known_as = connection;
  for (auto& [id, stream] : slot->streams) stream.resumed = false;
  for (auto it = slot->streams.begin(); it != slot->streams.end();) {
    const auto& kept = hello.streams;
    if (std::find(kept.begin(), kept.end(), it->first) != kept.end()) {
      ++it;
    } else {  // closed while the connection was down
      forget(it->second, notices);
      it = slot->streams.erase(it);
    }
  }
  by_connection_[connection] = slot.get();
}

void Sender::handle(Subscriber& from, wire::Subscribe& subscribe, Notices& notices) {
  const auto known = from.streams.find(subscribe.stream);
  if (known != from.streams.end()) {
    Stream& stream = known->second;
    stream.resumed = true;
    if (stream.channel != subscribe.channel) return;
    if (stream.port) {
      resume(stream, subscribe.resume_after, notices);
    } else {
      match(stream, notices);
    }
    return;
  }
  if (from.streams.size() >= kMaxStreamsPerSubscriber) {
    say_too_many(kMaxStreamsPerSubscriber, "subscribed channels of '" + from.process + "'");
    return;
  }
  Stream& stream = from.streams[subscribe.stream];
  stream.who = &from;
  stream.id = subscribe.stream;
  stream.channel = std::move(subscribe.channel);
  stream.type = std::move(subscribe.type);
  stream.window_messages = subscribe.window_messages;
  stream.window_bytes = subscribe.window_bytes;
  stream.wants_reliable = subscribe.reliable;
  stream.node = std::move(subscribe.node);
  match(stream, notices);
}

void Sender::handle(Subscriber& from, const wire::Unsubscribe& unsubscribe, Notices& notices) {
  const auto found = from.streams.find(unsubscribe.stream);
  if (found == from.streams.end()) return;
  take(found->second, unsubscribe.taken);
  forget(found->second, notices);
  from.streams.erase(found);
}

void Sender::handle(Subscriber& from, const wire::Ack& ack) {
  const auto found = from.streams.find(ack.stream);
  if (found == from.streams.end() || !found->second.port) return;
  take(found->second, ack.taken);
  flush_queue(found->second);
}

void Sender::match(Stream& stream, Notices& notices) {
  const auto found = by_channel_.find(stream.channel);
  if (found == by_channel_.end() || !is_allowed(stream.channel, *stream.who)) return;
  const PortPtr& port = found->second;
  if (stream.type == port->spec.type) {
    attach(stream, port, notices);
    return;
  }
  const TypeId& own = port->spec.type;
  say(*stream.who, wire::Refused{stream.id, own, port->spec.node});
  notices.refused(
      port,
      {Code::type_mismatch,
       wire::owner_text(stream.node, stream.who->process) + " subscribes to channel '" +
           stream.channel + "' as " + std::string(to_string(stream.type.encoding)) + " '" +
           stream.type.name + "', but " + wire::owner_text(port->spec.node, settings_.process) +
           " publishes " + std::string(to_string(own.encoding)) + " '" + own.name +
           "'. No message passes. Use one type in both, or two channels",
       stream.who->via});
}

void Sender::attach(Stream& stream, const PortPtr& port, Notices& notices) {
  stream.port = port;
  stream.resumed = true;
  stream.accepted = false;
  stream.reliable = stream.wants_reliable || port->spec.policy.reliability == Reliability::reliable;
  port->streams.push_back(&stream);
  replay_latched(stream, notices);
  notices.listeners(port);
  notices.accept(stream);
}

// Null or on another port: the stream was detached meanwhile. Accepted: it was resumed.
void Sender::accept(const StreamName& name, const PortPtr& port) {
  Notices notices(*this);
  const MutexLock lock(mutex_);
  Stream* const stream = find_stream(name);
  if (stream == nullptr || stream->port != port || stream->accepted || !stream->reachable()) return;
  stream->accepted = true;
  if (say(*stream->who, wire::Accepted{stream->id, stream->sent + 1})) flush_queue(*stream);
  settle_lost(notices);
}

void Sender::replay_latched(Stream& stream, Notices& notices) {
  const Port& port = *stream.port;
  for (Envelope again : port.kept) {  // copies: each is marked as replayed
    again.meta.replayed = true;
    Outgoing out;
    port.pack(again, out.now);
    if (out.now.bytes > settings_.max_message_bytes) continue;  // send() has counted it
    // If the connection broke meanwhile, the next subscribe causes the replay.
    offer_beyond(stream, out, notices);
  }
}

/// Queues a message behind all others of the stream, beyond the depth of its queue.
void Sender::offer_beyond(Stream& stream, Outgoing& message, Notices& notices) {
  message.encoded().beyond = true;
  if (stream.queue.empty() && transmit(stream, message)) return;
  // Beyond this number, the receiver is stuck while publishers start and end. The queue must stay
  // bounded.
  const std::size_t most = stream.port->spec.policy.depth + kMostBeyond;
  if (!stream.active()) return;
  if (stream.queue.size() < most) {
    stream.queue.push_back(message.keep());
  } else {
    notices.dropped(stream.port, Drop::overflow, 1);
  }
}

void Sender::detach(Stream& stream, Notices& notices) {
  // On a live connection, in-flight messages arrive before the Closed message.
  const std::uint64_t lost = stream.waiting() + (stream.connected() ? 0 : stream.in_flight.size());
  notices.dropped(stream.port, Drop::disconnected, lost);
  say(*stream.who, wire::Closed{stream.id, stream.sent});
  stream.queue.clear();
  stream.in_flight.clear();
  stream.in_flight_bytes = 0;
  std::erase(stream.port->streams, &stream);
  notices.listeners(stream.port);
  stream.port = nullptr;
  room_.notify_all();
}

void Sender::resume(Stream& stream, std::uint64_t taken, Notices& notices) {
  take(stream, std::min(taken, stream.sent));
  if (!stream.reliable) {
    notices.dropped(stream.port, Drop::disconnected, stream.in_flight.size());
    stream.in_flight.clear();
    stream.in_flight_bytes = 0;
  }
  const std::uint64_t first = stream.taken() + 1;
  stream.accepted = true;
  if (!say(*stream.who, wire::Accepted{stream.id, first})) return;
  notices.listeners(stream.port);
  for (std::size_t i = 0; i < stream.in_flight.size(); ++i) {
    if (!write(stream, first + i, *stream.in_flight[i].encoded)) return;
  }
  flush_queue(stream);
  // Replays messages that best effort lost meanwhile. The receiver drops duplicates.
  replay_latched(stream, notices);
}

void Sender::lose_connection(Subscriber& subscriber) {
  subscriber.connection.clear();
  subscriber.away_since_ns = monotonic_now().ns;
  subscriber.settled = false;
  some_lost_ = true;
}

void Sender::settle_lost(Notices& notices) {
  if (!std::exchange(some_lost_, false)) return;
  for (auto& [name, subscriber] : subscribers_) {
    if (std::exchange(subscriber->settled, true)) continue;
    for (auto& [id, stream] : subscriber->streams) {
      if (!stream.port) continue;
      notices.listeners(stream.port);
      if (stream.reliable) continue;
      notices.dropped(stream.port, Drop::disconnected, stream.waiting());
      stream.queue.clear();
    }
  }
  room_.notify_all();
}

void Sender::probe() {
  Notices notices(*this);
  const MutexLock lock(mutex_);
  for (auto& [name, subscriber] : subscribers_) say(*subscriber, wire::Nothing{});
  settle_lost(notices);
}

std::int64_t Sender::expire(std::int64_t now_ns, std::int64_t heard_ns) {
  Notices notices(*this);
  const MutexLock lock(mutex_);
  std::int64_t next = 0;
  std::vector<SubscriberName> gone;
  for (const auto& [name, subscriber] : subscribers_) {
    if (!subscriber->connection.empty()) continue;
    const std::int64_t until = subscriber->can_return()
                                   ? subscriber->away_since_ns + settings_.reconnect_window_ns
                                   : subscriber->away_since_ns;
    if (until <= now_ns && subscriber->away_since_ns <= heard_ns) {
      gone.push_back(name);
    } else if (next == 0 || until < next) {
      next = until;
    }
  }
  for (const SubscriberName& name : gone) remove(name, notices);
  return next;
}

void Sender::forget(Stream& stream, Notices& notices) {
  if (!stream.port) return;
  notices.dropped(stream.port, Drop::disconnected, stream.waiting() + stream.in_flight.size());
  std::erase(stream.port->streams, &stream);
  notices.listeners(stream.port);
  stream.port = nullptr;
  room_.notify_all();
}

void Sender::remove(const SubscriberName& name, Notices& notices) {
  const auto found = subscribers_.find(name);
  if (found == subscribers_.end()) return;
  for (auto& [id, stream] : found->second->streams) forget(stream, notices);
  by_connection_.erase(found->second->known_as);
  subscribers_.erase(found);
}

}  // namespace hyphos::transport::zmq
