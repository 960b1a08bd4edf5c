#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "lab/common/edges.hpp"

namespace hyphos::lab {

/// The first 16 bytes of every message. No peer rewrites the rest of the payload, which is
/// allocated once. Only recorded messages are copied by the fill. A receiver reads the header and
/// the last byte.
struct Header {
  std::int64_t stamp_ns;  // taken at the start of the publish call
  std::uint32_t sequence;
  std::uint16_t source;
  std::uint16_t kind;
};
static_assert(sizeof(Header) == 16);
inline constexpr std::uint16_t kMeasured = 1;
inline constexpr std::uint16_t kWarmup = 2;
inline constexpr std::uint16_t kBye = 3;

// A non-owning reference to a callable, because a publish must not pay for a std::function.
template <class Signature>
class FunctionRef;
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& f)  // NOLINT(google-explicit-constructor): converts from a lambda
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(args...);
        }) {}
  R operator()(Args... args) const { return call_(object_, args...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

// Reads one byte. The optimizer cannot remove the read.
inline void touch(const std::byte* byte) {
  static_cast<void>(*static_cast<const volatile std::byte*>(byte));
}

using Fill = FunctionRef<void(std::byte*)>;
using OnMessage = std::function<void(const void* data, std::size_t size)>;

// The usual shapes of a middleware that connects processes.
inline const std::vector<Shape> kBetweenProcesses = {
    Shape::kPair,  Shape::kEcho,  Shape::kPipeline, Shape::kFanout,
    Shape::kFanin, Shape::kFlood, Shape::kUncapped};

// A row of the tables: one transport of a peer, with the shapes that it supports. `floor` marks the
// rows that other rows are divided by.
struct Variant {
  std::string name;  // "" if the peer has only one transport
  std::vector<Shape> shapes;
  std::size_t max_size = 64ull << 20;
  bool floor = false;
  bool network = false;  // also between machines
  bool sizes = true;     // messages may differ in size, like recorded messages
  bool hosts = false;    // also between more than two machines
  bool relay = false;    // its gateway may have its own machine
};

// The interface that a middleware implements to be measured. Every process of a shape creates one
// Peer and opens at most one publisher and one subscriber. It then publishes (source), spins
// (sink), spins and forwards from the callback (hop), or publishes in one thread and spins in
// another (source of an echo). Errors throw: a benchmark without its peer has no result.
class Peer {
 public:
  explicit Peer(const Options& options) : options_(options) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  virtual ~Peer() = default;

  virtual void open_publisher(const Edge& edge) = 0;

  // `on_message` may be called during or after this function, from one thread at a time. It gets
  // the whole message. In process, where a message is an object that points to its payload, the
  // header is enough and the peer touches the last byte of the payload itself.
  virtual void open_subscriber(const Edge& edge, OnMessage on_message) = 0;

  // Sends one message of `size` bytes, at most the size in the options. `fill` writes the header
  // into the first bytes of the message. Call it exactly once, after the buffer is available.
  virtual void publish(std::size_t size, Fill fill) = 0;

  // Forwards a received message unchanged. Override it if the middleware can forward without a
  // copy. The default copies the message into a new one.
  virtual void forward(const void* data, std::size_t size) {
    publish(size, [&](std::byte* out) { std::memcpy(out, data, size); });
  }

  // Receives messages and calls on_message until `stopped`, which is checked after each message and
  // after each interrupted wait. Return at once if the middleware delivers from its own thread.
  virtual void spin(const std::function<bool()>& stopped) { (void)stopped; }

  // The command line of a daemon that this peer requires. Empty if there is none. Called in the
  // parent, which starts the daemon before the other processes and ends it after them.
  static std::vector<std::string> daemon(const Options&) { return {}; }
  // The machine of the daemon. Default: the machine of the publishers.
  static const Machine& daemon_machine(const Options& options) { return options.near(); }

 protected:
  const Options& options_;
};

}  // namespace hyphos::lab
