#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/facade/protocol.hpp"
#include "gateway/rosbridge/request.hpp"
#include "gateway/rosbridge/sink.hpp"

namespace hyphos::gateway::rosbridge {

/// Which statuses a client gets: those up to its level.
enum class Level : std::uint8_t { none, error, warning, info };

/// How a client wants an answer: compression png or none, in fragments or whole.
struct Shape {
  bool png = false;
  std::size_t fragment_size = SIZE_MAX;
};

/// What all parts of a session share. Thread-safe.
class Context {
 public:
  Context(GraphFacade& opened, Client who, const Options& given, Sink& way)
      : facade(opened), client(std::move(who)), options(given), sink(way) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  GraphFacade& facade;
  Client client;  ///< its token comes before anything else is done for it
  const Options options;
  Sink& sink;
  std::atomic<Level> level{Level::error};
  std::atomic<std::size_t> held_bytes{0};  ///< of all that its feeds hold back

  /// {"op":"status"}; `id` as JSON, or empty.
  void status(Level of, std::string_view text, std::string_view id) const;
  /// An error for what was asked by `request`, with what went wrong.
  void tell(const Request& request, const Error& error) const;
  /// The same, and counts it.
  void refuse(const Request& request, const Error& error) const;
  /// To the control lane.
  void send(std::string_view text) const;
  void send(std::string_view text, const Shape& shape);
  /// Frames of a text in the shape that is wanted. Errors: out_of_range.
  [[nodiscard]] Result<std::vector<Frame>> frames(std::string_view text, const Shape& shape);
  void count(std::string_view why, std::string_view detail) const;

 private:
  std::atomic<std::uint64_t> fragments_{0};  // numbers them
};

/// The way of answers back into a session that may have ended since. Whoever passes holds up its
/// end, shortly.
class Gate {
 public:
  explicit Gate(Context& context) : context_(&context) {}
  /// Nobody is inside when it returns, and nobody comes in any more.
  void close() {
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
  }
  void pass(const std::function<void(Context&)>& inside) {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr) inside(*context_);
  }

 private:
  std::mutex mutex_;
  Context* context_;
};

/// Shape of an answer as a request asks for it. Errors: unsupported.
[[nodiscard]] Result<Shape> shape_of(const Request& request);

/// ROS's names are absolute inside; clients may leave out the first slash.
[[nodiscard]] std::string absolute(const std::string& name);

/// `,"id":…` or nothing.
[[nodiscard]] std::string id_member(std::string_view id);

}  // namespace hyphos::gateway::rosbridge
