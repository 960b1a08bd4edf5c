#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "transport/announce_table.hpp"

/// The input is cut into datagrams, received one after the other. The table must stay within its
/// limits.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyphos::transport;
  AnnounceConfig config;
  config.session = 1;
  config.max_peers = 3;
  AnnounceTable table(config);
  std::int64_t now = 0;
  while (size > 0) {
    const std::size_t length = std::min<std::size_t>(data[0] * 8U, size - 1);
    (void)table.hear(std::as_bytes(std::span(data + 1, length)), "10.0.0.2", now);
    if (table.peers().size() > config.max_peers) std::abort();
    data += 1 + length;
    size -= 1 + length;
    now += 100'000'000;
    (void)table.expire(now);
  }
  (void)table.next_expiry();
  return 0;
}
