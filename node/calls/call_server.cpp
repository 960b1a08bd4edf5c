#include "node/calls/call_server.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "hyphos/time.hpp"

namespace hyphos::calls {
namespace {

using detail::CallKind;
using detail::Delivery;

constexpr std::size_t kMaxClients = 4096;  // remembered, to detect duplicate requests
constexpr std::size_t kMaxWaiting = 1024;  // replies to processes without a queue so far

thread_local const ServerCore* running_here = nullptr;

}  // namespace

// --- Requests arrive ---------------------------------------------------------------------------

ServerCore::ServerCore(graph::Graph& graph, Channels channels, Settings settings,
                       detail::ServerCallback callback)
    : executor_(graph.executor()),
      channels_(std::move(channels)),
      settings_(std::move(settings)),
      callback_(std::move(callback)),
      strand_(settings_.mode, settings_.mode == Mode::serial ? graph::Strand::kFairShare : 1) {}

Result<void> ServerCore::open(const detail::CallTypes& types) {
  channels_.request->watch(weak_from_this());
  channels_.reply->watch(weak_from_this());
  auto publisher = channels_.reply->add_publisher(types.reply, settings_.network, settings_.node);
  if (!publisher) return publisher.error();
  publisher_ = std::move(*publisher);
  auto subscriber = channels_.request->add_subscriber(
      types.request, Mode::inline_, graph::View::block, settings_.network, settings_.node,
      [weak = weak_from_this()](const Delivery& delivery, const void*) {
        if (const auto core = weak.lock()) core->arrived(delivery);
      });
  if (!subscriber) return subscriber.error();
  {
    const MutexLock lock(mutex_);
    subscriber_ = std::move(*subscriber);
  }
  channel_changed();
  return success();
}

void ServerCore::arrived(const Delivery& delivery) {
  const CallMark& mark = delivery.block->meta().call;
  switch (static_cast<CallKind>(mark.kind)) {
    case CallKind::request:
      request(delivery);
      break;
    case CallKind::cancel:
      cancel({mark.client, mark.id});
      break;
    default:
      count(trace::Counter::call_stale);  // from a later version: ignore it
  }
}

// A transport may deliver a message twice, but a request runs once.
bool ServerCore::is_new(const Key& key, std::uint64_t peer) {
  if (clients_.size() >= kMaxClients && !clients_.contains(key.first)) {
    clients_.erase(clients_.begin());
  }
  Seen& seen = clients_[key.first];
  seen.peer = peer;
  const std::uint64_t id = key.second;
  if (id > seen.highest) {
    const std::uint64_t by = id - seen.highest;
    seen.bits = by < 64 ? seen.bits << by | 1 : 1;
    seen.highest = id;
    return true;
  }
  const std::uint64_t behind = seen.highest - id;
  if (behind >= 64 || (seen.bits >> behind & 1) != 0) return false;
  seen.bits |= std::uint64_t{1} << behind;
  return true;
}

void ServerCore::request(const Delivery& delivery) {
  const Meta& meta = delivery.block->meta();
  const Key key{meta.call.client, meta.call.id};
  UniqueLock lock(mutex_);
  if (closed_) return;
  if (!is_new(key, meta.peer)) {
    lock.unlock();
    count(trace::Counter::call_stale);
    return;
  }
  if (queue_.size() >= settings_.depth || open_.size() >= settings_.max_pending) {
    const bool waiting = queue_.size() >= settings_.depth;
    lock.unlock();
    count(trace::Counter::call_overloaded);
    refuse(key, meta.peer,
           {Code::overloaded,
            describe(name(), settings_.action) + " already has " +
                (waiting ? std::to_string(settings_.depth) + " waiting requests (depth)"
                         : std::to_string(settings_.max_pending) +
                               " requests without a reply (max_pending)"),
            name()});
    return;
  }
  auto exchange = std::make_shared<ExchangeImpl>(shared_from_this(), delivery);
  open_.emplace(key, exchange);
  if (settings_.mode == Mode::inline_) {
    strand_.begin();
    lock.unlock();
    run(exchange);
    exchange.reset();
    lock.lock();
    strand_.end();
    if (closed_) idle_.notify_all();
    return;
  }
  queue_.push_back(std::move(exchange));
  schedule(lock);
}

void ServerCore::cancel(const Key& key) {
  ExchangePtr exchange;
  bool dropped = false;
  {
    const MutexLock lock(mutex_);
    const auto found = open_.find(key);
    if (found == open_.end()) return;  // already replied
    exchange = found->second.lock();
    const auto waits = std::find(queue_.begin(), queue_.end(), exchange);
    if (exchange != nullptr && waits != queue_.end()) {
      // The request is canceled and has not started, so it need not run.
      queue_.erase(waits);
      dropped = true;
      if (!settings_.action) {
        open_.erase(found);
        (void)exchange->claim_end();
      }
    }
  }
  if (dropped && settings_.action) {  // the client that cancels a goal waits for its end
    (void)exchange->fail({Code::canceled, "the goal was canceled before it began", name()});
  }
  if (exchange != nullptr) exchange->set_canceled(false);
}

// --- Callbacks run -----------------------------------------------------------------------------

void ServerCore::schedule(UniqueLock<Mutex>& lock) {
  if (!strand_.needs_task(queue_.size())) return;
  lock.unlock();
  enqueue_task();
  lock.lock();
}

void ServerCore::enqueue_task() {
  executor_.enqueue(Priority::normal, [self = shared_from_this()] { self->drain_task(); });
}

void ServerCore::drain_task() {
  UniqueLock lock(mutex_);
  strand_.drain([&]() HYPHOS_REQUIRES(mutex_, lock) { return run_one(lock); });
  schedule(lock);
  idle_.notify_all();
}

bool ServerCore::run_one(UniqueLock<Mutex>& lock) {
  if (queue_.empty() || closed_) return false;
  ExchangePtr exchange = std::move(queue_.front());
  queue_.pop_front();
  strand_.begin();
  const bool more = strand_.needs_task(queue_.size());
  lock.unlock();
  if (more) enqueue_task();
  run(exchange);
  exchange.reset();
  lock.lock();
  strand_.end();
  return true;
}

void ServerCore::run(const ExchangePtr& exchange) {
  const ServerCore* const outer = std::exchange(running_here, this);
  std::optional<graph::Failure> failure;
  try {
    callback_(exchange);
  } catch (...) {
    failure = graph::Failure::current();
  }
  running_here = outer;
  if (!failure) return;
  if (!executor_.is_normal_end(*failure)) {
    count(trace::Counter::callback_error);
    failure->log("node '" + settings_.node + "': callback of " + describe(name(), settings_.action),
                 errors_);
  }
  (void)exchange->fail({Code::io, "the server's callback threw: " + failure->summary, name()});
}

// --- Replies leave -----------------------------------------------------------------------------

Result<void> ServerCore::send(ExchangeImpl& exchange, CallKind kind, detail::BlockRef message) {
  if (detail::is_final(kind)) {
    const MutexLock lock(mutex_);
    open_.erase(exchange.key());
  }
  return publish(exchange.peer(), exchange.key(), kind, std::move(message));
}

void ServerCore::refuse(const Key& key, std::uint64_t peer, const Error& error) {
  detail::BlockRef block = publisher_->block();
  block->set_encoded(encode_error(error), {});
  (void)publish(peer, key, CallKind::error, std::move(block));
}

Result<void> ServerCore::publish(std::uint64_t peer, const Key& key, CallKind kind,
                                 detail::BlockRef message) {
  Meta& meta = message->meta();
  meta.call = {key.first, key.second, static_cast<std::uint64_t>(kind)};
  meta.to = peer;
  UniqueLock lock(mutex_);
  const auto is_his = [peer](const Waiting& waiting) { return waiting.peer == peer; };
  const std::uint64_t before = changes_;
  bool behind = std::any_of(waiting_.begin(), waiting_.end(), is_his);
  if (!behind) {
    lock.unlock();
    const Published out = publisher_->publish(message);
    if (out.accepted > 0) return success();
    if (out.dropped > 0 || out.failure) {
      return Error{out.failure.value_or(Code::overloaded),
                   "the reply could not be sent: the client's queue is full, or its channel is "
                   "closed",
                   name()};
    }
    if (peer == kThisProcess) {
      return Error{Code::disconnected, "the client has been closed", name()};
    }
    lock.lock();
  }
  // The client's process has not opened its queue yet, or it is gone. channel_changed()
  // distinguishes the two cases.
  if (waiting_.size() >= kMaxWaiting) {
    lock.unlock();
    count(trace::Counter::call_overloaded);
    return Error{Code::overloaded, "too many replies wait for clients that are not connected",
                 name()};
  }
  waiting_.push_back({peer, std::move(message)});
  const bool look_again = changes_ != before;
  lock.unlock();
  if (look_again) post_flush();
  return success();
}

void ServerCore::post_flush() {
  {
    const MutexLock lock(mutex_);
    flush_again_ = true;
    if (std::exchange(flushing_, true)) return;
  }
  // On the pool, because this may run inside a call of the sending transport.
  executor_.enqueue(Priority::high, [self = shared_from_this()] { self->flush(); });
}

// One at a time, because two would send the same message.
void ServerCore::flush() {
  UniqueLock lock(mutex_);
  while (std::exchange(flush_again_, false)) flush_once(lock);
  flushing_ = false;
}

void ServerCore::flush_once(UniqueLock<Mutex>& lock) {
  std::set<std::uint64_t> stuck;
  for (std::size_t i = 0; i < waiting_.size();) {
    const std::uint64_t peer = waiting_[i].peer;
    if (stuck.contains(peer)) {
      ++i;
      continue;
    }
    // The message stays in the list while it is sent, so that no other overtakes it (4).
    const detail::BlockRef message = waiting_[i].message;
    lock.unlock();
    const Published out = publisher_->publish(message);
    lock.lock();
    if (out.accepted == 0 && out.dropped == 0 && !out.failure) stuck.insert(peer);
    const auto still = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& w) {
      return w.message.get() == message.get();
    });
    if (still == waiting_.end()) {  // its client disconnected meanwhile
      i = 0;
      continue;
    }
    i = static_cast<std::size_t>(still - waiting_.begin());
    if (stuck.contains(peer)) {
      ++i;
    } else {
      waiting_.erase(still);
    }
  }
}

// --- Clients disconnect ------------------------------------------------------------------------

void ServerCore::channel_changed() {
  std::vector<ExchangePtr> gone;
  std::vector<ExchangePtr> others;  // the last reference must not end under the lock
  std::uint64_t lost = 0;
  bool flush = false;
  {
    // As in ClientCore::channel_changed: the last writer has read the newest state.
    const MutexLock updating(update_);
    std::set<std::uint64_t> now;
    for (const graph::ChannelPeer& peer : channels_.request->peers()) now.insert(peer.id);
    const MutexLock lock(mutex_);
    ++changes_;
    // A request may arrive before its sender is reported, so only a peer that was known can be
    // gone.
    const auto has_gone = [&](std::uint64_t peer) HYPHOS_REQUIRES(mutex_) {
      return peers_.contains(peer) && !now.contains(peer);
    };
    for (auto at = open_.begin(); at != open_.end();) {
      ExchangePtr exchange = at->second.lock();
      if (exchange == nullptr || !has_gone(exchange->peer())) {
        if (exchange != nullptr) others.push_back(std::move(exchange));
        ++at;
        continue;
      }
      (void)exchange->claim_end();
      gone.push_back(std::move(exchange));
      at = open_.erase(at);
      ++lost;
    }
    std::erase_if(queue_, [&](const ExchangePtr& exchange)
                              HYPHOS_REQUIRES(mutex_) { return has_gone(exchange->peer()); });
    std::erase_if(clients_, [&](const auto& entry)
                                HYPHOS_REQUIRES(mutex_) { return has_gone(entry.second.peer); });
    lost += std::erase_if(
        waiting_, [&](const Waiting& w) HYPHOS_REQUIRES(mutex_) { return has_gone(w.peer); });
    peers_ = std::move(now);
    flush = !waiting_.empty();
  }
  if (lost > 0) count(trace::Counter::call_disconnected, lost);
  for (const ExchangePtr& exchange : gone) exchange->set_canceled(true);
  // If one of these is the last reference, its end sends an error. That must not happen here,
  // possibly inside a call of the sending transport.
  if (!others.empty()) executor_.enqueue(Priority::low, [kept = std::move(others)] {});
  if (flush) post_flush();
}

void ServerCore::close() {
  std::vector<ExchangePtr> open;
  std::deque<ExchangePtr> queue;
  std::shared_ptr<graph::Subscriber> subscriber;
  {
    const MutexLock lock(mutex_);
    if (!std::exchange(closed_, true)) {
      for (const auto& [key, weak] : open_) {
        if (auto exchange = weak.lock()) open.push_back(std::move(exchange));
      }
      queue.swap(queue_);
      subscriber = subscriber_;
    }
  }
  const Error error{Code::disconnected, describe(name(), settings_.action) + " was closed", name()};
  for (const ExchangePtr& exchange : open) {
    (void)exchange->fail(error);
    exchange->set_canceled(false);
  }
  open.clear();
  queue.clear();
  if (subscriber != nullptr) subscriber->close();
  // Remote clients thereby learn that the server is gone, even while a Responder is still held.
  static_cast<graph::ChannelPublisher&>(*publisher_).leave();
  UniqueLock lock(mutex_);
  subscriber_.reset();
  if (running_here == this) return;
  idle_.wait(lock, [this]() HYPHOS_REQUIRES(mutex_) { return strand_.idle(); });
}

bool ServerCore::is_closed() const {
  const MutexLock lock(mutex_);
  return closed_;
}

std::size_t ServerCore::pending() const {
  const MutexLock lock(mutex_);
  return open_.size();
}

void ServerCore::count(trace::Counter counter, std::uint64_t n) {
  std::shared_ptr<graph::Subscriber> subscriber;
  {
    const MutexLock lock(mutex_);
    subscriber = subscriber_;
  }
  if (subscriber != nullptr) (*subscriber->trace()).count(counter, n);
}

// --- One request -------------------------------------------------------------------------------

ExchangeImpl::ExchangeImpl(std::shared_ptr<ServerCore> server, Delivery request)
    : server_(std::move(server)),
      request_(std::move(request)),
      key_(request_.block->meta().call.client, request_.block->meta().call.id),
      peer_(request_.block->meta().peer) {}

ExchangeImpl::~ExchangeImpl() {
  if (answered_.load()) return;
  (void)fail({Code::io, "the server dropped the request without a reply", server_->name()});
}

Result<void> ExchangeImpl::send(CallKind kind, detail::BlockRef message) {
  const bool late = detail::is_final(kind) ? !claim_end() : answered();
  if (!late) return server_->send(*this, kind, std::move(message));
  if (canceled()) {
    return Error{Code::disconnected, "the client no longer waits for a reply", server_->name()};
  }
  return Error{Code::already_exists, "the request already has a reply", server_->name()};
}

Result<void> ExchangeImpl::fail(const Error& error) {
  detail::BlockRef block = sender().block();
  block->set_encoded(encode_error(error), {});
  return send(CallKind::error, std::move(block));
}

void ExchangeImpl::on_cancel(std::function<void()> hook) {
  std::function<void()> now;
  {
    const MutexLock lock(mutex_);
    hook_ = std::move(hook);
    if (canceled_.load()) now = std::exchange(hook_, nullptr);
  }
  if (now) post(std::move(now));
}

void ExchangeImpl::set_canceled(bool client_gone) {
  std::function<void()> hook;
  {
    const MutexLock lock(mutex_);
    if (client_gone) gone_.store(true);
    canceled_.store(true);
    hook = std::exchange(hook_, nullptr);
  }
  if (hook) post(std::move(hook));
}

}  // namespace hyphos::calls
