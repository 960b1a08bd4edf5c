#include <algorithm>
#include <chrono>

#include "handles.hpp"

namespace hyphos::c {

Result<void> Subscriber::open(const NodeState& node, const std::string& channel, const TypeId& type,
                              SubscriptionOptions options, bool polled) {
  if (polled) {
    options.ready = [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->ready();
    };
  }
  auto core = node.node.raw_subscribe(
      channel, type, std::move(options),
      [self = shared_from_this()](const Message<RawMessage>& message) { self->heard(message); });
  if (!core) return core.error();
  core_ = std::move(*core);
  open_.store(true, std::memory_order_release);
  // For messages that arrived before `core_` was set.
  if (polled) ready();
  return success();
}

void Subscriber::ready() {
  if (callback_ != nullptr) return pump_->ready(shared_from_this());
  {
    const MutexLock lock(mutex_);
    stirred_ = true;
  }
  changed_.notify_all();
}

void Subscriber::heard(const Message<RawMessage>& message) {
  const hyphos_message seen = view(message);
  if (callback_ != nullptr) return callback_(user_, &seen);
  taking_.assert_held();  // without a callback, only take() polls the subscription
  if (out_ != nullptr) hold(seen, *std::exchange(out_, nullptr));
}

std::uint32_t Subscriber::run(std::uint32_t most) {
  return open_.load(std::memory_order_acquire) ? core_.poll(most) : 0;
}

Result<void> Subscriber::take(const WeakNode& node, std::int64_t timeout_ns, hyphos_message& out) {
  UniqueLock taking(taking_, std::defer_lock);
  if (!taking.try_lock()) {
    return Error{Code::already_exists,
                 "another thread is already in hyphos_take() of this subscription. Take from one "
                 "thread only",
                 core_.channel()};
  }
  const bool for_ever = timeout_ns < 0;
  // A wait of more than a year counts as a year, which cannot overflow the clock.
  constexpr std::int64_t kYear = 365LL * 86'400 * 1'000'000'000;
  const std::int64_t end = monotonic_now().ns + std::min(timeout_ns, kYear);
  for (;;) {
    {
      const MutexLock lock(mutex_);
      stirred_ = false;
    }
    {
      const auto open = alive(node);
      if (!open) return open.error();
      out_ = &out;
      (void)core_.poll(1);
      if (std::exchange(out_, nullptr) == nullptr) return success();
    }
    UniqueLock lock(mutex_);
    const auto stirs = [this]() HYPHOS_REQUIRES(mutex_) { return stirred_ || closed_; };
    if (for_ever) {
      changed_.wait(lock, stirs);
    } else {
      const std::int64_t left = std::max<std::int64_t>(end - monotonic_now().ns, 0);
      if (!changed_.wait_for(lock, std::chrono::nanoseconds(left), stirs)) {
        return Error{Code::timeout, "no message arrived before the timeout", core_.channel()};
      }
    }
    if (closed_) {
      return Error{Code::disconnected, "the subscription is closed", core_.channel()};
    }
  }
}

void Subscriber::close() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  core_.close();
}

}  // namespace hyphos::c

using namespace hyphos;
using namespace hyphos::c;

extern "C" {

hyphos_code hyphos_message_hold(const hyphos_message* message, hyphos_message* held,
                                hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (message == nullptr) return is_null("message");
    if (held == nullptr) return is_null("held");
    hold(*message, *held);
    return success();
  });
}

void hyphos_message_release(hyphos_message* message) {
  if (message == nullptr) return;
  quietly([&] {
    const MessageRef ended = MessageRef::adopt(message->block);
    *message = {};
  });
}

hyphos_code hyphos_subscribe(hyphos_node* node, const char* channel, const hyphos_type* type,
                             const hyphos_subscription_options* options,
                             hyphos_message_callback callback, void* user,
                             hyphos_subscription** subscription, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (channel == nullptr) return is_null("channel");
    if (subscription == nullptr) return is_null("subscription");
    const auto id = read_type(type);
    if (!id) return id.error();
    const auto given = read_struct(options, "hyphos_subscription_options");
    if (!given) return given.error();
    const auto policy = read_policy(given.value().policy);
    if (!policy) return policy.error();
    const auto mode = read_mode(given.value().mode);
    if (!mode) return mode.error();
    const bool polled = given.value().mode == HYPHOS_POLLED;
    if (callback == nullptr && !polled) return is_null("callback");
    SubscriptionOptions how;
    how.mode = mode.value();
    how.scope = given.value().local != 0 ? Scope::local : Scope::network;
    how.policy = policy.value();
    auto core = std::make_shared<c::Subscriber>(node->state->pump, callback, user);
    if (auto opened = core->open(*node->state, channel, id.value(), std::move(how), polled);
        !opened) {
      return opened;
    }
    *subscription = new hyphos_subscription{node->state, std::move(core)};
    return success();
  });
}

void hyphos_subscription_close(hyphos_subscription* subscription) {
  if (subscription == nullptr) return;
  quietly([&] {
    const std::unique_ptr<hyphos_subscription> ended(subscription);
    const auto node = alive(ended->node);
    ended->core->close();
  });
}

uint32_t hyphos_subscription_publishers(const hyphos_subscription* subscription) {
  return subscription == nullptr ? 0 : subscription->core->core().publishers();
}

hyphos_code hyphos_take(hyphos_subscription* subscription, int64_t timeout_ns,
                        hyphos_message* message, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (subscription == nullptr) return is_null("subscription");
    if (message == nullptr) return is_null("message");
    const std::shared_ptr<c::Subscriber> core = subscription->core;
    return core->take(subscription->node, timeout_ns, *message);
  });
}

hyphos_code hyphos_subscription_counter(const hyphos_subscription* subscription, const char* name,
                                        uint64_t* value, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (subscription == nullptr) return is_null("subscription");
    if (name == nullptr) return is_null("name");
    if (value == nullptr) return is_null("value");
    const auto node = alive(subscription->node);
    if (!node) return node.error();
    *value = count_of(node.value()->node, subscription->core->core().channel(), false, name);
    return success();
  });
}

}  // extern "C"
