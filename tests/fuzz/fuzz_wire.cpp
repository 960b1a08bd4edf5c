#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/control.hpp"
#include "wire/packet.hpp"

/// Input is refused, or it is a packet that survives a round trip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyphos;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  if (const auto key = wire::parse_key(bytes)) {
    if (key->rest.size() > size || !wire::is_channel_name(key->channel)) std::abort();
    (void)wire::parse_trailer(key->rest);
  }
  (void)wire::parse_control(bytes);
  (void)wire::parse_beacon(bytes);
  const auto packet = wire::decode_packet(Buffer::copy_of(bytes));
  if (!packet) return 0;
  const auto written = wire::encode_packet(packet->header.channel, packet->header.type,
                                           packet->envelope, packet->header.clock);
  const auto again = wire::decode_packet(Buffer::copy_of(written));
  if (!again || again->header.body_bytes() != packet->header.body_bytes() ||
      again->header.channel != packet->header.channel ||
      again->header.meta.sequence != packet->header.meta.sequence) {
    std::abort();
  }
  Stamps stamps = packet->header.meta.stamps;
  wire::convert_stamps(stamps, packet->header.clock, {1, 2});
  return 0;
}
