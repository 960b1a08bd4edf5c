#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The HTTP handshake that opens a WebSocket (RFC 6455, 4). Pure functions.
namespace hyphos::gateway::net {

inline constexpr std::size_t kMaxRequestHead = std::size_t{16} << 10;

/// The length of the request at the start of the bytes. nullopt if its end has not arrived.
[[nodiscard]] std::optional<std::size_t> request_size(std::span<const std::byte> bytes);

/// The result of a request.
struct Handshake {
  bool accepted = false;
  std::string reply;   ///< the complete HTTP response
  std::string token;   ///< from `?token=` or `Authorization: Bearer`, empty if missing
  std::string origin;  ///< origin of the web page, empty for other programs
  std::string host;    ///< the gateway's address as the client knows it: "127.0.0.1:9090"
};
[[nodiscard]] Handshake read_handshake(std::string_view text);

/// A response that refuses, such as "401 Unauthorized". The text is for people.
[[nodiscard]] std::string http_refusal(std::string_view status, std::string_view text);

}  // namespace hyphos::gateway::net
