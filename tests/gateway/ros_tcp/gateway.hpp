#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "gateway/ros_tcp/ros_tcp.hpp"
#include "tests/gateway/fake_graph.hpp"
#include "tests/gateway/ros_tcp/frame_client.hpp"

namespace hyphos::gateway::ros_tcp {

/// Checks that std_msgs/String in the ROS 1 format has the length that it declares.
inline Result<void> check_string(const TypeInfo& type, std::span<const std::byte> bytes) {
  if (!type.name.ends_with("/String")) return success();
  std::uint32_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  if (bytes.size() == sizeof size + size) return success();
  return Error{Code::corrupt, "field 'data' claims " + std::to_string(size) + " bytes", type.name};
}

inline void add_types(FakeGraph& facade) {
  for (const char* name : {"std_msgs/String", "sensor_msgs/PointCloud2", "std_msgs/msg/String"}) {
    facade.types().add_message({.name = name, .md5 = {}, .type_hash = {}, .text = {}});
  }
  for (const char* name : {"std_srvs/SetBool", "std_srvs/srv/SetBool"}) {
    facade.types().add_service(
        {.name = name, .md5 = {}, .type_hash = {}, .request = {}, .reply = {}});
  }
}

/// Default options with one exception.
template <typename T>
Options with(T Options::* option, std::type_identity_t<T> value) {
  Options options;
  options.*option = std::move(value);
  return options;
}

/// A gateway on an in-memory graph.
struct Gateway {
  explicit Gateway(Options options = {}) {
    add_types(facade);
    facade.topics().check(check_string);
    protocol = open_ros_tcp(facade, options).or_throw();
  }
  [[nodiscard]] std::uint16_t port() const { return protocol->port(); }
  [[nodiscard]] FrameClient client() const { return FrameClient::greeted(port()); }

  FakeGraph facade;
  std::unique_ptr<Protocol> protocol;
};

/// std_msgs/String in the ROS 1 format.
inline std::string string_message(std::string_view text) {
  std::string bytes(4, '\0');
  const auto size = static_cast<std::uint32_t>(text.size());
  std::memcpy(bytes.data(), &size, sizeof size);
  return bytes + std::string(text);
}

inline std::string registration(const std::string& topic, const std::string& type) {
  return R"({"topic":")" + topic + R"(","message_name":")" + type + "\"}";
}

}  // namespace hyphos::gateway::ros_tcp
