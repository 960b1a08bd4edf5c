#include "transport/zmq/sender.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "hyphos/time.hpp"
#include "transport/host_clock.hpp"
#include "transport/zmq/sender_state.hpp"

namespace hyphos::transport::zmq {
namespace {

// Up to this size, a copy of the body behind the header costs less than a separate frame.
constexpr std::uint64_t kOneFrameBytes = 4096;

std::chrono::steady_clock::time_point to_time_point(std::int64_t monotonic_ns) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(monotonic_ns));
}

}  // namespace

void Sender::Port::pack(const Envelope& message, EncodedFrame& out) const {
  out.head.clear();
  out.submitted_at = wire::append_head(spec.name, spec.type, message, local_clock(), out.head);
  out.bytes = message.payload.size();
  for (const Buffer& buffer : message.buffers) out.bytes += buffer.size();
  if (out.bytes <= kOneFrameBytes) {
    const auto append = [&out](const Buffer& part) {
      out.head.insert(out.head.end(), part.bytes().begin(), part.bytes().end());
    };
    append(message.payload);
    for (const Buffer& buffer : message.buffers) append(buffer);
    return;
  }
  out.frames.reserve(1 + message.buffers.size());
  out.frames.push_back(Frame::of(message.payload));
  for (const Buffer& buffer : message.buffers) out.frames.push_back(Frame::of(buffer));
}

void Sender::Notices::fire() {
  for (Notice& notice : std::exchange(notices_, {})) {
    if (notice.kind == Notice::Kind::accept) {
      sender_.accept(notice.stream, notice.port);
      continue;
    }
    const MutexLock calls(notice.port->calls);
    SendEvents* send_events = notice.port->send_events;
    if (send_events == nullptr) continue;
    switch (notice.kind) {
      case Notice::Kind::listeners: {
        // Counted here, so that of two racing notices the later call reports the newer number.
        std::uint32_t count = 0;
        {
          const MutexLock lock(sender_.mutex_);
          for (const Stream* stream : notice.port->streams) count += stream->active() ? 1 : 0;
        }
        send_events->listeners(kName, count);
        break;
      }
      case Notice::Kind::dropped:
        send_events->dropped(kName, notice.reason, notice.count);
        break;
      case Notice::Kind::refused:
        send_events->refused(kName, notice.error);
        break;
      case Notice::Kind::accept:
        break;  // above
    }
  }
}

Sender::Sender(Settings settings, Wire& wire) : settings_(std::move(settings)), wire_(wire) {}
Sender::~Sender() = default;

Sender::PortPtr Sender::find_port(PortId id) const {
  const auto found = ports_.find(id);
  return found == ports_.end() ? nullptr : found->second;
}

bool Sender::is_allowed(const std::string& channel, const Subscriber& who) const {
  Permissions::Query setting(permissions_, channel);
  for (const auto& [endpoint, session] : behind_) {
    if (same_process(session, who.name.first)) setting.name(endpoint);
  }
  if (const auto set = setting.name(who.process).name(who.via).answer()) return *set;
  const EndpointIndex endpoint_index = who.name.second;
  if (endpoint_index >= settings_.offers.size() || !settings_.offers[endpoint_index]) return true;
  const auto& listed = *settings_.offers[endpoint_index];
  return std::find(listed.begin(), listed.end(), channel) != listed.end();
}

Result<void> Sender::open(PortId id, const ChannelSpec& spec, SendEvents* send_events) {
  auto port = std::make_shared<Port>(send_events);
  port->id = id;
  port->spec = spec;
  port->key = wire::make_key(spec.name, spec.type.hash);
  Notices notices(*this);
  const MutexLock lock(mutex_);
  if (!by_channel_.emplace(spec.name, port).second) {
    return Error{Code::already_exists, "the channel is published through this transport already",
                 spec.name};
  }
  ports_.emplace(id, port);
  for (auto& [name, subscriber] : subscribers_) {
    for (auto& [stream_id, stream] : subscriber->streams) {
      if (stream.channel == spec.name) match(stream, notices);
    }
  }
  settle_lost(notices);
  return success();
}

void Sender::close(PortId id) {
  PortPtr port;
  {
    Notices notices(*this);
    const MutexLock lock(mutex_);
    port = find_port(id);
    if (!port) return;
    while (!port->streams.empty()) detach(*port->streams.back(), notices);
    ports_.erase(id);
    by_channel_.erase(port->spec.name);
    settle_lost(notices);
    room_.notify_all();
  }
  const MutexLock calls(port->calls);
  port->send_events = nullptr;
}

SendReport Sender::send(PortId id, const Envelope& message,
                        const std::function<void(std::int64_t)>& pump) {
  SendReport report;
  Notices notices(*this);
  UniqueLock lock(mutex_);
  const PortPtr port = find_port(id);
  if (!port || stopping_) return report;
  if (message.meta.latch == Latch::gone) {
    (void)port->kept.forget(message.meta.sender);
    Outgoing notice;
    port->pack(message, notice.now);
    for (Stream* stream : port->streams) offer_beyond(*stream, notice, notices);
    settle_lost(notices);
    return report;
  }
  if (port->spec.policy.latched) {
    (void)port->kept.keep(message, message.meta.sequence, message.meta.latched_depth);
  }
  const std::uint64_t only = message.meta.to;
  const auto is_meant = [only](const Stream* s) {
    return only == 0 || same_process(s->who->name.first, only);
  };
  if (std::none_of(port->streams.begin(), port->streams.end(), is_meant)) return report;

  Outgoing out;
  out.now.head.swap(spare_head_);  // reuse its capacity, to avoid an allocation
  port->pack(message, out.now);
  if (out.now.bytes > settings_.max_message_bytes) {
    report.dropped = static_cast<std::uint32_t>(port->streams.size());
    report.failure = Code::too_large;
    notices.dropped(port, Drop::too_large, report.dropped);
    if (std::uint64_t more = 0; too_large_log_.allow(more)) {
      log::error(kName, "channel '" + port->spec.name + "': cannot send a message of " +
                            std::to_string(out.now.bytes) +
                            " bytes: the largest message between machines has " +
                            std::to_string(settings_.max_message_bytes) +
                            " bytes. Send it in parts [too_large]");
    }
    return report;
  }
  std::vector<StreamName> full;
  for (Stream* stream : port->streams) {
    if (!stream->active() || !is_meant(stream)) continue;
    switch (offer(*stream, out, notices)) {
      case Offer::taken:
        ++report.accepted;
        break;
      case Offer::dropped:
        ++report.dropped;
        break;
      case Offer::full:
        full.push_back({stream->who->name, stream->id});
        break;
    }
  }
  const Policy& policy = port->spec.policy;
  if (report.dropped > 0 && policy.reliability == Reliability::reliable) {
    report.failure = Code::overloaded;
  }
  if (!full.empty() && message.meta.no_wait) {
    const auto count = static_cast<std::uint32_t>(full.size());
    report.dropped += count;
    report.failure = Code::overloaded;
    notices.dropped(port, Drop::overflow, count);
  } else if (!full.empty()) {
    wait_for_room(lock, port, out, std::move(full), pump, report, notices);
  }
  settle_lost(notices);
  out.now.head.swap(spare_head_);
  return report;
}

bool Sender::has_room(PortId id) const {
  const MutexLock lock(mutex_);
  const PortPtr port = find_port(id);
  if (!port || stopping_) return true;
  return std::ranges::all_of(port->streams, [&](const Stream* stream) {
    return !stream->active() || stream->has_room(port->spec.policy.depth);
  });
}

Sender::Offer Sender::offer(Stream& stream, Outgoing& message, Notices& notices) {
  if (stream.queue.empty() && transmit(stream, message)) return Offer::taken;
  if (!stream.active()) {  // the write found it disconnected
    notices.dropped(stream.port, Drop::disconnected, 1);
    return Offer::dropped;
  }
  const Policy& policy = stream.port->spec.policy;
  if (!stream.has_room(policy.depth)) {
    if (policy.overflow == Overflow::block) return Offer::full;
    notices.dropped(stream.port, Drop::overflow, 1);
    if (policy.overflow == Overflow::drop_newest) return Offer::dropped;
    stream.queue.erase(
        std::ranges::find_if(stream.queue, [](const auto& encoded) { return !encoded->beyond; }));
  }
  stream.queue.push_back(message.keep());
  return Offer::taken;
}

void Sender::wait_for_room(UniqueLock<Mutex>& lock, const PortPtr& port, Outgoing& message,
                           std::vector<StreamName> full,
                           const std::function<void(std::int64_t)>& pump, SendReport& report,
                           Notices& notices) {
  const std::int64_t limit_ms = port->spec.policy.block_timeout_ms;
  const std::int64_t deadline =
      limit_ms > 0 ? monotonic_now().ns + limit_ms * 1'000'000 : INT64_MAX;
  const auto fail = [&](Drop reason, Code code, std::uint32_t count) {
    report.dropped += count;
    report.failure = code;
    notices.dropped(port, reason, count);
  };
  for (;;) {
    std::erase_if(full, [&](const StreamName& name) HYPHOS_REQUIRES(mutex_) {
      Stream* stream = find_stream(name);
      if (stream == nullptr || stream->port != port || stopping_) {
        fail(Drop::disconnected, Code::disconnected, 1);
        return true;
      }
      switch (offer(*stream, message, notices)) {
        case Offer::taken:
          ++report.accepted;
          return true;
        case Offer::dropped:
          ++report.dropped;
          report.failure = Code::disconnected;
          return true;
        case Offer::full:
          break;
      }
      return false;
    });
    if (full.empty()) return;
    if (monotonic_now().ns >= deadline) {
      fail(Drop::timeout, Code::timeout, static_cast<std::uint32_t>(full.size()));
      return;
    }
    if (pump) {
      lock.unlock();
      pump(deadline);
      lock.lock();
    } else if (deadline == INT64_MAX) {
      room_.wait(lock);
    } else {
      room_.wait_until(lock, to_time_point(deadline));
    }
  }
}

bool Sender::window_open(const Stream& stream, std::uint64_t bytes) {
  if (stream.in_flight.size() < stream.window_messages) return true;
  return stream.in_flight.size() < kMaxInFlight &&
         stream.in_flight_bytes + bytes <= stream.window_bytes;
}

bool Sender::transmit(Stream& stream, Outgoing& message) {
  EncodedFrame& encoded = message.encoded();
  if (!stream.connected() || !window_open(stream, encoded.bytes)) return false;
  if (!write(stream, stream.sent + 1, encoded)) return false;
  ++stream.sent;
  stream.in_flight.push_back({encoded.bytes, stream.reliable ? message.keep() : nullptr});
  stream.in_flight_bytes += encoded.bytes;
  return true;
}

bool Sender::write(Stream& stream, std::uint64_t sequence, EncodedFrame& encoded) {
  const std::string& key = stream.port->key;
  const std::size_t start = key.size() + 1 + wire::kTrailerBytes;
  Frame first = Frame::of_size(start + encoded.head.size());
  std::byte* at = first.data();
  std::memcpy(at, key.data(), key.size());
  at[key.size()] = std::byte{0};
  wire::write_trailer({stream.id, sequence}, std::span<std::byte, wire::kTrailerBytes>(
                                                 at + key.size() + 1, wire::kTrailerBytes));
  std::memcpy(at + start, encoded.head.data(), encoded.head.size());
  // Stamped just before the write: framing and the wait for the window are not part of the
  // transport.
  if (encoded.submitted_at != 0)
    wire::write_submitted(at + start + encoded.submitted_at, monotonic_now().ns);
  bool written = false;
  if (encoded.frames.empty()) {
    written = wire_.write(stream.who->connection, {&first, 1});
  } else {
    std::array<Frame, 2 + kMaxAttachedBuffers> frames;
    frames[0] = std::move(first);
    const std::size_t count = encoded.frames.size();
    for (std::size_t i = 0; i < count; ++i) frames[1 + i] = encoded.frames[i].share();
    written = wire_.write(stream.who->connection, {frames.data(), 1 + count});
  }
  if (written) return true;
  lose_connection(*stream.who);
  return false;
}

void Sender::take(Stream& stream, std::uint64_t taken) {
  while (!stream.in_flight.empty() && stream.taken() < taken) {
    stream.in_flight_bytes -= stream.in_flight.front().bytes;
    stream.in_flight.pop_front();
  }
}

void Sender::flush_queue(Stream& stream) {
  while (!stream.queue.empty()) {
    Outgoing out;
    out.kept = stream.queue.front();
    if (!transmit(stream, out)) break;
    stream.queue.pop_front();
  }
  room_.notify_all();
}

void Sender::allow(const std::string& channel, const std::string& peer, bool allowed) {
  Notices notices(*this);
  const MutexLock lock(mutex_);
  permissions_.set(channel, peer, allowed);
  review(channel, notices);
}

void Sender::reached(const std::string& endpoint, std::uint64_t session) {
  Notices notices(*this);
  const MutexLock lock(mutex_);
  std::uint64_t& known = behind_[endpoint];
  if (std::exchange(known, session) == session || permissions_.empty()) return;
  review({}, notices);
}

void Sender::review(const std::string& channel, Notices& notices) {
  for (auto& [name, subscriber] : subscribers_) {
    for (auto& [id, stream] : subscriber->streams) {
      if (!channel.empty() && stream.channel != channel) continue;
      if (!stream.port) {
        match(stream, notices);
      } else if (!is_allowed(stream.channel, *subscriber)) {
        detach(stream, notices);
      }
    }
  }
  settle_lost(notices);
}

void Sender::flush(std::int64_t deadline_ns) {
  UniqueLock lock(mutex_);
  room_.wait_until(lock, to_time_point(deadline_ns), [this]() HYPHOS_REQUIRES(mutex_) {
    for (const auto& [id, port] : ports_) {
      for (const Stream* stream : port->streams) {
        if (stream->reliable && !(stream->queue.empty() && stream->in_flight.empty())) return false;
      }
    }
    return true;
  });
}

void Sender::shut_down() {
  std::vector<PortPtr> ports;
  {
    Notices notices(*this);
    const MutexLock lock(mutex_);
    stopping_ = true;
    for (auto& [name, subscriber] : subscribers_) {
      for (auto& [id, stream] : subscriber->streams) {
        if (!stream.port) continue;
        // In-flight messages of a best-effort stream stay in libzmq and are sent while the sockets
        // linger. In-flight messages of a reliable stream without acknowledgement are reported as
        // lost.
        notices.dropped(stream.port, Drop::disconnected,
                        stream.waiting() + (stream.reliable ? stream.in_flight.size() : 0));
        stream.queue.clear();
        stream.in_flight.clear();
      }
      if (!subscriber->connection.empty()) say(*subscriber, wire::Bye{});
    }
    for (auto& [id, port] : ports_) {
      port->streams.clear();
      ports.push_back(port);
    }
    ports_.clear();
    by_channel_.clear();
    by_connection_.clear();
    subscribers_.clear();
    room_.notify_all();
  }
  for (const PortPtr& port : ports) {
    const MutexLock calls(port->calls);
    port->send_events = nullptr;
  }
}

bool Sender::knows(const std::string& peer) const {
  const MutexLock lock(mutex_);
  return std::any_of(subscribers_.begin(), subscribers_.end(), [&](const auto& entry) {
    return entry.second->process == peer || entry.second->via == peer;
  });
}

std::vector<PeerStatus> Sender::peers() const {
  const MutexLock lock(mutex_);
  std::vector<PeerStatus> all;
  for (const auto& [name, subscriber] : subscribers_) {
    for (const auto& [id, stream] : subscriber->streams) {
      if (stream.port) all.push_back({stream.channel, subscriber->process, subscriber->via, false});
    }
  }
  return all;
}

}  // namespace hyphos::transport::zmq
