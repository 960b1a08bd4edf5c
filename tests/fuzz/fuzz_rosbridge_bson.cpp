#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "gateway/rosbridge/bson.hpp"
#include "gateway/rosbridge/cbor.hpp"

using namespace hyphos::gateway;

namespace {

constexpr std::size_t kLimit = 1 << 16;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

/// Any bytes are either refused with a reason, or become JSON that a parser accepts. JSON and CBOR
/// become documents that can be read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto json = rosbridge::bson_to_json(bytes, kLimit)) {
    simdjson::dom::parser parser;
    require(parser.parse(*json).error() == simdjson::SUCCESS);
    const auto document = rosbridge::json_to_bson(*json);
    require(document.ok());
    require(rosbridge::bson_to_json(std::as_bytes(std::span(*document)), 8 * kLimit).ok());
  } else {
    require(!json.error().message.empty());
  }
  if (const auto document = rosbridge::cbor_to_bson(bytes)) {
    // A text or a key that is not UTF-8 is replaced in JSON.
    (void)rosbridge::bson_to_json(std::as_bytes(std::span(*document)), kLimit);
  } else {
    require(!document.error().message.empty());
  }
  return 0;
}
