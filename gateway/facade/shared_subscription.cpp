#include "gateway/facade/shared_subscription.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <utility>

namespace hyphos::gateway {

void SharedSubscription::Listener::notify(const OutgoingMessage& message) {
  const std::lock_guard lock(mutex_);
  // the copy survives if the callback closes this listener
  if (const auto on_message = hear_) (*on_message)(message);
}

void SharedSubscription::Listener::close() {
  const std::lock_guard lock(mutex_);
  hear_ = nullptr;
}

Result<void> SharedSubscription::open(const Node& node, const std::string& channel,
                                      const ClientSubscriptionOptions& options, bool keeps) {
  SubscriptionOptions used;
  if (options.depth > 0 || options.lifespan_ms > 0 || keeps) {
    Policy& policy = used.policy.emplace();
    if (options.depth > 0) policy.depth = options.depth;
    // On a latched channel, the last messages of all publishers arrive at once.
    if (keeps) policy.depth = std::max(static_cast<std::uint32_t>(kMost), options.depth);
    policy.latched = keeps;
    policy.lifespan_ms = options.lifespan_ms;
  }
  const MutexLock lock(mutex_);  // a callback that runs at once then sees subscription_
  lifespan_ns_ = options.lifespan_ms * 1'000'000;
  auto opened = node.raw_subscribe(channel, codec_.id, used,
                                   [weak = weak_from_this()](const Message<RawMessage>& message) {
                                     if (const auto shared = weak.lock())
                                       shared->on_message(message);
                                   });
  if (!opened) return opened.error();
  subscription_ = *opened;
  return {};
}

void SharedSubscription::on_message(const Message<RawMessage>& message) {
  const std::string group = group_of_(message.sender()).value_or("");
  const bool keeps = message.block()->meta().latch == Latch::last;
  if (keeps && codec_.only_lists) return hear_joined(message, group);
  std::vector<std::shared_ptr<Listener>> listeners;
  {
    const MutexLock lock(mutex_);
    for (const auto& listener : listeners_) {
      if (listener->wants(group)) listeners.push_back(listener);
    }
  }
  if (listeners.empty() && !keeps) return;
  auto converted = codec_.write(form_, *message);
  if (!converted) return complain_(converted.error());
  // Parts are kept apart for a single listener only: several waiting listeners would each copy
  // them. A kept message must not hold memory of its publisher.
  if (keeps || listeners.size() > 1) *converted = converted->joined();
  const OutgoingMessage outgoing{*converted, message.stamps().publish, message.replayed(),
                                 message.sender(), message.sequence()};
  if (keeps) {
    const MutexLock lock(mutex_);
    const Meta& meta = message.block()->meta();
    (void)last_.keep({meta.sender, meta.peer, group, {}, outgoing}, meta.sequence,
                     meta.latched_depth);
    // listeners that came since the first copy have not received this message
    listeners = listeners_;
    std::erase_if(listeners, [&](const auto& listener) { return !listener->wants(group); });
  }
  for (const auto& listener : listeners) listener->notify(outgoing);
}

void SharedSubscription::hear_joined(const Message<RawMessage>& message, const std::string& group) {
  const OutgoingMessage bare{
      {}, message.stamps().publish, message.replayed(), message.sender(), message.sequence()};
  const auto now = publishers_now_();
  std::map<std::string, std::vector<std::shared_ptr<Listener>>> listeners;  // by group
  std::map<std::string, Buffer> payloads;
  {
    const MutexLock lock(mutex_);
    (void)last_.keep({message.sender(), message.block()->meta().peer, group,
                      Buffer::copy_of(message->payload.bytes()), bare});
    forget_gone(now);
    forget_expired();
    for (const auto& listener : listeners_) {
      if (listener->wants(group)) listeners[listener->group()].push_back(listener);
    }
    for (const auto& [theirs, unused] : listeners) payloads[theirs] = joined_without(theirs);
  }
  for (const auto& [theirs, those] : listeners) {
    auto converted = codec_.write(form_, RawMessage{payloads[theirs], {}});
    if (!converted) return complain_(converted.error());
    OutgoingMessage outgoing = bare;
    outgoing.bytes = *converted;
    for (const auto& listener : those) listener->notify(outgoing);
  }
}

Buffer SharedSubscription::joined_without(const std::string& group) const {
  const auto is_of = [&](const Last& last) { return !group.empty() && last.group == group; };
  std::size_t size = 0;
  for (const Last& last : last_) size += is_of(last) ? 0 : last.payload.size();
  WritableBuffer all = WritableBuffer::on_heap(size);
  std::byte* to = all.data();
  for (const Last& last : last_) {
    if (!is_of(last)) to = std::ranges::copy(last.payload.bytes(), to).out;
  }
  return std::move(all).freeze(size);
}

void SharedSubscription::forget_expired() {
  if (lifespan_ns_ == 0) return;
  const std::int64_t oldest = monotonic_now().ns - lifespan_ns_;
  (void)last_.forget_if([oldest](const Last& last) {
    return last.outgoing.publish_ns != 0 && last.outgoing.publish_ns <= oldest;
  });
}

void SharedSubscription::forget_gone(const std::map<std::uint64_t, std::size_t>& now) {
  std::set<std::uint64_t> here;
  for (const Last& last : last_) {
    if (last.peer != kThisProcess && now.contains(last.peer)) here.insert(last.peer);
  }
  // For processes that are reached by address, only the number of publishers is known.
  const auto own = now.find(kThisProcess);
  const std::size_t known = here.size() + (own == now.end() ? 0 : own->second);
  const std::size_t all = subscription_.publishers();
  std::size_t others = all > known ? all - known : 0;
  std::set<std::uint64_t> gone;
  std::map<std::uint64_t, std::size_t> seen;
  const auto has_gone = [&](const Last& last) {
    if (last.peer == kThisProcess) return has_ended_(last.sender);
    const auto count = now.find(last.peer);
    if (count == now.end()) {
      if (!here.contains(last.peer) && others == 0) return true;
      if (here.insert(last.peer).second) --others;
      return false;
    }
    // The publishers that ended are unknown: keep too many rather than too few.
    return seen[last.peer]++ >= std::max(count->second, kDoubt);
  };
  for (const Last& last : last_ | std::views::reverse) {
    if (has_gone(last)) gone.insert(last.sender);
  }
  if (gone.size() == last_.size()) gone.erase(std::prev(last_.end())->sender);
  (void)last_.forget_if([&](const Last& last) { return gone.contains(last.sender); });
}

std::vector<OutgoingMessage> SharedSubscription::kept_for(const Listener& listener) {
  std::vector<OutgoingMessage> kept;
  for (const Last& last : last_) {
    if (listener.wants(last.group)) kept.push_back(last.outgoing);
  }
  if (!codec_.only_lists || kept.empty()) return kept;
  auto converted = codec_.write(form_, RawMessage{joined_without(listener.group()), {}});
  if (!converted) return {};  // reported when the message arrived
  OutgoingMessage joined = kept.back();
  joined.bytes = *converted;
  return {joined};
}

void SharedSubscription::add(std::shared_ptr<Listener> listener) {
  std::vector<OutgoingMessage> kept;
  const auto now = publishers_now_();
  {
    const MutexLock lock(mutex_);
    if (!last_.empty()) forget_gone(now);
    forget_expired();
    kept = kept_for(*listener);
    listeners_.push_back(listener);
  }
  for (OutgoingMessage& outgoing : kept) {
    outgoing.replayed = true;
    listener->notify(outgoing);
  }
}

void SharedSubscription::remove(const std::shared_ptr<Listener>& listener) {
  {
    const MutexLock lock(mutex_);
    std::erase(listeners_, listener);
  }
  listener->close();
}

Result<std::shared_ptr<SharedSubscription>> SharedSubscriptions::get(
    const Key& key, const std::function<Result<std::shared_ptr<SharedSubscription>>()>& open) {
  const MutexLock lock(mutex_);
  std::erase_if(shared_subscriptions_, [](const auto& entry) { return entry.second.expired(); });
  if (const auto known = shared_subscriptions_.find(key); known != shared_subscriptions_.end()) {
    if (auto shared = known->second.lock()) return shared;
  }
  auto shared = open();
  if (shared) shared_subscriptions_[key] = *shared;
  return shared;
}

}  // namespace hyphos::gateway
