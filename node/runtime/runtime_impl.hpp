#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock_core.hpp"
#include "base/fork.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/wall_watch.hpp"
#include "graph/graph.hpp"
#include "graph/group.hpp"
#include "graph/subscriber.hpp"
#include "hyphos/node.hpp"
#include "hyphos/plan.hpp"
#include "hyphos/runtime.hpp"
#include "node/log/log_channel.hpp"
#include "node/params/params_impl.hpp"
#include "node/params/remote_params_impl.hpp"
#include "node/params/shared_params_impl.hpp"
#include "node/runtime/links.hpp"
#include "node/runtime/plugin_loader.hpp"
#include "node/transforms/transforms_impl.hpp"
#include "trace/record.hpp"

namespace hyphos {
namespace calls {
class ClientCore;
}

/// The members of a Runtime. They are destroyed in reverse order: first the plug-in objects, then
/// the graph with its threads, then the counters, which are in shared memory.
class Runtime::Impl : public std::enable_shared_from_this<Runtime::Impl> {
 public:
  explicit Impl(RuntimeOptions options) : options_(std::move(options)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  Result<void> start();
  Result<Node> make_node(std::string name) {
    return make_node(std::move(name), shared_from_this());
  }
  Result<void> load_plugins();
  /// Ends timers and callbacks, flushes, and leaves the transports. Idempotent. Not from a
  /// callback.
  void shutdown();

  /// The transform tree on these channels. The first caller creates it.
  Result<std::shared_ptr<Transforms::Impl>> transforms(Transforms::Impl::Channels channels,
                                                       const std::string& node,
                                                       TransformsOptions options);

  /// The shared tree of parameters. The first caller creates it.
  Result<std::shared_ptr<SharedParams::Impl>> shared_params();

  void ready();
  /// Runtime::spin(). Also returns when `closed`, an eventfd, becomes readable (-1: none).
  int spin(const std::function<void()>& interrupted, int closed = -1);
  /// From now on spin() returns 1 if an exception has left a callback.
  void be_strict() { strict_.store(true, std::memory_order_relaxed); }
  void request_stop();
  /// Returns an error in a forked child.
  [[nodiscard]] Result<void> usable() const;
  [[nodiscard]] bool stopping() const { return stopping_.load(std::memory_order_acquire); }

  /// The other server of `service` in any process of this machine: "process 'x' (pid 7)". "" if
  /// none.
  [[nodiscard]] std::string other_server(const std::string& channel) const;
  /// Reserves the name of a service for this process while the returned token lives. Null: in use.
  [[nodiscard]] std::shared_ptr<void> claim_service(const std::string& channel);

  [[nodiscard]] std::vector<EndpointInfo> endpoints() const { return registry_->endpoints(); }
  [[nodiscard]] graph::Graph& graph() { return *graph_; }
  [[nodiscard]] LogChannel& log_channel() { return *log_; }
  [[nodiscard]] const Plan* plan() const { return plan_ ? &*plan_ : nullptr; }
  [[nodiscard]] const RuntimeOptions& options() const { return options_; }
  [[nodiscard]] const std::string& domain() const { return domain_; }
  Result<void> set_peer_open(const std::string& channel, const std::string& peer, bool open);
  /// In real mode, the first call enables the watch for settings of the wall clock.
  [[nodiscard]] Clock clock();

  /// True if the plan, or a later change of its group, places the node in this process.
  [[nodiscard]] bool hosts(const NodePlan& node);
  /// True if this process has the node now.
  [[nodiscard]] bool runs(const std::string& node);
  /// Constructs or ends the nodes of a group in this process, all or none. Not in two threads at
  /// once.
  Result<void> start_group_here(const GroupPlan& group);
  Result<void> stop_group_here(const GroupPlan& group);
  /// Opens or closes the channels of the group's nodes in this process. Returns their places.
  Result<std::vector<std::pair<std::string, Where>>> open_group_here(const GroupPlan& group,
                                                                     bool open, Where where);
  using NodeHost = std::function<std::string(const std::string&, bool)>;
  void set_node_host(NodeHost host);
  Result<GroupState> change_group(const GroupChange& change, Duration timeout);
  /// The node of the services for tools. Absent before ready() and after the end.
  [[nodiscard]] std::optional<Node> own_node();
  /// Set while this process changes its nodes, or coordinates a change.
  [[nodiscard]] std::atomic<bool>& changing_members() { return changing_members_; }
  [[nodiscard]] std::atomic<bool>& changing_groups() { return changing_groups_; }

  void wake_sleepers() { clock_->wake(); }
  [[nodiscard]] const std::string& clock_channel() const { return clock_channel_; }

 private:
  /// `self` is the node's reference to this object. Empty for a node that lives inside this object.
  Result<Node> make_node(std::string name, std::shared_ptr<Impl> self);
  Result<void> read_plan();
  Result<void> apply_process_settings(const ProcessPlan& process);
  Result<void> open_transports();
  void announce_plan_types();
  void start_heartbeat(std::int64_t heartbeat_ms);
  /// True if the plan assigns the node to this process, or in lock-step, if it was selected.
  [[nodiscard]] bool is_here(const NodePlan& node);
  Result<void> load_plugin(const NodePlan& node);
  void load_groups();
  /// The file in which a restarted process finds the groups that it hosts. Empty if there is none.
  [[nodiscard]] std::filesystem::path group_file() const;
  Result<void> record_group(const std::string& group, bool here);
  /// The error of a node that can neither start nor end in a running process.
  Result<void> can_change(const NodePlan& node);
  Result<void> call_host(const NodePlan& node, bool run);
  Result<void> start_node(const NodePlan& node);
  Result<void> stop_node(const NodePlan& node);
  graph::ChannelRules rules(const std::string& channel, const Policy& wish) const;
  void make_clock();
  Result<void> follow_clock();
  [[nodiscard]] int exit_code() const;  // of spin()
  [[nodiscard]] ParamFiles param_files(const std::string& node, const NodePlan* planned) const;
  /// Publishes the shared parameters of the plan, if it has any.
  void share_plan_params();
  void close_shared_params();
  /// Reports for all current nodes that all their parameters are declared.
  void params_done();
  /// Once: warns if another process of the domain has a node with the name of a node here.
  void warn_of_namesakes();
  /// Once, for a process with a plan: opens the service for tools that change the process.
  void serve_tools();
  /// Warns of nodes that --hyphos-set names without a plan, and that this process does not have.
  void warn_of_absent_nodes();

  const ForkMark mark_;
  RuntimeOptions options_;
  std::optional<Plan> plan_;
  bool by_hand_ = false;  ///< the plan consists of overrides only, and names not every node
  std::optional<Connections> connections_;
  std::string domain_ = "0";
  int threads_ = 1;

  std::shared_ptr<detail::ClockCore> clock_;
  std::unique_ptr<WallWatch> wall_watch_ HYPHOS_GUARDED_BY(mutex_);
  std::string clock_channel_ = "clock";
  log::OncePerSecond clock_log_;

  std::shared_ptr<trace::Registry> registry_;
  std::vector<OpenLink> links_;
  std::unique_ptr<graph::Graph> graph_;
  std::shared_ptr<LogChannel> log_;
  std::shared_ptr<graph::Subscriber> clock_ticks_;  // simulated time only
  std::unique_ptr<transport::Announcer> announcer_;
  Mutex plugins_mutex_;
  std::vector<LoadedPlugin> plugins_ HYPHOS_GUARDED_BY(plugins_mutex_);
  std::optional<Node> own_node_ HYPHOS_GUARDED_BY(mutex_);  ///< of serve_tools()

  Mutex mutex_;
  std::map<std::string, std::weak_ptr<Node::Impl>> nodes_ HYPHOS_GUARDED_BY(mutex_);
  // By request channel.
  std::map<std::string, std::weak_ptr<void>> services_ HYPHOS_GUARDED_BY(mutex_);
  /// Groups that were changed in this run, true if they are here.
  std::map<std::string, bool> groups_here_ HYPHOS_GUARDED_BY(mutex_);
  NodeHost node_host_ HYPHOS_GUARDED_BY(mutex_);
  Mutex transforms_mutex_;
  /// By moving channel.
  std::map<std::string, std::shared_ptr<Transforms::Impl>> transforms_
      HYPHOS_GUARDED_BY(transforms_mutex_);
  Mutex shared_mutex_;
  std::shared_ptr<SharedParams::Impl> shared_ HYPHOS_GUARDED_BY(shared_mutex_);
  std::atomic<bool> strict_{false};
  std::atomic<bool> warned_of_namesakes_{false};
  std::atomic<bool> serves_tools_{false};
  std::atomic<bool> changing_members_{false};
  std::atomic<bool> changing_groups_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> down_{false};
  int stop_event_ = -1;  // eventfd: readable once a stop was requested
};

/// The subscriptions of a node, until they have ended. Subscriptions refer to this object instead
/// of the node, because an ending callback must not drop the last reference to the node.
/// Thread-safe.
class OwnSubscribers : public std::enable_shared_from_this<OwnSubscribers> {
 public:
  void keep(std::shared_ptr<graph::Subscriber> subscriber);
  /// Releases the subscriptions that are closed and whose callbacks have ended.
  void forget_ended();
  [[nodiscard]] std::vector<std::shared_ptr<graph::Subscriber>> take();

 private:
  Mutex mutex_;
  std::vector<std::shared_ptr<graph::Subscriber>> subscribers_ HYPHOS_GUARDED_BY(mutex_);
};

class Node::Impl {
 public:
  Impl(std::string name, std::shared_ptr<Runtime::Impl> runtime, const NodePlan* plan,
       std::shared_ptr<Params::Impl> params)
      : name_(std::move(name)),
        runtime_(std::move(runtime)),
        plan_(plan),
        params_(std::move(params)),
        logger_(runtime_->log_channel().add(name_, channel_for("log"))) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { close(); }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Runtime::Impl& runtime() { return *runtime_; }
  [[nodiscard]] const std::shared_ptr<Runtime::Impl>& runtime_ptr() const { return runtime_; }
  [[nodiscard]] const std::string& channel_for(const std::string& name) const {
    return plan_ != nullptr ? plan_->channel_for(name) : name;
  }
  [[nodiscard]] const std::shared_ptr<Params::Impl>& params() const { return params_; }

  [[nodiscard]] Logger logger() const { return Logger(logger_); }

  /// The clock of the process. Its sleeps end with this node.
  [[nodiscard]] Clock clock();
  Result<void> check_open() const;
  /// The group of these options, null if there is none.
  Result<std::shared_ptr<graph::Group>> group_of(const std::string& channel,
                                                 const SubscriptionOptions& options) const;
  [[nodiscard]] const std::shared_ptr<OwnSubscribers>& subscribers() const { return subscribers_; }
  void keep(std::shared_ptr<Timer::Impl> timer);
  void keep(std::shared_ptr<detail::CallServer> server);
  void keep(std::weak_ptr<calls::ClientCore> client);
  void keep(const std::shared_ptr<RemoteParams::Impl>& remote);
  void keep(std::weak_ptr<detail::PublisherCore> publisher);
  void close();
  /// Ends the waits of callbacks for replies and times. The node takes no new ones.
  void end_waits();
  /// Node::close(): also ends publishers before their handles end.
  void close_all();
  int spin(const std::function<void()>& interrupted);

 private:
  const std::string name_;
  const std::shared_ptr<Runtime::Impl> runtime_;
  const NodePlan* const plan_;  // lives in runtime_
  const std::shared_ptr<Params::Impl> params_;
  const std::shared_ptr<OwnSubscribers> subscribers_ = std::make_shared<OwnSubscribers>();
  const std::shared_ptr<Logger::Impl> logger_;
  mutable Mutex mutex_;
  bool closed_ HYPHOS_GUARDED_BY(mutex_) = false;
  const std::shared_ptr<std::atomic<bool>> ended_ = std::make_shared<std::atomic<bool>>(false);
  std::vector<std::shared_ptr<Timer::Impl>> timers_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<detail::CallServer>> servers_ HYPHOS_GUARDED_BY(mutex_);
  // Each lives as long as its handles.
  std::vector<std::weak_ptr<calls::ClientCore>> clients_ HYPHOS_GUARDED_BY(mutex_);
  // Each lives as long as its handles.
  std::vector<std::weak_ptr<detail::PublisherCore>> publishers_ HYPHOS_GUARDED_BY(mutex_);
  // Eventfds of spin() calls, written when the node closes.
  std::vector<int> spinning_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<RemoteParams::Impl>> remotes_ HYPHOS_GUARDED_BY(mutex_);
};

class Timer::Impl {
 public:
  using Skipped = std::shared_ptr<std::atomic<std::uint64_t>>;
  Impl(graph::Timers& timers, graph::Timers::Id id, Skipped skipped)
      : timers_(timers), id_(id), skipped_(std::move(skipped)) {}
  /// The node closes its timers before the graph ends. Later use of a handle has no effect.
  void close() {
    if (!mark_.is_inherited() && !closed_.exchange(true)) timers_.cancel(id_);
  }
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] std::uint64_t skipped() const { return *skipped_; }

 private:
  const ForkMark mark_;
  graph::Timers& timers_;
  const graph::Timers::Id id_;
  const Skipped skipped_;
  std::atomic<bool> closed_{false};
};

}  // namespace hyphos
