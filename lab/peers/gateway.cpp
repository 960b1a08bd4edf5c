// A client of a gateway as one endpoint, Hyphos as the other: the graph as a Unity project, a
// browser or a Python script accesses it. `ros_tcp` and `rosbridge` publish as such clients and
// subscribe as a node. The variants with `_out` publish as a node and subscribe as a client.

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string_view>

#include "gateway/convert/base64.hpp"
#include "lab/common/main.hpp"
#include "lab/peers/gateway_ends.hpp"
#include "lab/peers/image.hpp"
#include "lab/peers/web_socket.hpp"

namespace hyphos::lab {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

std::string protocol_of(std::string_view variant) {
  return std::string(
      variant.substr(0, variant.find(variant.starts_with("ros_tcp") ? "_out" : "_")));
}

/// A program on the other side of the gateway.
class External {
 public:
  virtual ~External() = default;
  virtual void advertise(const std::string& topic) = 0;
  virtual void listen(const std::string& topic) = 0;
  /// `pixels` of `size` bytes.
  virtual void publish(const std::string& topic, std::span<const std::byte> pixels) = 0;
  /// The pixels of the next message. Empty if the wait was interrupted.
  virtual std::span<const std::byte> next() = 0;
};

/// Retries until the gateway listens. It is a Python program, which may start slowly on a busy
/// machine. The parent waits a little longer for all processes (lab/common/parent.hpp).
Tcp::socket connect(asio::io_context& io, const std::string& host, std::uint16_t port) {
  const std::int64_t end = now_ns() + 80'000'000'000;
  for (;;) {
    Tcp::socket socket(io);
    boost::system::error_code fault;
    socket.connect({asio::ip::make_address(host), port}, fault);
    if (!fault) {
      socket.set_option(Tcp::no_delay(true));
      return socket;
    }
    if (now_ns() > end) throw std::runtime_error("no gateway: " + fault.message());
    sleep_until(now_ns() + 20'000'000);
  }
}

void put_word(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(value >> shift));
}

/// Unity's ROS-TCP-Connector, reduced to one topic.
class RosTcpClient final : public External {
 public:
  explicit RosTcpClient(Tcp::socket socket) : socket_(std::move(socket)) {}

  void advertise(const std::string& topic) override {
    command("__publish", topic, R"(,"queue_size":10,"latch":false)");
  }
  void listen(const std::string& topic) override { command("__subscribe", topic, ""); }

  void publish(const std::string& topic, std::span<const std::byte> pixels) override {
    const std::string head = image_head(ImageWire::ros1, pixels.size());
    std::string frame;
    put_word(frame, static_cast<std::uint32_t>(topic.size()));
    frame += topic;
    put_word(frame, static_cast<std::uint32_t>(head.size() + pixels.size()));
    frame += head;
    const std::array<asio::const_buffer, 2> parts = {asio::buffer(frame),
                                                     asio::buffer(pixels.data(), pixels.size())};
    asio::write(socket_, parts, all_at_once);
  }

  std::span<const std::byte> next() override {
    for (;;) {
      const std::uint32_t name = word();
      body_.resize(name);
      asio::read(socket_, asio::buffer(body_));
      const bool command = name >= 2 && body_[0] == std::byte{'_'} && body_[1] == std::byte{'_'};
      body_.resize(word());
      asio::read(socket_, asio::buffer(body_));
      if (command) continue;
      const auto pixels = pixels_of(ImageWire::ros1, body_);
      if (!pixels.empty()) return pixels;
    }
  }

 private:
  void command(const std::string& name, const std::string& topic, const std::string& more) {
    const std::string json =
        R"({"topic":")" + topic + R"(","message_name":"sensor_msgs/Image")" + more + "}";
    std::string frame;
    put_word(frame, static_cast<std::uint32_t>(name.size()));
    frame += name;
    put_word(frame, static_cast<std::uint32_t>(json.size()));
    asio::write(socket_, asio::buffer(frame + json));
  }
  std::uint32_t word() {
    std::uint32_t value = 0;
    asio::read(socket_, asio::buffer(&value, 4));
    return value;
  }

  Tcp::socket socket_;
  std::vector<std::byte> body_;
};

/// roslibjs, roslibpy or ROS#, reduced to one topic.
class RosbridgeClient final : public External {
 public:
  RosbridgeClient(Tcp::socket socket, bool cbor) : socket_(std::move(socket)), cbor_(cbor) {}

  void advertise(const std::string& topic) override {
    send(R"({"op":"advertise","topic":")" + topic + R"(","type":"sensor_msgs/Image"})");
  }
  void listen(const std::string& topic) override {
    send(R"({"op":"subscribe","topic":")" + topic +
         R"(","type":"sensor_msgs/Image","compression":")" + (cbor_ ? "cbor" : "none") + R"("})");
  }
  void publish(const std::string& topic, std::span<const std::byte> pixels) override {
    text_.clear();  // keeps its memory
    ((text_ += R"({"op":"publish","topic":")") += topic) += R"(","msg":{"height":1,"width":)";
    (text_ += std::to_string(pixels.size())) += R"(,"encoding":"mono8","data":")";
    constexpr std::string_view kEnd = "\"}}";
    socket_.begin(text_.size() + (pixels.size() + 2) / 3 * 4 + kEnd.size());
    gateway::Base64Writer writer(text_);
    for (; pixels.size() > kPiece; pixels = pixels.subspan(kPiece)) {
      writer.write(pixels.first(kPiece));
      socket_.push(text_);
      text_.clear();
    }
    writer.write(pixels);
    writer.end();
    text_ += kEnd;
    socket_.push(text_);
  }
  std::span<const std::byte> next() override {
    for (;;) {
      const std::string_view frame = socket_.next();
      const auto found = cbor_ ? from_cbor(frame) : from_json(frame);
      if (!found.empty()) return found;
    }
  }

 private:
  /// The number of pixel octets converted at once, so that their text stays in the cache.
  static constexpr std::size_t kPiece = std::size_t{192} << 10;

  void send(std::string text) { socket_.send(text); }
  std::span<const std::byte> from_json(std::string_view frame) {
    constexpr std::string_view kKey = R"("data":)";
    const std::size_t key = frame.find(kKey);
    if (key == std::string_view::npos) return {};
    const std::size_t begin = frame.find('"', key + kKey.size()) + 1;
    const std::string_view text = frame.substr(begin, frame.find('"', begin) - begin);
    pixels_.resize(gateway::base64_size(text));
    if (!gateway::decode_base64(text, pixels_.data())) throw std::runtime_error("invalid base64");
    return pixels_;
  }
  /// The length of a byte string is in 1, 2 or 4 bytes after its first byte.
  static std::span<const std::byte> from_cbor(std::string_view frame) {
    const std::size_t key = frame.rfind("ddata", 512);  // a text of four letters
    if (key == std::string_view::npos) return {};
    std::size_t at = key + 5;
    const unsigned form = static_cast<unsigned char>(frame.at(at++)) & 0x1fU;
    std::size_t size = form;
    if (form >= 24) {
      size = 0;
      for (unsigned left = 1U << (form - 24); left > 0; --left) {
        size = size << 8U | static_cast<unsigned char>(frame.at(at++));
      }
    }
    return std::as_bytes(std::span(frame.substr(at, size)));
  }

  WebSocket socket_;
  bool cbor_;
  std::string text_;
  std::vector<std::byte> pixels_;
};

/// The peer that represents a program on the other side of a gateway.
class ClientPeer final : public Peer {
 public:
  explicit ClientPeer(const Options& options) : Peer(options) {
    Tcp::socket socket = connect(io_, gateway_host(options), gateway_port(options));
    if (protocol_of(options.variant) == "ros_tcp") {
      external_ = std::make_unique<RosTcpClient>(std::move(socket));
    } else {
      const bool cbor = options.variant.find("cbor") != std::string::npos;
      external_ = std::make_unique<RosbridgeClient>(std::move(socket), cbor);
    }
  }

  void open_publisher(const Edge& edge) override {
    topic_ = "/" + edge.name;
    pixels_.resize(options_.size);
    external_->advertise(topic_);
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    on_message_ = std::move(on_message);
    external_->listen("/" + edge.name);
  }
  void publish(std::size_t size, Fill fill) override {
    fill(pixels_.data());
    external_->publish(topic_, std::span(pixels_).first(size));
  }
  void spin(const std::function<bool()>& stopped) override {
    while (!stopped()) {
      try {
        const auto pixels = external_->next();
        on_message_(pixels.data(), pixels.size());
      } catch (const boost::system::system_error&) {
        if (stopped()) return;
        throw;
      }
    }
  }

 private:
  asio::io_context io_;
  std::unique_ptr<External> external_;
  std::string topic_;
  std::vector<std::byte> pixels_;
  OnMessage on_message_;
};

class GatewayPeer final : public GatewayEnd<GatewayPeer, ClientPeer> {
 public:
  using GatewayEnd::GatewayEnd;
  static constexpr const char* kName = "gateway";
  static std::vector<Variant> variants() {
    const std::vector<Shape> one_way = {Shape::kPair, Shape::kUncapped};
    const std::vector<Shape> viewers = {Shape::kPair, Shape::kFanout, Shape::kUncapped};
    return {{"ros_tcp", one_way, 64u << 20, false, true, true, false, true},
            {"ros_tcp_out", viewers, 64u << 20, false, true, true, true, true},
            {"rosbridge", one_way, 64u << 20, false, true, true, false, true},
            {"rosbridge_out", viewers, 64u << 20, false, true, true, true, true},
            {"rosbridge_cbor_out", viewers, 64u << 20, false, true, true, true, true}};
  }
  static std::vector<std::string> words(const Options& options) {
    return {protocol_of(options.variant), "--host", gateway_host(options), "--port",
            std::to_string(gateway_port(options))};
  }
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  return hyphos::lab::lab_main<hyphos::lab::GatewayPeer>(argc, argv);
}
