#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/rosbridge/web_socket.hpp"

namespace hyphos::lab {

/// A client's end of a WebSocket (RFC 6455) whose messages are single frames, as those of our
/// gateway are. Beast's stream would be what limits an uncapped run: with it this client took
/// 3.3 ms for a message of 1 MB that takes the gateway half of one.
///
/// Blocks. Throws boost::system::system_error when the connection ends, and runtime_error at what
/// is no WebSocket. Cost: of what is sent one pass beside the kernel's copy.
class WebSocket {
 public:
  using Tcp = boost::asio::ip::tcp;

  explicit WebSocket(Tcp::socket socket) : socket_(std::move(socket)), memory_(kBlock) {
    shake_hands();
  }

  /// `text` is masked where it lies.
  void send(std::string& text) {
    begin(text.size());
    push(text);
  }
  /// The same in pieces, which are sent while they are in the cache: begin() with the size of them
  /// all, then each piece.
  void begin(std::size_t size) { begin(Opcode::text, size); }
  void push(std::string& piece) {
    mask(piece);
    const std::array<boost::asio::const_buffer, 2> parts = {boost::asio::buffer(head_),
                                                            boost::asio::buffer(piece)};
    boost::asio::write(socket_, parts);
    head_.clear();
  }

  /// What the next message carries; until the call after this.
  std::string_view next() {
    for (;;) {
      const Frame frame = take_head();
      const std::string_view payload = take(frame.size);
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
  using Opcode = gateway::rosbridge::Opcode;
  struct Frame {
    Opcode opcode;
    std::size_t size;
  };
  /// Read ahead at most: of small messages many come with one system call.
  static constexpr std::size_t kBlock = std::size_t{64} << 10;
  /// Read behind a long message at most: it has to be moved to the front.
  static constexpr std::size_t kBehind = std::size_t{4} << 10;
  static constexpr std::size_t kMaxMessage = std::size_t{256} << 20;

  void shake_hands() {
    constexpr std::string_view kRequest =
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    constexpr std::string_view kEnd = "\r\n\r\n";
    boost::asio::write(socket_, boost::asio::buffer(kRequest));
    std::size_t end = 0;
    while ((end = waiting().find(kEnd)) == std::string_view::npos) need(waiting().size() + 1);
    const std::string_view answer = take(end + kEnd.size());
    if (!answer.starts_with("HTTP/1.1 101")) {
      throw std::runtime_error("no WebSocket: " + std::string(answer.substr(0, answer.find('\r'))));
    }
  }

  void begin(Opcode opcode, std::size_t size) {
    std::array<std::byte, gateway::rosbridge::kMaxServerHead> head;
    const std::size_t length = gateway::rosbridge::write_frame_head(head, opcode, size);
    head[1] |= std::byte{0x80};  // a client's: the key follows
    for (std::byte& octet : key_) octet = static_cast<std::byte>(random_());
    head_.append(reinterpret_cast<const char*>(head.data()), length);
    head_.append(reinterpret_cast<const char*>(key_.data()), key_.size());
  }

  void mask(std::string& piece) {
    const auto octets = std::as_writable_bytes(std::span(piece));
    gateway::rosbridge::copy_unmasked(octets, key_, octets.data());
    // The next piece begins elsewhere in the key.
    std::rotate(key_.begin(), key_.begin() + piece.size() % key_.size(), key_.end());
  }

  Frame take_head() {
    const std::string_view head = take(2);
    const auto first = static_cast<unsigned char>(head[0]);
    std::size_t size = static_cast<unsigned char>(head[1]);
    if ((first & 0xf0U) != 0x80U || size >= 0x80) {
      throw std::runtime_error("a message in pieces, masked, or of an extension");
    }
    if (size >= 126) {
      const std::string_view length = take(size == 126 ? 2 : 8);
      size = 0;
      for (const char octet : length) size = size << 8U | static_cast<unsigned char>(octet);
    }
    if (size > kMaxMessage) throw std::runtime_error("a message above 256 MB");
    return {static_cast<Opcode>(first & 0x0fU), size};
  }

  [[nodiscard]] std::string_view waiting() const {
    return {memory_.data() + begin_, end_ - begin_};
  }
  /// The next octets; until the next call.
  std::string_view take(std::size_t size) {
    need(size);
    begin_ += size;
    return {memory_.data() + begin_ - size, size};
  }
  /// Reads until so many wait.
  void need(std::size_t size) {
    if (size <= end_ - begin_) return;
    if (begin_ + size > memory_.size() || begin_ == end_) {
      std::memmove(memory_.data(), memory_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
      if (size > memory_.size()) memory_.resize(size + kBehind);
    }
    while (end_ - begin_ < size) {
      const std::size_t missing = size - (end_ - begin_);
      const std::size_t most = std::min(memory_.size() - end_, std::max(missing + kBehind, kBlock));
      end_ += socket_.read_some(boost::asio::buffer(memory_.data() + end_, most));
    }
  }

  Tcp::socket socket_;
  std::vector<char> memory_;
  std::size_t begin_ = 0;  ///< of what waits
  std::size_t end_ = 0;
  std::string head_;  ///< of a frame, that goes with its first piece
  gateway::rosbridge::Mask key_{};
  std::mt19937 random_{std::random_device{}()};
};

}  // namespace hyphos::lab
