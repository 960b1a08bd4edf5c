#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/clock.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/inspect.hpp"
#include "hyphos/policy.hpp"
#include "hyphos/publisher.hpp"
#include "hyphos/result.hpp"
#include "hyphos/subscription.hpp"
#include "hyphos/time.hpp"

namespace hyphos {

struct ChannelInfo;
struct Plan;
class Node;

struct RuntimeOptions {
  std::filesystem::path plan_file;  ///< empty: no plan, shared memory only, defaults for channels
  std::string process = "main";     ///< which process of the plan this is
  std::vector<std::string> overrides;  ///< "channels.scan.depth=3", as `--set` on the command line
  std::string domain;    ///< wins over the plan's domain; separates robots on one machine
  int threads = 0;       ///< worker threads; 0: the plan's number, or one per core, at least 2
  bool offline = false;  ///< no transports at all: everything stays in this process
  std::optional<ClockMode> clock = {};  ///< wins over the plan's clock
  std::string clock_channel;            ///< wins over the plan's; empty: the plan's, or "clock"
  std::int64_t base_ns = 0;  ///< real time's base, Unix time; 0: the start of this process
  /// Where the nodes of one run leave what a restart takes over (parameters that were set), and
  /// take it from. Empty: a restart begins with the plan.
  std::filesystem::path state_folder;
  /// The same inputs in the same order give the same outputs, whatever the number of threads: all
  /// nodes of the plan are of this process, it is offline, and callbacks run one at a time in the
  /// order in which they became due. `threads` remains what parallel algorithms in them may use.
  bool lockstep = false;
  std::vector<std::string> lockstep_nodes;  ///< only these of the plan; empty: all
};

/// Everything of one process: the graph, its thread pool and its transports, as the plan says.
///
/// Open it once in main() and make nodes from it; programs with a single node use Node::open(). All
/// functions are thread-safe. Closing (the last copy going away) stops timers, lets running
/// callbacks finish, flushes reliable channels for up to 200 ms and leaves no file behind.
class HYPHOS_EXPORT Runtime {
 public:
  static Result<Runtime> open(RuntimeOptions options);
  /// Takes `--hyphos-plan FILE --hyphos-process NAME --hyphos-set KEY=VALUE --hyphos-domain D
  /// --hyphos-state FOLDER --hyphos-clock real|sim --hyphos-base-ns N` out of the arguments: what
  /// `hyphos run` passes to every program of a plan.
  static Result<Runtime> open(int argc, char** argv);

  /// A node of this process. The name must be unique in the process.
  Result<Node> node(std::string name);
  /// Loads the plug-ins of this process that the plan names, in order of the plan.
  Result<void> load_plugins();

  /// What the nodes of this process publish and subscribe now, with counters. Takes a lock for a
  /// moment; for tools and tests.
  [[nodiscard]] std::vector<EndpointInfo> endpoints() const;

  /// Opens or closes a channel in this process while it runs. Closed: publish() reports a failure,
  /// nothing is delivered, and both are counted.
  Result<void> set_channel_open(const std::string& channel, bool open);
  /// The same towards one peer: the name of its process, or the endpoint at which we connect to it.
  Result<void> set_channel_open(const std::string& channel, const std::string& peer, bool open);

  /// Runs `work` (if any) on the thread pool and waits until no callback of this process is queued
  /// or running: until all that came of it, and of what came before, is done. Not from a callback.
  /// Under a load that never ends, it never returns. Throws what `work` throws.
  void settle(std::function<void()> work = {});
  /// The instant at which the next timer of this process becomes due; absent: none is planned. On
  /// the line of time that timers follow: in simulated mode that of clock(), in real mode the
  /// monotonic clock. For who makes the time, between settle() and the next step.
  [[nodiscard]] std::optional<Time> next_timer() const;
  /// Exceptions that have left callbacks. They are logged and end nothing: for tests, and for
  /// whoever wants them to end something.
  [[nodiscard]] CallbackErrors callback_errors() const;
  /// The channels that have been opened in this process.
  [[nodiscard]] std::vector<ChannelInfo> channels() const;

  /// All nodes of this process stand: what spin() says by itself, for programs that do not spin.
  void ready();
  /// Waits until request_stop(), SIGINT or SIGTERM, ends the runtime, and returns the exit code for
  /// main(). At once if the runtime has ended. In a forked child of the process that opened it: 1
  /// at once, and a line in the log.
  ///
  /// Signals belong to the main thread: in another thread spin() does not handle them. In the main
  /// thread the program's own handler is called as usual, and spin() goes on, as it does after an
  /// ignored signal. To end it, call request_stop() in another thread, or in `interrupted`, which
  /// this thread calls at the start and after each such handler. An exception of `interrupted`
  /// leaves spin(), and the runtime goes on.
  int spin(const std::function<void()>& interrupted = {});
  /// The reason why the runtime is unusable: this process is a forked child of its opener.
  [[nodiscard]] Result<void> usable() const;
  void request_stop();
  [[nodiscard]] bool stopping() const;

  /// The time of this process. Copies stay good after the runtime has ended.
  [[nodiscard]] Clock clock() const;

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
