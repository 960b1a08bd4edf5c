#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "transport/zmq/receiver.hpp"
#include "transport/zmq/sender.hpp"

namespace {

using namespace hyphos;
using namespace hyphos::transport;

constexpr std::size_t kChannels = 3;

/// The input as a stream of small numbers and strings.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool done() const { return size_ == 0; }
  std::uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  std::string text() {
    const std::size_t n = std::min<std::size_t>(byte(), size_);
    std::string out(reinterpret_cast<const char*>(data_), n);
    data_ += n;
    size_ -= n;
    return out;
  }
  std::string channel() { return "channel" + std::to_string(byte() % (kChannels + 1)); }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

struct Ends final : ReceiveSink, SendEvents {
  std::uint64_t delivered = 0;
  bool full = false;
  bool deliver(Envelope&, ReadyList*) override {
    if (full) return false;
    ++delivered;
    return true;
  }
  void listeners(std::string_view, std::uint32_t) override {}
  void dropped(std::string_view, Drop, std::uint64_t) override {}
  void peer(std::string_view, std::string_view, std::uint64_t, bool) override {}
  void refused(std::string_view, const Error&) override {}
};

struct Sink final : zmq::Wire, zmq::Uplink {
  std::uint8_t dead = 0xff;
  bool write(const std::string& connection, std::span<zmq::Frame>) override {
    return connection.empty() || static_cast<std::uint8_t>(connection[0]) != dead;
  }
  void say(zmq::LinkId, zmq::Frame) override {}
};

wire::Control control(Input& in) {
  const TypeId type = make_type_id(in.byte() % 2 == 0 ? "a" : "b", Encoding::bytes);
  const std::uint32_t stream = in.byte() % 8;
  switch (in.byte() % 9) {
    case 0:
      return wire::Welcome{in.byte() % 4U, in.text(), 1, in.byte() % 2U};
    case 1:
      return wire::Hello{in.byte() % 8U, in.text(), 1, wire::kLinkVersion, in.text(), {1, 2}};
    case 2:
      return wire::Subscribe{stream,    in.channel(),       type,     in.byte(),
                             in.byte(), in.byte() % 2 == 0, in.byte()};
    case 3:
      return wire::Unsubscribe{stream, in.byte()};
    case 4:
      return wire::Accepted{stream, in.byte()};
    case 5:
      return wire::Refused{stream, type};
    case 6:
      return wire::Closed{stream, in.byte()};
    case 7:
      return wire::Ack{stream, in.byte()};
    default:
      return wire::Bye{};
  }
}

std::string data_frame(Input& in) {
  const TypeId type = make_type_id("a", Encoding::bytes);
  const std::string channel = in.channel();
  std::array<std::byte, wire::kTrailerBytes> trailer{};
  wire::write_trailer({in.byte() % 8U, in.byte()}, trailer);
  Envelope envelope;
  envelope.meta.type_hash = type.hash;
  envelope.payload = Buffer::copy_of(in.text());
  const auto packet = wire::encode_packet(channel, type, envelope, {});
  std::string frame = wire::make_key(channel, type.hash) + '\0';
  frame.append(reinterpret_cast<const char*>(trailer.data()), trailer.size());
  frame.append(reinterpret_cast<const char*>(packet.data()), packet.size());
  return frame;
}

std::vector<zmq::Frame> message(Input& in, bool allow_data) {
  std::vector<zmq::Frame> frames;
  switch (in.byte() % 4) {
    case 0: {
      const std::size_t count = 1 + in.byte() % 3;
      for (std::size_t i = 0; i < count; ++i) frames.push_back(zmq::Frame::copy_of(in.text()));
      break;
    }
    case 1:
      if (allow_data) {
        frames.push_back(zmq::Frame::copy_of(data_frame(in)));
        break;
      }
      [[fallthrough]];
    default:
      frames.push_back(zmq::Frame::copy_of(wire::encode_control(control(in))));
  }
  return frames;
}

}  // namespace

/// Any sequence of peers' messages, local calls and broken connections, on both halves of a link.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  Sink sink;
  Ends ends;
  const std::vector<std::string> at_second_door = {"channel1", "channel3"};
  zmq::Sender sender({0x100, "fuzz", {std::nullopt, at_second_door}, 1 << 20, 1000}, sink);
  zmq::Receiver receiver({0x100, "fuzz", 1000}, sink);
  const TypeId type = make_type_id("a", Encoding::bytes);
  for (PortId i = 1; i <= kChannels; ++i) {
    Policy policy;
    policy.depth = i;
    policy.reliability = i == 2 ? Reliability::reliable : Reliability::best_effort;
    policy.overflow = i == 3 ? Overflow::drop_newest : Overflow::drop_oldest;
    policy.latched = i == 1;
    const ChannelSpec spec{"channel" + std::to_string(i), type, policy};
    (void)sender.open(i, spec, &ends);
    (void)receiver.open(i, spec, &ends);
  }
  receiver.add_link(1, "tcp://a:1", std::nullopt);
  receiver.add_link(2, "ipc://b", std::nullopt);
  std::int64_t now = 0;
  while (!in.done()) {
    now += in.byte();
    receiver.poll_ports();
    switch (in.byte() % 10) {
      case 0:
      case 1:
      case 2: {
        const std::string connection(1, static_cast<char>(in.byte() % 4));
        const auto frames = message(in, false);
        (void)sender.receive(in.byte() % 2, connection, frames);
        break;
      }
      case 3:
      case 4:
      case 5: {
        auto frames = message(in, true);
        (void)receiver.receive(1 + in.byte() % 2, frames, now);
        break;
      }
      case 6: {
        Envelope envelope;
        envelope.payload = Buffer::copy_of(in.text());
        (void)sender.send(1 + in.byte() % kChannels, envelope);
        break;
      }
      case 7:
        sink.dead = in.byte() % 5;
        sender.probe();
        (void)sender.expire(now, in.byte() % 2 == 0 ? now : 0);
        break;
      case 8:
        receiver.lost(1 + in.byte() % 2, now);
        (void)receiver.expire(now);
        break;
      default:
        ends.full = !ends.full;
        receiver.on_space(1 + in.byte() % kChannels);
        receiver.acknowledge();
    }
  }
  receiver.acknowledge();
  (void)receiver.peers();
  (void)sender.peers();
  sender.shut_down();
  receiver.shut_down();
  return 0;
}
