#include "wire/control.hpp"

#include <algorithm>
#include <string_view>

#include "base/config.hpp"
#include "base/utf8.hpp"
#include "hyphos/wire/head.pb.h"
#include "wire/corrupt.hpp"
#include "wire/packet.hpp"

namespace hyphos::wire {
namespace {

v1::Encoding to_proto(Encoding encoding) {
  return static_cast<v1::Encoding>(static_cast<int>(encoding) + 1);
}
bool from_proto(v1::Encoding in, Encoding& out) {
  const int value = static_cast<int>(in) - 1;
  out = static_cast<Encoding>(value);
  return value >= 0 && value <= static_cast<int>(Encoding::custom);
}

/// Fills in one variant of `Control`. The caller serializes it.
struct Writer {
  v1::Control& out;

  void operator()(const Welcome& m) const {
    auto* to = out.mutable_welcome();
    to->set_session(m.session);
    to->set_process(m.process);
    to->set_host(m.host);
    to->set_version(m.version);
  }
  void operator()(const Hello& m) const {
    auto* to = out.mutable_hello();
    to->set_session(m.session);
    to->set_process(m.process);
    to->set_host(m.host);
    to->set_version(m.version);
    to->set_via(m.via);
    to->mutable_streams()->Add(m.streams.begin(), m.streams.end());
  }
  void operator()(const Subscribe& m) const {
    auto* to = out.mutable_subscribe();
    to->set_stream(m.stream);
    to->set_channel(m.channel);
    to->set_type_name(m.type.name);
    to->set_type_hash(m.type.hash);
    to->set_encoding(to_proto(m.type.encoding));
    to->set_window_messages(m.window_messages);
    to->set_window_bytes(m.window_bytes);
    to->set_reliable(m.reliable);
    to->set_resume_after(m.resume_after);
    to->set_node(m.node);
  }
  void operator()(const Unsubscribe& m) const {
    out.mutable_unsubscribe()->set_stream(m.stream);
    out.mutable_unsubscribe()->set_taken(m.taken);
  }
  void operator()(const Accepted& m) const {
    out.mutable_accepted()->set_stream(m.stream);
    out.mutable_accepted()->set_first(m.first);
  }
  void operator()(const Refused& m) const {
    auto* to = out.mutable_refused();
    to->set_stream(m.stream);
    to->set_type_name(m.type.name);
    to->set_type_hash(m.type.hash);
    to->set_encoding(to_proto(m.type.encoding));
    to->set_node(m.node);
  }
  void operator()(const Closed& m) const {
    out.mutable_closed()->set_stream(m.stream);
    out.mutable_closed()->set_sent(m.sent);
  }
  void operator()(const Ack& m) const {
    out.mutable_ack()->set_stream(m.stream);
    out.mutable_ack()->set_taken(m.taken);
  }
  void operator()(const Bye&) const { out.mutable_bye(); }
  void operator()(const Nothing&) const { out.mutable_nothing(); }
  void operator()(const Ask& m) const { out.mutable_ask()->set_asked_ns(m.asked_ns); }
  void operator()(const Answer& m) const {
    auto* to = out.mutable_answer();
    to->set_asked_ns(m.asked_ns);
    to->set_heard_ns(m.heard_ns);
    to->set_answered_ns(m.answered_ns);
    to->set_clock_offset_ns(m.clock_offset_ns);
  }
};

/// Process names are shown to users and written to files, so they must be text.
bool is_process_name(std::string_view name) {
  return name.size() <= kMaxProcessBytes && find_bad_utf8(name) == std::string_view::npos;
}

/// The name of a node, for errors only: a wrong one is left out.
std::string node_name(const std::string& name) { return is_process_name(name) ? name : ""; }

bool read_type(const std::string& name, std::uint64_t hash, v1::Encoding encoding, TypeId& out) {
  out.name = name;
  out.hash = hash;
  return name.size() <= kMaxTypeNameBytes && from_proto(encoding, out.encoding);
}

Result<Control> read_subscribe(const v1::Control::Subscribe& from) {
  Subscribe m;
  m.stream = from.stream();
  m.channel = from.channel();
  m.window_messages = std::clamp<std::uint32_t>(from.window_messages(), 1, 65536);
  m.window_bytes = std::min<std::uint64_t>(from.window_bytes(), 64 << 20);
  m.reliable = from.reliable();
  m.resume_after = from.resume_after();
  m.node = node_name(from.node());
  if (!is_channel_name(m.channel)) return corrupt("subscribe: invalid channel name");
  if (!read_type(from.type_name(), from.type_hash(), from.encoding(), m.type)) {
    return corrupt("subscribe: invalid type");
  }
  return Control(std::move(m));
}

Result<Control> read(const v1::Control& in) {
  using Kind = v1::Control::KindCase;
  switch (in.kind_case()) {
    case Kind::kWelcome: {
      const auto& w = in.welcome();
      if (!is_process_name(w.process()))
        return corrupt("welcome: the name is not text or is too long");
      return Control(Welcome{w.session(), w.process(), w.host(), w.version()});
    }
    case Kind::kHello: {
      const auto& h = in.hello();
      if (!is_process_name(h.process()) || !is_process_name(h.via())) {
        return corrupt("hello: a name is not text or is too long");
      }
      return Control(Hello{h.session(),
                           h.process(),
                           h.host(),
                           h.version(),
                           h.via(),
                           {h.streams().begin(), h.streams().end()}});
    }
    case Kind::kSubscribe:
      return read_subscribe(in.subscribe());
    case Kind::kUnsubscribe:
      return Control(Unsubscribe{in.unsubscribe().stream(), in.unsubscribe().taken()});
    case Kind::kAccepted:
      return Control(Accepted{in.accepted().stream(), in.accepted().first()});
    case Kind::kRefused: {
      const auto& from = in.refused();
      Refused m;
      m.stream = from.stream();
      m.node = node_name(from.node());
      if (!read_type(from.type_name(), from.type_hash(), from.encoding(), m.type)) {
        return corrupt("refused: invalid type");
      }
      return Control(std::move(m));
    }
    case Kind::kClosed:
      return Control(Closed{in.closed().stream(), in.closed().sent()});
    case Kind::kAck:
      return Control(Ack{in.ack().stream(), in.ack().taken()});
    case Kind::kBye:
      return Control(Bye{});
    case Kind::kNothing:
      return Control(Nothing{});
    case Kind::kAsk:
      return Control(Ask{in.ask().asked_ns()});
    case Kind::kAnswer: {
      const auto& a = in.answer();
      return Control(Answer{a.asked_ns(), a.heard_ns(), a.answered_ns(), a.clock_offset_ns()});
    }
    case Kind::KIND_NOT_SET:
      break;
  }
  return corrupt("a control message of an unknown kind");
}

}  // namespace

std::string owner_text(std::string_view node, std::string_view process) {
  std::string text = node.empty() ? "process '" : "node '" + std::string(node) + "' of process '";
  return text.append(process) + "'";
}

std::string version_refusal(std::string_view process, std::uint32_t version) {
  return "'" + std::string(process) + "' has link version " + std::to_string(version) +
         ", this process has " + std::to_string(kLinkVersion) +
         ". Install the same version of Hyphos on both machines [unsupported]";
}

std::string encode_control(const Control& message) {
  v1::Control out;
  std::visit(Writer{out}, message);
  std::string bytes(1, '\0');
  out.AppendToString(&bytes);
  return bytes;
}

Result<Control> parse_control(std::span<const std::byte> frame) {
  if (frame.empty() || frame[0] != std::byte{0}) return corrupt("not a control message");
  if (frame.size() > kMaxControlBytes) return corrupt("the control message is too long");
  v1::Control in;
  if (!in.ParseFromArray(frame.data() + 1, static_cast<int>(frame.size() - 1))) {
    return corrupt("the control message is not a protobuf message");
  }
  return read(in);
}

void write_trailer(const Trailer& trailer, std::span<std::byte, kTrailerBytes> out) {
  for (unsigned i = 0; i < 4; ++i) out[i] = static_cast<std::byte>(trailer.stream >> (8 * i));
  for (unsigned i = 0; i < 8; ++i) out[4 + i] = static_cast<std::byte>(trailer.sequence >> (8 * i));
}

Result<Trailer> parse_trailer(std::span<const std::byte> in) {
  if (in.size() < kTrailerBytes) return corrupt("the link trailer is cut off");
  Trailer trailer;
  for (unsigned i = 0; i < 4; ++i)
    trailer.stream |= std::to_integer<std::uint32_t>(in[i]) << (8 * i);
  for (unsigned i = 0; i < 8; ++i) {
    trailer.sequence |= std::to_integer<std::uint64_t>(in[4 + i]) << (8 * i);
  }
  return trailer;
}

Result<std::string> encode_beacon(const Beacon& beacon) {
  v1::Beacon out;
  out.set_version(kBeaconVersion);
  out.set_domain(beacon.domain);
  out.set_session(beacon.session);
  out.set_process(beacon.process);
  out.set_host(beacon.host);
  for (const std::string& endpoint : beacon.endpoints) out.add_endpoints(endpoint);
  out.set_period_ms(beacon.period_ms);
  out.set_leaving(beacon.leaving);
  out.set_curve_key(beacon.curve_key);
  out.set_channels_digest(beacon.channels_digest);
  if (beacon.endpoints.size() > kMaxBeaconEndpoints || out.ByteSizeLong() > kMaxBeaconBytes) {
    return Error{Code::invalid_config, "the announcement does not fit into one datagram", {}};
  }
  std::size_t left = kMaxBeaconBytes - out.ByteSizeLong();
  for (const std::string& channel : beacon.channels) {
    if (channel.size() > kMaxChannelBytes) continue;
    const std::size_t cost = channel.size() + 3;  // tag and length
    if (cost > left || out.channels_size() == static_cast<int>(kMaxBeaconChannels)) break;
    out.add_channels(channel);
    left -= cost;
  }
  return out.SerializeAsString();
}

Result<Beacon> parse_beacon(std::span<const std::byte> datagram) {
  if (datagram.empty() || datagram.size() > kMaxBeaconBytes) return corrupt("beacon: wrong size");
  v1::Beacon in;
  if (!in.ParseFromArray(datagram.data(), static_cast<int>(datagram.size()))) {
    return corrupt("beacon: not a protobuf message");
  }
  if (in.version() != kBeaconVersion) return corrupt("beacon: unsupported version");
  if (in.endpoints_size() > static_cast<int>(kMaxBeaconEndpoints) ||
      in.channels_size() > static_cast<int>(kMaxBeaconChannels) || !is_process_name(in.process()) ||
      (!in.curve_key().empty() && in.curve_key().size() != 40) ||
      !std::all_of(in.endpoints().begin(), in.endpoints().end(), is_process_name) ||
      !std::all_of(in.channels().begin(), in.channels().end(),
                   [](const std::string& name) { return is_channel_name(name); }) ||
      (in.endpoints_size() == 0 && !in.leaving())) {
    return corrupt("beacon: a value is out of bounds");
  }
  Beacon beacon;
  beacon.domain = in.domain();
  beacon.session = in.session();
  beacon.process = in.process();
  beacon.host = in.host();
  beacon.endpoints.assign(in.endpoints().begin(), in.endpoints().end());
  beacon.period_ms = in.period_ms();
  beacon.leaving = in.leaving();
  beacon.curve_key = in.curve_key();
  beacon.channels.assign(in.channels().begin(), in.channels().end());
  beacon.channels_digest = in.channels_digest();
  return beacon;
}

}  // namespace hyphos::wire
