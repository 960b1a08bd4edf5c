#pragma once

#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/gateway/fake_graph.hpp"

/// Shared parts of the probe programs, which run a gateway on an in-memory graph and read commands
/// from stdin.
namespace hyphos::gateway {

inline std::string to_hex(const Buffer& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::byte byte : bytes.bytes()) {
    hex += kDigits[std::to_integer<std::size_t>(byte) >> 4U];
    hex += kDigits[std::to_integer<std::size_t>(byte) & 0xFU];
  }
  return hex;
}

inline std::vector<std::byte> from_hex(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(at, 2), nullptr, 16)));
  }
  return bytes;
}

/// Returns the reply as hex, or "error TEXT".
inline std::string call(FakeGraph& facade, const std::string& service, const std::string& request) {
  auto said = std::make_shared<std::promise<std::string>>();
  auto answer = said->get_future();
  facade.services().call(
      {"/robot"}, service, {}, Form::ros1, from_hex(request), Duration::from_seconds(20),
      [said](const Result<Buffer>& reply) {
        said->set_value(reply ? to_hex(*reply) : "error " + reply.error().to_string());
      });
  return answer.get();
}

}  // namespace hyphos::gateway
