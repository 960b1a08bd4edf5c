#include "node/calls/call_client.hpp"

#include <algorithm>

#include "hyphos/time.hpp"

namespace hyphos::calls {
namespace {

using detail::CallKind;
using detail::Delivery;

std::uint64_t number(CallKind kind) { return static_cast<std::uint64_t>(kind); }

std::string milliseconds(std::int64_t ns) {
  return std::to_string((ns + 500'000) / 1'000'000) + " ms";
}

}  // namespace

ClientCore::ClientCore(graph::Graph& graph, Channels channels, Settings settings)
    : executor_(graph.executor()),
      timers_(graph.timeouts()),
      channels_(std::move(channels)),
      settings_(std::move(settings)),
      client_(graph::random_id()) {}

Result<void> ClientCore::open(const detail::CallTypes& types) {
  // Watch before joining, so that no change is missed.
  channels_.request->watch(weak_from_this());
  channels_.reply->watch(weak_from_this());
  auto publisher =
      channels_.request->add_publisher(types.request, settings_.network, settings_.node);
  if (!publisher) return publisher.error();
  trace_ = &static_cast<graph::ChannelPublisher&>(**publisher).trace();
  publisher_ = std::move(*publisher);
  auto subscriber = channels_.reply->add_subscriber(
      types.reply, Mode::inline_, graph::View::block, settings_.network, settings_.node,
      [weak = weak_from_this()](const Delivery& delivery, const void*) {
        if (const auto core = weak.lock()) core->heard(delivery);
      });
  if (!subscriber) return subscriber.error();
  {
    const MutexLock lock(mutex_);
    subscriber_ = std::move(*subscriber);
  }
  channel_changed();
  return success();
}

void ClientCore::close() {
  std::map<std::uint64_t, Call> pending;
  std::shared_ptr<graph::Subscriber> subscriber;
  {
    const MutexLock lock(mutex_);
    if (std::exchange(closed_, true)) return;
    pending.swap(pending_);
    for (const auto& [id, call] : pending) {
      if (call.sending) overtaken_.push_back(id);
    }
    subscriber.swap(subscriber_);
    unsent_.clear();
    changed_.notify_all();
  }
  if (subscriber != nullptr) subscriber->close();
  for (const auto& [id, call] : pending) {
    if (call.server != 0 && !call.sending) send_cancel(id, call.server);
    call.listener->failed({Code::disconnected, "the client was closed", name()});
  }
  // Here, not with the last reference, which may be dropped inside a call of a transport.
  static_cast<graph::ChannelPublisher&>(*publisher_).leave();
}

bool ClientCore::travels() const {
  const MutexLock lock(mutex_);
  return server_ != 0 && server_ != kThisProcess;
}

bool ClientCore::ready() const {
  const MutexLock lock(mutex_);
  return server_ != 0;
}

bool ClientCore::is_closed() const {
  const MutexLock lock(mutex_);
  return closed_;
}

std::uint64_t ClientCore::find_server() const {
  if (channels_.request->local_listeners() > 0) return kThisProcess;
  if (!settings_.network) return 0;
  std::uint64_t sticky = 0;
  {
    const MutexLock lock(mutex_);
    sticky = server_;
  }
  std::uint64_t lowest = 0;
  for (const graph::ChannelPeer& peer : channels_.reply->peers()) {
    if (peer.id == sticky) return sticky;
    if (lowest == 0 || peer.id < lowest) lowest = peer.id;
  }
  return lowest;
}

void ClientCore::channel_changed() {
  Ended ended;
  bool flush = false;
  // Every change calls this function after it was made. The values are read and written under one
  // lock. So the last writer has read the newest state.
  UniqueLock updating(update_);
  const std::uint64_t found = find_server();
  const auto refusal = found == 0 ? channels_.reply->refusal() : std::nullopt;
  const auto refusal_of_request =
      found == 0 && !refusal ? channels_.request->refusal() : std::nullopt;
  const auto peers = channels_.reply->peers();
  const bool local = channels_.request->local_listeners() > 0;
  const auto is_there = [&](std::uint64_t id) {
    return id == kThisProcess ? local
                              : std::any_of(peers.begin(), peers.end(),
                                            [id](const auto& peer) { return peer.id == id; });
  };
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
    ++changes_;
    server_ = found;
    for (auto at = pending_.begin(); at != pending_.end();) {
      const Call& call = at->second;
      if (call.server != 0 && !is_there(call.server)) {
        ended.emplace_back(call.listener,
                           Error{Code::disconnected,
                                 "the server of " + describe(name(), settings_.action) +
                                     " disconnected before it replied. It may or may not have "
                                     "carried out the request",
                                 name()});
      } else if (call.server == 0 && (refusal || refusal_of_request)) {
        ended.emplace_back(call.listener, refusal ? *refusal : *refusal_of_request);
        std::erase(unsent_, at->first);
      } else {
        ++at;
        continue;
      }
      at = pending_.erase(at);
    }
    flush = !unsent_.empty() && server_ != 0;
    changed_.notify_all();
  }
  updating.unlock();
  if (!ended.empty()) count(trace::Counter::call_disconnected, ended.size());
  for (const auto& [listener, error] : ended) listener->failed(error);
  if (flush) post_flush();
}

std::uint64_t ClientCore::start(detail::BlockRef request, std::int64_t deadline_ns,
                                Listener listener) {
  const std::int64_t now = monotonic_now().ns;
  UniqueLock lock(mutex_);
  if (closed_ || pending_.size() >= settings_.max_pending) {
    const bool closed = closed_;
    lock.unlock();
    if (!closed) count(trace::Counter::call_overloaded);
    listener->failed(
        closed ? Error{Code::disconnected, "the client or its node has been closed", name()}
               : Error{Code::overloaded,
                       std::to_string(settings_.max_pending) + " calls of " +
                           describe(name(), settings_.action) +
                           " are already in flight. Wait for some, or raise max_pending",
                       name()});
    return 0;
  }
  const std::uint64_t id = next_++;
  request->meta().call = {client_, id, number(CallKind::request)};
  const std::uint64_t server = unsent_.empty() ? server_ : 0;
  Call& call = pending_[id];
  call = {std::move(listener), now, deadline_ns, server, {}, server != 0};
  if (server == 0) {
    call.request = std::move(request);
    unsent_.push_back(id);
  }
  const bool look = server == 0;
  lock.unlock();
  if (deadline_ns != 0) arm(deadline_ns);
  if (!look) {
    send(id, server, std::move(request));
  } else {
    channel_changed();  // fails it at once if its type was refused, sends it if a server is known
  }
  return id;
}

// The call is already in pending_ under this server, because its reply may arrive before this
// returns.
void ClientCore::send(std::uint64_t id, std::uint64_t server, detail::BlockRef request) {
  for (;;) {
    std::uint64_t before = 0;
    {
      const MutexLock lock(mutex_);
      before = changes_;
    }
    request->meta().to = server;
    const Published out = publisher_->publish(request);
    if (out.accepted > 0) return sent(id, server);
    if (out.dropped > 0 || out.failure) {
      const bool closed = out.failure == Code::disconnected;
      end(id,
          closed
              ? Error{Code::disconnected,
                      "the channel of " + describe(name(), settings_.action) + " is closed", name()}
              : Error{Code::overloaded,
                      "the queue to the server of " + describe(name(), settings_.action) +
                          " is full. The server does not keep up",
                      name()},
          closed ? trace::Counter::call_disconnected : trace::Counter::call_overloaded);
      return;
    }
    // The server is known, but its queue does not exist (yet, or any more). channel_changed() is
    // called when it does.
    bool changed = false;
    bool canceled = false;
    {
      const MutexLock lock(mutex_);
      const auto found = pending_.find(id);
      if (found == pending_.end()) {
        std::erase(overtaken_, id);
        return;
      }
      changed = changes_ != before;
      if (changed && server_ == server) continue;
      Call& call = found->second;
      call.server = 0;
      call.request = std::move(request);
      call.sending = false;
      canceled = std::exchange(call.canceled, false);
      unsent_.insert(std::lower_bound(unsent_.begin(), unsent_.end(), id), id);
    }
    if (canceled) cancel(id);
    if (changed) post_flush();
    return;
  }
}

// Cancels now if the call was canceled while it was being sent.
void ClientCore::sent(std::uint64_t id, std::uint64_t server) {
  {
    const MutexLock lock(mutex_);
    const auto found = pending_.find(id);
    if (found != pending_.end()) {
      found->second.sending = false;
      if (!std::exchange(found->second.canceled, false)) return;
    } else if (std::erase(overtaken_, id) == 0) {
      return;
    }
  }
  send_cancel(id, server);
}

void ClientCore::post_flush() {
  {
    const MutexLock lock(mutex_);
    if (closed_ || std::exchange(flushing_, true)) return;
  }
  // On the pool, because this may run inside a call of the sending transport.
  executor_.enqueue(Priority::high, [self = shared_from_this()] { self->flush(); });
}

void ClientCore::flush() {
  {
    const MutexLock lock(mutex_);
    flushing_ = false;
  }
  for (;;) {
    std::uint64_t id = 0;
    std::uint64_t server = 0;
    detail::BlockRef request;
    {
      const MutexLock lock(mutex_);
      if (closed_ || unsent_.empty() || server_ == 0) return;
      id = unsent_.front();
      unsent_.pop_front();
      Call& call = pending_.at(id);
      server = call.server = server_;
      call.sending = true;
      request = std::exchange(call.request, {});
    }
    send(id, server, std::move(request));
    const MutexLock lock(mutex_);
    // The request came back: the next change tries again.
    if (!unsent_.empty() && unsent_.front() == id) return;
  }
}

void ClientCore::heard(const Delivery& delivery) {
  const CallMark& mark = delivery.block->meta().call;
  if (mark.client != client_) return;  // another client of this process
  const CallKind kind = detail::kind_of(delivery);
  Listener listener;
  {
    const MutexLock lock(mutex_);
    const auto found = pending_.find(mark.id);
    if (found != pending_.end()) {
      listener = found->second.listener;
      found->second.deadline_ns = 0;  // an accepted goal may take unlimited time
      if (detail::is_final(kind)) pending_.erase(found);
    }
  }
  if (listener == nullptr) {
    count(trace::Counter::call_stale);
  } else if (kind == CallKind::error) {
    const Envelope* envelope = delivery.block->encoded();
    listener->failed(decode_error(envelope != nullptr ? envelope->payload : Buffer(), name()));
  } else {
    listener->heard(kind, delivery);
  }
}

void ClientCore::send_cancel(std::uint64_t id, std::uint64_t server) {
  detail::BlockRef block = publisher_->block();
  block->set_encoded(Buffer(), {});
  block->meta().call = {client_, id, number(CallKind::cancel)};
  block->meta().to = server;
  publisher_->publish(std::move(block));
}

void ClientCore::cancel(std::uint64_t id) {
  std::uint64_t server = 0;
  Listener never_sent;
  {
    const MutexLock lock(mutex_);
    const auto found = pending_.find(id);
    if (found == pending_.end()) return;
    server = found->second.server;
    if (found->second.sending) {
      found->second.canceled = true;
      return;
    }
    if (server == 0) {
      never_sent = std::move(found->second.listener);
      pending_.erase(found);
      std::erase(unsent_, id);
    }
  }
  if (server != 0) return send_cancel(id, server);
  never_sent->failed({Code::canceled, "canceled before a server was found", name()});
}

Error ClientCore::nobody(std::int64_t waited_ns) const {
  return {Code::not_found,
          "no server of " + describe(name(), settings_.action) + " was found within " +
              milliseconds(waited_ns) + ". Start one, or check the name (hyphos " +
              (settings_.action ? "action" : "service") +
              " list). Between machines, the plan must name both sides",
          name()};
}

Error ClientCore::timed_out(const Call& call) const {
  const std::int64_t waited = monotonic_now().ns - call.started_ns;
  // A known server may not be connected to the request channel yet.
  if (call.server == 0 && !ready()) return nobody(waited);
  return {Code::timeout,
          "the server of " + describe(name(), settings_.action) + " did not reply within " +
              milliseconds(waited),
          name()};
}

void ClientCore::expire(std::uint64_t id) {
  Call call;
  {
    const MutexLock lock(mutex_);
    const auto found = pending_.find(id);
    if (found == pending_.end()) return;
    call = std::move(found->second);
    pending_.erase(found);
    if (call.server == 0) std::erase(unsent_, id);
    if (call.sending) overtaken_.push_back(id);
  }
  count(trace::Counter::call_timeout);
  if (call.server != 0 && !call.sending) send_cancel(id, call.server);
  call.listener->failed(timed_out(call));
}

void ClientCore::end(std::uint64_t id, const Error& error, trace::Counter counter) {
  Listener listener;
  {
    const MutexLock lock(mutex_);
    const auto found = pending_.find(id);
    if (found == pending_.end()) {
      std::erase(overtaken_, id);
      return;
    }
    listener = std::move(found->second.listener);
    pending_.erase(found);
  }
  count(counter);
  listener->failed(error);
}

// One timer at a time, for the earliest deadline when it was set. Calls that end in time cost no
// timer.
void ClientCore::arm(std::int64_t deadline_ns) {
  {
    const MutexLock lock(mutex_);
    if (closed_ || (armed_ns_ != 0 && armed_ns_ <= deadline_ns)) return;
    armed_ns_ = deadline_ns;
  }
  timers_.at(deadline_ns, [weak = weak_from_this()] {
    if (const auto core = weak.lock()) core->expire_due();
  });
}

void ClientCore::expire_due() {
  const std::int64_t now = monotonic_now().ns;
  std::vector<std::uint64_t> due;
  std::int64_t next = 0;
  {
    const MutexLock lock(mutex_);
    armed_ns_ = 0;
    for (const auto& [id, call] : pending_) {
      if (call.deadline_ns == 0) continue;
      if (call.deadline_ns <= now) {
        due.push_back(id);
      } else if (next == 0 || call.deadline_ns < next) {
        next = call.deadline_ns;
      }
    }
  }
  for (const std::uint64_t id : due) expire(id);
  if (next != 0) arm(next);
}

Result<void> ClientCore::wait_for_server(Duration timeout) {
  UniqueLock lock(mutex_);
  const auto waited =
      wait_on_pool(executor_, name(), lock, changed_, (monotonic_now() + timeout).ns,
                   [this]() HYPHOS_REQUIRES(mutex_) { return server_ != 0 || closed_; });
  const bool there = server_ != 0;
  const bool closed = closed_;
  lock.unlock();
  if (there) return success();
  if (closed) return Error{Code::disconnected, "the client was closed", name()};
  if (waited.error().code != Code::timeout) return waited;
  if (auto refusal = channels_.reply->refusal()) return *refusal;
  if (auto refusal = channels_.request->refusal()) return *refusal;
  return nobody(timeout.ns);
}

void ClientCore::count(trace::Counter counter, std::uint64_t n) { (**trace_).count(counter, n); }

}  // namespace hyphos::calls
