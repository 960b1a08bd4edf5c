#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/call_gate.hpp"
#include "gateway/facade/graph_facade.hpp"
#include "gateway/facade/protocol.hpp"
#include "gateway/rosbridge/request.hpp"
#include "gateway/rosbridge/sink.hpp"

namespace hyphos::gateway::rosbridge {

/// The level of status messages. A client gets the messages up to its level.
enum class Level : std::uint8_t { none, error, warning, info };

/// The format of a reply that a client requests: compression png or none, in fragments or whole.
struct Shape {
  bool png = false;
  std::size_t fragment_size = SIZE_MAX;
};

/// The context that all parts of a session share. Thread-safe.
class Context {
 public:
  Context(GraphFacade& opened, Client who, const Options& given, Sink& way)
      : facade(opened), client(std::move(who)), options(given), sink(way) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  GraphFacade& facade;
  Client client;  ///< its token is set before any other work for the client
  const Options options;
  Sink& sink;
  std::atomic<Level> level{Level::error};
  std::atomic<std::size_t> held_bytes{0};  ///< bytes that all its outbound topics hold back

  /// Sends {"op":"status"}. `id` is JSON, or empty.
  void status(Level of, std::string_view text, std::string_view id) const;
  /// Reports an error of `request` to the client.
  void tell(const Request& request, const Error& error) const;
  /// The same, and counts the error.
  void refuse(const Request& request, const Error& error) const;
  /// Sends on the control output class.
  void send(std::string_view text) const;
  void send(std::string_view text, const Shape& shape);
  /// Splits a text into frames of the requested format. Errors: out_of_range.
  [[nodiscard]] Result<std::vector<Frame>> frames(std::string_view text, const Shape& shape);
  void count(std::string_view why, std::string_view detail) const;
  /// The form of values in replies of this format. BSON has binary data, which JSON lacks. But a
  /// reply in pieces or in a picture is text.
  [[nodiscard]] Form form_of(const Shape& shape) const {
    const bool whole = !shape.png && shape.fragment_size == SIZE_MAX;
    return whole ? form() : Form::json;
  }
  [[nodiscard]] Form form() const { return sink.prefers_cbor() ? Form::cbor : Form::json; }

 private:
  std::atomic<std::uint64_t> fragments_{0};  // numbers the fragmented messages
};

/// The context of a session for replies that may arrive after its end. A thread inside delays the
/// end of the session briefly.
class ContextGate {
 public:
  explicit ContextGate(Context& context) : context_(context) {}
  /// When it returns, no thread is inside, and none can enter.
  void close() { gate_.close(); }
  void pass(const std::function<void(Context&)>& inside) {
    if (const CallGate::Entry entry(gate_); entry) inside(context_);
  }

 private:
  CallGate gate_;
  Context& context_;  // valid inside the gate only
};

/// The format of a reply that a request asks for. Errors: unsupported.
[[nodiscard]] Result<Shape> shape_of(const Request& request);

/// The frame of `head`, the value of `member` in this form, and `tail`, which join to an object.
[[nodiscard]] Frame frame_around(std::string_view head, std::string_view member,
                                 const Buffer& value, Form form, std::string_view tail);

/// Makes a name absolute. Internal names are absolute, but clients may omit the first slash.
[[nodiscard]] std::string absolute(const std::string& name);

/// `,"id":…`, or an empty string.
[[nodiscard]] std::string id_member(std::string_view id);

}  // namespace hyphos::gateway::rosbridge
