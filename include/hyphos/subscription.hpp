#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "hyphos/message.hpp"
#include "hyphos/policy.hpp"

namespace hyphos {

namespace detail {

/// A callback group, implemented in graph/.
class HYPHOS_EXPORT GroupCore {
 public:
  virtual ~GroupCore() = default;
};

/// The type-erased half of a Subscription, implemented in graph/.
class HYPHOS_EXPORT SubscriptionCore {
 public:
  virtual ~SubscriptionCore() = default;
  virtual void close() = 0;
  virtual std::uint32_t poll(std::uint32_t most) = 0;
  virtual void count_unmatched(Unmatched why, std::uint64_t count) = 0;
  [[nodiscard]] virtual const std::string& channel() const = 0;
  [[nodiscard]] virtual std::uint32_t publishers() const = 0;
};

/// Runs the user's function. `value` is a decoded T or, for raw subscriptions, the Envelope. It is
/// never null.
using Callback = std::function<void(const Delivery&, const void* value)>;

template <typename T, typename F>
Callback typed_callback(F function) {
  return [function = std::move(function)](const Delivery& delivery, const void* value) mutable {
    function(Message<T>(delivery, value));
  };
}

}  // namespace detail

/// Subscriptions that share a state without a lock: at most one of their callbacks runs at a time.
///
/// Made by Node::callback_group() and passed in SubscriptionOptions::group. Its subscriptions may
/// belong to several nodes of one process. Each keeps its queue, its policy and its order. They
/// take turns, one message each. Cheap to copy. A callback must not wait for another callback of
/// its group, for example in a publish() to a full `block` channel that the group subscribes to.
class CallbackGroup {
 public:
  /// No group.
  CallbackGroup() = default;
  explicit CallbackGroup(std::shared_ptr<detail::GroupCore> core) : core_(std::move(core)) {}
  explicit operator bool() const { return core_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<detail::GroupCore>& core() const { return core_; }

 private:
  std::shared_ptr<detail::GroupCore> core_;
};

/// A handle to a subscription. The node owns the subscription, so dropping the handle does not end
/// it.
class Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::shared_ptr<detail::SubscriptionCore> core) : core_(std::move(core)) {}

  /// Ends the subscription. On return its callback is not running, unless the callback itself
  /// called close(), and it never runs again. Idempotent.
  void close() const {
    if (core_) core_->close();
  }
  /// For a subscription with SubscriptionOptions::ready: runs the callback in this thread for at
  /// most `most` of the waiting messages, and returns their number. Returns 0 while another thread,
  /// or the callback itself, is polling.
  std::uint32_t poll(std::uint32_t most) const { return core_ ? core_->poll(most) : 0; }
  /// For synchronizers: counts received messages that were passed to no callback.
  void count_unmatched(Unmatched why, std::uint64_t count = 1) const {
    if (core_) core_->count_unmatched(why, count);
  }
  [[nodiscard]] const std::string& channel() const { return core_->channel(); }
  /// Number of publishers known now, in this process and others.
  [[nodiscard]] std::uint32_t publishers() const { return core_->publishers(); }

 private:
  std::shared_ptr<detail::SubscriptionCore> core_;
};

}  // namespace hyphos
