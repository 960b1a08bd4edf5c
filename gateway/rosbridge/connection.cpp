#include "gateway/rosbridge/connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "gateway/rosbridge/bson.hpp"
#include "gateway/rosbridge/json_text.hpp"
#include "gateway/rosbridge/origin.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

// Time limit for the handshake and for a token.
constexpr Duration kEntry = Duration::from_ms(10'000);
// A silent client is considered gone after this number of ping intervals.
constexpr std::int64_t kPatience = 3;
constexpr std::uint32_t kLeastDocument = 5;

// A handshake of TLS: its type, its version, and the type of the message behind the length. No
// document of BSON has a key that begins with such a control character.
constexpr std::size_t kLeastTls = 6;
constexpr std::byte kClientHello{1};
bool may_be_tls(std::span<const std::byte> bytes) {
  return bytes[0] == std::byte{0x16} && bytes[1] == std::byte{0x03};
}

Buffer head_of(net::Opcode opcode, std::size_t size) {
  std::array<std::byte, net::kMaxServerHead> head{};
  const std::size_t length = net::write_frame_head(head, opcode, size);
  return Buffer::copy_of(std::span<const std::byte>(head).first(length));
}

net::Opcode opcode_of(const Frame& frame) {
  return frame.binary ? net::Opcode::binary : net::Opcode::text;
}

// Frames that are useful only together are sent as one message, so that none is dropped alone.
net::Message as_message(std::span<const Frame> unit) {
  if (unit.size() == 1) {
    const Frame& frame = unit.front();
    const auto& [before, body, behind] = frame.parts;
    const Buffer head = head_of(opcode_of(frame), frame.size());
    return frame.lent ? net::Message::lent(head, before, body, behind)
                      : net::Message(head, before, body, behind);
  }
  std::size_t size = 0;
  for (const Frame& frame : unit) size += net::kMaxServerHead + frame.size();
  WritableBuffer joined = WritableBuffer::on_heap(size);
  std::byte* to = joined.data();
  for (const Frame& frame : unit) {
    to += net::write_frame_head(std::span<std::byte, net::kMaxServerHead>(to, net::kMaxServerHead),
                                opcode_of(frame), frame.size());
    for (const Buffer& part : frame.parts) to = std::ranges::copy(part.bytes(), to).out;
  }
  const auto used = static_cast<std::size_t>(to - joined.data());
  return net::Message(std::move(joined).freeze(used));
}

/// For a client that uses BSON.
Result<std::string> document_of(const Frame& frame) {
  const auto& [before, body, behind] = frame.parts;
  std::string joined(before.text());
  joined += frame.cbor_member.empty() ? body.text() : "null";
  joined += behind.text();
  if (frame.binary) return cbor_to_bson(std::as_bytes(std::span(joined)));
  return frame.cbor_member.empty() ? json_to_bson(joined)
                                   : json_to_bson(joined, frame.cbor_member, body.bytes());
}

net::Stream::Options stream_options(const Options& options) {
  net::Stream::Options out;
  out.queue.depth = std::max<std::size_t>(options.queue_depth, 1);
  out.queue.bytes = options.queue_bytes;
  return out;
}

}  // namespace

void Connection::limit_silence(int fd, Duration ping) {
  const auto milliseconds = static_cast<unsigned>((ping * kPatience).ns / 1'000'000);
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
  // Clients of BSON answer no pings.
  const int yes = 1;
  const int seconds = std::max(static_cast<int>(ping.ns / 1'000'000'000), 1);
  (void)::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
}

std::shared_ptr<Connection> Connection::start(const Setup& setup, net::Connection connection) {
  auto self = std::make_shared<Connection>(setup, connection.peer);
  self->stream_ =
      net::Stream::open(self->loop_, std::move(connection), stream_options(setup.options));
  self->entry_ = self->loop_.after(kEntry, [weak = std::weak_ptr(self)] {
    if (const auto alive = weak.lock()) alive->check_entry();
  });
  net::Stream::Callbacks callbacks;
  callbacks.measure = [self](std::span<const std::byte> bytes) { return self->measure(bytes); };
  callbacks.part = [self](net::UnitReader::Part part) { self->unmask(part); };
  callbacks.unit = [self](const Buffer& unit) { self->take(unit); };
  callbacks.ready = [self] { return self->ready(); };
  callbacks.refused = [self](const Error& error) { self->refuse(error); };
  callbacks.closed = [self] { self->closed(); };
  self->stream_->start(std::move(callbacks));
  return self;
}

Connection::Connection(const Setup& setup, const std::string& peer)
    : facade_(setup.facade),
      params_(setup.params),
      options_(setup.options),
      loop_(setup.loops.next()),
      ping_(setup.ping),
      origins_(setup.origins),
      loan_budget_(setup.loan_budget),
      client_{"rosbridge " + peer},
      joiner_(setup.options.max_message) {}

std::size_t Connection::send(OutputClass output_class, std::uint32_t depth,
                             std::span<const Frame> unit) {
  const net::Key key = output_class == kControlOutput ? net::kControl : net::Key{output_class};
  return stream_->send(key, bson_ ? as_documents(unit) : as_message(unit), depth);
}

net::Message Connection::as_documents(std::span<const Frame> unit) const {
  std::string all;
  for (const Frame& frame : unit) {
    const auto document = document_of(frame);
    if (document) {
      all += *document;
    } else {
      facade_.clients().count(client_, "unconvertible", document.error().message);
    }
  }
  return net::Message(Buffer::copy_of(all));
}

void Connection::send_control(net::Opcode opcode, std::span<const std::byte> payload) {
  stream_->send(net::kControl,
                net::Message(head_of(opcode, payload.size()), Buffer::copy_of(payload)));
}

void Connection::close(net::CloseCode code, std::string_view why) {
  constexpr std::size_t kMaxReason = 123;
  if (opened_ && !bson_) {
    std::string payload{static_cast<char>(static_cast<unsigned>(code) >> 8),
                        static_cast<char>(static_cast<unsigned>(code))};
    payload += why.substr(0, kMaxReason);
    send_control(net::Opcode::close, std::as_bytes(std::span(payload)));
  }
  stream_->finish();
}

Result<net::Measured> Connection::measure(std::span<const std::byte> bytes) {
  if (bson_) return measure_document(bytes);
  if (!opened_) {
    if (bytes.size() < 4) return net::Measured::at_least(4);
    if (may_be_tls(bytes)) {
      if (bytes.size() < kLeastTls) return net::Measured::at_least(kLeastTls);
      if (bytes[kLeastTls - 1] == kClientHello) {
        return Error{Code::corrupt,
                     "the client uses TLS. Connect with ws:// instead of wss://, or start the "
                     "gateway with --tls-certificate and --tls-key",
                     client_.name};
      }
    }
    if (bson_size(bytes)) {
      bson_ = true;
      begin_session(nullptr);
      opened_ = true;
      return measure_document(bytes);
    }
    if (const auto size = net::request_size(bytes)) return net::Measured::unit(*size);
    if (bytes.size() > net::kMaxRequestHead) {
      return Error{Code::corrupt, "the head of the HTTP request is longer than 16 KB",
                   client_.name};
    }
    return net::Measured::at_least(bytes.size() + 1);
  }
  const auto head = net::parse_frame_head(bytes);
  if (!head) return head.error();
  if (!*head) return net::Measured::at_least(bytes.size() + 1);
  const net::FrameHead& frame = coming_ = **head;
  if (!net::is_control(frame.opcode)) {
    if (const auto admitted = joiner_.admit(frame); !admitted) return admitted.error();
  }
  return net::Measured::unit(frame.head_size + static_cast<std::size_t>(frame.size));
}

Result<net::Measured> Connection::measure_document(std::span<const std::byte> bytes) const {
  if (bytes.size() < 4) return net::Measured::at_least(4);
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  if (size < kLeastDocument) {
    return Error{Code::corrupt,
                 "a document of BSON has a length of " + std::to_string(size) + " bytes",
                 client_.name};
  }
  if (size > options_.max_message) {
    return Error{Code::exhausted,
                 "a document of " + std::to_string(size) + " bytes is larger than --max-message",
                 client_.name};
  }
  return net::Measured::unit(size);
}

void Connection::take(const Buffer& unit) {
  if (bson_) {
    const MutexLock lock(session_mutex_);
    if (session_ != nullptr) session_->document(unit.bytes());
    return;
  }
  if (opened_) return take_frame(unit);
  open(unit.text());
}

bool Connection::ready() {
  const MutexLock lock(session_mutex_);
  return session_ == nullptr || session_->ready();
}

void Connection::refuse(const Error& error) {
  facade_.clients().count(client_, to_string(error.code), error.message);
  if (bson_) {
    stream_->send(net::kControl, net::Message(Buffer::copy_of(bson_error(error.message))));
  } else if (opened_) {
    close(error.code == Code::exhausted ? net::CloseCode::too_big : net::CloseCode::protocol_error,
          error.message);
  } else {
    stream_->send(
        net::kControl,
        net::Message(Buffer::copy_of(net::http_refusal("400 Bad Request", error.message))));
  }
}

void Connection::open(std::string_view request) {
  net::Handshake handshake = net::read_handshake(request);
  const Token* const token = find_token(options_.tokens, handshake.token);
  if (handshake.accepted) {
    if (std::string refused = refusal_of(handshake, token != nullptr); !refused.empty()) {
      handshake.accepted = false;
      handshake.reply = std::move(refused);
    }
  }
  if (!handshake.accepted) {
    facade_.clients().count(client_, "handshake",
                            handshake.reply.substr(0, handshake.reply.find('\r')));
  }
  if (handshake.accepted) begin_session(token);
  stream_->send(net::kControl, net::Message(Buffer::copy_of(handshake.reply)));
  if (!handshake.accepted) return stream_->finish();
  opened_ = true;
  pulse();
}

void Connection::begin_session(const Token* token) {
  const MutexLock lock(session_mutex_);
  Client client = client_;
  if (token != nullptr) client.token = token->rules;
  session_ = std::make_unique<Session>(facade_, params_, std::move(client), options_, *this,
                                       options_.tokens.empty() || token != nullptr);
}

std::string Connection::refusal_of(const net::Handshake& handshake, bool has_token) const {
  if (has_token) return {};  // a client with a token is trusted from any page
  if (!options_.tokens.empty() && !handshake.token.empty()) {
    return net::http_refusal("401 Unauthorized",
                             "unknown token. Use a token from the file of --tokens");
  }
  if (may_enter(handshake.origin, handshake.host, origins_)) return {};
  const std::string text =
      "pages of '" + handshake.origin.substr(0, 200) +
      "' may not connect. Allow them with the option origins=" + handshake.origin.substr(0, 200);
  facade_.clients().count(client_, "origin", text);
  return net::http_refusal("403 Forbidden", text);
}

// A payload that is unmasked in place is also parsed there.
static_assert(net::UnitReader::kTail >= net::kPadding);

void Connection::unmask(net::UnitReader::Part part) {
  if (!opened_ || bson_) return;
  const std::size_t head = coming_.head_size > part.at ? coming_.head_size - part.at : 0;
  const std::span<std::byte> payload = part.bytes.subspan(std::min(head, part.bytes.size()));
  net::copy_unmasked(payload, net::mask_behind(coming_.mask, part.at + head - coming_.head_size),
                     payload.data());
  plain_ = true;
  if (!joiner_.is_whole(coming_)) return;
  const std::byte* const text = part.bytes.data() - part.at + coming_.head_size;
  const auto there = static_cast<std::size_t>(payload.data() + payload.size() - text);
  arriving_.more({reinterpret_cast<const char*>(text), there},
                 static_cast<std::size_t>(coming_.size),
                 [this](std::size_t size) { return lend(size); });
}

WritableBuffer Connection::lend(std::size_t size) {
  share_ = loan_budget_.take(size);
  if (!share_) return {};
  const MutexLock lock(session_mutex_);
  return session_ == nullptr ? WritableBuffer() : session_->loan(size);
}

std::optional<DecodedText> Connection::read_early() {
  share_ = {};
  return arriving_.take();
}

void Connection::take_frame(const Buffer& unit) {
  net::FrameHead frame = coming_;  // measure() has parsed it
  const std::span<const std::byte> payload = unit.bytes().subspan(frame.head_size);
  if (net::is_control(frame.opcode)) return take_control(frame, payload);
  if (std::exchange(plain_, false)) {
    const std::optional<DecodedText> decoded = read_early();
    if (joiner_.is_whole(frame)) {
      return take_message({frame.opcode, payload}, decoded ? &*decoded : nullptr);
    }
    frame.mask = {};
  }
  if (const auto message = joiner_.join(frame, payload)) take_message(*message, nullptr);
}

void Connection::take_control(const net::FrameHead& head, std::span<const std::byte> payload) {
  std::array<std::byte, 125> plain{};
  const std::span<std::byte> bytes = std::span(plain).first(payload.size());
  net::copy_unmasked(payload, head.mask, bytes.data());
  if (head.opcode == net::Opcode::ping) send_control(net::Opcode::pong, bytes);
  if (head.opcode != net::Opcode::close) return;
  send_control(net::Opcode::close, bytes.first(std::min<std::size_t>(bytes.size(), 2)));
  stream_->finish();
}

void Connection::take_message(const net::MessageJoiner::Message& message,
                              const DecodedText* decoded) {
  const MutexLock lock(session_mutex_);
  if (session_ == nullptr) return;
  if (message.kind == net::Opcode::binary) return session_->binary(message.payload, decoded);
  session_->text({reinterpret_cast<const char*>(message.payload.data()), message.payload.size()},
                 decoded);
}

void Connection::closed() {
  (void)read_early();
  {
    const MutexLock lock(timer_mutex_);
    closed_ = true;
    pulse_ = {};
    wake_ = {};
  }
  std::unique_ptr<Session> ended;
  {
    const MutexLock lock(session_mutex_);
    ended = std::move(session_);
  }
  // The destructor waits for callbacks of the graph facade that are inside send().
  ended.reset();
}

void Connection::check_entry() {
  const MutexLock lock(session_mutex_);
  if (session_ != nullptr && session_->authorized()) return;
  if (stream_->is_open())
    facade_.clients().count(client_, "handshake",
                            "the client sent no handshake or no token within 10 s");
  close(net::CloseCode::policy, "no token was sent within 10 s");
}

void Connection::pulse() {
  // read before heard(), so that a change in between is harmless
  const bool holds_up = stream_->holds_up();
  const Time heard = stream_->heard();
  const Duration silent = monotonic_now() - heard;
  if (std::exchange(heard_, heard) != heard) asked_ = 0;
  // Data that waits to be written shows a slow network and not a dead client: the kernel watches
  // for that. Silence is also no proof if this process was paused and has not sent its pings, or if
  // it does not read.
  if (silent > ping_ * kPatience && asked_ >= kPatience - 1 && stream_->waiting() == 0 &&
      !holds_up) {
    facade_.clients().count(client_, "dead", "the client answered no ping");
    return stream_->close();
  }
  if (silent >= ping_) {
    ++asked_;
    send_control(net::Opcode::ping, {});
  }
  const MutexLock lock(timer_mutex_);
  if (closed_) return;
  pulse_ = loop_.after(ping_, [weak = weak_from_this()] {
    if (const auto alive = weak.lock()) alive->pulse();
  });
}

void Connection::wake_at(std::int64_t monotonic_ns) {
  const MutexLock lock(timer_mutex_);
  if (closed_ || (wake_ns_ != 0 && wake_ns_ <= monotonic_ns)) return;
  wake_ns_ = monotonic_ns;
  const Duration left{std::max<std::int64_t>(monotonic_ns - monotonic_now().ns, 0)};
  wake_ = loop_.after(left, [weak = weak_from_this()] {
    if (const auto alive = weak.lock()) alive->wake();
  });
}

void Connection::wake() {
  {
    const MutexLock lock(timer_mutex_);
    wake_ns_ = 0;
  }
  const MutexLock lock(session_mutex_);
  if (session_ != nullptr) session_->tick();
}

}  // namespace hyphos::gateway::rosbridge
