#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tests/gateway/raw_client.hpp"

namespace hyphos::gateway::ros_tcp {

/// Writes and reads frames independently of the code under test.
class FrameClient : public RawClient {
 public:
  using RawClient::RawClient;

  /// Connects as ROS-TCP-Connector does: sends a sign of life and reads the greeting.
  static FrameClient greeted(std::uint16_t port) {
    FrameClient client(port);
    client.send(std::string(8, '\0'));
    EXPECT_EQ(client.next().first, "__handshake");
    return client;
  }

  static std::string frame(std::string_view name, std::string_view payload) {
    return length(name.size()) + std::string(name) + length(payload.size()) + std::string(payload);
  }
  bool say(std::string_view name, std::string_view payload) { return send(frame(name, payload)); }

  /// Returns name and payload of the next frame. Both are empty at the end.
  std::pair<std::string, std::string> next() {
    std::string name = sized();
    std::string payload = sized();
    return {std::move(name), std::move(payload)};
  }
  /// Returns the payload of the next frame with this name, and skips others.
  std::string next(std::string_view wanted) {
    while (true) {
      auto [name, payload] = next();
      if (name == wanted) return payload;
      if (name.empty()) return "no frame";
    }
  }
  /// Returns after the gateway has handled everything sent so far.
  void sync() {
    say("__ping", "{\"request_time\":" + std::to_string(++pings_) + "}");
    while (true) {
      const std::string answer = next("__ping_response");
      if (answer == "{\"request_time\":" + std::to_string(pings_) + "}" || answer == "no frame") {
        return;
      }
    }
  }

 private:
  static std::string length(std::size_t size) {
    std::string bytes(4, '\0');
    for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<char>(size >> (8 * i));
    return bytes;
  }
  std::string sized() {
    const std::string bytes = receive(4);
    if (bytes.size() < 4) return {};
    std::size_t size = 0;
    for (unsigned i = 0; i < 4; ++i) {
      size |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    return receive(size);
  }

  int pings_ = 0;
};

}  // namespace hyphos::gateway::ros_tcp
