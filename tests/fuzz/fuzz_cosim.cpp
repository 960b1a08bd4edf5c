// Replies of a simulator in another process: outcomes, errors, packets.

#include <cstdint>
#include <cstdlib>

#include "cosim/remote/codec.hpp"

using namespace hyphos;
using namespace hyphos::cosim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  Reader outcomes(bytes);
  while (!outcomes.failed() && outcomes.left() > 0) {
    const auto outcome = get_outcome(outcomes);
    if (!outcome) break;
    // Accepted input must survive a round trip.
    Writer writer;
    put_outcome(writer, *outcome);
    if (writer.size() != outcome_size(*outcome)) std::abort();
    Reader again(writer.bytes());
    const auto same = get_outcome(again);
    if (!same || !again.complete() || same->id != outcome->id || same->time != outcome->time ||
        same->bytes.text() != outcome->bytes.text()) {
      std::abort();
    }
  }
  Reader errors(bytes);
  (void)get_error(errors);
  Reader packets(bytes);
  while (!packets.failed() && packets.left() > 0) (void)get_packet(packets);
  return 0;
}
