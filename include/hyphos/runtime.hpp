#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyphos/clock.hpp"
#include "hyphos/export.hpp"
#include "hyphos/policy.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos {

struct CallbackErrors;  // hyphos/inspect.hpp
struct ChannelInfo;     // hyphos/inspect.hpp
struct EndpointInfo;    // hyphos/inspect.hpp
struct Plan;            // hyphos/plan.hpp
class Node;

/// A plan given in code: the text of a robot.yaml, or a Plan of load_plan() or parse_plan().
///
///     options.plan = R"(
///       hyphos: 1
///       channels: {scan: {reliability: reliable, transport: zmq}}
///       network: {publisher: {ip: "tcp://*:5553", channels: [scan]}}
///     )";
///     options.plan = hyphos::parse_plan(text, "my_robot").or_throw();
///
/// Mistakes in a text are reported with the line in it, under the name "plan in code". Relative
/// paths in a text start at the working directory.
class PlanInCode {
 public:
  PlanInCode() = default;
  PlanInCode(std::string text) : text_(std::move(text)) {}  // NOLINT: implicit by design
  PlanInCode(std::string_view text) : text_(text) {}        // NOLINT
  PlanInCode(const char* text) : text_(text) {}             // NOLINT
  PlanInCode(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}  // NOLINT
  /// Needs `#include <hyphos/plan.hpp>`.
  template <std::same_as<Plan> P>
  PlanInCode(P plan) : plan_(std::make_shared<const P>(std::move(plan))) {}  // NOLINT

  [[nodiscard]] bool empty() const { return plan_ == nullptr && text_.empty(); }
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Null if it is a text.
  [[nodiscard]] const std::shared_ptr<const Plan>& plan() const { return plan_; }

 private:
  std::string text_;
  std::shared_ptr<const Plan> plan_;
};

/// Options of Runtime::open() and Node::open(). The defaults suit a program without a plan.
struct RuntimeOptions {
  std::string plan_file = {};    ///< empty: no plan, shared memory only, default policies
  PlanInCode plan = {};          ///< instead of a file
  std::string process = "main";  ///< name of this process in the plan
  /// "channels.scan.depth=3", as `--set` on the command line. Without a plan they change an empty
  /// plan, which accepts every node and channel.
  std::vector<std::string> overrides = {};
  std::string domain = {};  ///< replaces the plan's domain. Separates robots on one machine
  /// Worker threads. 0: the plan's number, or one per core, at least 2. Cost: the stack of each. A
  /// thread without work sleeps.
  int threads = 0;
  /// No transports: all messages stay in this process. Opens faster and writes nothing to /dev/shm.
  bool offline = false;
  std::optional<ClockMode> clock = {};  ///< replaces the plan's clock
  std::string clock_channel = {};  ///< replaces the plan's channel. Empty: the plan's, or "clock"
  std::int64_t base_ns = 0;        ///< base of real time, Unix time. 0: the start of this process
  /// Folder for the state that survives a restart of a node (parameters that were set). Empty: a
  /// restart begins with the plan's values.
  std::string state_folder = {};
  /// Deterministic execution: the same inputs in the same order give the same outputs for any
  /// number of threads. All nodes of the plan run in this process without transports. Callbacks run
  /// one at a time in the order in which they became due. `threads` remains the limit for parallel
  /// algorithms inside callbacks. Cost: one core at most runs callbacks.
  bool lockstep = false;
  std::vector<std::string> lockstep_nodes = {};  ///< run only these nodes of the plan. Empty: all
};

/// A change of a channel in another process, as Runtime::set_channel_open() makes it in this one.
struct ChannelChange {
  std::string channel;
  bool open = true;
  Where where = Where::both;
  /// Opens at `where` only, in one step, as Runtime::open_channel_only(). `open` has no effect.
  bool only = false;
  std::string peer = {};  ///< only towards this process or endpoint. `where` has no effect
};

/// A change of a group of the plan, as the functions of Runtime make it. For tools.
struct GroupChange {
  enum class Action : std::uint8_t { look, start, stop, move, open, close };

  std::string group;  ///< empty: every group. Only for `look`
  Action action = Action::look;
  std::string process = {};   ///< the target of `move`
  Where where = Where::both;  ///< of `open` and `close`
};

/// The state of a group, or of all groups.
struct GroupState {
  struct Node {
    std::string group;
    std::string node;
    std::string process;  ///< in which it runs, or would run
    bool running = false;
    bool reachable = true;  ///< false: the process does not run, or does not reply
  };
  struct Channel {
    std::string process;
    std::string channel;
    Where open = Where::both;
  };

  std::vector<Node> nodes;
  std::vector<Channel> channels;  ///< that were opened or closed
};

/// The default timeout of a change of a group, which may construct nodes.
inline constexpr Duration kGroupTimeout = {30'000'000'000};

/// The runtime of one process: the graph, its thread pool and its transports, configured by the
/// plan.
///
/// Open it once in main() and make nodes from it. Programs with a single node use Node::open(). All
/// functions are thread-safe. The runtime closes when its last copy is destroyed. It then stops
/// timers, waits for running callbacks, flushes reliable channels for up to 200 ms and leaves no
/// file behind.
class HYPHOS_EXPORT Runtime {
 public:
  /// Opens the runtime: reads the plan, starts the threads and opens the transports. Blocks
  /// meanwhile. Errors: invalid_config (an option or the plan), not_found (plan file, process or
  /// node), exhausted (memory, disk, file descriptors), permission, already_exists (an endpoint is
  /// bound already).
  static Result<Runtime> open(RuntimeOptions options);
  /// Opens the runtime from the arguments that `hyphos run` passes to every program of a plan:
  /// `--hyphos-plan FILE --hyphos-process NAME --hyphos-set KEY=VALUE --hyphos-domain D
  /// --hyphos-state FOLDER --hyphos-clock real|sim --hyphos-base-ns N`.
  static Result<Runtime> open(int argc, char** argv);

  /// Makes a node of this process. Errors: already_exists (the process has a node of this name),
  /// not_found (the plan has no such node in this process), invalid_config (the name),
  /// disconnected (the runtime has ended).
  Result<Node> node(std::string name);
  /// Loads this process's plug-ins in the order of the plan, and constructs their nodes in the
  /// calling thread. Errors: invalid_config, not_found (the file), unsupported (another
  /// kPluginAbi).
  Result<void> load_plugins();

  /// The endpoints of this process with their counters. Takes a lock briefly. For tools and tests.
  [[nodiscard]] std::vector<EndpointInfo> endpoints() const;

  /// Opens or closes a channel of this process at run time: inside (between endpoints of this
  /// process), outside (between this process and others) or both. The other place stays as it is.
  /// A message that does not pass is counted as `drop.closed`. While both are closed, publish()
  /// returns a failure. Errors: not_found.
  Result<void> set_channel_open(const std::string& channel, bool open, Where where = Where::both);
  /// Opens the channel at `where` only, in one step: each message passes at the places before the
  /// call, or at those after it. This moves the subscribers of a channel to another process and
  /// back, without a message lost or doubled. Errors: not_found.
  Result<void> open_channel_only(const std::string& channel, Where where);
  /// The places at which the channel is open now. Errors: not_found.
  [[nodiscard]] Result<Where> channel_open(const std::string& channel) const;
  /// Opens or closes the channel towards one peer: the name of its process, or the endpoint to
  /// which this process connects.
  Result<void> set_channel_open(const std::string& channel, const std::string& peer, bool open);

  /// Starts the nodes of a group of the plan, each in its process, in which they are constructed as
  /// at the start. Nodes that run already continue. All functions of groups reach every process of
  /// the plan, also on other machines. They block until all processes have replied, and need
  /// ready() or spin() before. Not from a callback of a node of the group. Errors: not_found (no
  /// such group, or a process does not run), unsupported (a node that its own program constructs),
  /// timeout, and those of the nodes' constructors, after which no node of the group runs there.
  Result<GroupState> start_group(const std::string& group, Duration timeout = kGroupTimeout) const;
  /// Ends the nodes of a group as at the end of the process. The processes continue.
  Result<GroupState> stop_group(const std::string& group, Duration timeout = kGroupTimeout) const;
  /// Stops the group where it runs, then starts it in `process`, which is its own process or one of
  /// its `moves_to`. Messages that are published in between do not reach it. If the start fails,
  /// the group starts again in the process before.
  Result<GroupState> move_group(const std::string& group, const std::string& process,
                                Duration timeout = kGroupTimeout) const;
  /// Opens or closes the channels at which nodes of the group have endpoints, in the processes of
  /// these nodes, as set_channel_open().
  Result<GroupState> set_group_open(const std::string& group, bool open, Where where = Where::both,
                                    Duration timeout = kGroupTimeout) const;
  /// The nodes of a group and their processes. Empty: of every group.
  [[nodiscard]] Result<GroupState> group_state(const std::string& group,
                                               Duration timeout = kGroupTimeout) const;
  /// True if the plan, or a later change of its group, places the node in this process.
  [[nodiscard]] bool hosts(const std::string& node) const;
  /// For hosts of nodes in other languages: constructs (true) or ends (false) a node of a group.
  /// Returns the problem, or "". Calls come from the pool, one at a time.
  void set_node_host(std::function<std::string(const std::string& node, bool run)> host);

  /// Announces the definitions of protobuf types, for programs that use types by name only
  /// (Node::raw_publisher()). Endpoints of protobuf classes do this by themselves. Other programs
  /// of this machine then decode the channels (announced_types()). `descriptors` is a serialized
  /// FileDescriptorSet. Each .proto file is announced once. Copies the files into shared memory,
  /// unless the runtime is offline. Errors: corrupt, exhausted (4 MiB in one process).
  Result<void> announce_types(std::string_view descriptors);
  /// The definitions that this process has announced, as a serialized FileDescriptorSet.
  [[nodiscard]] std::string announced_types() const;

  /// Runs `work` (if any) on the thread pool, then waits until no callback of this process is
  /// queued or running. All consequences of `work` and of earlier events are then complete. Must
  /// not be called from a callback. Never returns under a load that never ends. Rethrows exceptions
  /// of `work`.
  void settle(std::function<void()> work = {});
  /// The instant at which the next timer of this process is due. Absent: no timer is scheduled. In
  /// simulated mode a time of clock(), in real mode of the monotonic clock. For simulators, between
  /// settle() and the next step.
  [[nodiscard]] std::optional<Time> next_timer() const;
  /// Exceptions thrown by callbacks. They are logged, and the process continues. For tests, and for
  /// programs that treat such an exception as fatal.
  [[nodiscard]] CallbackErrors callback_errors() const;
  /// The channels opened in this process.
  [[nodiscard]] std::vector<ChannelInfo> channels() const;

  /// Declares that all nodes of this process are constructed. spin() does this itself. For programs
  /// that do not spin.
  void ready();
  /// Waits until request_stop(), SIGINT or SIGTERM ends the runtime, and returns the exit code for
  /// main(). Returns immediately if the runtime has ended. In a forked child of the process that
  /// opened it, logs a line and returns 1 immediately.
  ///
  /// Only in the main thread does spin() handle signals. There the program's own signal handler
  /// runs as usual and spin() continues, as it does after an ignored signal. To end spin(), call
  /// request_stop() in another thread or in `interrupted`. The main thread calls `interrupted` at
  /// the start and after each such handler. An exception of `interrupted` propagates out of spin(),
  /// and the runtime continues.
  int spin(const std::function<void()>& interrupted = {});
  /// An error if the runtime is unusable, because this process is a forked child of its opener.
  [[nodiscard]] Result<void> usable() const;
  /// Ends spin() in every thread. Returns immediately. Idempotent.
  void request_stop();
  [[nodiscard]] bool stopping() const;

  /// The clock of this process. Copies remain usable after the runtime has ended.
  [[nodiscard]] Clock clock() const;

  /// The plan, valid as long as the runtime. Null if there is none.
  [[nodiscard]] const Plan* plan() const;
  [[nodiscard]] const std::string& process() const;
  [[nodiscard]] const std::string& domain() const;

  class Impl;
  explicit Runtime(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  [[nodiscard]] const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace hyphos
