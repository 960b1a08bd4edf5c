#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fork.hpp"
#include "base/mutex.hpp"
#include "graph/channel_publisher.hpp"
#include "graph/subscriber.hpp"
#include "node/calls/calls.hpp"

namespace hyphos::calls {

/// One client: its calls in flight, and the server that it uses.
///
/// A call is `unsent` until one server has accepted its request. It then belongs to that server: if
/// the server disconnects, the call fails. The client stays with a server while the server is
/// connected. A server in this process is preferred.
///
/// Invariants, under `mutex_`:
///  (1) a call is in `pending_` from start() until its listener has been, or is just being,
///      notified of its end. The thread that erases it there notifies the listener.
///  (2) `unsent_` holds the ids of the pending calls whose `server` is 0, oldest first.
///  (3) if `unsent_` is not empty and `server_` is not 0, then a flush is running or posted, or the
///      server's queue does not exist yet. In the latter case, channel_changed() follows when the
///      queue exists.
///  (4) a cancel never overtakes its request. While the request is being sent, a canceling thread
///      leaves a mark for the sender: in the call or, if the call has ended, in `overtaken_`.
/// No listener, channel or transport is called under the lock.
class ClientCore final : public graph::ChannelWatcher,
                         public std::enable_shared_from_this<ClientCore> {
 public:
  struct Settings {
    std::string node;
    bool network = true;
    std::uint32_t max_pending = 64;
    bool action = false;
  };
  ClientCore(graph::Graph& graph, Channels channels, Settings settings);

  /// Joins the channels. Called once by the creator of the object.
  Result<void> open(const detail::CallTypes& types);
  /// Fails all calls in flight and leaves the channels. Idempotent. Not from a transport's thread.
  void close() HYPHOS_EXCLUDES(mutex_);

  detail::PublisherCore& sender() { return *publisher_; }
  [[nodiscard]] bool travels() const;
  std::uint64_t start(detail::BlockRef request, std::int64_t deadline_ns,
                      std::shared_ptr<detail::CallListener> listener) HYPHOS_EXCLUDES(mutex_);
  void cancel(std::uint64_t id) HYPHOS_EXCLUDES(mutex_);
  void expire(std::uint64_t id) HYPHOS_EXCLUDES(mutex_);
  [[nodiscard]] bool ready() const;
  Result<void> wait_for_server(Duration timeout) HYPHOS_EXCLUDES(mutex_);
  [[nodiscard]] const std::string& name() const { return channels_.service; }
  [[nodiscard]] graph::Executor& executor() { return executor_; }
  [[nodiscard]] bool is_closed() const;

  void channel_changed() HYPHOS_EXCLUDES(mutex_) override;

 private:
  using Listener = std::shared_ptr<detail::CallListener>;
  struct Call {
    Listener listener;
    std::int64_t started_ns = 0;
    std::int64_t deadline_ns = 0;
    std::uint64_t server = 0;  // 0: not sent yet
    detail::BlockRef request;  // until it is sent
    bool sending = false;
    bool canceled = false;  // while it was being sent
  };
  using Ended = std::vector<std::pair<Listener, Error>>;

  void heard(const detail::Delivery& delivery) HYPHOS_EXCLUDES(mutex_);
  void send(std::uint64_t id, std::uint64_t server, detail::BlockRef request)
      HYPHOS_EXCLUDES(mutex_);
  void sent(std::uint64_t id, std::uint64_t server);
  void flush() HYPHOS_EXCLUDES(mutex_);
  void post_flush() HYPHOS_EXCLUDES(mutex_);
  void expire_due() HYPHOS_EXCLUDES(mutex_);
  void send_cancel(std::uint64_t id, std::uint64_t server);
  [[nodiscard]] std::uint64_t find_server() const HYPHOS_EXCLUDES(mutex_);
  void arm(std::int64_t deadline_ns) HYPHOS_EXCLUDES(mutex_);
  [[nodiscard]] Error timed_out(const Call& call) const HYPHOS_EXCLUDES(mutex_);
  [[nodiscard]] Error nobody(std::int64_t waited_ns) const HYPHOS_EXCLUDES(mutex_);
  void count(trace::Counter counter, std::uint64_t n = 1);
  void end(std::uint64_t id, const Error& error, trace::Counter counter) HYPHOS_EXCLUDES(mutex_);

  graph::Executor& executor_;
  graph::Timers& timers_;
  const Channels channels_;
  const Settings settings_;
  const std::uint64_t client_;
  std::shared_ptr<detail::PublisherCore> publisher_;
  trace::Endpoint* trace_ = nullptr;  // the publisher's

  Mutex update_ HYPHOS_ACQUIRED_BEFORE(mutex_);  // and before the channels'; see channel_changed()
  mutable Mutex mutex_;
  Condition changed_;  // server_ or closed_
  std::shared_ptr<graph::Subscriber> subscriber_ HYPHOS_GUARDED_BY(mutex_);
  std::map<std::uint64_t, Call> pending_ HYPHOS_GUARDED_BY(mutex_);
  std::deque<std::uint64_t> unsent_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::uint64_t> overtaken_ HYPHOS_GUARDED_BY(mutex_);
  std::uint64_t next_ HYPHOS_GUARDED_BY(mutex_) = 1;
  std::uint64_t changes_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::uint64_t server_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::int64_t armed_ns_ HYPHOS_GUARDED_BY(mutex_) = 0;  // 0: no timer is set
  bool flushing_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool closed_ HYPHOS_GUARDED_BY(mutex_) = false;
};

/// The handle that users hold. The core ends with the last handle.
class ClientHandle final : public detail::CallClient {
 public:
  explicit ClientHandle(std::shared_ptr<ClientCore> core) : core_(std::move(core)) {}
  /// The last reference may be dropped by a listener, inside a call of a transport.
  ~ClientHandle() override {
    if (mark_.is_inherited()) return;
    if (graph::Channel::delivering_here()) {
      core_->executor().enqueue(Priority::normal, [core = core_] { core->close(); });
    } else {
      core_->close();
    }
  }
  ClientHandle(const ClientHandle&) = delete;
  ClientHandle& operator=(const ClientHandle&) = delete;

  detail::PublisherCore& sender() override { return core_->sender(); }
  [[nodiscard]] bool travels() const override { return !mark_.is_inherited() && core_->travels(); }
  std::uint64_t start(detail::BlockRef request, std::int64_t deadline_ns,
                      std::shared_ptr<detail::CallListener> listener) override {
    if (mark_.is_inherited()) {
      listener->failed(inherited());
      return 0;
    }
    return core_->start(std::move(request), deadline_ns, std::move(listener));
  }
  void cancel(std::uint64_t id) override {
    if (!mark_.is_inherited()) core_->cancel(id);
  }
  void expire(std::uint64_t id) override {
    if (!mark_.is_inherited()) core_->expire(id);
  }
  [[nodiscard]] bool ready() const override { return !mark_.is_inherited() && core_->ready(); }
  Result<void> wait_for_server(Duration timeout) override {
    if (mark_.is_inherited()) return inherited();
    return core_->wait_for_server(timeout);
  }
  [[nodiscard]] const std::string& name() const override { return core_->name(); }
  Result<void> wait(const detail::WaitPlace& place, std::int64_t deadline_ns,
                    const std::function<bool()>& ready) override HYPHOS_NO_THREAD_SAFETY_ANALYSIS {
    if (mark_.is_inherited()) return inherited();
    return wait_on_pool(core_->executor(), name(), place.lock, place.changed, deadline_ns, ready);
  }
  void post(std::function<void()> work) override {
    // A handle may outlive the runtime and its pool, but the node has then closed the client.
    if (mark_.is_inherited() || core_->is_closed()) {
      work();
    } else {
      calls::post(core_->executor(), name(), std::move(work));
    }
  }

 private:
  [[nodiscard]] Error inherited() const {
    return ForkMark::error("the client of '" + name() + "'", name());
  }

  const ForkMark mark_;
  const std::shared_ptr<ClientCore> core_;
};

}  // namespace hyphos::calls
