#pragma once

#include <zmq.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

/// RAII owners of libzmq objects. This file has no knowledge of channels or links.
namespace hyphos::transport::zmq {

/// The name of the transport in plans, events and logs.
inline constexpr std::string_view kName = "zmq";

/// One frame. Move-only. `share()` returns a second frame on the same bytes.
class Frame {
 public:
  Frame() { zmq_msg_init(&msg_); }
  Frame(Frame&& other) noexcept {
    zmq_msg_init(&msg_);
    zmq_msg_move(&msg_, &other.msg_);
  }
  Frame& operator=(Frame&& other) noexcept {
    if (this != &other) zmq_msg_move(&msg_, &other.msg_);
    return *this;
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() { zmq_msg_close(&msg_); }

  /// A frame of uninitialised bytes. Write through data().
  [[nodiscard]] static Frame of_size(std::size_t size);
  /// A frame with a copy of `bytes`.
  [[nodiscard]] static Frame copy_of(std::span<const std::byte> bytes);
  [[nodiscard]] static Frame copy_of(std::string_view text) {
    return copy_of(std::as_bytes(std::span(text.data(), text.size())));
  }
  /// A frame on the memory of `buffer`, which is held until the last byte is on the wire. Buffers
  /// below kCopyBelow are copied, because that costs less than counting references across threads.
  [[nodiscard]] static Frame of(const Buffer& buffer);
  [[nodiscard]] Frame share();

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(zmq_msg_data(raw())), zmq_msg_size(raw())};
  }
  [[nodiscard]] std::byte* data() { return static_cast<std::byte*>(zmq_msg_data(raw())); }
  [[nodiscard]] std::size_t size() const { return zmq_msg_size(raw()); }
  [[nodiscard]] bool more() const { return zmq_msg_more(raw()) != 0; }
  [[nodiscard]] zmq_msg_t* raw() const { return &msg_; }

  static constexpr std::size_t kCopyBelow = 1024;

 private:
  mutable zmq_msg_t msg_;  // libzmq takes no const pointers, although reading changes nothing
};

/// Converts received frames into Buffers. The owners are recycled, so that a message costs no heap
/// allocation of ours. Buffers may outlive the pool and return to it from any thread.
class FramePool {
 public:
  FramePool();
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// The frame's bytes, aligned to at least kAlignment. Small frames that libzmq left at an
  /// unaligned address inside its receive buffer are copied.
  [[nodiscard]] Buffer take(Frame frame);

  static constexpr std::size_t kAlignment = 8;

 private:
  struct Shared;
  class Owner;
  Shared* shared_;
};

class Context {
 public:
  Context() : raw_(zmq_ctx_new()) {}
  ~Context() { zmq_ctx_term(raw_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  [[nodiscard]] void* raw() const { return raw_; }

 private:
  void* raw_;
};

class Socket {
 public:
  Socket() = default;
  Socket(const Context& context, int type) : raw_(zmq_socket(context.raw(), type)) {}
  Socket(Socket&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Socket() {
    if (raw_ != nullptr) zmq_close(raw_);
  }

  [[nodiscard]] void* raw() const { return raw_; }
  explicit operator bool() const { return raw_ != nullptr; }
  void set(int option, int value) { zmq_setsockopt(raw_, option, &value, sizeof value); }
  void set(int option, std::int64_t value) { zmq_setsockopt(raw_, option, &value, sizeof value); }
  /// False if libzmq does not accept the text (a malformed key, or an encryption that is not built
  /// in).
  [[nodiscard]] bool set(int option, const std::string& value) {
    return zmq_setsockopt(raw_, option, value.data(), value.size()) == 0;
  }
  [[nodiscard]] int fd() const;
  /// True if a message can be received. Also does libzmq's own housekeeping for the socket.
  [[nodiscard]] bool readable() const;
  [[nodiscard]] std::string last_endpoint() const;
  /// Receives the next frame if there is one.
  [[nodiscard]] bool receive(Frame& frame) {
    return zmq_msg_recv(frame.raw(), raw_, ZMQ_DONTWAIT) >= 0;
  }
  [[nodiscard]] bool send(Frame& frame, bool more) {
    return zmq_msg_send(frame.raw(), raw_, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) >= 0;
  }

 private:
  void* raw_ = nullptr;
};

/// The receive high-water mark: messages that may wait in a socket for each connection.
inline constexpr int kReceiveHighWater = 1000;

/// Sets the options common to ROUTER and DEALER sockets. A `heartbeat_ms` of 0 disables heartbeats.
void set_common(Socket& socket, std::int64_t heartbeat_ms);

[[nodiscard]] inline bool is_tcp(std::string_view endpoint) {
  return endpoint.starts_with("tcp://");
}

/// The index of an endpoint group: endpoints of this process with the same channels
/// (zmq_listener.hpp).
using EndpointIndex = std::uint8_t;

/// Sessions that differ only in their last byte are endpoint groups of one process
/// (docs/reference/wire_links.md, "Links").
inline constexpr std::uint64_t kEndpointMask = 0xff;
[[nodiscard]] constexpr bool same_process(std::uint64_t a, std::uint64_t b) {
  return (a & ~kEndpointMask) == (b & ~kEndpointMask);
}

/// Converts libzmq's errno into an Error about `endpoint`.
[[nodiscard]] Error last_error(std::string what, std::string endpoint);

}  // namespace hyphos::transport::zmq
