#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hyphos/node.hpp"

namespace hyphos {

/// The condition for a set of messages.
enum class SyncRule : std::uint8_t {
  exact,        ///< all stamps are equal
  approximate,  ///< the stamps are as close as possible
};

inline constexpr std::size_t kMaxSyncChannels = 9;
inline constexpr std::uint32_t kMaxSyncQueue = 1000;

/// Options of synchronize().
struct SyncOptions {
  SyncRule rule = SyncRule::approximate;
  /// Messages of one channel that wait for partners, 1..kMaxSyncQueue. With the rule `exact`, the
  /// number of incomplete sets. A waiting message occupies its memory, also in shared memory.
  std::uint32_t queue = 10;
  /// Approximate: the largest interval between the stamps of one set. Default: no limit.
  Duration max_interval = {INT64_MAX};
  /// Approximate: a later set must be smaller by this fraction of the delay to be preferred.
  double age_penalty = 0.1;
  /// Approximate: for each channel, a lower bound of the time between two messages. With bounds, a
  /// set is often complete one message earlier.
  std::vector<Duration> min_spacing = {};
  Scope scope = Scope::network;
  std::optional<Policy> policy = {};  ///< used for each channel that the plan does not name
};

/// Messages of one channel of a synchronizer. received = matched + unmatched() + waiting.
struct SyncCounts {
  std::string channel;
  std::uint64_t received = 0;
  std::uint64_t matched = 0;  ///< passed to the callback
  std::uint64_t waiting = 0;
  std::array<std::uint64_t, kUnmatchedReasons> reasons{};  ///< by Unmatched

  [[nodiscard]] std::uint64_t unmatched(Unmatched why) const {
    return reasons[static_cast<std::size_t>(why)];
  }
  [[nodiscard]] std::uint64_t unmatched() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t each : reasons) sum += each;
    return sum;
  }
};

namespace detail {

template <typename T>
struct HasNoStamp : std::false_type {};

/// The stamp of a message in nanoseconds: `sync_stamp_ns(message)` where the type declares that
/// function, or the field `stamp_ns`, in the message or in its `header`.
template <typename T>
std::int64_t stamp_of(const T& message) {
  if constexpr (requires { sync_stamp_ns(message); }) {
    return sync_stamp_ns(message);
  } else if constexpr (IsAttached<T>::value) {
    return stamp_of(message.head);
  } else if constexpr (requires { message.header().stamp_ns(); }) {
    return message.header().stamp_ns();
  } else if constexpr (requires { message.stamp_ns(); }) {
    return message.stamp_ns();
  } else if constexpr (requires { message.header.stamp_ns; }) {
    return message.header.stamp_ns;
  } else if constexpr (requires { message.stamp_ns; }) {
    return message.stamp_ns;
  } else {
    static_assert(HasNoStamp<T>::value,
                  "the message has no stamp. Add a field `stamp_ns` or a header, or declare "
                  "`std::int64_t sync_stamp_ns(const T&)` in the namespace of the type");
    return 0;
  }
}

}  // namespace detail

/// The part of a synchronizer that does not depend on the types, for other languages. Its caller
/// opens the subscriptions. Thread-safe, except that calls of add() must not overlap.
class HYPHOS_EXPORT RawSynchronizer : public std::enable_shared_from_this<RawSynchronizer> {
 public:
  using Set = std::vector<std::shared_ptr<const void>>;
  /// Throws invalid_config if an option is out of range.
  static std::shared_ptr<RawSynchronizer> make(const Node& node, std::vector<std::string> channels,
                                               const SyncOptions& options,
                                               std::function<void(const Set&)> callback);
  virtual ~RawSynchronizer() = default;
  /// The options of the subscription of each channel. Their callbacks call add().
  [[nodiscard]] virtual SubscriptionOptions subscription() const = 0;
  virtual void add(std::size_t channel, std::int64_t stamp_ns,
                   std::shared_ptr<const void> message) = 0;
  /// Called once, with the subscriptions in the order of the channels.
  virtual void start(std::vector<Subscription> subscriptions) = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual std::vector<SyncCounts> counts() const = 0;
};

/// A handle to the subscriptions of synchronize(). The node owns them, so dropping the handle does
/// not end them. Cheap to copy. Thread-safe.
class Synchronizer {
 public:
  Synchronizer() = default;
  explicit Synchronizer(std::shared_ptr<RawSynchronizer> core) : core_(std::move(core)) {}
  /// Ends the subscriptions, as Subscription::close() does. Waiting messages are dropped.
  void close() const {
    if (core_) core_->close();
  }
  /// One entry for each channel. They are consistent with each other.
  [[nodiscard]] std::vector<SyncCounts> counts() const {
    return core_ ? core_->counts() : std::vector<SyncCounts>();
  }

 private:
  std::shared_ptr<RawSynchronizer> core_;
};

/// Calls `callback` with sets of messages that belong together by their stamps: one message of each
/// channel, in the order of the channels.
///
///     auto sync = hyphos::synchronize<Image, LaserScan>(
///         node, {"camera", "scan"}, {.max_interval = hyphos::Duration::from_ms(50)},
///         [](const hyphos::Message<Image>& image, const hyphos::Message<LaserScan>& scan) {});
///
/// The sets are those of ROS's message_filters: of its policy ExactTime, or of the adaptive
/// algorithm ApproximateTime (https://wiki.ros.org/message_filters/ApproximateTime), which uses
/// each message at most once and never goes back in time. Every message without a set is counted by
/// channel and reason: Synchronizer::counts(), and `unmatched.<reason>` of the subscription. The
/// node logs a warning if messages arrive on all channels and form no sets.
///
/// The callback runs on the thread pool, one call at a time. Messages wait in the queues of their
/// channels meanwhile. If the clock is set back, the waiting messages are dropped. Throws as
/// Node::subscribe(). Cost of a message: one allocation, and comparisons with the waiting ones.
template <typename... Ts, typename F>
  requires(sizeof...(Ts) >= 2 && sizeof...(Ts) <= kMaxSyncChannels &&
           std::invocable<F&, const Message<Ts>&...>)
Synchronizer synchronize(const Node& node, const std::array<std::string, sizeof...(Ts)>& channels,
                         const SyncOptions& options, F callback) {
  auto typed = [callback = std::move(callback)](const RawSynchronizer::Set& set) mutable {
    [&]<std::size_t... Is>(std::index_sequence<Is...>) {
      callback(*static_cast<const Message<Ts>*>(set[Is].get())...);
    }(std::index_sequence_for<Ts...>());
  };
  auto core =
      RawSynchronizer::make(node, {channels.begin(), channels.end()}, options, std::move(typed));
  std::vector<Subscription> subscriptions;
  const auto subscribe = [&]<typename T>(std::type_identity<T>) {
    const std::size_t channel = subscriptions.size();
    subscriptions.push_back(node.subscribe<T>(
        channels[channel], core->subscription(), [core, channel](const Message<T>& message) {
          core->add(channel, detail::stamp_of(*message), std::make_shared<Message<T>>(message));
        }));
  };
  try {
    (subscribe(std::type_identity<Ts>()), ...);
  } catch (...) {
    for (const Subscription& opened : subscriptions) opened.close();
    throw;
  }
  core->start(std::move(subscriptions));
  return Synchronizer(std::move(core));
}

}  // namespace hyphos
