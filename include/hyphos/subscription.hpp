#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "hyphos/message.hpp"
#include "hyphos/policy.hpp"

namespace hyphos {

namespace detail {

/// The type-erased half of a Subscription, implemented in graph/.
class HYPHOS_EXPORT SubscriptionCore {
 public:
  virtual ~SubscriptionCore() = default;
  virtual void close() = 0;
  virtual std::uint32_t poll(std::uint32_t most) = 0;
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
  [[nodiscard]] const std::string& channel() const { return core_->channel(); }
  /// Number of publishers known now, in this process and others.
  [[nodiscard]] std::uint32_t publishers() const { return core_->publishers(); }

 private:
  std::shared_ptr<detail::SubscriptionCore> core_;
};

}  // namespace hyphos
