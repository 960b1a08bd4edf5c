#pragma once

#include <atomic>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "hyphos/action.hpp"
#include "hyphos/params.hpp"
#include "hyphos/remote_params.hpp"
#include "hyphos/runtime.hpp"
#include "hyphos/service.hpp"
#include "hyphos/transforms.hpp"

namespace hyphos {

struct PublisherOptions {
  Scope scope = Scope::network;
  std::optional<Policy> policy = {};  ///< used if the plan does not name the channel
};

struct SubscriptionOptions {
  Mode mode = Mode::serial;
  Scope scope = Scope::network;
  std::optional<Policy> policy = {};  ///< used if the plan does not name the channel
  /// For programs with a loop of their own. If set, nothing runs the callback but
  /// Subscription::poll(), one at a time whatever `mode` says, and this is called when messages
  /// wait that poll() has not seen: in the thread that brings them, or at the end of a poll() that
  /// left some. It must be short, and must not poll, publish, open or close anything. A thread that
  /// polls must not fill a queue of its own whose overflow rule is `block`: nobody would empty it.
  std::function<void()> ready = {};
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

enum class LogLevel : std::uint8_t { debug, info, warn, error, fatal };

namespace detail {

/// The first piece of a line, which knows where it stands in the source.
struct LogStart {
  template <typename T>
    requires std::convertible_to<const T&, std::string_view>
  // NOLINTNEXTLINE(google-explicit-constructor): a text is what callers write
  LogStart(const T& piece, const char* in_file = __builtin_FILE(),
           const char* in_function = __builtin_FUNCTION(), unsigned at_line = __builtin_LINE())
      : text(piece), file(in_file), function(in_function), line(at_line) {}
  std::string_view text;
  const char* file;
  const char* function;
  unsigned line;
};

template <typename T>
void append_piece(std::string& text, const T& piece) {
  if constexpr (std::convertible_to<const T&, std::string_view>) {
    text.append(std::string_view(piece));
  } else if constexpr (std::same_as<T, bool>) {
    text.append(piece ? "true" : "false");
  } else if constexpr (std::same_as<T, char>) {
    text.push_back(piece);
  } else if constexpr (std::is_arithmetic_v<T>) {
    char digits[64];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, piece).ptr);
  } else {
    static_assert(
        requires { std::string_view(piece.to_string()); },
        "a piece of a log line is a text, a number, or has to_string()");
    text.append(piece.to_string());
  }
}

}  // namespace detail

/// Writes lines for people: to stderr, and as hyphos.msgs.Log on the channel `log`, where
/// `hyphos log` shows those of all nodes. A line is made of texts, numbers and whatever has
/// to_string(): `node.log().warn("battery at ", volts, " V")`.
///
/// Cheap to copy; thread-safe; outlives its node (then it writes to stderr alone). Below the level
/// a line costs two atomic loads: no text is made. Else the caller makes the text and writes it to
/// stderr; a thread of its own publishes it, so that neither a listener nor the thread pool can
/// hold up the caller. At most 1024 lines wait for that thread: what more comes is counted, and a
/// line on the channel says how many. A text is cut at 4096 bytes.
class HYPHOS_EXPORT Logger {
 public:
  template <typename... Pieces>
  void debug(detail::LogStart start, const Pieces&... pieces) const {
    write(LogLevel::debug, start, pieces...);
  }
  template <typename... Pieces>
  void info(detail::LogStart start, const Pieces&... pieces) const {
    write(LogLevel::info, start, pieces...);
  }
  template <typename... Pieces>
  void warn(detail::LogStart start, const Pieces&... pieces) const {
    write(LogLevel::warn, start, pieces...);
  }
  template <typename... Pieces>
  void error(detail::LogStart start, const Pieces&... pieces) const {
    write(LogLevel::error, start, pieces...);
  }
  /// Ends nothing: says why the program is about to.
  template <typename... Pieces>
  void fatal(detail::LogStart start, const Pieces&... pieces) const {
    write(LogLevel::fatal, start, pieces...);
  }

  /// For what happens too often: a logger whose next line is written only if, at this place of the
  /// source, `period` of real time has passed since the last; it says how many were left out.
  /// `node.log().every(hyphos::Duration::from_ms(500)).warn("no scan")`
  [[nodiscard]] Logger every(Duration period, const char* file = __builtin_FILE(),
                             unsigned line = __builtin_LINE()) const;
  /// A logger that writes at this place of the source once in the life of the node.
  [[nodiscard]] Logger once(const char* file = __builtin_FILE(),
                            unsigned line = __builtin_LINE()) const;

  [[nodiscard]] bool enabled(LogLevel level) const;
  /// Of this node alone, from now on. Until then, and with nullopt, `log_level` of its process in
  /// the plan; info without a plan.
  void set_level(std::optional<LogLevel> level) const;

  /// A finished line, for bridges from other loggers. `name`: who says it, below the node
  /// ("mapper.planning"); empty: the node. `to_stderr`: false if somebody else shows it there.
  void write_line(LogLevel level, std::string_view text, std::string_view name = {},
                  std::string_view file = {}, std::string_view function = {}, unsigned line = 0,
                  bool to_stderr = true) const;

  class Impl;
  explicit Logger(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  template <typename... Pieces>
  void write(LogLevel level, const detail::LogStart& start, const Pieces&... pieces) const {
    if (!enabled(level)) return;
    std::string text(start.text);
    (detail::append_piece(text, pieces), ...);
    if (left_out_ > 0) text.append(" (").append(std::to_string(left_out_)).append(" left out)");
    write_line(level, text, {}, start.file, start.function, start.line);
  }

  std::shared_ptr<Impl> impl_;
  bool silent_ = false;
  std::uint64_t left_out_ = 0;
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

  /// Answers requests. `callback` takes (Message<Req>, Responder<Rep>) and answers through the
  /// responder, now or later; or takes Message<Req> (or const Req&) and returns Rep or Result<Rep>.
  /// An exception that leaves it is an error at the client. Throws already_exists if a live process
  /// serves the name, invalid_config if the plan gives it to another node.
  template <typename Req, typename Rep, typename F>
  Service service(const std::string& name, ServiceOptions options, F callback) const {
    return Service(
        open_server(name, detail::service_types(type_support<Req>(), type_support<Rep>()), options,
                    detail::service_callback<Req, Rep>(std::move(callback), name))
            .or_throw());
  }
  template <typename Req, typename Rep, typename F>
    requires(!std::convertible_to<F, ServiceOptions>)
  Service service(const std::string& name, F callback) const {
    return service<Req, Rep>(name, ServiceOptions{}, std::move(callback));
  }
  /// The asking end of a service. There need not be a server yet.
  template <typename Req, typename Rep>
  Client<Req, Rep> client(const std::string& name, ClientOptions options = {}) const {
    return Client<Req, Rep>(
        open_client(name, detail::service_types(type_support<Req>(), type_support<Rep>()), options)
            .or_throw());
  }

  /// Carries out goals. `execute` takes GoalHandle<Goal, Feedback, Res>, runs on the pool once per
  /// goal and may block in GoalHandle::wait_for; it ends the goal through the handle, now or later,
  /// or returns a Res or Result<Res>. `accept`, if given, takes const Goal& and returns
  /// Result<void>: an error rejects the goal. Throws as service() does.
  template <typename Goal, typename Feedback, typename Res, typename F>
  Action action(const std::string& name, ActionOptions options, F execute,
                std::function<Result<void>(const Goal&)> accept = {}) const {
    detail::ActionCallbacks callbacks;
    callbacks.execute = detail::action_callback<Goal, Feedback, Res>(std::move(execute), name);
    if (accept) {
      callbacks.accept = [accept = std::move(accept),
                          name](const detail::ExchangeRef& exchange) -> Result<void> {
        auto goal = detail::read_block<Goal>(exchange->request(), name);
        if (!goal) return goal.error();
        return accept(**goal);
      };
    }
    return Action(open_action(name,
                              detail::action_types(type_support<Goal>(), type_support<Feedback>(),
                                                   type_support<Res>()),
                              options, std::move(callbacks))
                      .or_throw());
  }
  template <typename Goal, typename Feedback, typename Res>
  ActionClient<Goal, Feedback, Res> action_client(const std::string& name,
                                                  ClientOptions options = {}) const {
    return ActionClient<Goal, Feedback, Res>(
        open_client(name,
                    detail::action_types(type_support<Goal>(), type_support<Feedback>(),
                                         type_support<Res>()),
                    options)
            .or_throw());
  }

  /// Ends for types known only by name (tools, Python); docs/services.md says what they send.
  Result<std::shared_ptr<detail::CallServer>> open_server(const std::string& name,
                                                          const detail::CallTypes& types,
                                                          const ServiceOptions& options,
                                                          detail::ServerCallback callback) const;
  Result<std::shared_ptr<detail::CallServer>> open_action(const std::string& name,
                                                          const detail::CallTypes& types,
                                                          const ActionOptions& options,
                                                          detail::ActionCallbacks callbacks) const;
  Result<std::shared_ptr<detail::CallClient>> open_client(const std::string& name,
                                                          const detail::CallTypes& types,
                                                          const ClientOptions& options) const;

  /// Calls `callback` every `period` of clock() on the thread pool, one at a time; the grid does
  /// not drift. In real time a call that comes late (the previous one still runs) is skipped and
  /// counted (Timer::skipped), and setting the wall clock changes nothing. In simulated time every
  /// instant is called for, late ones afterwards; a jump begins a new grid and calls for nothing.
  Timer every(Duration period, std::function<void()> callback) const;

  /// The robot's coordinate frames: one tree per process and prefix. The first call begins to
  /// listen, so make it at start; it throws if the channels cannot be opened.
  [[nodiscard]] Transforms transforms(TransformsOptions options = {}) const;
  /// The time: real, simulated or replayed, as the plan says.
  [[nodiscard]] Clock clock() const;
  /// Calls `callback` on the thread pool when the clock has been set instead of running on: the
  /// moment to forget what was derived from earlier times. One at a time, in order; if it does not
  /// keep up with 64 of them, jumps are joined (Timer::skipped).
  Timer on_clock_jump(std::function<void(const ClockJump&)> callback) const;

  /// Lines for people, on stderr and on the channel `log`. Keep it where lines are frequent.
  [[nodiscard]] Logger log() const;

  /// The parameters of this node: declared, checked, changed at run time, seen by everybody.
  [[nodiscard]] Params params() const;
  /// Those of another node, in any process, to read, watch and set.
  [[nodiscard]] RemoteParams remote_params(const std::string& node) const;
  /// Shorthand for a parameter that is read now and then does not change: declares it read-only
  /// with `fallback` as its default, unless it is declared, and gives its value. A value in the
  /// plan that cannot be read as the type of `fallback` throws invalid_config with the file and
  /// line.
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
  /// Runtime::spin() of this node's process. Also returns 0 when the node is closed, and at once if
  /// it is closed already. The runtime then goes on.
  int spin(const std::function<void()>& interrupted = {}) const;
  /// Closes all publishers, subscriptions, timers, services and clients of the node. Afterwards
  /// publishing and opening an endpoint fail. On return no callback of the node runs, except the
  /// caller's own. Idempotent. A node destroyed without close() leaves its publishers open.
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

/// Counts the messages that a node refuses because their content cannot be used.
///
///     if (refusals_.refuse("scan", unusable(*scan))) return;
///
/// The count is the parameter `refused` of the node: `hyphos param get NODE refused` reads it from
/// any process. The node logs the channel, the reason and the count, at most one line a second.
/// Cheap to copy; copies share the count. Thread-safe. A refusal costs a log line and setting a
/// parameter. An accepted message costs one comparison.
class Refusals {
 public:
  /// Start-up code: declares the parameter, and throws already_exists if the node has one.
  explicit Refusals(const Node& node) : shared_(std::make_shared<Shared>(node)) {}

  /// Counts the message and returns true if there is a reason. `reason`: "" for a usable message.
  [[nodiscard]] bool refuse(std::string_view channel, std::string_view reason) const {
    if (reason.empty()) return false;
    std::int64_t count = shared_->count.fetch_add(1) + 1;
    shared_->log.every(Duration::from_ms(1000))
        .warn(channel, " refused: ", reason, "; ", count, " refused so far");
    // Of two threads, the last to set the parameter has read the other's count.
    do {
      count = shared_->count.load();
      (void)shared_->shown.set(count);
    } while (count != shared_->count.load());
    return true;
  }
  /// The number of refused messages.
  [[nodiscard]] std::int64_t count() const { return shared_->count.load(); }

 private:
  struct Shared {
    explicit Shared(const Node& node)
        : log(node.log()),
          shown(node.params().declare<std::int64_t>(
              "refused", {.description = "messages that could not be used, counted"})),
          count(*shown) {}
    const Logger log;
    const Param<std::int64_t> shown;
    std::atomic<std::int64_t> count;  // continues over a restart of the process
  };
  std::shared_ptr<Shared> shared_;
};

}  // namespace hyphos
