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

/// The first 16 bytes of every message. The rest of the payload is allocated once and not rewritten
/// for each message, by any peer, unless it comes from a recording, which the fill copies; a
/// receiver reads the header and the last byte.
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

// A non-owning reference to a callable: a publish must not pay for a std::function.
template <class Signature>
class FunctionRef;
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& f)  // NOLINT(google-explicit-constructor): made to be passed a lambda
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(args...);
        }) {}
  R operator()(Args... args) const { return call_(object_, args...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

// Reads one byte, whatever the optimizer thinks of it.
inline void touch(const std::byte* byte) {
  static_cast<void>(*static_cast<const volatile std::byte*>(byte));
}

using Fill = FunctionRef<void(std::byte*)>;
using OnMessage = std::function<void(const void* data, std::size_t size)>;

// What a middleware that joins processes usually can.
inline const std::vector<Shape> kBetweenProcesses = {
    Shape::kPair,  Shape::kEcho,  Shape::kPipeline, Shape::kFanout,
    Shape::kFanin, Shape::kFlood, Shape::kUncapped};

// A row of the tables: one way in which a peer can carry a message, and the shapes it takes part
// in. `floor` marks what other rows are divided by.
struct Variant {
  std::string name;  // "" when the peer has one way only
  std::vector<Shape> shapes;
  std::size_t max_size = 64ull << 20;
  bool floor = false;
  bool network = false;  // also between machines
  bool sizes = true;     // messages may differ in size, as recorded ones do
  bool hosts = false;    // also between more than two machines
  bool relay = false;    // its gateway may have its own machine
};

// What a middleware implements to be measured. Every process of a shape makes one, opens at most
// one publisher and one subscriber, and then either publishes (source), spins (sink), spins and
// forwards from the callback (hop), or publishes in one thread and spins in another (source of an
// echo). Errors throw: a benchmark without its peer has no result.
class Peer {
 public:
  explicit Peer(const Options& options) : options_(options) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  virtual ~Peer() = default;

  virtual void open_publisher(const Edge& edge) = 0;

  // `on_message` may be called from any one thread at a time, after this returns or during it. It
  // is given the whole message; in process, where a message is an object that points to its
  // payload, the header is enough and the peer touches the payload's last byte itself.
  virtual void open_subscriber(const Edge& edge, OnMessage on_message) = 0;

  // Sends one message of `size` bytes, at most those of the options. `fill` writes the header into
  // the message's first bytes and must be called once, after the buffer was obtained.
  virtual void publish(std::size_t size, Fill fill) = 0;

  // Sends a received message onward, unchanged. Override where the middleware can do it without
  // copying; by default the message is copied into a new one.
  virtual void forward(const void* data, std::size_t size) {
    publish(size, [&](std::byte* out) { std::memcpy(out, data, size); });
  }

  // Receives and calls on_message until `stopped`; it is asked after each message and after each
  // interrupted wait. Return at once where the middleware delivers from a thread of its own.
  virtual void spin(const std::function<bool()>& stopped) { (void)stopped; }

  // Command line of a daemon this peer cannot work without; empty when there is none. Called in
  // the parent, which starts it before the other processes and ends it after them.
  static std::vector<std::string> daemon(const Options&) { return {}; }
  // Its machine; by default that of the publishers.
  static const Machine& daemon_machine(const Options& options) { return options.near(); }

 protected:
  const Options& options_;
};

}  // namespace hyphos::lab
