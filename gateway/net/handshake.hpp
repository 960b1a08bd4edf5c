#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The HTTP that opens a WebSocket (RFC 6455, 4). Pure functions.
namespace hyphos::gateway::net {

inline constexpr std::size_t kMaxRequestHead = std::size_t{16} << 10;

/// How long the request at the beginning is; nothing if its end is not there yet.
[[nodiscard]] std::optional<std::size_t> request_size(std::span<const std::byte> bytes);

/// What became of a request.
struct Handshake {
  bool accepted = false;
  std::string reply;   ///< the whole HTTP response
  std::string token;   ///< of `?token=` or `Authorization: Bearer`; empty if there is none
  std::string origin;  ///< of the page that asks; empty if it is none
  std::string host;    ///< as the client calls us: "127.0.0.1:9090"
};
[[nodiscard]] Handshake read_handshake(std::string_view text);

/// A response that refuses: "401 Unauthorized". The text is for people.
[[nodiscard]] std::string http_refusal(std::string_view status, std::string_view text);

}  // namespace hyphos::gateway::net
