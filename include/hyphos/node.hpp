#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "hyphos/runtime.hpp"

namespace hyphos {

struct PublisherOptions {
  Scope scope = Scope::network;
  std::optional<Policy> policy = {};  ///< used if the plan does not name the channel
};

struct SubscriptionOptions {
  Mode mode = Mode::serial;
  Scope scope = Scope::network;
  std::optional<Policy> policy = {};  ///< used if the plan does not name the channel
};

/// A repeating callback. The node owns it; dropping the handle changes nothing.
class HYPHOS_EXPORT Timer {
 public:
  class Impl;
  Timer() = default;
  explicit Timer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  /// Ends the timer. On return its callback is not running, unless called from inside it.
  void close() const;
  /// Calls that were due and left out, because the one before still ran or the machine was late.
  [[nodiscard]] std::uint64_t skipped() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// A named part of the program: its publishers, subscriptions and timers.
///
/// Cheap to copy; all copies are the same node. Thread-safe. Functions that set the node up throw
/// hyphos::Exception on error (start-up code); nothing throws once messages flow. Callbacks run on
/// the process's thread pool, never under a lock of Hyphos, and should not block for long; an
/// exception that leaves a callback is logged, counted as `callback_error`, and does not end the
/// node.
class HYPHOS_EXPORT Node {
 public:
  /// A process with one node. Reads the `--hyphos-...` arguments that `hyphos run` passes; run by
  /// hand without them, the node talks to all others of this machine through shared memory.
  static Result<Node> open(std::string name, int argc, char** argv);
  static Result<Node> open(std::string name, RuntimeOptions options = {});

  /// Throws type_mismatch if the channel has another type here, invalid_config if the name is bad.
  template <typename T>
  Publisher<T> publisher(const std::string& channel, PublisherOptions options = {}) const {
    return Publisher<T>(open_publisher(channel, type_support<T>(), options).or_throw());
  }
  /// `callback` takes `hyphos::Message<T>` (or `const hyphos::Message<T>&`, or `auto`).
  template <typename T, typename F>
    requires std::invocable<F&, Message<T>>
  Subscription subscribe(const std::string& channel, SubscriptionOptions options,
                         F callback) const {
    return Subscription(open_subscription(channel, type_support<T>(), false, options,
                                          detail::typed_callback<T>(std::move(callback)))
                            .or_throw());
  }
  template <typename T, typename F>
    requires std::invocable<F&, Message<T>>
  Subscription subscribe(const std::string& channel, Mode mode, F callback) const {
    SubscriptionOptions options;
    options.mode = mode;
    return subscribe<T>(channel, options, std::move(callback));
  }

  /// Ends for types known only by name (tools, Python). `type.id` alone matters.
  Result<RawPublisher> raw_publisher(const std::string& channel, const TypeId& type,
                                     PublisherOptions options = {}) const;
  Result<Subscription> raw_subscribe(
      const std::string& channel, const TypeId& type, SubscriptionOptions options,
      std::function<void(const Message<RawMessage>&)> callback) const;

  /// Calls `callback` every `period` on the thread pool, one at a time. A call that comes late (the
  /// previous one still runs) is skipped and counted (Timer::skipped); the grid does not drift.
  Timer every(Duration period, std::function<void()> callback) const;

  /// A value of `nodes.<name>.params` in the plan, or `fallback`. A value that cannot be read as
  /// the type of `fallback` throws invalid_config with the file and line.
  [[nodiscard]] double param(const std::string& name, double fallback) const;
  [[nodiscard]] std::int64_t param(const std::string& name, std::int64_t fallback) const;
  [[nodiscard]] int param(const std::string& name, int fallback) const {
    return static_cast<int>(param(name, static_cast<std::int64_t>(fallback)));
  }
  [[nodiscard]] bool param(const std::string& name, bool fallback) const;
  [[nodiscard]] std::string param(const std::string& name, const std::string& fallback) const;
  [[nodiscard]] std::string param(const std::string& name, const char* fallback) const {
    return param(name, std::string(fallback));
  }

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] Runtime runtime() const;
  /// Runtime::spin() of this node's process.
  int spin() const;
  /// Closes all publishers, subscriptions and timers of the node.
  void close() const;

  class Impl;
  explicit Node(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  Result<std::shared_ptr<detail::PublisherCore>> open_publisher(
      const std::string& channel, const TypeSupport& type, const PublisherOptions& options) const;
  Result<std::shared_ptr<detail::SubscriptionCore>> open_subscription(
      const std::string& channel, const TypeSupport& type, bool raw,
      const SubscriptionOptions& options, detail::Callback callback) const;

  std::shared_ptr<Impl> impl_;
};

}  // namespace hyphos
