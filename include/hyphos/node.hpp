#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "hyphos/publisher.hpp"
#include "hyphos/runtime.hpp"
#include "hyphos/subscription.hpp"

/// The header of a node. Publishers, subscriptions, timers, log lines and `param()` need no other
/// one. A program that calls one of the functions below also includes the header of its result.
/// This keeps the time to compile short. `hyphos/hyphos.hpp` includes all of them.
///
/// | function of Node | header |
/// |---|---|
/// | service(), client(), raw_service(), raw_client() | `hyphos/service.hpp` |
/// | action(), action_client(), raw_action() | `hyphos/action.hpp` |
/// | params() | `hyphos/params.hpp` |
/// | remote_params(), shared_params() | `hyphos/remote_params.hpp` |
/// | transforms() | `hyphos/transforms.hpp` |
namespace hyphos {

class Action;
template <typename Goal, typename Feedback, typename Res>
class ActionClient;
class CallMemory;
struct CallType;
template <typename Req, typename Rep>
class Client;
class Params;
class RawClient;
class RawGoalHandle;
class RawRequest;
class RemoteParams;
class Service;
class SharedParams;
class Transforms;
struct TransformsOptions;

namespace detail {
struct ActionCallbacks;
class CallClient;
class CallServer;
struct CallTypes;
class Exchange;
using ExchangeRef = std::shared_ptr<Exchange>;
using ServerCallback = std::function<void(const ExchangeRef&)>;
}  // namespace detail

/// Options of Node::publisher() and Node::raw_publisher().
struct PublisherOptions {
  Scope scope = Scope::network;
  std::optional<Policy> policy = {};  ///< used if the plan does not name the channel
};

/// Options of Node::subscribe() and Node::raw_subscribe().
struct SubscriptionOptions {
  Mode mode = Mode::serial;
  Scope scope = Scope::network;
  std::optional<Policy> policy = {};  ///< used if the plan does not name the channel
  /// At most one callback of the group runs at a time. Requires the mode `serial`.
  CallbackGroup group = {};
  /// For programs with their own event loop. If set, the callback runs only in
  /// Subscription::poll(), one at a time, and `mode` is ignored. `ready` is called when messages
  /// wait that poll() has not seen. It runs in the delivering thread, or at the end of a poll()
  /// that left messages. It must be short, and must not poll, publish, open or close anything. The
  /// polling thread must not fill a queue of its own whose overflow rule is `block`, because no
  /// other thread empties that queue.
  std::function<void()> ready = {};
};

/// The default timeout of a call.
inline constexpr Duration kCallTimeout = {5'000'000'000};

/// Options of Node::service().
struct ServiceOptions {
  /// How the callback runs: `serial` and `concurrent` on the pool, `inline_` in the receiving
  /// thread. An `inline_` callback must be quick and must not call() itself.
  Mode mode = Mode::serial;
  Scope scope = Scope::network;
  /// Requests that may wait for the callback, 1..65536. Cost: each keeps its message in memory.
  std::uint32_t depth = 256;
  /// Accepted requests without a reply, including waiting ones. Cost: about 500 bytes and the
  /// message of each.
  std::uint32_t max_pending = 256;
};

/// Options of Node::client() and Node::action_client().
struct ClientOptions {
  Scope scope = Scope::network;
  /// Calls in flight at once, 1..65536. Cost: about 300 bytes each. A call beyond fails at once.
  std::uint32_t max_pending = 64;
};

/// The treatment of a goal that arrives while another one is being executed. The policies cost the
/// same, except that `parallel` may occupy as many threads of the pool as it executes goals.
enum class GoalPolicy : std::uint8_t {
  queue,     ///< it waits until the earlier goals have ended
  preempt,   ///< the other is asked to cancel, and this one starts when it has ended
  reject,    ///< it is rejected as `overloaded`
  parallel,  ///< both are executed, at most ActionOptions::depth at once
};
[[nodiscard]] HYPHOS_EXPORT std::string_view to_string(GoalPolicy policy);

/// Options of Node::action().
struct ActionOptions {
  GoalPolicy policy = GoalPolicy::queue;
  Scope scope = Scope::network;
  /// Accepted goals that have not ended, including waiting ones. Cost: each keeps its goal in
  /// memory.
  std::uint32_t depth = 16;
  bool cancel_if_unwatched = true;  ///< a client that dies cancels its goals
};

/// A repeating callback. The node owns it, so dropping the handle does not end it.
class HYPHOS_EXPORT Timer {
 public:
  class Impl;
  Timer() = default;
  explicit Timer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  /// Ends the timer. On return its callback is not running, unless the callback itself called
  /// close().
  void close() const;
  /// Number of skipped calls: the previous call was still running, or the machine was late.
  [[nodiscard]] std::uint64_t skipped() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// The severity of a log line, in ascending order. No level ends the program.
enum class LogLevel : std::uint8_t { debug, info, warn, error, fatal };

namespace detail {

/// The first piece of a log line. It records the source location of the call.
struct LogStart {
  template <typename T>
    requires std::convertible_to<const T&, std::string_view>
  // NOLINTNEXTLINE(google-explicit-constructor): callers pass a plain text
  LogStart(const T& piece, const char* in_file = __builtin_FILE(),
           const char* in_function = __builtin_FUNCTION(), unsigned at_line = __builtin_LINE())
      : text(piece), file(in_file), function(in_function), line(at_line) {}
  std::string_view text;
  const char* file;
  const char* function;
  unsigned line;
};

HYPHOS_EXPORT void append_number(std::string& text, long long number);
HYPHOS_EXPORT void append_number(std::string& text, unsigned long long number);
HYPHOS_EXPORT void append_number(std::string& text, float number);
HYPHOS_EXPORT void append_number(std::string& text, double number);
HYPHOS_EXPORT void append_number(std::string& text, long double number);

template <typename T>
void append_piece(std::string& text, const T& piece) {
  if constexpr (std::convertible_to<const T&, std::string_view>) {
    text.append(std::string_view(piece));
  } else if constexpr (std::same_as<T, bool>) {
    text.append(piece ? "true" : "false");
  } else if constexpr (std::same_as<T, char>) {
    text.push_back(piece);
  } else if constexpr (std::is_floating_point_v<T>) {
    append_number(text, piece);
  } else if constexpr (std::is_integral_v<T>) {
    using Wide = std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>;
    append_number(text, static_cast<Wide>(piece));
  } else {
    static_assert(
        requires { std::string_view(piece.to_string()); },
        "a piece of a log line must be a text, a number, or have to_string()");
    text.append(piece.to_string());
  }
}

}  // namespace detail

/// Writes log lines to stderr, and as hyphos.msgs.Log to the channel `log`. `hyphos log` shows the
/// lines of all nodes. A line consists of texts, numbers and objects with to_string():
/// `node.log().warn("battery at ", volts, " V")`.
///
/// Cheap to copy and thread-safe. A Logger may outlive its node and then writes to stderr only. A
/// line below the level costs two atomic loads, and its text is not built. Otherwise the caller
/// builds the text and writes it to stderr. A separate thread publishes it, so neither a subscriber
/// nor the thread pool delays the caller. At most 1024 lines wait for that thread. Further lines
/// are counted, and a line on the channel reports their number. A text is cut at 4096 bytes.
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
  /// Logs the reason for a fatal error. Does not end the program.
  template <typename... Pieces>
  void fatal(detail::LogStart start, const Pieces&... pieces) const {
    write(LogLevel::fatal, start, pieces...);
  }

  /// Returns a logger with a rate limit. At this place of the source, its next line is written only
  /// if `period` of real time has passed since the last one. The line includes the number of lines
  /// that were left out. `node.log().every(hyphos::Duration::from_ms(500)).warn("no scan")`
  [[nodiscard]] Logger every(Duration period, const char* file = __builtin_FILE(),
                             unsigned line = __builtin_LINE()) const;
  /// Returns a logger that writes at most once at this place of the source in the node's lifetime.
  [[nodiscard]] Logger once(const char* file = __builtin_FILE(),
                            unsigned line = __builtin_LINE()) const;

  [[nodiscard]] bool enabled(LogLevel level) const;
  /// Sets the level of this node only. Before the call, and with nullopt, the level is `log_level`
  /// of the node's process in the plan, or info without a plan.
  void set_level(std::optional<LogLevel> level) const;

  /// Writes a complete line, for bridges from other loggers. `name`: the source of the line below
  /// the node ("mapper.planning"), empty for the node itself. `to_stderr`: false if another logger
  /// prints the line there.
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

/// A named part of the program that owns publishers, subscriptions and timers.
///
/// Cheap to copy. All copies refer to the same node. Thread-safe. Functions that set up the node
/// throw hyphos::Exception on error, because they belong to start-up code. Nothing throws once
/// messages flow. Callbacks run on the process's thread pool, never under a lock of Hyphos, and
/// should not block for long. An exception thrown by a callback is logged and counted as
/// `callback_error`, and the node continues.
class HYPHOS_EXPORT Node {
 public:
  /// Opens a process with one node. Reads the `--hyphos-...` arguments that `hyphos run` passes.
  /// Without these arguments, the node reaches all others of this machine through shared memory.
  /// Errors: those of Runtime::open() and Runtime::node().
  static Result<Node> open(std::string name, int argc, char** argv);
  static Result<Node> open(std::string name, RuntimeOptions options = {});

  /// Opens a publisher of `channel`. Throws type_mismatch if the channel has another type here,
  /// invalid_config if the name or the policy is invalid, or disconnected if the node is closed.
  /// Takes locks and allocates.
  template <typename T>
  Publisher<T> publisher(const std::string& channel, PublisherOptions options = {}) const {
    return Publisher<T>(open_publisher(channel, type_support<T>(), options).or_throw());
  }
  /// Subscribes to `channel`. `callback` takes `hyphos::Message<T>` (or `const
  /// hyphos::Message<T>&`, or `auto`). `mode` selects its thread. Throws as publisher().
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

  /// A new group for SubscriptionOptions::group, for subscriptions of this process.
  [[nodiscard]] CallbackGroup callback_group() const;

  /// Endpoints for types known only by name (tools, Python). Only `type.id` is used.
  Result<RawPublisher> raw_publisher(const std::string& channel, const TypeId& type,
                                     PublisherOptions options = {}) const;
  Result<Subscription> raw_subscribe(
      const std::string& channel, const TypeId& type, SubscriptionOptions options,
      std::function<void(const Message<RawMessage>&)> callback) const;

  /// Serves requests. `callback` takes (Message<Req>, Responder<Rep>) and replies through the
  /// responder, now or later. Alternatively it takes Message<Req> (or const Req&) and returns Rep
  /// or Result<Rep>. An exception thrown by the callback becomes an error at the client. Throws
  /// already_exists if a live process serves the name, or invalid_config if the plan assigns it to
  /// another node.
  template <typename Req, typename Rep, typename F>
  Service service(const std::string& name, ServiceOptions options, F callback) const;
  template <typename Req, typename Rep, typename F>
    requires(!std::convertible_to<F, ServiceOptions>)
  Service service(const std::string& name, F callback) const;
  /// Opens a client of a service. The server need not exist yet.
  template <typename Req, typename Rep>
  Client<Req, Rep> client(const std::string& name, ClientOptions options = {}) const;

  /// Executes goals. `execute` takes GoalHandle<Goal, Feedback, Res>, runs on the pool once per
  /// goal and may block in GoalHandle::wait_for. It ends the goal through the handle, now or later,
  /// or returns a Res or Result<Res>. `accept`, if given, takes const Goal& and returns
  /// Result<void>. An error rejects the goal. Throws as service() does.
  template <typename Goal, typename Feedback, typename Res, typename F>
  Action action(const std::string& name, ActionOptions options, F execute,
                std::function<Result<void>(const Goal&)> accept = {}) const;
  /// Opens a client of an action. The server need not exist yet.
  template <typename Goal, typename Feedback, typename Res>
  ActionClient<Goal, Feedback, Res> action_client(const std::string& name,
                                                  ClientOptions options = {}) const;

  /// Services and actions of types known only by name (gateways, tools, other languages).
  /// docs/reference/services.md defines their messages. The errors are those that service() and
  /// client() throw. `callback` replies through the request, now or later.
  Result<Service> raw_service(const std::string& name, const CallType& type,
                              const ServiceOptions& options,
                              std::function<void(const RawRequest&)> callback) const;
  /// `execute` ends the goal through the handle, now or later. An error of `accept` rejects the
  /// goal. `accept` may also refuse the request with an error of its own.
  Result<Action> raw_action(const std::string& name, const CallType& type,
                            const ActionOptions& options,
                            std::function<void(const RawGoalHandle&)> execute,
                            std::function<Result<void>(const RawRequest&)> accept = {}) const;
  /// Opens a client of a service or, with RawActionClient(client), of an action.
  Result<RawClient> raw_client(const std::string& name, const CallType& type,
                               const ClientOptions& options = {}) const;

  /// Calls `callback` every `period` of clock() on the thread pool, one call at a time. The
  /// instants do not drift. In real time a late call (the previous one still runs) is skipped and
  /// counted (Timer::skipped), and setting the wall clock has no effect. In simulated time no
  /// instant is skipped: late calls follow afterwards. A jump starts a new series of instants
  /// without a call. Cost: one wake-up of the pool per call (5 to 50 us), and none between calls.
  Timer every(Duration period, std::function<void()> callback) const;

  /// The robot's coordinate frames: one tree per process and prefix. The first call subscribes to
  /// the channels, so make it at start. It throws if the channels cannot be opened.
  [[nodiscard]] Transforms transforms() const;
  [[nodiscard]] Transforms transforms(TransformsOptions options) const;
  /// The time of this node: real, simulated or replayed, as set in the plan.
  [[nodiscard]] Clock clock() const;
  /// Calls `callback` on the thread pool after each jump of the clock. Use it to discard state
  /// derived from earlier times. Calls run one at a time and in order. If more than 64 jumps wait,
  /// they are merged and counted (Timer::skipped).
  Timer on_clock_jump(std::function<void(const ClockJump&)> callback) const;

  /// Log lines on stderr and on the channel `log`. Keep the Logger where lines are frequent.
  [[nodiscard]] Logger log() const;

  /// The parameters of this node: declared, checked, changed at run time, visible to all processes.
  [[nodiscard]] Params params() const;
  /// The parameters of another node in any process, to read, watch and set.
  [[nodiscard]] RemoteParams remote_params(const std::string& node) const;
  /// The tree of parameters that all nodes share. Throws disconnected. The first call in a process
  /// without `shared_params:` in its plan opens its channel.
  [[nodiscard]] SharedParams shared_params() const;
  /// Shorthand for a parameter that does not change. Declares it read-only with `fallback` as its
  /// default, unless it is declared already, and returns its value. Throws invalid_config, with
  /// file and line, if the plan's value does not have the type of `fallback`.
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

  /// Changes a channel of another process of this machine that runs a plan. `participant`:
  /// ProcessInfo::participant. Returns the places at which the channel is open now. For tools.
  /// Blocks until the reply. Errors: not_found (no such process, or no such channel or peer there),
  /// unsupported, timeout.
  Result<Where> change_channel(std::uint64_t participant, const ChannelChange& change,
                               Duration timeout) const;
  /// Sends the change of a group to a process of this machine that runs the plan of the group, and
  /// returns the result. For tools. Blocks until the reply. Errors: those of Runtime::move_group(),
  /// and not_found if no such process runs.
  Result<GroupState> change_group(const std::string& process, const GroupChange& change,
                                  Duration timeout) const;

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] Runtime runtime() const;
  /// Runtime::spin() of this node's process. Also returns 0 when the node is closed, or immediately
  /// if it is closed already. The runtime then continues.
  int spin(const std::function<void()>& interrupted = {}) const;
  /// Closes all publishers, subscriptions, timers, services and clients of the node. Afterwards,
  /// publishing and opening an endpoint fail. On return no callback of the node is running, except
  /// the caller's own. Idempotent. A node destroyed without close() leaves its publishers open.
  void close() const;

  class Impl;
  explicit Node(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  Result<std::shared_ptr<detail::PublisherCore>> open_publisher(
      const std::string& channel, const TypeSupport& type, const PublisherOptions& options) const;
  Result<std::shared_ptr<detail::SubscriptionCore>> open_subscription(
      const std::string& channel, const TypeSupport& type, bool raw,
      const SubscriptionOptions& options, detail::Callback callback) const;
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

  std::shared_ptr<Impl> impl_;
};

/// Counts the messages that a node refuses because their content is unusable.
///
///     if (refusals_.refuse("scan", unusable(*scan))) return;
///
/// The count is the node's parameter `refused`: `hyphos param get NODE refused` reads it from any
/// process. The node logs the channel, the reason and the count, at most one line per second. Cheap
/// to copy, and copies share the count. Thread-safe. A refusal costs a log line and setting a
/// parameter. An accepted message costs one comparison.
class HYPHOS_EXPORT Refusals {
 public:
  /// Start-up code: declares the parameter. Throws already_exists if the node has it already.
  explicit Refusals(const Node& node);

  /// Returns true and counts the message if there is a reason. `reason`: "" for a usable message.
  [[nodiscard]] bool refuse(std::string_view channel, std::string_view reason) const {
    return !reason.empty() && count_one(channel, reason);
  }
  /// The number of refused messages.
  [[nodiscard]] std::int64_t count() const;

 private:
  class Impl;
  bool count_one(std::string_view channel, std::string_view reason) const;  // always true
  std::shared_ptr<Impl> impl_;
};

/// Runs a node as a program. HYPHOS_NODE makes a plug-in (shared object) of the same class:
///
///     class Mapper { public: explicit Mapper(hyphos::Node node); ... };
///     HYPHOS_NODE(Mapper)                                          // in the plug-in
///     int main(int c, char** v) { return hyphos::run<Mapper>("mapper", c, v); }  // in a program
///
/// The object is constructed before the first callback and destroyed after the last callback has
/// ended.
template <typename T>
int run(std::string name, int argc, char** argv) {
  Node node = Node::open(std::move(name), argc, argv).or_throw();
  T object(node);
  const int code = node.spin();
  node.close();
  return code;
}

/// The version of the plug-in interface, raised with each change. A plug-in built for another
/// version is rejected with an error that names the plug-in.
inline constexpr int kPluginAbi = 2;

}  // namespace hyphos

// NOLINTBEGIN(bugprone-macro-parentheses): a class cannot be in parentheses

/// Exports `Class` as the node of a plug-in. Use it once per shared object, at namespace scope. The
/// constructor takes a `hyphos::Node`. An exception that it throws fails the start with its text.
#define HYPHOS_NODE(Class)                                                          \
  extern "C" HYPHOS_EXPORT int hyphos_plugin_abi() { return ::hyphos::kPluginAbi; } \
  extern "C" HYPHOS_EXPORT void* hyphos_plugin_create(const ::hyphos::Node* node) { \
    return new Class(*node);                                                        \
  }                                                                                 \
  extern "C" HYPHOS_EXPORT void hyphos_plugin_destroy(void* object) {               \
    delete static_cast<Class*>(object);                                             \
  }
// NOLINTEND(bugprone-macro-parentheses)
