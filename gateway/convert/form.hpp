#pragma once

#include <cstdint>

namespace hyphos::gateway {

/// How a message of ROS is written on the wire of a client.
enum class Form : std::uint8_t {
  ros1,  ///< ROS 1's serialization, without a length in front
  cdr,   ///< XCDR1 as ROS 2 has it: 4 bytes of encapsulation, then little endian
  json,  ///< rosbridge's JSON: uint8[] as base64, NaN as null
  cbor,  ///< rosbridge's CBOR: uint8[] as byte string, numeric arrays as typed arrays (RFC 8746)
};

}  // namespace hyphos::gateway
