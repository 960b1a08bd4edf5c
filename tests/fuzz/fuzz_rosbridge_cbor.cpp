#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "gateway/rosbridge/cbor.hpp"

/// Any bytes are either refused with a reason, or become JSON that a parser accepts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyphos::gateway;
  const auto json = rosbridge::cbor_to_json(std::as_bytes(std::span(data, size)), 1 << 16);
  if (!json) {
    if (json.error().message.empty()) std::abort();
    return 0;
  }
  simdjson::dom::parser parser;
  if (parser.parse(*json).error() != simdjson::SUCCESS) std::abort();
  return 0;
}
