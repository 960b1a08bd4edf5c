#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/brief_mutex.hpp"
#include "base/latched_cache.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "graph/block.hpp"
#include "graph/executor.hpp"
#include "graph/timers.hpp"
#include "hyphos/publisher.hpp"
#include "hyphos/subscription.hpp"
#include "trace/record.hpp"
#include "transport/transport.hpp"

namespace hyphos::graph {

class Subscriber;
class ChannelPublisher;
class Group;
enum class View : std::uint8_t;

/// A transport as used by one graph.
struct TransportBinding {
  transport::Transport* transport = nullptr;
  std::size_t index = 0;  // in trace::Registry
  bool tools_only = false;
};

/// Notified of changes around a channel: its peers, its subscribers or its refusals. Called in
/// threads of transports, inside their calls. Must be short, and must not publish, open or close
/// anything.
class ChannelWatcher {
 public:
  virtual ~ChannelWatcher() = default;
  virtual void channel_changed() = 0;
};

/// A publisher of a channel in another process.
struct ChannelPeer {
  std::uint64_t id = 0;  ///< Meta::peer of its messages
  std::string process;
};

/// A hyperedge: all publishers and subscriptions of one name in this process, and the ports through
/// which it reaches others.
///
/// Two locks: `setup_` orders joining and leaving, and transports may be called under it. `mutex_`
/// guards the lists for the data path, and nothing else is called under it.
class Channel final : public std::enable_shared_from_this<Channel>, private transport::ReceiveSink {
 public:
  Channel(std::string name, const TypeSupport& type, Policy policy,
          std::vector<TransportBinding> bindings, std::shared_ptr<trace::Registry> registry,
          Executor& executor);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  /// `latched`: late subscribers shall get this many of the publisher's last messages, 0 for none.
  /// This makes the channel latched if it has no publisher yet. Otherwise it stays as it is,
  /// because the transports keep no messages of the existing publishers.
  Result<std::shared_ptr<detail::PublisherCore>> add_publisher(const TypeSupport& type,
                                                               bool network,
                                                               const std::string& node,
                                                               std::uint32_t latched = 0);
  Result<std::shared_ptr<Subscriber>> add_subscriber(const TypeSupport& type, Mode mode, View view,
                                                     bool network, const std::string& node,
                                                     detail::Callback callback,
                                                     std::function<void()> ready = {},
                                                     std::shared_ptr<Group> group = {});
  void remove(Subscriber& subscriber);
  void remove(ChannelPublisher& publisher);

  void watch(std::weak_ptr<ChannelWatcher> watcher);
  /// Peers whose messages may still arrive. A dead process remains until all its messages were
  /// received.
  [[nodiscard]] std::vector<ChannelPeer> peers() const;
  /// The reason of the last refusal of an endpoint in another process, if none was accepted since.
  [[nodiscard]] std::optional<Error> refusal() const;

  /// True inside calls made by a transport. Such a thread must not wait for a message, nor close
  /// anything.
  [[nodiscard]] static bool delivering_here();

  /// Called when a queue of this channel has room again. Resumes paused transports.
  void room_made();
  /// Counts the references to the channel: every endpoint, and every caller that got it from the
  /// graph and has not joined yet. The count may only be raised by a holder of a reference. At zero
  /// the graph may delete the channel.
  void use() { users_.fetch_add(1, std::memory_order_relaxed); }
  void unuse();
  [[nodiscard]] bool in_use() const { return users_.load(std::memory_order_acquire) > 0; }
  /// The time at which the last reference was dropped.
  [[nodiscard]] std::int64_t unused_since() const {
    return unused_ns_.load(std::memory_order_relaxed);
  }
  /// True if it has latched messages for late subscribers.
  [[nodiscard]] bool keeps_messages() const;

  /// Sets the places at which the channel is open, in one step: a message goes to the places before
  /// it, or to those after it.
  void set_open(Where places);
  /// Opens or closes `place`. The other place stays as it is.
  void set_open(Where place, bool open);
  [[nodiscard]] Where open_places() const { return open_.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_open(Where place) const { return is_among(place, open_places()); }
  /// Counts `deadline_missed` at every subscription without a message for policy().deadline_ms.
  void watch_deadline(Timers& timers);
  /// Leaves all transports. Publishing becomes local.
  void close_ports();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const TypeId& type() const { return type_; }
  [[nodiscard]] Policy policy() const {
    Policy policy = policy_;
    policy.latched = is_latched();
    policy.latched_depth = std::max(latched_depth(), 1U);
    return policy;
  }
  [[nodiscard]] bool is_latched() const { return latched_depth() > 0; }
  /// The number of messages of each publisher that late subscribers get. 0: not latched.
  [[nodiscard]] std::uint32_t latched_depth() const {
    return latched_depth_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint32_t publisher_count() const;
  [[nodiscard]] std::uint32_t remote_listeners() const {
    return remote_listeners_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint32_t local_listeners() const;

 private:
  friend class ChannelPublisher;
  using Subscribers = std::vector<std::shared_ptr<Subscriber>>;

  static std::uint64_t sender_of(const detail::BlockRef& block) { return block->meta().sender; }
  /// Of this process and of all others together.
  static constexpr std::size_t kMostLatched = 1024;
  using Latched = LatchedCache<detail::BlockRef, sender_of, kMostLatched>;

  struct Port {
    TransportBinding binding;
    std::atomic<transport::PortId> in{0};
    std::atomic<transport::PortId> out{0};
    std::atomic<std::uint32_t> listeners{0};
    std::atomic<std::uint32_t> publishers{0};
  };

  // transport::ReceiveSink
  bool deliver(Envelope& message, transport::ReadyList* ready) override;
  void dropped(std::string_view transport, transport::Drop reason, std::uint64_t count) override;
  void peer(std::string_view transport, std::string_view who, std::uint64_t id,
            bool present) override;
  void refused(std::string_view transport, const Error& why) override;

  /// A separate class for sending, because ReceiveSink and SendEvents have functions of the same
  /// names.
  struct Out final : transport::SendEvents {
    explicit Out(Channel& c) : channel(c) {}
    void listeners(std::string_view transport, std::uint32_t count) override;
    void dropped(std::string_view transport, transport::Drop reason, std::uint64_t count) override;
    void refused(std::string_view transport, const Error& why) override;
    Channel& channel;
  };

  void tell_watchers() HYPHOS_EXCLUDES(mutex_);
  void become_latched(const std::string& node, std::uint32_t depth) HYPHOS_REQUIRES(setup_);
  /// Marks pointers as used in the counters.
  void mark_pointer() HYPHOS_REQUIRES(mutex_);
  /// For ChannelPublisher::set_transports().
  [[nodiscard]] std::uint32_t transports_with_listeners() const HYPHOS_REQUIRES(mutex_);
  /// The type as other processes see it.
  [[nodiscard]] TypeId type_outside() const;
  Result<void> open_ports(bool sink, const std::string& node) HYPHOS_REQUIRES(setup_);
  Port* find_port(std::string_view transport);
  std::shared_ptr<const Subscribers> subscribers() const;
  /// Keeps a latched message and returns the subscriptions that get it now. A joining subscription
  /// is either among them or gets the kept messages, never both.
  std::shared_ptr<const Subscribers> keep(const detail::BlockRef& block);
  void forget_publisher(std::uint64_t sender);
  /// Sends the end of a publisher on all transports, after all its messages.
  void announce_end(std::uint64_t sender) HYPHOS_REQUIRES(setup_);
  /// To the subscribers of this process: a message of this process, or of another one.
  static void deliver_local(const detail::BlockRef& block, const Subscribers& list, Published& out);
  /// Counts a message that does not reach the subscriptions because the channel is closed.
  static void count_closed(const Subscribers& list, bool from_outside);
  static void deliver_remote(const detail::BlockRef& block, const Subscribers& list,
                             std::int64_t arrived, transport::ReadyList* ready);

  const std::string name_;
  const TypeId type_;
  const Policy policy_;  // except for `latched` and `latched_depth`
  const std::shared_ptr<trace::Registry> registry_;
  Executor& executor_;
  detail::BlockPool* const pool_;

  Mutex setup_ HYPHOS_ACQUIRED_BEFORE(mutex_);
  std::uint32_t network_subscribers_ HYPHOS_GUARDED_BY(setup_) = 0;
  std::uint32_t network_publishers_ HYPHOS_GUARDED_BY(setup_) = 0;
  std::vector<std::unique_ptr<Port>> ports_;

  mutable BriefMutex mutex_;
  std::shared_ptr<const Subscribers> subscribers_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<ChannelPublisher*> publishers_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<ChannelWatcher>> watchers_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::pair<const Port*, ChannelPeer>> peers_ HYPHOS_GUARDED_BY(mutex_);
  std::optional<Error> refusal_ HYPHOS_GUARDED_BY(mutex_);
  /// The latched cache for late subscribers: values of publishers here, and of remote ones while a
  /// port delivers their messages. A value from another process occupies its memory there, in the
  /// slot that the publisher also keeps for late receivers.
  Latched latched_ HYPHOS_GUARDED_BY(mutex_);
  // The last publisher here ended and left its value.
  bool left_behind_ HYPHOS_GUARDED_BY(mutex_) = false;

  Out out_{*this};
  std::atomic<std::uint32_t> remote_listeners_{0};
  std::atomic<Where> open_{Where::both};
  std::atomic<std::uint32_t> latched_depth_{0};
  std::atomic<std::uint32_t> users_{0};
  std::atomic<std::int64_t> unused_ns_{0};
  std::atomic<bool> paused_{false};
  log::OncePerSecond refused_log_;
};

}  // namespace hyphos::graph
