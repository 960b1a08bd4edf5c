// Fuzzes the traffic file of a scenario's flow, and the header of its packets.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cosim/programs/recording.hpp"

using namespace hyphos;
using namespace hyphos::cosim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto recorded =
      parse_recording({reinterpret_cast<const char*>(data), size}, "recording.csv");
  if (recorded) {
    for (std::size_t i = 1; i < recorded->size(); ++i) {
      if ((*recorded)[i].after < (*recorded)[i - 1].after) std::abort();
    }
  }
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto header = read_header(bytes)) {
    std::array<std::byte, kHeaderBytes> again{};
    write_header(*header, again);
    if (read_header(again) != header) std::abort();
  }
  return 0;
}
