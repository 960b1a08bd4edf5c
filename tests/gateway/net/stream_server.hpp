#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/net/listener.hpp"
#include "gateway/net/stream.hpp"

namespace hyphos::gateway::net {

/// The unit format of these tests: a length of 32 bits, little endian, followed by as many bytes.
inline Result<Measured> measure_sized(std::span<const std::byte> bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof size) return Measured::at_least(sizeof size);
  std::memcpy(&size, bytes.data(), sizeof size);
  if (size > (64U << 20U)) return Error{Code::overloaded, "too large", {}};
  return Measured::unit(sizeof size + size);
}

inline Buffer sized_head(std::size_t size) {
  const auto length = static_cast<std::uint32_t>(size);
  return Buffer::copy_of(std::as_bytes(std::span(&length, 1)));
}

inline std::string sized(std::string_view body) {
  return std::string(sized_head(body.size()).text()) + std::string(body);
}

inline Message sized_message(std::string_view body) {
  return Message(sized_head(body.size()), Buffer::copy_of(body));
}

/// A server whose streams handle units as a test defines.
class StreamServer {
 public:
  using Unit = std::function<void(const std::shared_ptr<Stream>&, const Buffer&)>;

  explicit StreamServer(Unit unit, Stream::Options options = {})
      : unit_(std::move(unit)), options_(options), loops_(std::make_unique<Loops>()) {
    Listener::Callbacks callbacks;
    callbacks.accepted = [this](Connection connection) { serve(std::move(connection)); };
    listener_ =
        Listener::open(loops_->next(), {.max_clients = 500}, std::move(callbacks)).or_throw();
  }

  [[nodiscard]] std::uint16_t port() const { return listener_->port(); }
  [[nodiscard]] std::size_t clients() const { return listener_->clients(); }
  [[nodiscard]] std::size_t accepted() {
    const std::lock_guard lock(mutex_);
    return streams_.size();
  }
  [[nodiscard]] std::shared_ptr<Stream> stream(std::size_t i) {
    const std::lock_guard lock(mutex_);
    return streams_.at(i);
  }
  void end() {
    listener_.reset();
    loops_.reset();
  }

  std::atomic<bool> ready = true;  ///< true: takes units
  std::atomic<int> closed = 0;
  std::atomic<int> refused = 0;
  std::atomic<bool> concurrent = false;  ///< true if callbacks of one stream overlapped

 private:
  void serve(Connection connection) {
    auto stream = Stream::open(loops_->next(), std::move(connection), options_);
    {
      const std::lock_guard lock(mutex_);
      streams_.push_back(stream);
    }
    auto running = std::make_shared<std::atomic<int>>(0);
    Stream::Callbacks callbacks;
    callbacks.measure = measure_sized;
    callbacks.unit = [this, running, stream](const Buffer& unit) {
      if (running->fetch_add(1) != 0) concurrent = true;
      unit_(stream, unit);
      running->fetch_sub(1);
    };
    callbacks.ready = [this] { return ready.load(); };
    callbacks.refused = [this, stream](const Error& error) {
      ++refused;
      stream->send(1, sized_message(error.message));
    };
    callbacks.closed = [this, running] {
      if (running->load() != 0) concurrent = true;
      ++closed;
    };
    stream->start(std::move(callbacks));
  }

  const Unit unit_;
  const Stream::Options options_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::unique_ptr<Loops> loops_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace hyphos::gateway::net
