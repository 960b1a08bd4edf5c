#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "gateway/net/handshake.hpp"
#include "gateway/net/web_socket.hpp"

/// Frames from a client, and HTTP requests. Messages stay within their size limit.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyphos::gateway;
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto length = net::request_size(bytes)) {
    const auto handshake =
        net::read_handshake({reinterpret_cast<const char*>(bytes.data()), *length});
    if (!handshake.reply.starts_with("HTTP/1.1 ")) std::abort();
  }
  constexpr std::size_t kMax = 1000;
  net::MessageJoiner joiner(kMax);
  auto rest = bytes;
  while (true) {
    const auto head = net::parse_frame_head(rest);
    if (!head || !*head) return 0;
    rest = rest.subspan((*head)->head_size);
    if (rest.size() < (*head)->size) return 0;
    const auto payload = rest.first(static_cast<std::size_t>((*head)->size));
    rest = rest.subspan(payload.size());
    if (net::is_control((*head)->opcode)) continue;
    if (!joiner.admit(**head)) return 0;
    const auto message = joiner.join(**head, payload);
    if (message && message->payload.size() > kMax) std::abort();
  }
}
