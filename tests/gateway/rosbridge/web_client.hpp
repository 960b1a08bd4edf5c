#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "gateway/net/web_socket.hpp"
#include "tests/gateway/raw_client.hpp"

namespace hyphos::gateway::rosbridge {

/// A passive WebSocket client. It sends no pong and no close by itself.
class WebClient : public RawClient {
 public:
  struct Received {
    int opcode = -1;  ///< -1: the connection is closed
    std::string payload;
  };

  /// `origin` is the origin of a web page, or empty for a program. `behind` holds bytes that the
  /// server receives together with the handshake.
  explicit WebClient(std::uint16_t port, const std::string& target = "/",
                     const std::string& origin = "", const std::string& behind = "")
      : RawClient(port) {
    send("GET " + target + " HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
         (origin.empty() ? "" : "Origin: " + origin + "\r\n") +
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n" +
         behind);
    while (!reply.ends_with("\r\n\r\n")) {
      const std::string more = some(1);
      if (more.empty()) break;
      reply += more;
    }
  }

  static std::string framed(net::Opcode opcode, std::string payload, bool last = true) {
    constexpr std::string_view kMask = "m@sk";
    std::array<std::byte, net::kMaxServerHead> head;
    const std::size_t size = net::write_frame_head(head, opcode, payload.size());
    std::string bytes(reinterpret_cast<const char*>(head.data()), size);
    bytes[0] = static_cast<char>(static_cast<unsigned>(opcode) | (last ? 0x80U : 0U));
    bytes[1] = static_cast<char>(static_cast<unsigned char>(bytes[1]) | 0x80U);
    bytes += kMask;
    for (std::size_t i = 0; i < payload.size(); ++i) {
      payload[i] = static_cast<char>(payload[i] ^ kMask[i % kMask.size()]);
    }
    return bytes + payload;
  }
  bool frame(net::Opcode opcode, std::string payload, bool last = true) {
    return send(framed(opcode, std::move(payload), last));
  }
  bool say(std::string_view json) { return frame(net::Opcode::text, std::string(json)); }

  Received on_message() {
    const std::string head = receive(2);
    if (head.size() < 2) return {};
    const auto byte = [](char c) { return static_cast<unsigned char>(c); };
    std::size_t size = byte(head[1]);
    if (size >= 126) {
      const std::string more = receive(size == 126 ? 2 : 8);
      size = 0;
      for (const char c : more) size = size << 8 | byte(c);
    }
    return {byte(head[0]) & 0x0f, receive(size)};
  }
  /// Returns the next text message, and skips pings.
  std::string text() {
    Received received = on_message();
    while (received.opcode == static_cast<int>(net::Opcode::ping)) received = on_message();
    EXPECT_EQ(received.opcode, 1) << received.payload;
    return received.payload;
  }

  std::string reply;  ///< reply to the handshake
};

}  // namespace hyphos::gateway::rosbridge
