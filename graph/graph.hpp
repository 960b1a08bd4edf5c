#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/channel.hpp"
#include "graph/executor.hpp"
#include "graph/timers.hpp"
#include "hyphos/inspect.hpp"
#include "hyphos/policy.hpp"
#include "hyphos/publisher.hpp"
#include "hyphos/subscription.hpp"
#include "trace/record.hpp"
#include "transport/transport.hpp"

namespace hyphos::graph {

/// What a channel of a given name is to be: from the plan, or the caller's wish where it is silent.
struct ChannelRules {
  Policy policy;
  bool open = true;
  std::vector<std::string> transports;  ///< names, in order of preference for loans
  /// One more, where only processes without a plan are met (ChannelSpec::for_guests); empty: none.
  std::string tools_only = {};
  bool planned = false;    ///< the plan names it
  std::string type = {};   ///< of every endpoint; empty: that of the first endpoint
  std::string where = {};  ///< the place of the channel in the plan
};

/// The channels of one process, its thread pool and its transports.
class Graph {
 public:
  /// `wish` is what an end asks for. A channel is as its first end has it, and takes `latched` from
  /// its first publisher besides; when all ends have gone, the next one is the first again.
  using Rules = std::function<ChannelRules(const std::string& channel, const Policy& wish)>;

  /// `one_by_one`: callbacks run one at a time, in the order in which they became due. `clock`:
  /// what timers follow; null: real time.
  Graph(int threads, std::shared_ptr<trace::Registry> registry, Rules rules,
        bool one_by_one = false, std::shared_ptr<detail::ClockCore> clock = nullptr);
  ~Graph();

  /// A transport that has been started. Call before the first channel is opened.
  void add_transport(std::shared_ptr<transport::Transport> transport);

  Result<std::shared_ptr<detail::PublisherCore>> publisher(const std::string& channel,
                                                           const TypeSupport& type,
                                                           const Policy& wish, Scope scope,
                                                           const std::string& node);
  Result<std::shared_ptr<Subscriber>> subscribe(const std::string& channel, const TypeSupport& type,
                                                const Policy& wish, Scope scope, Mode mode,
                                                bool raw, const std::string& node,
                                                detail::Callback callback,
                                                std::function<void()> ready = {});
  /// A channel for the services of the node room: its name is not held to the rules of users.
  Result<std::shared_ptr<Channel>> internal_channel(const std::string& name,
                                                    const TypeSupport& type, const Policy& policy);
  Result<void> set_open(const std::string& channel, bool open);
  [[nodiscard]] transport::Transport* transport(std::string_view name) const;
  /// They follow the clock of the process.
  [[nodiscard]] Timers& timers() { return timers_; }
  /// These follow real time whatever the clock: for waiting for other processes.
  [[nodiscard]] Timers& timeouts() { return timeouts_; }
  [[nodiscard]] Executor& executor() { return executor_; }
  /// Runs `work` on the thread pool.
  void enqueue(Executor::Work work) { executor_.enqueue(Priority::normal, std::move(work)); }
  [[nodiscard]] std::vector<std::string> channels() const;
  [[nodiscard]] std::vector<ChannelInfo> list() const;
  /// Runs `work` on the pool and waits until all that came of it has run. Not from a callback.
  void settle(std::function<void()> work);

  /// No callback of a transport or timer comes after this. Publishing becomes local. Idempotent.
  void stop(std::int64_t linger_ms);

 private:
  struct Entry {
    std::shared_ptr<Channel> channel;
    bool held = false;  ///< stays without an end: the plan names it, or set_open() did
  };
  struct Opened {
    std::shared_ptr<Channel> channel;  ///< in use for as long as this lives
    bool latched = false;              ///< the rules say so for this end
  };
  enum class End : std::uint8_t { publisher, subscriber, call };

  /// `node`: for the error if the plan names another type.
  Result<Opened> channel(const std::string& name, const TypeSupport& type, const Policy& wish,
                         End end, const std::string& node = {});
  static Result<void> check_type(const std::string& name, const TypeId& type,
                                 const ChannelRules& rules, const std::string& node);
  /// Whether the channel may be what this end finds; else it is made anew. Under mutex_.
  static bool fits(const Channel& there, const TypeId& type, const Policy& wanted, End end);
  std::shared_ptr<Channel> make(const std::string& name, const TypeSupport& type,
                                const ChannelRules& rules);
  /// Whether it counts among the channels of this process.
  static bool is_there(const Entry& entry);
  /// Drops what nobody has any more, but for the last kMostKept that have latched messages. Under
  /// mutex_.
  void drop_unused();

  /// Latched channels without an end whose messages are kept for who comes late.
  static constexpr std::size_t kMostKept = 64;

  const std::shared_ptr<trace::Registry> registry_;
  const Rules rules_;
  Executor executor_;
  Timers timers_;
  Timers timeouts_;
  std::vector<std::shared_ptr<transport::Transport>> transports_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> channels_;
  bool stopped_ = false;
};

}  // namespace hyphos::graph
