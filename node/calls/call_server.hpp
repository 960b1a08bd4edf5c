#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "graph/channel_publisher.hpp"
#include "graph/failure.hpp"
#include "graph/strand.hpp"
#include "graph/subscriber.hpp"
#include "node/calls/calls.hpp"

namespace hyphos::calls {

class ExchangeImpl;

/// One service in this process: waiting requests, running requests, and replies in flight.
///
/// A request is an Exchange from its arrival to its final message. Replies go only to the process
/// that sent the request. Replies to a process without a queue wait in `waiting_`.
///
/// Invariants, under `mutex_`:
///  (1) `open_` holds every exchange without a final message. The thread that erases it there sends
///      that message, or knows that no client would receive it.
///  (2) `queue_` is a subset of `open_`. If it is not empty, a task is enqueued or running: see
///      graph::Strand (1).
///  (3) serial: at most one callback runs: see graph::Strand (2).
///  (4) messages for one process stay in order: while `waiting_` holds messages for a process, only
///      flush() sends to that process.
/// No callback, channel or transport is called under the lock.
class ServerCore final : public detail::CallServer,
                         public graph::ChannelWatcher,
                         public std::enable_shared_from_this<ServerCore> {
 public:
  struct Settings {
    std::string node;
    bool network = true;
    Mode mode = Mode::serial;
    std::uint32_t depth = 64;
    std::uint32_t max_pending = 256;
    bool action = false;
  };
  ServerCore(graph::Graph& graph, Channels channels, Settings settings,
             detail::ServerCallback callback);

  /// Joins the channels. Called once by the creator of the object.
  Result<void> open(const detail::CallTypes& types);
  void close() HYPHOS_EXCLUDES(mutex_) override;
  [[nodiscard]] std::size_t pending() const override;
  [[nodiscard]] const std::string& name() const override { return channels_.service; }
  [[nodiscard]] bool is_closed() const override;

  void channel_changed() HYPHOS_EXCLUDES(mutex_) override;

  // For exchanges.
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // client, id
  [[nodiscard]] detail::PublisherCore& sender() { return *publisher_; }
  [[nodiscard]] graph::Executor& executor() { return executor_; }
  Result<void> send(ExchangeImpl& exchange, detail::CallKind kind, detail::BlockRef message)
      HYPHOS_EXCLUDES(mutex_);

 private:
  using ExchangePtr = std::shared_ptr<ExchangeImpl>;
  /// The ids received from a client: the highest, and one bit for each of the 64 up to it.
  struct Seen {
    std::uint64_t peer = 0;
    std::uint64_t highest = 0;
    std::uint64_t bits = 0;
  };
  struct Waiting {
    std::uint64_t peer = 0;
    detail::BlockRef message;
  };

  void arrived(const detail::Delivery& delivery);
  void request(const detail::Delivery& delivery) HYPHOS_EXCLUDES(mutex_);
  void cancel(const Key& key) HYPHOS_EXCLUDES(mutex_);
  [[nodiscard]] bool is_new(const Key& key, std::uint64_t peer) HYPHOS_REQUIRES(mutex_);
  void refuse(const Key& key, std::uint64_t peer, const Error& error);
  Result<void> publish(std::uint64_t peer, const Key& key, detail::CallKind kind,
                       detail::BlockRef message) HYPHOS_EXCLUDES(mutex_);
  void schedule(UniqueLock<Mutex>& lock) HYPHOS_REQUIRES(mutex_, lock);
  void enqueue_task();
  void drain_task() HYPHOS_EXCLUDES(mutex_);
  [[nodiscard]] bool run_one(UniqueLock<Mutex>& lock) HYPHOS_REQUIRES(mutex_, lock);
  void run(const ExchangePtr& exchange);
  void flush() HYPHOS_EXCLUDES(mutex_);
  void flush_once(UniqueLock<Mutex>& lock) HYPHOS_REQUIRES(mutex_, lock);
  void post_flush() HYPHOS_EXCLUDES(mutex_);
  void count(trace::Counter counter, std::uint64_t n = 1) HYPHOS_EXCLUDES(mutex_);

  graph::Executor& executor_;
  const Channels channels_;
  const Settings settings_;
  const detail::ServerCallback callback_;
  std::shared_ptr<detail::PublisherCore> publisher_;
  log::OncePerSecond errors_;

  Mutex update_ HYPHOS_ACQUIRED_BEFORE(mutex_);  // and before the channels'; see channel_changed()
  mutable Mutex mutex_;
  Condition idle_;
  graph::Strand strand_ HYPHOS_GUARDED_BY(mutex_);
  std::shared_ptr<graph::Subscriber> subscriber_ HYPHOS_GUARDED_BY(mutex_);
  std::map<Key, std::weak_ptr<ExchangeImpl>> open_ HYPHOS_GUARDED_BY(mutex_);
  std::deque<ExchangePtr> queue_ HYPHOS_GUARDED_BY(mutex_);
  std::map<std::uint64_t, Seen> clients_ HYPHOS_GUARDED_BY(mutex_);
  std::deque<Waiting> waiting_ HYPHOS_GUARDED_BY(mutex_);
  std::set<std::uint64_t> peers_ HYPHOS_GUARDED_BY(mutex_);  // connected at the last check
  std::uint64_t changes_ HYPHOS_GUARDED_BY(mutex_) = 0;
  bool flushing_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool flush_again_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool closed_ HYPHOS_GUARDED_BY(mutex_) = false;
};

/// One request. Held by the queue, by the callback, and by a later responder.
class ExchangeImpl final : public detail::Exchange,
                           public std::enable_shared_from_this<ExchangeImpl> {
 public:
  ExchangeImpl(std::shared_ptr<ServerCore> server, detail::Delivery request);
  ~ExchangeImpl() override;
  ExchangeImpl(const ExchangeImpl&) = delete;
  ExchangeImpl& operator=(const ExchangeImpl&) = delete;

  [[nodiscard]] const detail::Delivery& request() const override { return request_; }
  detail::PublisherCore& sender() override { return server_->sender(); }
  [[nodiscard]] bool travels() const override { return peer_ != kThisProcess; }
  Result<void> send(detail::CallKind kind, detail::BlockRef message) override;
  Result<void> fail(const Error& error) override;
  [[nodiscard]] bool answered() const override { return answered_.load(); }
  [[nodiscard]] bool canceled() const override { return canceled_.load(); }
  [[nodiscard]] bool client_gone() const override { return gone_.load(); }
  void on_cancel(std::function<void()> hook) override;
  Result<void> wait(const detail::WaitPlace& place, std::int64_t deadline_ns,
                    const std::function<bool()>& ready) override HYPHOS_NO_THREAD_SAFETY_ANALYSIS {
    return wait_on_pool(server_->executor(), server_->name(), place.lock, place.changed,
                        deadline_ns, ready);
  }
  void post(std::function<void()> work) override {
    // A responder may outlive the runtime and its pool. The node has then closed the server.
    if (server_->is_closed()) {
      work();
    } else {
      calls::post(server_->executor(), server_->name(), std::move(work));
    }
  }

  [[nodiscard]] const ServerCore::Key& key() const { return key_; }
  [[nodiscard]] std::uint64_t peer() const { return peer_; }
  /// True for the first caller only, which sends the final message.
  [[nodiscard]] bool claim_end() { return !answered_.exchange(true); }
  void set_canceled(bool client_gone);

 private:
  const std::shared_ptr<ServerCore> server_;
  const detail::Delivery request_;
  const ServerCore::Key key_;
  const std::uint64_t peer_;
  std::atomic<bool> answered_{false};
  std::atomic<bool> canceled_{false};
  std::atomic<bool> gone_{false};
  Mutex mutex_;
  std::function<void()> hook_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::calls
