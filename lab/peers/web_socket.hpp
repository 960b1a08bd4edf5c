#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "gateway/net/handshake.hpp"
#include "gateway/net/unit_reader.hpp"
#include "gateway/net/web_socket.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

namespace hyphos::lab {

/// A completion condition for asio::write(), which otherwise makes one system call per 64 KB. Other
/// clients pass all their data in one call.
inline std::size_t all_at_once(const boost::system::error_code& failed, std::size_t /*written*/) {
  return failed ? 0 : SIZE_MAX;
}

/// The client side of a WebSocket (RFC 6455) whose messages are single frames, like those of our
/// gateway. Beast's stream would limit an uncapped run: with Beast, this client took 3.3 ms for a
/// message of 1 MB, and the gateway takes half a millisecond.
///
/// Blocks. Throws boost::system::system_error when the connection ends, and another exception for
/// data that is not a WebSocket. Cost of sending: one pass over the data in addition to the
/// kernel's copy.
class WebSocket {
 public:
  using Tcp = boost::asio::ip::tcp;

  explicit WebSocket(Tcp::socket socket) : socket_(std::move(socket)) { shake_hands(); }

  /// `text` is masked in place.
  void send(std::string& text) {
    begin(text.size());
    push(text);
  }
  /// The same in pieces, which are sent while they are in the cache: begin() with the total size,
  /// then push() for each piece.
  void begin(std::size_t size) { begin(Opcode::text, size); }
  void push(std::string& piece) {
    mask(piece);
    const std::array<boost::asio::const_buffer, 2> parts = {boost::asio::buffer(head_),
                                                            boost::asio::buffer(piece)};
    boost::asio::write(socket_, parts, all_at_once);
    head_.clear();
  }

  /// The payload of the next message. Valid until the next call.
  std::string_view next() {
    for (;;) {
      unit_ = {};  // releases its memory for reuse
      unit_ = read(&measure_frame);
      const Frame frame = *frame_of(unit_.bytes()).or_throw();
      const std::string_view payload = unit_.text().substr(frame.head_size);
      if (frame.opcode == Opcode::text || frame.opcode == Opcode::binary) return payload;
      if (frame.opcode == Opcode::ping) {
        std::string answer(payload);
        begin(Opcode::pong, answer.size());
        push(answer);
      }
      if (frame.opcode == Opcode::close) {
        throw boost::system::system_error(make_error_code(boost::asio::error::eof));
      }
    }
  }

 private:
  using Opcode = gateway::net::Opcode;
  using Measured = gateway::net::Measured;
  struct Frame {
    Opcode opcode;
    std::size_t head_size;
    std::size_t size;  ///< of the payload
  };
  static constexpr std::size_t kMaxMessage = std::size_t{256} << 20;

  void shake_hands() {
    constexpr std::string_view kRequest =
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    boost::asio::write(socket_, boost::asio::buffer(kRequest));
    const Buffer unit = read(&measure_answer);
    const std::string_view answer = unit.text();
    if (!answer.starts_with("HTTP/1.1 101")) {
      throw std::runtime_error("not a WebSocket: " +
                               std::string(answer.substr(0, answer.find('\r'))));
    }
  }

  void begin(Opcode opcode, std::size_t size) {
    std::array<std::byte, gateway::net::kMaxServerHead> head;
    const std::size_t length = gateway::net::write_frame_head(head, opcode, size);
    head[1] |= std::byte{0x80};  // a client frame: the key follows
    for (std::byte& octet : key_) octet = static_cast<std::byte>(random_());
    head_.append(reinterpret_cast<const char*>(head.data()), length);
    head_.append(reinterpret_cast<const char*>(key_.data()), key_.size());
  }

  void mask(std::string& piece) {
    const auto octets = std::as_writable_bytes(std::span(piece));
    gateway::net::copy_unmasked(octets, key_, octets.data());
    key_ = gateway::net::mask_behind(key_, piece.size());
  }

  static Result<Measured> measure_answer(std::span<const std::byte> bytes) {
    const auto size = gateway::net::request_size(bytes);
    return size ? Measured::unit(*size) : Measured::at_least(bytes.size() + 1);
  }
  static Result<Measured> measure_frame(std::span<const std::byte> bytes) {
    const auto frame = frame_of(bytes);
    if (!frame) return frame.error();
    if (!*frame) return Measured::at_least(bytes.size() + 1);
    return Measured::unit((*frame)->head_size + (*frame)->size);
  }
  /// Parses a server frame. Returns nothing if more bytes are needed.
  static Result<std::optional<Frame>> frame_of(std::span<const std::byte> bytes) {
    using Maybe = std::optional<Frame>;
    if (bytes.size() < 2) return Maybe();
    const auto first = std::to_integer<unsigned>(bytes[0]);
    std::size_t size = std::to_integer<unsigned>(bytes[1]);
    if ((first & 0xf0U) != 0x80U || size >= 0x80) {
      return Error{Code::corrupt, "a message that is fragmented, masked, or uses an extension",
                   "WebSocket"};
    }
    const std::size_t more = size < 126 ? 0 : size == 126 ? 2 : 8;
    if (bytes.size() < 2 + more) return Maybe();
    if (more != 0) size = 0;
    for (const std::byte octet : bytes.subspan(2, more)) {
      size = size << 8U | std::to_integer<unsigned>(octet);
    }
    if (size > kMaxMessage) return Error{Code::exhausted, "a message above 256 MB", "WebSocket"};
    return Maybe({static_cast<Opcode>(first & 0x0fU), 2 + more, size});
  }

  Buffer read(const gateway::net::Measure& measure) {
    for (;;) {
      auto unit = reader_.next(measure).or_throw();
      if (unit) return *std::move(unit);
      const auto space = reader_.space();
      const std::array<boost::asio::mutable_buffer, 2> parts = {
          boost::asio::buffer(space[0].iov_base, space[0].iov_len),
          boost::asio::buffer(space[1].iov_base, space[1].iov_len)};
      reader_.filled(socket_.read_some(parts));
    }
  }

  Tcp::socket socket_;
  gateway::net::UnitReader reader_;
  Buffer unit_;       ///< the last unit that was read
  std::string head_;  ///< of a frame, sent with its first piece
  gateway::net::Mask key_{};
  std::mt19937 random_{std::random_device{}()};
};

}  // namespace hyphos::lab
