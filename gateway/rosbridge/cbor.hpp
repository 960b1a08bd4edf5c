#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "hyphos/result.hpp"

/// CBOR (RFC 8949) with typed arrays (RFC 8746), as far as rosbridge uses it.
namespace hyphos::gateway::rosbridge {

/// True if a binary message is CBOR. Otherwise it is JSON, as ROS# sends it.
[[nodiscard]] bool is_cbor_map(std::span<const std::byte> bytes);

/// Converts to JSON: byte strings become base64, typed arrays become lists, and numbers that JSON
/// lacks become "NaN", "Infinity" and "-Infinity". Errors: corrupt (with the offset), exhausted
/// (nested deeper than 64, or longer than `limit`).
[[nodiscard]] Result<std::string> cbor_to_json(std::span<const std::byte> bytes, std::size_t limit);

/// The bytes before the message in {op: "publish", topic, msg}. No bytes follow the message.
[[nodiscard]] std::string cbor_publish_head(std::string_view topic);
/// The same for cbor-raw: msg is {secs, nsecs, bytes}, and `size` bytes follow.
[[nodiscard]] std::string cbor_raw_head(std::string_view publish_head, std::int64_t wall_ns,
                                        std::size_t size);

}  // namespace hyphos::gateway::rosbridge
