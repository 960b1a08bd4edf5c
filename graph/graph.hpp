#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "graph/channel.hpp"
#include "graph/executor.hpp"
#include "graph/timers.hpp"
#include "graph/type_definitions.hpp"
#include "hyphos/inspect.hpp"
#include "hyphos/policy.hpp"
#include "hyphos/publisher.hpp"
#include "hyphos/subscription.hpp"
#include "trace/record.hpp"
#include "transport/transport.hpp"

namespace hyphos::graph {

/// The properties of a channel of a given name, from the plan or, where the plan has no entry, from
/// the endpoint.
struct ChannelRules {
  Policy policy;
  Where open = Where::both;
  std::vector<std::string> transports;  ///< names, in order of preference for loans
  /// An additional transport for tools without a plan (ChannelSpec::tools_only). Empty: none.
  std::string tools_only = {};
  bool planned = false;   ///< the plan contains it
  std::string type = {};  ///< required type of every endpoint, empty for that of the first endpoint
  std::string where = {};  ///< the place of the channel in the plan
};

/// The channels of one process, its thread pool and its transports.
class Graph {
 public:
  /// `wish` is the policy that an endpoint requests. A channel gets the properties of its first
  /// endpoint. In addition it takes `latched` from its first publisher. When all endpoints are
  /// gone, the next one is again the first.
  using Rules = std::function<ChannelRules(const std::string& channel, const Policy& wish)>;

  /// `one_by_one`: callbacks run one at a time, in the order in which they became due. `clock`: the
  /// clock of the timers, null for real time.
  /// `publish`: see TypeDefinitions.
  Graph(int threads, std::shared_ptr<trace::Registry> registry, Rules rules,
        bool one_by_one = false, std::shared_ptr<detail::ClockCore> clock = nullptr,
        TypeDefinitions::Publish publish = {});
  ~Graph();

  /// Adds a started transport. Call before the first channel is opened.
  void add_transport(std::shared_ptr<transport::Transport> transport);

  Result<std::shared_ptr<detail::PublisherCore>> publisher(const std::string& channel,
                                                           const TypeSupport& type,
                                                           const Policy& wish, Scope scope,
                                                           const std::string& node);
  Result<std::shared_ptr<Subscriber>> subscribe(const std::string& channel, const TypeSupport& type,
                                                const Policy& wish, Scope scope, Mode mode,
                                                bool raw, const std::string& node,
                                                detail::Callback callback,
                                                std::function<void()> ready = {},
                                                std::shared_ptr<Group> group = {});
  /// A channel for the services of the node room. Its name need not follow the rules for users.
  Result<std::shared_ptr<Channel>> internal_channel(const std::string& name,
                                                    const TypeSupport& type, const Policy& policy);
  /// Calls `work` with the channel, which stays without an endpoint from now on, so that a setting
  /// lasts. Errors: not_found.
  Result<void> with_channel(const std::string& channel, const std::function<void(Channel&)>& work);
  /// The definitions of the types of this process. Channels add theirs.
  [[nodiscard]] TypeDefinitions& definitions() { return definitions_; }
  [[nodiscard]] transport::Transport* transport(std::string_view name) const;
  /// Timers on the clock of the process.
  [[nodiscard]] Timers& timers() { return timers_; }
  /// Timers on real time, for waiting for other processes.
  [[nodiscard]] Timers& timeouts() { return timeouts_; }
  [[nodiscard]] Executor& executor() { return executor_; }
  /// Runs `work` on the thread pool.
  void enqueue(Executor::Work work) { executor_.enqueue(Priority::normal, std::move(work)); }
  [[nodiscard]] std::vector<std::string> channels() const;
  [[nodiscard]] std::vector<ChannelInfo> list() const;
  /// Runs `work` on the pool and waits until all its consequences have run. Not from a callback.
  void settle(std::function<void()> work);

  /// Stops transports and timers. On return none of their callbacks runs. Publishing becomes local.
  /// Idempotent.
  void stop(std::int64_t linger_ms);

 private:
  struct Entry {
    std::shared_ptr<Channel> channel;
    bool held =
        false;  ///< stays without an endpoint: it is in the plan, or with_channel() was called
  };
  struct Opened {
    std::shared_ptr<Channel> channel;  ///< keeps the channel in use
    std::uint32_t latched = 0;  ///< the latched_depth of the rules for this endpoint, 0: none
  };
  enum class End : std::uint8_t { publisher, subscriber, call };

  /// `node` is used in the error if the plan requires another type.
  Result<Opened> channel(const std::string& name, const TypeSupport& type, const Policy& wish,
                         End end, const std::string& node = {});
  static Result<void> check_type(const std::string& name, const TypeId& type,
                                 const ChannelRules& rules, const std::string& node);
  /// True if the endpoint may use the existing channel. Else the channel is made again.
  static bool fits(const Channel& there, const TypeId& type, const Policy& wanted, End end);
  std::shared_ptr<Channel> make(const std::string& name, const TypeSupport& type,
                                const ChannelRules& rules);
  /// True if it counts among the channels of this process.
  static bool is_there(const Entry& entry);
  /// Drops unused channels, except the kMostKept most recently used ones with latched messages.
  void drop_unused() HYPHOS_REQUIRES(mutex_);

  /// Maximum number of latched channels without an endpoint whose messages are kept for late
  /// subscribers.
  static constexpr std::size_t kMostKept = 64;

  const std::shared_ptr<trace::Registry> registry_;
  const Rules rules_;
  TypeDefinitions definitions_;
  Executor executor_;
  Timers timers_;
  Timers timeouts_;
  std::vector<std::shared_ptr<transport::Transport>> transports_;
  mutable Mutex mutex_;
  std::map<std::string, Entry> channels_ HYPHOS_GUARDED_BY(mutex_);
  bool stopped_ HYPHOS_GUARDED_BY(mutex_) = false;
};

}  // namespace hyphos::graph
