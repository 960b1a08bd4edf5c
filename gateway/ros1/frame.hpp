#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "gateway/convert/encoded_message.hpp"
#include "gateway/net/send_queue.hpp"
#include "gateway/net/unit_reader.hpp"
#include "gateway/ros1/header.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

/// Framing of TCPROS: every unit has a length prefix.
namespace hyphos::gateway::ros1 {

/// Measures a header, a message or a request. Errors: overloaded, for more than `most` bytes.
[[nodiscard]] inline Result<net::Measured> measure_frame(std::span<const std::byte> bytes,
                                                         std::size_t most) {
  if (bytes.size() < 4) return net::Measured::at_least(4);
  const std::uint32_t length = read_length(bytes);
  if (length > most) {
    return Error{Code::overloaded,
                 std::to_string(length) + " bytes exceed the limit of " + std::to_string(most),
                 "TCPROS"};
  }
  return net::Measured::unit(std::size_t{4} + length);
}

[[nodiscard]] inline net::Message frame(const EncodedMessage& body) {
  WritableBuffer length = WritableBuffer::on_heap(4);
  write_length(length.bytes(), static_cast<std::uint32_t>(body.size()));
  return net::Message::lent(std::move(length).freeze(), body.head, body.array, body.tail);
}

/// The reply to a request: a byte for success, then the reply or the text of an error.
[[nodiscard]] inline net::Message reply_frame(bool ok, Buffer body) {
  WritableBuffer head = WritableBuffer::on_heap(5);
  head.data()[0] = std::byte{static_cast<unsigned char>(ok ? 1 : 0)};
  write_length(head.bytes().subspan(1), static_cast<std::uint32_t>(body.size()));
  return net::Message(std::move(head).freeze(), std::move(body));
}

}  // namespace hyphos::gateway::ros1
