#pragma once

#include <cstdint>

namespace hyphos::gateway {

/// The encoding of a ROS message on the wire of a client.
enum class Form : std::uint8_t {
  ros1,  ///< ROS 1 serialization, without a length prefix
  cdr,   ///< XCDR1 as in ROS 2: 4 bytes of encapsulation header, then little endian
  /// The same, with one byte before the message: the status of a goal in front of its result.
  /// Written as 0, and ignored when read.
  cdr_after_status,
  json,  ///< JSON of rosbridge: uint8[] as base64, NaN as null
  cbor,  ///< CBOR of rosbridge: uint8[] as byte string, numeric arrays as typed arrays (RFC 8746)
};

/// The encodings between a client and the graph.
struct Forms {
  // Implicit, because most clients have one encoding.
  Forms(Form both) : in(both), out(both) {}  // NOLINT(*-explicit-*)
  Forms(Form from_client, Form to_client) : in(from_client), out(to_client) {}

  Form in;   ///< of messages from the client
  Form out;  ///< of messages to the client
};

}  // namespace hyphos::gateway
