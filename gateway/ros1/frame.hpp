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

/// What is on a connection of TCPROS: everything has its length in front.
namespace hyphos::gateway::ros1 {

/// A header, a message or a request. Errors: overloaded, beyond `most` bytes.
[[nodiscard]] inline Result<net::Measured> measure_frame(std::span<const std::byte> bytes,
                                                         std::size_t most) {
  if (bytes.size() < 4) return net::Measured::at_least(4);
  const std::uint32_t length = read_length(bytes);
  if (length > most) {
    return Error{Code::overloaded,
                 std::to_string(length) + " bytes are more than " + std::to_string(most), "TCPROS"};
  }
  return net::Measured::unit(std::size_t{4} + length);
}

[[nodiscard]] inline net::Message frame(const EncodedMessage& body) {
  WritableBuffer length = WritableBuffer::on_heap(4);
  write_length(length.bytes(), static_cast<std::uint32_t>(body.size()));
  return net::Message::lent(std::move(length).freeze(), body.head, body.array, body.tail);
}

/// The answer to a request: a byte that says whether it is one, or the text of an error.
[[nodiscard]] inline net::Message reply_frame(bool ok, Buffer body) {
  WritableBuffer head = WritableBuffer::on_heap(5);
  head.data()[0] = std::byte{static_cast<unsigned char>(ok ? 1 : 0)};
  write_length(head.bytes().subspan(1), static_cast<std::uint32_t>(body.size()));
  return net::Message(std::move(head).freeze(), std::move(body));
}

}  // namespace hyphos::gateway::ros1
