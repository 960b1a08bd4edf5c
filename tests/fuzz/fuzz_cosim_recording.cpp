// Recorded networks and their replay: every copy has at most one outcome, and none before it was
// sent.

#include <cstdint>
#include <cstdlib>
#include <map>

#include "cosim/network/replay.hpp"

using namespace hyphos;
using namespace hyphos::cosim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> names{"a", "b", "c"};
  auto recording = Recording::parse(text, "f", names);
  if (!recording) return 0;
  Replay network(std::make_shared<const Recording>(std::move(*recording)));
  if (!network.init(3, 1)) std::abort();
  PacketId id = 0;
  for (std::int64_t ns = 0; ns < 400; ns += 50) {
    for (const auto& [from, to] : {std::pair(0U, 1U), std::pair(1U, kEveryone)}) {
      // The recording may contain no data of the link.
      if (!network.inject({++id, from, to, {ns}, {}})) return 0;
    }
  }
  if (!network.advance({kNever.ns - 1})) std::abort();
  std::vector<Outcome> outcomes;
  if (!network.poll(outcomes)) std::abort();
  std::map<PacketId, std::uint32_t> copies;
  for (const Outcome& outcome : outcomes) {
    copies[outcome.id] += outcome.copies;
    if (copies[outcome.id] > (outcome.id % 2 == 1 ? 1 : 2)) std::abort();
    if (outcome.time.ns < static_cast<std::int64_t>((outcome.id - 1) / 2) * 50) std::abort();
  }
  return 0;
}
